//! Positions on their way into the network, as plain vectors.
//!
//! Legend as in [`latrunculi_engine::encoding`], which says what the planes and the policy mean.

use latrunculi_engine::encoding::{ActionIndices, EncodedPosition, PLANES, SCALARS, Shape, rule_inputs};
use latrunculi_engine::{Action, GameState};
use serde::{Deserialize, Serialize};

use crate::error::BatchError;

/// The names of what a network sees, so that a model is not used with another encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodingNames {
    /// Names of the planes, in order.
    pub planes: Vec<String>,
    /// Names of the scalars, in order: those of the position, then those of the ruleset.
    pub scalars: Vec<String>,
}

impl Default for EncodingNames {
    /// Returns the names of the encoding that this program has.
    fn default() -> Self {
        let planes = PLANES.map(str::to_owned).to_vec();
        let scalars = SCALARS.into_iter().chain(rule_inputs::names()).map(str::to_owned).collect();
        EncodingNames { planes, scalars }
    }
}

/// Encoded positions, without targets.
#[derive(Clone, Copy, Debug)]
pub struct EncodedBatch<'a> {
    /// `[B, C, H, W]`, 0 or 1.
    pub planes: &'a [f32],
    /// `[B, S]`
    pub scalars: &'a [f32],
    /// `[B + 1]`: the actions of position `i` are `action_offsets[i]..action_offsets[i + 1]`.
    pub action_offsets: &'a [u32],
    /// `[L]`: the two entries of the policy vector whose sum is the action's logit.
    pub action_indices: &'a [ActionIndices],
}

impl EncodedBatch<'_> {
    /// Returns `B`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.action_offsets.len().saturating_sub(1)
    }

    /// Tells whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks that the vectors have the lengths that `shape` asks for.
    pub(crate) fn check(&self, shape: &Shape) -> Result<(), BatchError> {
        let length = |name, found, expected| {
            if found == expected { Ok(()) } else { Err(BatchError::Length { name, found, expected }) }
        };
        length("planes", self.planes.len(), self.len() * shape.planes * shape.area())?;
        length("scalars", self.scalars.len(), self.len() * shape.scalars)
    }
}

/// Positions being encoded, one after the other. The memory is reused from batch to batch.
#[derive(Clone, Debug)]
pub struct EncodedPositions {
    planes: Vec<f32>,
    scalars: Vec<f32>,
    action_offsets: Vec<u32>,
    action_indices: Vec<ActionIndices>,
}

impl Default for EncodedPositions {
    fn default() -> Self {
        EncodedPositions {
            planes: Vec::new(),
            scalars: Vec::new(),
            action_offsets: vec![0],
            action_indices: Vec::new(),
        }
    }
}

impl EncodedPositions {
    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.planes.clear();
        self.scalars.clear();
        self.action_offsets.truncate(1);
        self.action_indices.clear();
    }

    /// Adds a position with its legal actions. All positions must be of boards of one size.
    pub fn push(&mut self, game: &GameState, legal_actions: &[Action]) {
        let (rules, position) = (game.rules(), game.position());
        let shape = Shape::of(rules);
        let encoded = EncodedPosition::new(rules, position, game.repetitions());
        let begin = self.planes.len();
        self.planes.resize(begin + shape.planes * shape.area(), 0.0);
        encoded.write_planes(&shape, &mut self.planes[begin..]);
        encoded.extend_scalars(rules, &mut self.scalars);
        self.action_indices.extend(legal_actions.iter().map(|&action| rules.action_indices(position, action)));
        self.action_offsets.push(self.action_indices.len() as u32);
    }

    /// Returns the positions as a batch.
    #[must_use]
    pub fn as_batch(&self) -> EncodedBatch<'_> {
        EncodedBatch {
            planes: &self.planes,
            scalars: &self.scalars,
            action_offsets: &self.action_offsets,
            action_indices: &self.action_indices,
        }
    }
}

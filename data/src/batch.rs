//! Positions on their way into the network, as plain vectors.

use latrunculi_engine::{Action, GameState};
use std::sync::Arc;

use crate::error::{Error, check_length};
use crate::features::{EncodedPosition, Encoder, SCALARS, Shape};
use crate::policy_index::{ActionIndices, action_indices};

/// Encoded positions of one ruleset, without targets.
#[derive(Clone, Copy, Debug)]
pub struct EncodedBatch<'a> {
    /// `[B, C, H, W]`, 0 or 1.
    pub planes: &'a [f32],
    /// `[B, S]`: of the positions alone.
    pub scalars: &'a [f32],
    /// `[R]`: the numbers of the ruleset.
    pub rule_inputs: &'a [f32],
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

    /// Returns the first `count` positions.
    /// Panics when there are fewer.
    #[must_use]
    pub fn first(&self, count: usize) -> EncodedBatch<'_> {
        let plane_len = self.planes.len() / self.len().max(1);
        let action_offsets = &self.action_offsets[..=count];
        EncodedBatch {
            planes: &self.planes[..count * plane_len],
            scalars: &self.scalars[..count * SCALARS.len()],
            rule_inputs: self.rule_inputs,
            action_offsets,
            action_indices: &self.action_indices[..action_offsets[count] as usize],
        }
    }

    /// Checks that planes and scalars have the lengths that `shape` asks for.
    pub fn validate(&self, shape: &Shape) -> Result<(), Error> {
        check_length("planes", self.planes.len(), self.len() * shape.planes * shape.area())?;
        check_length("scalars", self.scalars.len(), self.len() * SCALARS.len())
    }
}

/// Positions being encoded, one after the other. The memory is reused from batch to batch.
#[derive(Clone, Debug)]
pub struct EncodedPositions {
    planes: Vec<f32>,
    scalars: Vec<f32>,
    action_offsets: Vec<u32>,
    action_indices: Vec<ActionIndices>,
    encoder: Option<Encoder>,
}

impl Default for EncodedPositions {
    fn default() -> Self {
        EncodedPositions {
            planes: Vec::new(),
            scalars: Vec::new(),
            action_offsets: vec![0],
            action_indices: Vec::new(),
            encoder: None,
        }
    }
}

impl EncodedPositions {
    /// Removes all positions.
    pub fn clear(&mut self) {
        self.planes.clear();
        self.scalars.clear();
        self.action_offsets.truncate(1);
        self.action_indices.clear();
    }

    /// Adds a position with its legal actions.
    /// Panics when it is of another ruleset than those before.
    pub fn push(&mut self, game: &GameState, legal_actions: &[Action]) {
        let (rules, position) = (game.rules(), game.position());
        let encoder = match &mut self.encoder {
            Some(encoder) if Arc::ptr_eq(encoder.rules(), rules) => encoder,
            other => {
                let encoder = Encoder::new(Arc::clone(rules));
                let is_same = other.as_ref().is_none_or(|other| {
                    other.rule_inputs() == encoder.rule_inputs() && other.shape() == encoder.shape()
                });
                assert!(is_same || self.action_offsets.len() == 1, "a batch is of one ruleset");
                other.insert(encoder)
            }
        };
        let encoded = EncodedPosition::new(rules, position, game.repetitions());
        encoder.extend_planes(&encoded, &mut self.planes);
        self.scalars.extend_from_slice(&encoded.scalars);
        self.action_indices.extend(legal_actions.iter().map(|&action| action_indices(rules, position, action)));
        self.action_offsets.push(self.action_indices.len() as u32);
    }

    /// Returns the positions as a batch.
    #[must_use]
    pub fn as_batch(&self) -> EncodedBatch<'_> {
        EncodedBatch {
            planes: &self.planes,
            scalars: &self.scalars,
            rule_inputs: self.encoder.as_ref().map_or(&[], Encoder::rule_inputs),
            action_offsets: &self.action_offsets,
            action_indices: &self.action_indices,
        }
    }
}

//! Positions on their way into the network, and what it answers.
//! Legend: `B` positions, `P` planes, `S` scalars of the position, `A` squares, `L` legal actions of all positions.

use latrunculi_engine::{Action, GameState, SquareSet};

use crate::error::{Error, check_length};
use crate::features::{EncodedPosition, SCALARS, Shape, dense_plane};
use crate::policy_index::{ActionIndices, action_indices};

/// Encoded positions of one ruleset. The memory is reused from batch to batch.
#[derive(Clone, Debug)]
pub struct PositionBatch {
    /// `[B, P]`: each plane as the set of the squares where it is 1.
    pub planes: Vec<SquareSet>,
    /// `[B, S]`: the scalars of the positions.
    pub scalars: Vec<f32>,
    /// `[B + 1]`: the actions of position `i` are `action_offsets[i]..action_offsets[i + 1]`.
    pub action_offsets: Vec<u32>,
    /// `[L]`: the two entries of the policy vector whose sum is the action's logit.
    pub action_indices: Vec<ActionIndices>,
}

impl Default for PositionBatch {
    fn default() -> Self {
        PositionBatch { planes: Vec::new(), scalars: Vec::new(), action_offsets: vec![0], action_indices: Vec::new() }
    }
}

impl PositionBatch {
    /// Removes all positions.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the first `count` positions at most.
    pub fn truncate(&mut self, count: usize) {
        let plane_count = self.planes.len() / self.len().max(1);
        self.action_offsets.truncate(count + 1);
        self.action_indices.truncate(self.action_offsets[self.len()] as usize);
        self.planes.truncate(self.len() * plane_count);
        self.scalars.truncate(self.len() * SCALARS.len());
    }

    /// Adds a position: its planes, its own scalars, and the policy indices of its legal actions.
    pub fn push(&mut self, planes: &[SquareSet], scalars: &[f32], actions: impl IntoIterator<Item = ActionIndices>) {
        self.planes.extend_from_slice(planes);
        self.scalars.extend_from_slice(scalars);
        self.action_indices.extend(actions);
        self.action_offsets.push(self.action_indices.len() as u32);
    }

    /// Adds a position of a game with its legal actions.
    pub fn push_game(&mut self, game: &GameState, legal_actions: &[Action]) {
        let (rules, position) = (game.rules(), game.position());
        let encoded = EncodedPosition::new(rules, position, game.repetitions());
        let indices = legal_actions.iter().map(|&action| action_indices(rules, position, action));
        self.push(&encoded.planes, &encoded.scalars, indices);
    }

    /// Returns `B`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.action_offsets.len() - 1
    }

    /// Tells whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the planes as numbers over `values`: `[B, P, A]`, ranks from the player's own side up.
    pub fn write_planes(&self, area: usize, values: &mut Vec<f32>) {
        values.clear();
        self.planes.iter().for_each(|&plane| dense_plane(plane, area, values));
    }

    /// Returns the actions of a position.
    #[must_use]
    pub fn actions(&self, index: usize) -> &[ActionIndices] {
        &self.action_indices[self.action_offsets[index] as usize..self.action_offsets[index + 1] as usize]
    }

    /// Checks that the vectors have the lengths that `shape` asks for and that the indices lie within the policy.
    pub fn check(&self, shape: &Shape) -> Result<(), Error> {
        check_length("planes", self.planes.len(), self.len() * shape.planes)?;
        check_length("scalars", self.scalars.len(), self.len() * SCALARS.len())?;
        let none = shape.policy_len() as u32;
        match self.action_indices.iter().position(|&[first, second]| first >= none || second > none) {
            Some(index) => Err(Error::out_of_range("action_indices", index)),
            None => Ok(()),
        }
    }
}

/// What the network answers for the positions of a batch. The memory is reused by the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// `[L]`: one logit per legal action.
    pub logits: Vec<f32>,
    /// `[B + 1]`: the logits of position `i` are `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// `[B]`: probabilities of win, draw and loss for the player to act.
    pub win_draw_loss: Vec<[f32; 3]>,
    /// `[B]`: expected final material margin for the player to act, in `(-1, 1)`.
    pub margin: Vec<f32>,
}

impl Answers {
    /// Removes all answers.
    pub fn clear(&mut self) {
        self.logits.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.win_draw_loss.clear();
        self.margin.clear();
    }
}

//! The plain vectors in which positions and training targets reach the network.
//!
//! Shapes: `B` positions, `L` legal actions of all of them, area = files × ranks.

use serde::{Deserialize, Serialize};

/// The size of a position as the network sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Files of the board.
    pub files: usize,
    /// Ranks of the board.
    pub ranks: usize,
    /// Binary planes, each `[ranks, files]`.
    pub planes: usize,
    /// Numbers that hold for the whole board.
    pub scalars: usize,
}

impl Shape {
    /// Returns the number of squares.
    #[must_use]
    pub const fn area(&self) -> usize {
        self.files * self.ranks
    }

    /// Returns the length of the policy vector: from × to, place a man, place a dux, removal, victim
    /// per square, stop, pass.
    #[must_use]
    pub const fn policy_len(&self) -> usize {
        self.area() * self.area() + 4 * self.area() + 2
    }
}

/// Positions with what is to be learnt from them.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingBatch {
    /// The size of each position.
    pub shape: Shape,
    /// `[B, planes, ranks, files]`, 0 or 1.
    pub planes: Vec<f32>,
    /// `[B, scalars]`.
    pub scalars: Vec<f32>,
    /// `[B + 1]`: the actions of position `i` are `action_offsets[i]..action_offsets[i + 1]`.
    pub action_offsets: Vec<u32>,
    /// `[L]`: the two entries of the policy vector whose sum is the action's logit; the second is
    /// `policy_len` when one is enough.
    pub action_indices: Vec<[u32; 2]>,
    /// `[L]`: the target probability of each action; sums to 1 over each position.
    pub policy: Vec<f32>,
    /// `[B]`: target probabilities of win, draw and loss for the player to act.
    pub win_draw_loss: Vec<[f32; 3]>,
    /// `[B]`: final material margin for the player to act, in `[-1, 1]`.
    pub margin: Vec<f32>,
    /// `[B]`: weight of each position in the loss, at least 0.
    pub weights: Vec<f32>,
}

//! Samples on their way into training.

use super::{ActionIndices, EncodedPosition, Shape};
use crate::rules::Rules;
use crate::squares::SquareSet;

/// What is to be learnt of one position, for the player to act.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// Shares of the legal actions; they sum to 1.
    pub policy: &'a [f32],
    /// Probabilities of win, draw and loss.
    pub win_draw_loss: [f32; 3],
    /// Final material margin in `[-1, 1]`.
    pub margin: f32,
    /// The pieces on the board that are still there when the game ends, wherever they have gone, seen as the planes
    /// are.
    pub survivors: SquareSet,
    /// Policy of the opponent's next decision: places in the vector of policy logits, seen from the player to act
    /// here, and their shares; empty where it is not known.
    pub reply: &'a [(u32, f32)],
    /// Turns from here to the end of the game.
    pub turns_left: u32,
    /// Weight of the sample, at least 0.
    pub weight: f32,
}

/// Samples to train on, as plain vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingBatch {
    /// Sizes of the input and of the policy.
    pub shape: Shape,
    /// `[B, C, H, W]`, 0 or 1.
    pub planes: Vec<f32>,
    /// `[B, S]`, each in `[0, 1]`.
    pub scalars: Vec<f32>,
    /// `[B + 1]`: the legal actions of sample `b` are `action_offsets[b]..action_offsets[b + 1]` below.
    pub action_offsets: Vec<u32>,
    /// `[L]` places in the vector of policy logits.
    pub action_indices: Vec<ActionIndices>,
    /// `[L]` policy targets; the entries of one sample sum to 1.
    pub policy: Vec<f32>,
    /// `[B]` value targets: probabilities of win, draw and loss for the player to act.
    pub win_draw_loss: Vec<[f32; 3]>,
    /// `[B]` final material margin in `[-1, 1]` for the player to act.
    pub margin: Vec<f32>,
    /// `[B, H, W]`: 1 where a piece stands that is there when the game ends, 0 where one stands that is not, -1
    /// where none stands.
    pub survival: Vec<f32>,
    /// `[B + 1]`: the reply to sample `b` is `reply_offsets[b]..reply_offsets[b + 1]` below; none where it is not
    /// known.
    pub reply_offsets: Vec<u32>,
    /// `[R]` places in the vector of policy logits.
    pub reply_indices: Vec<u32>,
    /// `[R]` their shares; the entries of one sample sum to 1.
    pub reply_policy: Vec<f32>,
    /// `[B]`: `ln(1 + turns to the end of the game)`.
    pub turns_left: Vec<f32>,
    /// `[B]` weights of the samples, at least 0.
    pub weights: Vec<f32>,
}

impl TrainingBatch {
    /// Returns an empty batch.
    #[must_use]
    pub fn new(shape: Shape) -> TrainingBatch {
        TrainingBatch {
            shape,
            planes: Vec::new(),
            scalars: Vec::new(),
            action_offsets: vec![0],
            action_indices: Vec::new(),
            policy: Vec::new(),
            win_draw_loss: Vec::new(),
            margin: Vec::new(),
            survival: Vec::new(),
            reply_offsets: vec![0],
            reply_indices: Vec::new(),
            reply_policy: Vec::new(),
            turns_left: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Returns the number of samples, `B`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Tells whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Adds a sample, played under `rules`, with its legal actions and what is to be learnt of it.
    ///
    /// # Panics
    /// When there is not one policy entry per action.
    pub fn push(
        &mut self,
        rules: &Rules,
        position: &EncodedPosition,
        actions: &[ActionIndices],
        targets: &Targets<'_>,
    ) {
        assert_eq!(actions.len(), targets.policy.len(), "one policy entry per action");
        let begin = self.planes.len();
        self.planes.resize(begin + self.shape.planes * self.shape.area(), 0.0);
        position.write_planes(&self.shape, &mut self.planes[begin..]);
        position.extend_scalars(rules, &mut self.scalars);
        self.action_indices.extend_from_slice(actions);
        self.policy.extend_from_slice(targets.policy);
        self.action_offsets.push(self.action_indices.len() as u32);
        self.win_draw_loss.push(targets.win_draw_loss);
        self.margin.push(targets.margin);
        let stones = position.stones();
        let begin = self.survival.len();
        self.survival.resize(begin + self.shape.area(), -1.0);
        for square in stones.iter() {
            let survives = targets.survivors.contains(square);
            self.survival[begin + square.index()] = f32::from(u8::from(survives));
        }
        self.reply_indices.extend(targets.reply.iter().map(|&(index, _)| index));
        self.reply_policy.extend(targets.reply.iter().map(|&(_, share)| share));
        self.reply_offsets.push(self.reply_indices.len() as u32);
        self.turns_left.push((targets.turns_left as f32).ln_1p());
        self.weights.push(targets.weight);
    }
}

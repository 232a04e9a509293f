//! Positions with what is to be learnt from them, packed.
//!
//! Legend: `N` samples, `C` planes, `P` bytes of a packed plane, `S` scalars of the position, `L` legal actions of all samples.

use latrunculi_engine::encoding::{
    ActionIndices, EncodedPosition, PLANES, SCALARS, Shape, Targets, TrainingBatch, pack_plane, packed_plane_len,
    unpack_plane,
};
use latrunculi_engine::{Rules, SquareSet, Symmetry};
use serde::{Deserialize, Serialize};

use crate::replay::ReplaySettings;

/// One position on its way into [`Samples`].
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// The position, seen from the player to act.
    pub position: &'a EncodedPosition,
    /// Where the policy speaks of each legal action.
    pub actions: &'a [ActionIndices],
    /// Improved policy over them; sums to 1.
    pub policy: &'a [f32],
    /// Result of the game for the player to act: win, draw, loss.
    pub win_draw_loss: [f32; 3],
    /// What the search expected, the same way.
    pub search_win_draw_loss: [f32; 3],
    /// Material margin at the end of the game for the player to act, in `[-1, 1]`.
    pub margin: f32,
    /// The pieces on the board that are still there when the game ends, seen as the planes are.
    pub survivors: SquareSet,
    /// The sample of the same game, by its place among those pushed, whose policy is the opponent's next decision.
    pub reply: Option<usize>,
    /// Turns from here to the end of the game.
    pub turns_left: u32,
    /// Weight in the loss, at least 0.
    pub weight: f32,
    /// Number of the game in its generation.
    pub game: u32,
    /// Turns played in the game before this position.
    pub turn: u32,
}

/// Positions with their targets, one vector per kind of number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Sizes of the positions.
    pub shape: Shape,
    /// `[N, C, P]`: eight squares a byte, the first in the lowest bit.
    pub planes: Vec<u8>,
    /// `[N, S]`: of the positions; those of the ruleset are added when a batch is made.
    pub scalars: Vec<f32>,
    /// `[N + 1]`: the actions of sample `i` are `action_offsets[i]..action_offsets[i + 1]`.
    pub action_offsets: Vec<u64>,
    /// `[L]`.
    pub action_indices: Vec<ActionIndices>,
    /// `[L]`.
    pub policy: Vec<f32>,
    /// `[N]`: the result for the player to act.
    pub win_draw_loss: Vec<[f32; 3]>,
    /// `[N]`: what the search expected for him.
    pub search_win_draw_loss: Vec<[f32; 3]>,
    /// `[N]`: final material margin for him, in `[-1, 1]`.
    pub margin: Vec<f32>,
    /// `[N, P]`: the pieces that are still there when the game ends, packed as the planes are.
    pub survivors: Vec<u8>,
    /// `[N]`: the sample whose policy is the opponent's next decision; -1 where there is none.
    pub replies: Vec<i64>,
    /// `[N]`: turns from here to the end of the game.
    pub turns_left: Vec<u32>,
    /// `[N]`: weight in the loss.
    pub weights: Vec<f32>,
    /// `[N]`: game in the generation.
    pub games: Vec<u32>,
    /// `[N]`: turns played before.
    pub turns: Vec<u32>,
}

impl Samples {
    /// Returns an empty collection.
    #[must_use]
    pub fn new(shape: Shape) -> Samples {
        Samples {
            shape,
            planes: Vec::new(),
            scalars: Vec::new(),
            action_offsets: vec![0],
            action_indices: Vec::new(),
            policy: Vec::new(),
            win_draw_loss: Vec::new(),
            search_win_draw_loss: Vec::new(),
            margin: Vec::new(),
            survivors: Vec::new(),
            replies: Vec::new(),
            turns_left: Vec::new(),
            weights: Vec::new(),
            games: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// Returns the number of samples, `N`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Tells whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Adds one.
    ///
    /// # Panics
    /// When there is not one policy entry per action.
    pub fn push(&mut self, sample: &Sample<'_>) {
        assert_eq!(sample.actions.len(), sample.policy.len(), "one policy entry per action");
        for plane in sample.position.planes {
            pack_plane(plane, self.shape.area(), &mut self.planes);
        }
        self.scalars.extend_from_slice(&sample.position.scalars);
        self.action_indices.extend_from_slice(sample.actions);
        self.policy.extend_from_slice(sample.policy);
        self.action_offsets.push(self.action_indices.len() as u64);
        self.win_draw_loss.push(sample.win_draw_loss);
        self.search_win_draw_loss.push(sample.search_win_draw_loss);
        self.margin.push(sample.margin);
        pack_plane(sample.survivors, self.shape.area(), &mut self.survivors);
        self.replies.push(sample.reply.map_or(-1, |reply| reply as i64));
        self.turns_left.push(sample.turns_left);
        self.weights.push(sample.weight);
        self.games.push(sample.game);
        self.turns.push(sample.turn);
    }

    /// Adds all of `other`.
    ///
    /// # Panics
    /// When the shapes differ.
    pub fn append(&mut self, other: &Samples) {
        assert_eq!(self.shape, other.shape, "samples of one shape");
        let begin = self.action_indices.len() as u64;
        let samples_before = self.len() as i64;
        self.planes.extend_from_slice(&other.planes);
        self.scalars.extend_from_slice(&other.scalars);
        self.action_offsets.extend(other.action_offsets[1..].iter().map(|offset| begin + offset));
        self.action_indices.extend_from_slice(&other.action_indices);
        self.policy.extend_from_slice(&other.policy);
        self.win_draw_loss.extend_from_slice(&other.win_draw_loss);
        self.search_win_draw_loss.extend_from_slice(&other.search_win_draw_loss);
        self.margin.extend_from_slice(&other.margin);
        self.survivors.extend_from_slice(&other.survivors);
        self.replies.extend(other.replies.iter().map(|&reply| if reply < 0 { -1 } else { samples_before + reply }));
        self.turns_left.extend_from_slice(&other.turns_left);
        self.weights.extend_from_slice(&other.weights);
        self.games.extend_from_slice(&other.games);
        self.turns.extend_from_slice(&other.turns);
    }

    /// Returns the range of sample `index`'s actions in the long vectors.
    #[must_use]
    pub fn action_range(&self, index: usize) -> std::ops::Range<usize> {
        self.action_offsets[index] as usize..self.action_offsets[index + 1] as usize
    }

    /// Unpacks the position of sample `index`.
    ///
    /// # Panics
    /// When there is no such sample.
    #[must_use]
    pub fn position(&self, index: usize) -> EncodedPosition {
        let bytes = packed_plane_len(self.shape.area());
        let begin = index * PLANES.len() * bytes;
        let mut planes = [SquareSet::EMPTY; PLANES.len()];
        for (plane, packed) in planes.iter_mut().zip(self.planes[begin..].chunks_exact(bytes)) {
            *plane = unpack_plane(packed);
        }
        let mut scalars = [0.0; SCALARS.len()];
        scalars.copy_from_slice(&self.scalars[index * SCALARS.len()..(index + 1) * SCALARS.len()]);
        EncodedPosition { planes, scalars }
    }

    /// Adds sample `index` to a batch, as it is under `symmetry`, one of [`Rules::augmentations`].
    ///
    /// The value target is that of `settings`, [`ReplaySettings::value_target`].
    pub fn write_into(
        &self,
        index: usize,
        rules: &Rules,
        symmetry: Symmetry,
        settings: &ReplaySettings,
        batch: &mut TrainingBatch,
    ) {
        let range = self.action_range(index);
        let policy = &self.policy[range.clone()];
        let (result, expected) = (self.win_draw_loss[index], self.search_win_draw_loss[index]);
        let win_draw_loss = settings.value_target(result, expected, self.margin[index]);
        let mut position = self.position(index);
        let mut survivors = self.survivors(index);
        let mut reply = self.reply(index, rules);
        let mut actions = self.action_indices[range].to_vec();
        if symmetry != Symmetry::IDENTITY {
            position = position.mapped(rules, symmetry);
            survivors = rules.map_squares(symmetry, survivors);
            for (place, _) in &mut reply {
                [*place, _] = rules.mapped_indices(symmetry, [*place, *place]);
            }
            for indices in &mut actions {
                *indices = rules.mapped_indices(symmetry, *indices);
            }
        }
        let targets = Targets {
            policy,
            win_draw_loss,
            margin: self.margin[index],
            survivors,
            reply: &reply,
            turns_left: self.turns_left[index],
            weight: self.weights[index],
        };
        batch.push(rules, &position, &actions, &targets);
    }

    /// Unpacks the pieces of sample `index` that are still there when the game ends.
    fn survivors(&self, index: usize) -> SquareSet {
        let bytes = packed_plane_len(self.shape.area());
        unpack_plane(&self.survivors[index * bytes..(index + 1) * bytes])
    }

    /// Returns the policy of the opponent's next decision as the player to act in sample `index` sees it; empty
    /// where it is not known. Of a move with a chosen victim only the move counts.
    fn reply(&self, index: usize, rules: &Rules) -> Vec<(u32, f32)> {
        let Ok(reply) = usize::try_from(self.replies[index]) else { return Vec::new() };
        let range = self.action_range(reply);
        let indices = self.action_indices[range.clone()].iter();
        let places = indices.map(|&indices| rules.indices_for_opponent(indices)[0]);
        places.zip(self.policy[range].iter().copied()).collect()
    }
}

//! The samples that training learns from: the one declaration of their columns, and what they must be besides.
//! Shards, checks and the table of docs/FORMATS.md follow from it; what else a training target needs is in ARCHITECTURE.md.

use latrunculi_engine::{Rules, SquareSet, Symmetry};

use crate::error::{Error, check_length};
use crate::features::{EncodedPosition, Encoder, PLANES, SCALARS, Shape, packed_plane_len, unpack_plane};
use crate::policy_index::{ActionIndices, entries, indices_for_opponent};
use crate::replay::ReplaySettings;
use crate::schema::Dimension::{Actions, Planes, Samples as PerSampleRow, Scalars, Squares};
use crate::schema::{
    BatchColumn, INDEX_OR_NONE, MARGIN, NOT_NEGATIVE, PROBABILITY, PackedPlanes, PackedSquares, PerAction, PerSample,
    PolicyIndices, PositionScalars, SampleIndex, SampleView, sample_schema,
};

sample_schema! {
    /// binary planes, eight squares a byte, the first in the lowest bit
    planes: PackedPlanes, in NOT_NEGATIVE
        => Vec<f32>, [PerSampleRow, Planes, Squares], "`[B, C, H, W]`: 0 or 1.",
        |view, column| view.encoder.extend_planes(&view.position, column);

    /// numbers that hold for the whole position, in [0, 1]
    scalars: PositionScalars, in PROBABILITY
        => Vec<f32>, [PerSampleRow, Scalars], "`[B, S]`: each in `[0, 1]`.",
        |view, column| column.extend_from_slice(&view.position.scalars);

    /// the two entries of the policy vector whose sum is the action's logit; the second is the vector's length, a constant zero, where one is enough
    action_indices: PolicyIndices, in NOT_NEGATIVE
        => Vec<ActionIndices>, [Actions], "`[L]`: indices into the policy vector.",
        |view, column| {
            let indices = &view.samples.action_indices[view.actions.clone()];
            column.extend(indices.iter().map(|&indices| view.mapped_indices(indices)));
        };

    /// policy target: the search's improved policy; sums to 1 over each sample
    policy: PerAction<f32>, in PROBABILITY
        => Vec<f32>, [Actions], "`[L]`: policy targets; those of one sample sum to 1.",
        |view, column| column.extend_from_slice(&view.samples.policy[view.actions.clone()]);

    /// result of the game for the player to act: win, draw, loss; where alpha-beta plays, mixed with what it expected
    win_draw_loss: PerSample<[f32; 3]>, in PROBABILITY
        => Vec<[f32; 3]>, [PerSampleRow], "`[B]`: value targets, [`ReplaySettings::value_target`], for the player to act.",
        |view, column| {
            let (samples, index) = (view.samples, view.index);
            let (result, expected) = (samples.win_draw_loss[index], samples.search_win_draw_loss[index]);
            let time_left = view.position.time_left(view.rules());
            column.push(view.settings.value_target(result, expected, samples.margin[index], time_left));
        };

    /// what the search expected for the player to act: win, draw, loss
    search_win_draw_loss: PerSample<[f32; 3]>, in PROBABILITY;

    /// final material margin for the player to act, in [-1, 1]; where one player is noisy, the margin of the position
    margin: PerSample<f32>, in MARGIN
        => Vec<f32>, [PerSampleRow], "`[B]`: final material margin for the player to act, in `[-1, 1]`.",
        |view, column| column.push(view.samples.margin[view.index]);

    /// the pieces that are still on the board when the game ends, wherever they have gone, packed as the planes are
    survival: PackedSquares, in NOT_NEGATIVE
        => Vec<f32>, [PerSampleRow, Squares],
        "`[B, H, W]`: 1 where a piece stands that is there when the game ends, 0 where one stands that is not, -1 on empty squares.",
        |view, column| {
            let begin = column.len();
            column.resize(begin + view.encoder.shape().area(), -1.0);
            let survivors = view.mapped_squares(view.samples.survivors(view.index));
            for square in view.position.stones().iter() {
                column[begin + square.index()] = f32::from(u8::from(survivors.contains(square)));
            }
        };

    /// index of the sample whose policy is the opponent's next decision, seen from his side; -1 where there is none
    opponent_policy: SampleIndex, in INDEX_OR_NONE
        => SparsePolicy, [PerSampleRow],
        "`[B]`: policy of the opponent's next decision, seen from the player to act here; empty where it is not known.",
        |view, column| {
            let next = view.samples.opponent_policy[view.index];
            let actions = usize::try_from(next).map_or(0..0, |next| view.samples.action_range(next));
            let indices = &view.samples.action_indices[actions.clone()];
            column.push(indices.iter().zip(&view.samples.policy[actions]).flat_map(|(&indices, &probability)| {
                let indices = view.mapped_indices(indices_for_opponent(view.rules(), indices));
                entries(view.rules(), indices, probability)
            }));
        };

    /// turns from the position to the end of the game
    moves_left: PerSample<u32>, in NOT_NEGATIVE
        => Vec<f32>, [PerSampleRow], "`[B]`: `ln(1 + turns to the end of the game)`.",
        |view, column| column.push((view.samples.moves_left[view.index] as f32).ln_1p());

    /// number of the game in its generation
    games: PerSample<u32>, in NOT_NEGATIVE;

    /// turns played before the position
    turns: PerSample<u32>, in NOT_NEGATIVE;
}

impl Samples {
    /// Unpacks the position of sample `index`.
    /// Panics when there is no such sample.
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

    /// Adds sample `index` to a batch, as it is under `symmetry`, one of the
    /// [`augmentations`](crate::policy_index::augmentations).
    pub fn write_into(
        &self,
        index: usize,
        encoder: &Encoder,
        symmetry: Symmetry,
        settings: &ReplaySettings,
        batch: &mut TrainingBatch,
    ) {
        let mut position = self.position(index);
        if symmetry != Symmetry::IDENTITY {
            position = position.mapped(encoder.rules(), symmetry);
        }
        let actions = self.action_range(index);
        batch.push(&SampleView { samples: self, index, actions, encoder, settings, symmetry, position });
    }

    /// Checks samples that come from elsewhere than a shard, as those of a shard are checked.
    /// Error: the first array that is wrong, and why.
    pub fn check(&self, rules: &Rules) -> Result<(), Error> {
        if self.shape != Shape::of(rules) {
            let reason = format!("it is {:?} and must be {:?}", self.shape, Shape::of(rules));
            return Err(Error::of_array("shape", reason));
        }
        self.check_columns()?;
        self.check_contents(rules)
    }

    /// Checks that policies and win-draw-loss sum to 1, that planes show a position of the board, and
    /// that the opponent's next decision is a later one of the same game.
    /// Error: the array, the first sample that is wrong, and why.
    pub(crate) fn check_contents(&self, rules: &Rules) -> Result<(), Error> {
        let fault = |array: &str, index: usize, reason: &str| {
            Err(Error::of_array(array, format_args!("sample {index}: {reason}")))
        };
        let board = rules.board();
        let board_plane =
            PLANES.iter().position(|name| *name == "squares of the board").expect("there is such a plane");
        let bytes = packed_plane_len(self.shape.area());
        for index in 0..self.len() {
            if !sums_to_one(&self.policy[self.action_range(index)]) {
                return fault("policy", index, "its probabilities do not sum to 1");
            }
            for (name, column) in
                [("win_draw_loss", &self.win_draw_loss), ("search_win_draw_loss", &self.search_win_draw_loss)]
            {
                if !sums_to_one(&column[index]) {
                    return fault(name, index, "win, draw and loss do not sum to 1");
                }
            }
            let begin = index * PLANES.len() * bytes;
            let plane = |plane: usize| unpack_plane(&self.planes[begin + plane * bytes..][..bytes]);
            let pieces = [plane(0), plane(1), plane(2), plane(3)];
            let stones = pieces.into_iter().fold(SquareSet::EMPTY, |stones, plane| stones | plane);
            if pieces.iter().map(|plane| plane.len()).sum::<u32>() != stones.len() {
                return fault("planes", index, "two pieces stand on one square");
            }
            if plane(board_plane) != board {
                return fault("planes", index, "the plane of the board does not show the board");
            }
            if let Ok(next) = usize::try_from(self.opponent_policy[index])
                && (next <= index || self.games[next] != self.games[index])
            {
                return fault("opponent_policy", index, "it names no later sample of the same game");
            }
        }
        Ok(())
    }

    /// Unpacks the pieces of sample `index` that are still there when the game ends.
    fn survivors(&self, index: usize) -> SquareSet {
        let bytes = packed_plane_len(self.shape.area());
        unpack_plane(&self.survival[index * bytes..(index + 1) * bytes])
    }
}

impl TrainingBatch {
    /// Checks the batch: that its shape is one of this encoding, lengths and offsets.
    pub fn validate(&self) -> Result<(), Error> {
        let expected = crate::Shape::board(self.shape.files, self.shape.ranks);
        if self.shape != expected {
            return Err(Error(format!("the batch has the shape {:?} and the network {expected:?}", self.shape)));
        }
        if self.is_empty() {
            check_length("action_offsets", self.action_offsets.len(), 2)?;
        }
        self.check_lengths()
    }
}

/// A policy per sample that names only some entries of the policy vector; empty where it is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePolicy {
    /// `[B + 1]`: the entries of sample `b` are `offsets[b]..offsets[b + 1]` below.
    pub offsets: Vec<u32>,
    /// Indices into the policy vector.
    pub indices: Vec<u32>,
    /// Their probabilities; those of one sample sum to 1.
    pub probabilities: Vec<f32>,
}

impl Default for SparsePolicy {
    fn default() -> Self {
        SparsePolicy { offsets: vec![0], indices: Vec::new(), probabilities: Vec::new() }
    }
}

impl SparsePolicy {
    /// Adds the policy of one sample: indices with their probabilities.
    pub fn push(&mut self, policy: impl IntoIterator<Item = (u32, f32)>) {
        for (index, probability) in policy {
            self.indices.push(index);
            self.probabilities.push(probability);
        }
        self.offsets.push(self.indices.len() as u32);
    }
}

impl BatchColumn for SparsePolicy {
    fn check(&self, name: &str, expected: usize, shape: &Shape) -> Result<(), Error> {
        check_length(name, self.offsets.len(), expected + 1)?;
        let entries = self.offsets.last().map_or(0, |&last| last as usize);
        check_length(name, self.indices.len(), entries)?;
        check_length(name, self.probabilities.len(), entries)?;
        if let Some(index) = self.offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(Error::out_of_range(name, index + 1));
        }
        let policy_len = shape.policy_len();
        match self.indices.iter().position(|&index| index as usize >= policy_len) {
            Some(index) => Err(Error::out_of_range(name, index)),
            None => Ok(()),
        }
    }
}

/// How far a sum of probabilities may be from 1: a thousand roundings.
const SUM_TOLERANCE: f32 = 1e-3;

/// Tells whether probabilities sum to 1, as those of every sample must.
#[must_use]
pub fn sums_to_one(probabilities: &[f32]) -> bool {
    (probabilities.iter().sum::<f32>() - 1.0).abs() <= SUM_TOLERANCE
}

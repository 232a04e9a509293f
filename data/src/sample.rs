//! The samples that training learns from: the one declaration of their columns.
//!
//! Shards, checks and the table of docs/FORMATS.md follow from it; what else a training target needs is in ARCHITECTURE.md.

use latrunculi_engine::{SquareSet, Symmetry};

use crate::batch::SparsePolicy;
use crate::error::{Error, check_length};
use crate::features::{EncodedPosition, Encoder, PLANES, SCALARS, packed_plane_len, unpack_plane};
use crate::policy_index::{ActionIndices, entries, indices_for_opponent};
use crate::replay::ReplaySettings;
use crate::schema::Dimension::{Actions, Planes, Samples as PerSampleRow, Scalars, Squares};
use crate::schema::{
    INDEX_OR_NONE, MARGIN, NOT_NEGATIVE, PROBABILITY, PackedPlanes, PackedSquares, PerAction, PerSample, PolicyIndices,
    PositionScalars, SampleIndex, SampleView, sample_schema,
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

//! What the samples of a shard must be, besides the range of each number: sums, and how columns agree.

use latrunculi_engine::{Rules, SquareSet};

use crate::error::Error;
use crate::features::{PLANES, Shape, packed_plane_len, unpack_plane};
use crate::rule_inputs;
use crate::sample::Samples;
use crate::schema::Columns;

/// How far a sum of probabilities may be from 1: a thousand roundings.
const SUM_TOLERANCE: f32 = 1e-3;

/// Tells whether probabilities sum to 1, as those of every sample must.
#[must_use]
pub fn sums_to_one(probabilities: &[f32]) -> bool {
    (probabilities.iter().sum::<f32>() - 1.0).abs() <= SUM_TOLERANCE
}

impl Samples {
    /// Checks samples that come from elsewhere than a shard, as those of a shard are checked.
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
    ///
    /// # Errors
    /// The array, the first sample that is wrong, and why.
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
}

/// Checks the inputs that a shard gives for its ruleset.
pub(crate) fn check_rule_inputs(found: &[f32], rules: &Rules) -> Result<(), Error> {
    match found == rule_inputs::of(rules.ruleset()) {
        true => Ok(()),
        false => Err(Error::of_array("rule_inputs", "they are not those of the shard's ruleset")),
    }
}

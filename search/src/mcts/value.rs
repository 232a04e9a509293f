//! Sums of results, always from the first player's view.

use std::ops::{Add, AddAssign, Sub};

use latrunculi_engine::{Outcome, Player};

use crate::evaluator::{Evaluation, win_draw_loss};

/// A sum of expected results, or a single one.
///
/// Kept from the first player's view, so that no sign depends on the depth or on who moved;
/// [`ValueSum::for_player`] converts it where a decision is made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ValueSum {
    /// Probability that the first player wins less that he loses.
    pub(crate) lead: f64,
    /// Probability of a draw.
    pub(crate) draw: f64,
    /// Expected margin at the end of the game.
    pub(crate) margin: f64,
}

/// How a [`ValueSum`] becomes one number, for the first player `W - L + draw_value * D + margin_weight * margin`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueWeights {
    /// The value of a draw for the first player; the second player has its negative.
    pub(crate) draw_value: f32,
    pub(crate) margin_weight: f32,
}

impl ValueWeights {
    /// The expected result alone, a draw as 0.
    pub(crate) const RESULT: ValueWeights = ValueWeights { draw_value: 0.0, margin_weight: 0.0 };
}

impl ValueSum {
    /// Converts an evaluation given for `player`.
    pub(crate) fn from_evaluation(evaluation: &Evaluation, player: Player) -> ValueSum {
        let [win, draw, loss] = evaluation.win_draw_loss;
        let margin = f64::from(evaluation.margin) * sign(player);
        ValueSum { lead: f64::from(win - loss) * sign(player), draw: f64::from(draw), margin }
    }

    /// Returns the value of a game that is over, `margin` for the first player.
    pub(crate) fn from_outcome(outcome: Outcome, margin: f32) -> ValueSum {
        let result = match outcome.winner {
            Some(Player::First) => 1,
            None => 0,
            Some(Player::Second) => -1,
        };
        ValueSum { margin: f64::from(margin), ..ValueSum::exact(result) }
    }

    /// Returns the value of a certain result with margin 0: 1 a win of the first player, 0 a draw, -1 a loss.
    pub(crate) fn exact(result: i8) -> ValueSum {
        ValueSum { lead: f64::from(result), draw: if result == 0 { 1.0 } else { 0.0 }, margin: 0.0 }
    }

    /// Returns `count` times this.
    pub(crate) fn times(self, count: u32) -> ValueSum {
        self.scaled(f64::from(count))
    }

    /// Returns this times `factor`.
    pub(crate) fn scaled(self, factor: f64) -> ValueSum {
        ValueSum { lead: self.lead * factor, draw: self.draw * factor, margin: self.margin * factor }
    }

    /// Returns the mean over `count` results for `player` as probabilities of win, draw and loss.
    pub(crate) fn win_draw_loss(self, player: Player, count: u32) -> [f32; 3] {
        let count = f64::from(count);
        win_draw_loss(self.lead * sign(player) / count, self.draw / count)
    }

    /// Returns the mean over `count` results for `player`; in `[-1, 1]` with margin weight 0.
    #[inline]
    pub(crate) fn for_player(self, player: Player, count: u32, weights: ValueWeights) -> f32 {
        let first =
            self.lead + self.margin * f64::from(weights.margin_weight) + self.draw * f64::from(weights.draw_value);
        // Zero has no sign.
        ((first * sign(player) + 0.0) / f64::from(count)) as f32
    }
}

/// Returns 1 for the first player, -1 for the second.
#[inline]
pub(super) fn sign(player: Player) -> f64 {
    match player {
        Player::First => 1.0,
        Player::Second => -1.0,
    }
}

impl Add for ValueSum {
    type Output = ValueSum;
    fn add(self, other: ValueSum) -> ValueSum {
        ValueSum { lead: self.lead + other.lead, draw: self.draw + other.draw, margin: self.margin + other.margin }
    }
}

impl Sub for ValueSum {
    type Output = ValueSum;
    fn sub(self, other: ValueSum) -> ValueSum {
        ValueSum { lead: self.lead - other.lead, draw: self.draw - other.draw, margin: self.margin - other.margin }
    }
}

impl AddAssign for ValueSum {
    fn add_assign(&mut self, other: ValueSum) {
        *self = *self + other;
    }
}

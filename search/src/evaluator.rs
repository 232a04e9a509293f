//! The interface between search and a network or another evaluator.

use crate::game::Game;

/// The evaluation of one position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// One logit per legal action, in the order of [`Game::legal_actions`]; any common offset.
    pub policy_logits: Vec<f32>,
    /// Probabilities of win, draw and loss for the player to act; sums to 1.
    pub win_draw_loss: [f32; 3],
}

/// Returns the probabilities of win, draw and loss of an expected result `lead` (win less loss) with this probability of a
/// draw, both of which rounding may have put a little out of range: each in `[0, 1]`, together 1 to rounding.
#[must_use]
pub fn win_draw_loss(lead: f64, draw: f64) -> [f32; 3] {
    // Adding 0 takes the sign of -0.
    [(1.0 - draw + lead) / 2.0, draw, (1.0 - draw - lead) / 2.0].map(|part| (part.clamp(0.0, 1.0) + 0.0) as f32)
}

/// Why an evaluation failed; no partial answer was returned.
#[derive(Debug, thiserror::Error)]
#[error("the evaluator failed: {0}")]
pub struct EvalError(pub String);

/// Answers a batch of positions.
pub trait Evaluator<G: Game> {
    /// Writes the evaluation of `games[i]` to `evaluations[i]`.
    /// `games` holds `B >= 1` unfinished games of one ruleset; `legal_actions[i]` are the legal actions of
    /// `games[i]`. `evaluations` has `B` entries, whose vectors are cleared and refilled so that their
    /// memory is reused.
    /// Fails when the device fails; the content of `evaluations` is then meaningless.
    fn evaluate(
        &mut self,
        games: &[&G],
        legal_actions: &[&[G::Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError>;

    /// Returns how many positions it answers in about the time of one. Its answers then depend on nothing but the position.
    fn positions_at_once(&self) -> usize {
        1
    }

    /// Returns an evaluator with the same answers for another thread; `None` where one has to serve all threads.
    fn for_another_thread(&self) -> Option<Box<dyn Evaluator<G> + Send + '_>> {
        None
    }
}

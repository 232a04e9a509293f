//! A batch of positions on several threads.

use latrunculi_engine::{Action, GameState};
use latrunculi_search::{EvalError, Evaluation, Evaluator};
use rayon::prelude::*;

use super::ThreadEvaluator;

/// Answers a batch on several threads, a part on each: those of the pool of rayon that the call comes from. Holds one evaluator for each
/// of them, all with the same answers.
pub struct OnThreads<'a>(pub Vec<ThreadEvaluator<'a>>);

impl Evaluator<GameState> for OnThreads<'_> {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        // A part that is smaller than what an evaluator answers at once would take as long.
        let at_once = self.0[0].positions_at_once();
        let size = games.len().div_ceil(self.0.len()).next_multiple_of(at_once);
        let inputs = games.chunks(size).zip(legal_actions.chunks(size));
        let mut parts: Vec<_> = self.0.iter_mut().zip(inputs).zip(evaluations.chunks_mut(size)).collect();
        if let [((evaluator, (games, legal_actions)), evaluations)] = &mut parts[..] {
            return evaluator.evaluate(games, legal_actions, evaluations);
        }
        let answer = |((evaluator, (games, legal_actions)), evaluations): ((&mut ThreadEvaluator<'_>, _), _)| {
            evaluator.evaluate(games, legal_actions, evaluations)
        };
        parts.into_par_iter().try_for_each(answer)
    }

    fn positions_at_once(&self) -> usize {
        self.0.iter().map(|evaluator| evaluator.positions_at_once()).sum()
    }

    fn for_another_thread(&self) -> Option<Box<dyn Evaluator<GameState> + Send + '_>> {
        let parts = self.0.iter().map(|evaluator| evaluator.for_another_thread());
        Some(Box::new(OnThreads(parts.collect::<Option<_>>()?)))
    }
}

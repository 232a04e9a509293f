//! The loop that drives many searches on shared batches.

use std::borrow::{Borrow, BorrowMut};

use super::prediction::PredictedLeaf;
use super::{Leaf, Search, Step};
use crate::evaluator::{EvalError, Evaluation, Evaluator};
use crate::game::Game;

/// Evaluates the leaves of many searches in one call; reuses its memory from batch to batch.
///
/// # Examples
/// ```
/// use latrunculi_search::evaluators::Uniform;
/// use latrunculi_search::mcts::{LeafBatch, Search, SearchBudget, Settings};
/// use latrunculi_search::toy::TicTacToe;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut searches: Vec<_> = (0..3).map(|_| Search::new(Settings::default(), &TicTacToe::new())).collect();
/// for search in &mut searches {
///     search.start(SearchBudget { simulations: 32, add_noise: true }, &mut rng);
/// }
/// LeafBatch::default().run(&mut searches, &mut Uniform)?;
/// assert!(searches.iter().all(|search| search.simulations() == 32));
/// # Ok::<(), latrunculi_search::EvalError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LeafBatch {
    evaluations: Vec<Evaluation>,
}

impl LeafBatch {
    /// Runs all searches to the end. Searches that finish first drop out of the batch.
    pub fn run<G: Game, S: BorrowMut<Search<G>>>(
        &mut self,
        searches: &mut [S],
        evaluator: &mut dyn Evaluator<G>,
    ) -> Result<(), EvalError> {
        while self.run_round(searches, evaluator)? {}
        Ok(())
    }

    /// Runs one round: moves every search to its next leaf, evaluates all leaves in one call, and gives each search
    /// its answer. Returns false, without a call, when every search is done.
    ///
    /// Where the evaluator answers more positions at once ([`Evaluator::positions_at_once`]), the call has leaves that the searches
    /// will probably reach next, too. What they find is the same with and without.
    ///
    /// [`Search::select`] may be called before on each search, for example on several threads: it repeats its answer.
    /// Error: what the evaluator reports; the searches then still wait for their leaves.
    pub fn run_round<G: Game, S: BorrowMut<Search<G>>>(
        &mut self,
        searches: &mut [S],
        evaluator: &mut dyn Evaluator<G>,
    ) -> Result<bool, EvalError> {
        let mut waiting_count = 0;
        for search in searches.iter_mut() {
            waiting_count += usize::from(search.borrow_mut().select() == Step::Evaluate);
        }
        if waiting_count == 0 {
            return Ok(false);
        }
        let more_each = evaluator.positions_at_once().saturating_sub(waiting_count) / waiting_count;
        let waiting = searches.iter_mut().map(BorrowMut::borrow_mut).filter(|search| search.is_waiting());
        let predicted: Vec<_> = waiting.map(|search| search.predict(more_each)).collect();
        let waiting = searches.iter().map(Borrow::borrow).filter(|search| search.is_waiting());
        let leaves = waiting.map(Search::leaf).chain(predicted.iter().flatten().map(PredictedLeaf::leaf));
        let (evaluations, mut ahead) = self.evaluate(leaves, evaluator)?.split_at(waiting_count);
        let waiting = searches.iter_mut().map(BorrowMut::borrow_mut).filter(|search| search.is_waiting());
        for ((search, evaluation), predicted) in waiting.zip(evaluations).zip(predicted) {
            let (own, others) = ahead.split_at(predicted.len());
            ahead = others;
            search.receive_ahead(&predicted, own);
            search.receive(evaluation);
        }
        Ok(true)
    }

    /// Evaluates `leaves`, at least one, in one call and returns the answers in the same order.
    /// For callers that hand the answers on themselves; an answer may be swapped out of the slice.
    pub fn evaluate<'a, G: Game + 'a>(
        &mut self,
        leaves: impl Iterator<Item = Leaf<'a, G>>,
        evaluator: &mut (impl Evaluator<G> + ?Sized),
    ) -> Result<&mut [Evaluation], EvalError> {
        let (games, legal_actions): (Vec<&G>, Vec<&[G::Action]>) =
            leaves.map(|leaf| (leaf.game, leaf.legal_actions)).unzip();
        if self.evaluations.len() < games.len() {
            self.evaluations.resize_with(games.len(), Evaluation::default);
        }
        let evaluations = &mut self.evaluations[..games.len()];
        evaluator.evaluate(&games, &legal_actions, evaluations)?;
        Ok(evaluations)
    }
}

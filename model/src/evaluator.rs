//! The network as search sees it.

use latrunculi_search::{EvalError, Evaluation, Evaluator, Game};

use crate::encoding::Shape;
use crate::inference::{Answers, EncodedBatch, InferenceNetwork};

/// Positions being encoded, one after the other. The memory is reused from batch to batch.
#[derive(Clone, Debug, Default)]
pub struct EncodedPositions {
    /// `[B, planes, ranks, files]`
    pub planes: Vec<f32>,
    /// `[B, scalars]`
    pub scalars: Vec<f32>,
    /// `[B + 1]`, beginning with 0.
    pub action_offsets: Vec<u32>,
    /// `[L]`
    pub action_indices: Vec<[u32; 2]>,
}

impl EncodedPositions {
    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.planes.clear();
        self.scalars.clear();
        self.action_offsets.clear();
        self.action_offsets.push(0);
        self.action_indices.clear();
    }

    /// Returns the positions as a batch.
    #[must_use]
    pub fn as_batch(&self) -> EncodedBatch<'_> {
        EncodedBatch {
            planes: &self.planes,
            scalars: &self.scalars,
            action_offsets: &self.action_offsets,
            action_indices: &self.action_indices,
        }
    }
}

/// Writes positions as the network sees them.
pub trait Encode<G: Game> {
    /// Returns the size of what is written.
    fn shape(&self) -> Shape;

    /// Appends a position: its planes `[planes, ranks, files]`, its scalars `[scalars]`, and the pair of
    /// policy entries of each of its legal actions. [`NetEvaluator`] appends the offset.
    fn encode(&mut self, game: &G, legal_actions: &[G::Action], positions: &mut EncodedPositions);
}

/// Answers for search with a network, a batch at a time.
///
/// The calling thread computes alone on the processor; let every evaluating thread have an evaluator of
/// its own.
#[derive(Debug)]
pub struct NetEvaluator<E> {
    network: InferenceNetwork,
    encoder: E,
    positions: EncodedPositions,
    answers: Answers,
}

impl<E> NetEvaluator<E> {
    /// Puts a network behind an encoder.
    pub fn new(network: InferenceNetwork, encoder: E) -> NetEvaluator<E> {
        NetEvaluator { network, encoder, positions: EncodedPositions::default(), answers: Answers::default() }
    }

    /// Returns the network.
    #[must_use]
    pub fn network(&self) -> &InferenceNetwork {
        &self.network
    }

    /// Puts a newer network in the place of this one.
    pub fn set_network(&mut self, network: InferenceNetwork) {
        self.network = network;
    }

    /// Returns the expected final margins of the last batch, `[B]`, in `(-1, 1)` for the player to act.
    #[must_use]
    pub fn margins(&self) -> &[f32] {
        &self.answers.margin
    }
}

impl<G: Game, E: Encode<G>> Evaluator<G> for NetEvaluator<E> {
    fn evaluate(
        &mut self,
        games: &[&G],
        legal_actions: &[&[G::Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        assert!(games.len() == legal_actions.len() && games.len() == evaluations.len(), "one of each per position");
        if games.is_empty() {
            return Ok(());
        }
        self.positions.clear();
        for (game, actions) in games.iter().zip(legal_actions) {
            self.encoder.encode(game, actions, &mut self.positions);
            self.positions.action_offsets.push(self.positions.action_indices.len() as u32);
        }
        self.network
            .answer(&self.positions.as_batch(), &mut self.answers)
            .map_err(|error| EvalError::Device(error.to_string()))?;
        let offsets = self.positions.action_offsets.windows(2);
        for ((evaluation, offset), values) in evaluations.iter_mut().zip(offsets).zip(&self.answers.win_draw_loss) {
            let logits = &self.answers.logits[offset[0] as usize..offset[1] as usize];
            evaluation.policy_logits.clear();
            evaluation.policy_logits.extend_from_slice(logits);
            evaluation.win_draw_loss = *values;
        }
        Ok(())
    }
}

//! Who plays games: threads of this program with the networks that they need, or workers.

use std::sync::Arc;

use latrunculi_engine::Rules;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::Error;
use crate::agents::{AgentSpec, NetworkEvaluator, NetworkPlay, OpenedNetwork};
use crate::matches::game_play::{play_apart, play_in_step};
use crate::workers::{SharedSource, Workers, play_by_workers};

/// Who plays the games of a match, a rating or a study. Does not change the result.
#[derive(Clone, Debug)]
pub struct Players {
    /// The number of threads; 0 for one per processor core.
    pub threads: usize,
    /// The number of games that share the batches of a network.
    pub games_at_once: usize,
    /// Who plays the games instead of this program.
    pub workers: Option<Workers>,
}

impl Default for Players {
    /// All cores, 64 games at once, no workers.
    fn default() -> Self {
        Players { threads: 0, games_at_once: 64, workers: None }
    }
}

impl Players {
    pub(crate) fn pool(&self) -> Result<ThreadPool, Error> {
        Ok(ThreadPoolBuilder::new().num_threads(self.threads).build()?)
    }

    /// Plays games to their end, by the clock so many at once; without evaluators they need no network.
    pub(crate) fn play<S: SharedSource>(
        &self,
        games: &S,
        by_clock: Option<usize>,
        pool: &ThreadPool,
        evaluators: &mut [NetworkEvaluator<'_>],
    ) -> Result<(), Error> {
        match (&self.workers, by_clock) {
            (Some(workers), _) => play_by_workers(games, workers, pool),
            (None, Some(games_at_once)) => play_apart(games, games_at_once, pool, evaluators),
            (None, None) if evaluators.is_empty() => play_apart(games, usize::MAX, pool, &[]),
            (None, None) => play_in_step(games, self.games_at_once, pool, evaluators),
        }
    }
}

/// Opens a network for rules by the name that agents' texts have for it; returns what its games depend on besides the name,
/// such as the checksum of its file, too. This crate contains no networks.
///
/// Its error is the reason, in words.
pub type OpenNetwork<'a, 'e> = dyn FnMut(&Arc<Rules>, &str) -> Result<(String, OpenedNetwork<'e>), String> + 'a;

#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// Which rules it was opened for, where there are several.
    pub(crate) entry: usize,
    pub(crate) model: String,
    /// What its games depend on besides its name.
    pub(crate) identity: String,
    pub(crate) play: NetworkPlay,
}

/// The networks of some games, each opened once, in the order of their evaluators.
#[derive(Clone, Debug, Default)]
pub(crate) struct Networks {
    pub(crate) all: Vec<Opened>,
}

impl Networks {
    /// Opens a network unless it is open.
    pub(crate) fn open<'e>(
        &mut self,
        (entry, rules): (usize, &Arc<Rules>),
        model: &str,
        open: &mut OpenNetwork<'_, 'e>,
        evaluators: &mut Vec<NetworkEvaluator<'e>>,
    ) -> Result<(), String> {
        if !self.all.iter().any(|known| known.entry == entry && known.model == model) {
            let (identity, OpenedNetwork { evaluator, play }) = open(rules, model)?;
            self.all.push(Opened { entry, model: model.to_owned(), identity, play });
            evaluators.push(evaluator);
        }
        Ok(())
    }

    /// Returns the network of an agent, if it needs one, and its index; `None` where that is not open.
    pub(crate) fn of(&self, entry: usize, agent: &AgentSpec) -> Option<Option<(usize, &Opened)>> {
        let Some(model) = agent.model() else { return Some(None) };
        let mut all = self.all.iter().enumerate();
        all.find(|(_, known)| known.entry == entry && known.model == model).map(Some)
    }
}

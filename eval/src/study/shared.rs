//! A series of a study as workers are told of it.

use std::sync::{Arc, Mutex, PoisonError};

use latrunculi_engine::{Action, GameState, Rules};

use super::series::{Series, StudyPlay};
use super::tally::StopRule;
use crate::agents::NetworkEvaluator;
use crate::matches::game_play::{Beginning, Matchup};
use crate::matches::ledger::Place;
use crate::matches::openings::{Opening, OpeningBook};
use crate::players::{Networks, OpenNetwork};
use crate::workers::read_ruleset;
use crate::workers::work::SharedGames;

/// A series whose games a worker plays.
pub(crate) struct SharedSeries {
    series: Series,
    book: Mutex<Option<OpeningBook>>,
}

impl SharedSeries {
    /// Makes the series and opens its networks.
    ///
    /// # Errors
    /// In words, why its games cannot be played here.
    pub(crate) fn new<'e>(
        play: &StudyPlay,
        open: &mut OpenNetwork<'_, 'e>,
    ) -> Result<(SharedSeries, Vec<NetworkEvaluator<'e>>), String> {
        let rules = read_ruleset(&play.ruleset)?;
        let evaluated_as = read_ruleset(&play.evaluated_as)?;
        let (mut networks, mut evaluators) = (Networks::default(), Vec::new());
        let opener = play.opening_policy.as_ref().map(|policy| &policy.agent);
        for model in [Some(&play.agent), opener].into_iter().flatten().filter_map(|agent| agent.model()) {
            networks.open((0, &rules), model, open, &mut evaluators)?;
        }
        let opened = [Some(&play.agent), opener].map(|agent| networks.of(0, agent?).flatten());
        let first_turn = read_turn(&rules, play.kind.first_turn())?;
        let stop = StopRule::of_games(0);
        let series = Series::new(play.clone(), &rules, evaluated_as.ruleset(), first_turn, opened, stop);
        let book = Mutex::new(series.openings());
        Ok((SharedSeries { series, book }, evaluators))
    }

    /// Returns the opening of a game, unless the opening policy draws it in the game, and whether the game would only repeat
    /// an earlier one.
    fn opening(&self, index: usize) -> (Option<Opening>, bool) {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let drawn = book.as_mut().map(|book| self.series.opening(index, book)).unzip();
        (drawn.0, drawn.1 == Some(true))
    }
}

/// Reads the actions of a first turn.
fn read_turn(rules: &Arc<Rules>, texts: &[String]) -> Result<Vec<Action>, String> {
    let mut state = GameState::new(Arc::clone(rules));
    let read = |text: &String| {
        let action = state.parse_action(text).map_err(|error| error.to_string())?;
        state.play(action);
        Ok(action)
    };
    texts.iter().map(read).collect()
}

impl SharedGames for SharedSeries {
    fn key(&self) -> &str {
        &self.series.key
    }

    fn played(&self, [from, to]: [usize; 2]) -> Vec<usize> {
        (from..to).filter(|&index| !self.opening(index).1).collect()
    }

    fn place(&self, index: usize) -> Place {
        self.series.place(index)
    }

    fn matchup(&self) -> Matchup<'_> {
        self.series.matchup(0)
    }

    fn beginning(&self, index: usize) -> Beginning {
        self.series.beginning_of(index, self.opening(index).0.as_ref())
    }
}

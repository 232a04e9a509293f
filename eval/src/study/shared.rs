//! A series of a study as workers are told of it.

use std::sync::{Arc, Mutex, PoisonError};

use latrunculi_engine::{Action, GameState, Rules};

use super::series::{Series, StudyPlay};
use super::tally::StopRule;
use crate::agents::{AgentSpec, NetworkEvaluator, NetworkPlay, OpenedNetwork};
use crate::matches::OpenShared;
use crate::matches::game_play::{Beginning, Matchup};
use crate::matches::ledger::Place;
use crate::matches::openings::{Opening, RandomOpenings};
use crate::workers::read_ruleset;
use crate::workers::work::SharedGames;

/// A series whose games a worker plays.
pub(crate) struct SharedSeries {
    series: Series,
    drawn: Mutex<Option<Drawn>>,
}

/// The openings drawn so far, each with whether its game would only repeat an earlier one.
struct Drawn {
    openings: RandomOpenings,
    all: Vec<(Opening, bool)>,
}

impl SharedSeries {
    /// Makes the series and opens its networks.
    ///
    /// # Errors
    /// In words, why its games cannot be played here.
    pub(crate) fn new<'e>(
        play: &StudyPlay,
        open: &mut OpenShared<'_, 'e>,
    ) -> Result<(SharedSeries, Vec<NetworkEvaluator<'e>>), String> {
        let rules = read_ruleset(&play.ruleset)?;
        let evaluated_as = read_ruleset(&play.evaluated_as)?.ruleset().clone();
        let mut play = play.clone();
        let mut evaluators = Vec::new();
        let mut network = |spec: &AgentSpec| -> Result<Option<(usize, NetworkPlay, String)>, String> {
            let Some(model) = spec.model() else { return Ok(None) };
            let (mut identity, OpenedNetwork { evaluator, play }) = open(&rules, model)?;
            if !play.kernel.is_empty() {
                identity.push_str(&format!(" kernel={}", play.kernel));
            }
            evaluators.push(evaluator);
            Ok(Some((evaluators.len() - 1, play, identity)))
        };
        let own = network(&play.agent)?;
        let mut opener = None;
        if let Some(policy) = &mut play.opening_policy {
            opener = network(&policy.agent)?;
            policy.identity = opener.as_ref().map(|(.., identity)| identity.clone()).unwrap_or_default();
        }
        let identity = own.as_ref().map(|(.., identity)| identity.clone()).unwrap_or_default();
        let text = play.agent.text_with(own.as_ref().map(|(_, play, _)| play));
        let series = Series {
            ruleset: 0,
            agent: 0,
            first_turn: read_turn(&rules, play.kind.first_turn())?,
            play,
            rules,
            evaluated_as,
            text,
            networks: [own, opener].map(|network| network.map(|(at, play, _)| (at, play))),
            stop: StopRule::of_games(0),
            identity,
            key: String::new(),
        }
        .with_key();
        let drawn = series.openings().map(|openings| Drawn { openings, all: Vec::new() });
        Ok((SharedSeries { series, drawn: Mutex::new(drawn) }, evaluators))
    }

    /// Returns the opening of a game, unless the opening policy draws it in the game, and whether the game would only repeat
    /// an earlier one.
    fn opening(&self, index: usize) -> (Option<Opening>, bool) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Drawn { openings, all }) = &mut *drawn else { return (None, false) };
        while all.len() <= index {
            all.push(self.series.draw_opening(all.len(), openings));
        }
        let (opening, repeats) = all[index].clone();
        (Some(opening), repeats)
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

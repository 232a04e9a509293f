//! A series of a study as workers are told of it.

use std::sync::{Mutex, PoisonError};

use latrunculi_engine::{GameState, Rules, RulesetFile};
use serde::{Deserialize, Serialize};

use super::series::{Series, SeriesKind};
use super::tally::StopRule;
use crate::agents::{AgentSpec, NetworkEvaluator, NetworkPlay, OpenedNetwork};
use crate::matches::game_play::{Beginning, Matchup};
use crate::matches::ledger::Place;
use crate::matches::openings::{Opening, PolicyOpenings, RandomOpenings};
use crate::matches::{OpenShared, SharedPolicy};
use crate::workers::work::SharedGames;
use crate::workers::{SeriesHead, SharedPlay, read_ruleset};

/// All that the games of a series depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyPlay {
    ruleset: String,
    evaluated_as: String,
    agent: String,
    seed: u64,
    kind: SharedKind,
    opening_length: usize,
    opening_policy: Option<SharedPolicy>,
    /// Of so many actions the visits are told, for metrics; 0: of none.
    pub(crate) visits_within: usize,
}

/// As [`SeriesKind`], actions as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SharedKind {
    Main,
    SecondOpening,
    RandomPlacement,
    Handicap(i32),
    PieTurn(usize, Vec<String>),
    PieHeldOut(Vec<String>),
}

impl Series {
    /// Returns what workers must know of the series.
    pub(super) fn head(&self) -> SeriesHead {
        let kind = match &self.kind {
            SeriesKind::Main => SharedKind::Main,
            SeriesKind::SecondOpening => SharedKind::SecondOpening,
            SeriesKind::RandomPlacement => SharedKind::RandomPlacement,
            SeriesKind::Handicap(men) => SharedKind::Handicap(*men),
            SeriesKind::PieTurn(index, turn) => SharedKind::PieTurn(*index, self.turn_text(turn)),
            SeriesKind::PieHeldOut(turn) => SharedKind::PieHeldOut(self.turn_text(turn)),
        };
        let play = StudyPlay {
            ruleset: SeriesHead::rules_text(self.rules.ruleset()),
            evaluated_as: SeriesHead::rules_text(&self.evaluated_as),
            agent: self.spec.to_string(),
            seed: self.study_seed,
            kind,
            opening_length: self.opening_length,
            opening_policy: self.opening_policy.as_ref().map(SharedPolicy::of),
            visits_within: self.visits_within,
        };
        let openers = self.opening_policy.iter().map(|policy| &policy.agent);
        let agents: Vec<&AgentSpec> = std::iter::once(&self.spec).chain(openers).collect();
        SeriesHead::new(&self.key, self.stop.games_max, &agents, &self.evaluated_as, SharedPlay::Study(play))
    }
}

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
        let evaluated_as = RulesetFile::parse(&play.evaluated_as);
        let evaluated_as = evaluated_as.map_err(|error| error.to_string())?.ruleset;
        let spec: AgentSpec = play.agent.parse().map_err(|error| format!("{error}"))?;
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
        let own = network(&spec)?;
        let mut opening_policy: Option<PolicyOpenings> =
            play.opening_policy.as_ref().map(SharedPolicy::read).transpose()?;
        let mut opener = None;
        if let Some(policy) = &mut opening_policy {
            opener = network(&policy.agent)?;
            policy.identity = opener.as_ref().map(|(.., identity)| identity.clone()).unwrap_or_default();
        }
        let identity = own.as_ref().map(|(.., identity)| identity.clone()).unwrap_or_default();
        let text = spec.text_with(own.as_ref().map(|(_, play, _)| play));
        let kind = match &play.kind {
            SharedKind::Main => SeriesKind::Main,
            SharedKind::SecondOpening => SeriesKind::SecondOpening,
            SharedKind::RandomPlacement => SeriesKind::RandomPlacement,
            SharedKind::Handicap(men) => SeriesKind::Handicap(*men),
            SharedKind::PieTurn(index, turn) => SeriesKind::PieTurn(*index, read_turn(&rules, turn)?),
            SharedKind::PieHeldOut(turn) => SeriesKind::PieHeldOut(read_turn(&rules, turn)?),
        };
        let series = Series {
            kind,
            ruleset: 0,
            agent: 0,
            rules,
            evaluated_as,
            spec,
            text,
            networks: [own, opener].map(|network| network.map(|(at, play, _)| (at, play))),
            opening_length: play.opening_length,
            opening_policy,
            visits_within: play.visits_within,
            stop: StopRule::of_games(0),
            study_seed: play.seed,
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
fn read_turn(rules: &std::sync::Arc<Rules>, texts: &[String]) -> Result<Vec<latrunculi_engine::Action>, String> {
    let mut state = GameState::new(std::sync::Arc::clone(rules));
    let read = |text: &String| {
        let action = state.parse_action(text).map_err(|error| error.to_string())?;
        state.try_play(action).map_err(|error| error.to_string())?;
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

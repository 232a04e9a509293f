//! The series of games that a study consists of, a function of the settings and the rulesets; only what depends on results
//! (handicaps, the chosen first turn) is planned after the first part, as a function of its counted games.

use std::collections::HashSet;
use std::sync::Arc;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::SetupMode;
use latrunculi_engine::{Action, Player, Rules, Ruleset};
use latrunculi_search::latrunculi::Weights;

use super::check::{check, describe};
use super::faulty_settings;
use super::series::{Series, SeriesKind, StudyPlay, first_player, identity_of, turn_text};
use super::settings::StudySettings;
use super::summary::{AgentSummary, Derivation};
use super::sweep::{self, NotDerived};
use super::tally::{SeriesTally, StopRule};
use super::turns::{FirstTurns, first_turns};
use crate::Error;
use crate::agents::{AgentKind, AgentSpec, AgentTextError, NetworkEvaluator, mix_seeds};
use crate::matches::openings::{PolicyOpenings, default_length};
use crate::metrics::MetricsConfig;
use crate::players::{Networks, OpenNetwork, Opened};
use crate::workers::SeriesHead;
use latrunculi_stats::Confidence;

/// Stands for the ruleset's id in the path of a model.
const RULESET_IN_PATH: &str = "{ruleset}";
/// How long openings are that are drawn from a policy, unless all stones are placed later.
const POLICY_OPENING: usize = 20;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) rules: Arc<Rules>,
    /// The entry it is derived from, and how.
    pub(super) derived: Option<(usize, Derivation)>,
}

pub(super) struct Plan {
    pub(super) settings: StudySettings,
    pub(super) confidence: Confidence,
    pub(super) entries: Vec<Entry>,
    pub(super) specs: Vec<AgentSpec>,
    pub(super) agents: Vec<AgentSummary>,
    pub(super) headline: usize,
    opening_policy: Option<PolicyOpenings>,
    networks: Networks,
    pub(super) notes: Vec<String>,
}

impl Plan {
    /// Makes the plan and opens the networks that it needs.
    pub(super) fn new<'e>(
        settings: &StudySettings,
        rulesets: &[Ruleset],
        open: &mut OpenNetwork<'_, 'e>,
    ) -> Result<(Plan, Vec<NetworkEvaluator<'e>>), Error> {
        let specs = check(settings, rulesets)?;
        let opening_policy = match &settings.opening.policy {
            None => None,
            Some(text) => {
                let refused = |fault: String| faulty_settings(&[format!("opening.policy: {fault}")]);
                let agent: AgentSpec = text.parse().map_err(|error: AgentTextError| refused(error.to_string()))?;
                agent.check_repeats().map_err(|error| refused(error.to_string()))?;
                Some(PolicyOpenings::new(agent, settings.opening.temperature).map_err(refused)?)
            }
        };
        let mut notes = Vec::new();
        let entries = entries(settings, rulesets, &mut notes)?;
        let agents: Vec<AgentSummary> =
            specs.iter().zip(&settings.agents).map(|(spec, text)| describe(spec, text)).collect();
        let headline = (0..agents.len())
            .filter(|&agent| agents[agent].family == agents[0].family)
            .max_by_key(|&agent| agents[agent].budget)
            .unwrap_or(0);
        let confidence = Confidence::new(settings.confidence).map_err(|error| faulty_settings(&[error.to_string()]))?;
        let mut plan = Plan {
            settings: settings.clone(),
            confidence,
            entries,
            specs,
            agents,
            headline,
            opening_policy,
            networks: Networks::default(),
            notes,
        };
        let evaluators = plan.open_networks(open)?;
        Ok((plan, evaluators))
    }

    fn open_networks<'e>(&mut self, open: &mut OpenNetwork<'_, 'e>) -> Result<Vec<NetworkEvaluator<'e>>, Error> {
        let mut evaluators = Vec::new();
        let openers = self.opening_policy.iter().map(|policy| policy.agent.clone());
        let specs: Vec<AgentSpec> = self.specs.iter().cloned().chain(openers).collect();
        for spec in specs {
            let Some(model) = spec.model() else { continue };
            let mut found_any = false;
            for entry in 0..self.entries.len() {
                let path = self.model_path(entry, model);
                let rules = &self.entries[entry].rules;
                match self.networks.open((entry, rules), &path, open, &mut evaluators) {
                    Ok(()) => found_any = true,
                    Err(reason) => {
                        let id = &rules.ruleset().id;
                        self.notes.push(format!("{spec} plays no games of {id}: network {path:?}: {reason}."));
                    }
                }
            }
            if !found_any {
                let reason = self.notes.pop().unwrap_or_default();
                return Err(Error::Refused(format!("{spec} can play none of the rulesets: {reason}")));
            }
        }
        Ok(evaluators)
    }

    fn model_path(&self, entry: usize, model: &str) -> String {
        model.replace(RULESET_IN_PATH, &self.base_of(entry).rules.ruleset().id)
    }

    fn base_of(&self, entry: usize) -> &Entry {
        match &self.entries[entry].derived {
            Some((base, ..)) => &self.entries[*base],
            None => &self.entries[entry],
        }
    }

    /// Returns a checksum of each network that takes part, in the order of rulesets and agents.
    pub(super) fn identities(&self) -> Vec<String> {
        let id = |entry: usize| &self.entries[entry].rules.ruleset().id;
        let text = |opened: &Opened| format!("{} {}@{}", id(opened.entry), opened.model, identity_of(opened));
        self.networks.all.iter().map(text).collect()
    }

    /// Returns a number that changes when alpha-beta judges any of the rulesets otherwise.
    pub(super) fn evaluation(&self) -> String {
        let numbers = self.entries.iter().flat_map(|entry| Weights::for_ruleset(entry.rules.ruleset()).numbers());
        format!("{:016x}", mix_seeds(&numbers.collect::<Vec<u64>>()))
    }

    /// Returns the series of the first part, the games of each ruleset as it is before all else.
    ///
    /// # Errors
    /// [`Error::Refused`] where two series would consist of the same games.
    pub(super) fn first_part(&self) -> Result<Vec<Series>, Error> {
        let mut series = Vec::new();
        for entry in 0..self.entries.len() {
            for agent in 0..self.specs.len() {
                series.extend(self.series(entry, agent, SeriesKind::Main, Vec::new()));
                if self.settings.opening.second.is_some_and(|second| second != self.opening_length(entry)) {
                    series.extend(self.series(entry, agent, SeriesKind::SecondOpening, Vec::new()));
                }
            }
            if self.settings.phases && self.is_placement(entry) {
                series.extend(self.series(entry, self.headline, SeriesKind::RandomPlacement, Vec::new()));
            }
            if self.settings.pie && self.entries[entry].derived.is_none() {
                for (index, turn) in self.first_turns(entry).turns.into_iter().enumerate() {
                    let kind = SeriesKind::PieTurn(index, turn_text(&self.entries[entry].rules, &turn));
                    series.extend(self.series(entry, self.headline, kind, turn));
                }
            }
        }
        all_different(series)
    }

    /// Returns the series that depend on what the first part found.
    ///
    /// # Errors
    /// As [`Plan::first_part`].
    pub(super) fn second_part(&self, first: &[(Series, SeriesTally)]) -> Result<Vec<Series>, Error> {
        let mut series = Vec::new();
        for entry in 0..self.entries.len() {
            let is_own = |series: &Series| series.ruleset == entry && series.agent == self.headline;
            if let Some(main) = first.iter().find(|(series, _)| is_own(series) && series.play.kind == SeriesKind::Main)
                && self.entries[entry].derived.is_none()
                && let Some(score) = main.1.score()
            {
                let sign = if score.score.mean() >= 0.5 { 1 } else { -1 };
                for &men in &self.settings.compensation {
                    let handicap = sign * men as i32;
                    if men > 0 && self.can_lose(entry, handicap) {
                        series.extend(self.series(entry, self.headline, SeriesKind::Handicap(handicap), Vec::new()));
                    }
                }
            }
            let turns = first.iter().filter(|(series, _)| is_own(series));
            if let Some(fairest) = fairest_turn(turns) {
                let kind = SeriesKind::PieHeldOut(fairest.play.kind.first_turn().to_vec());
                series.extend(self.series(entry, self.headline, kind, fairest.first_turn.clone()));
            }
        }
        all_different(series)
    }

    /// Returns a series of games that begin with `first_turn`; `None` where a network of it could not be opened.
    fn series(&self, entry: usize, agent: usize, kind: SeriesKind, first_turn: Vec<Action>) -> Option<Series> {
        let settings = &self.settings;
        let usual = self.opening_length(entry);
        let opening_length = match kind {
            SeriesKind::Main | SeriesKind::Handicap(_) => usual,
            SeriesKind::SecondOpening => settings.opening.second?,
            SeriesKind::RandomPlacement => self.stones_to_place(entry),
            // As many actions open the game as without the turn, but some of them must differ.
            SeriesKind::PieTurn(..) | SeriesKind::PieHeldOut(_) => usual.saturating_sub(first_turn.len()).max(2),
        };
        let (min_games, max_games) = (settings.min_games, settings.max_games);
        let stop = match kind {
            SeriesKind::PieTurn(..) => StopRule::of_games(settings.pie_games),
            _ => StopRule::of_width(settings.half_width, self.confidence, min_games, max_games, settings.batch),
        };
        let on_path = |spec: &AgentSpec| {
            let mut spec = spec.clone();
            if let AgentKind::Network { model, .. } = &mut spec.kind {
                *model = self.model_path(entry, model);
            }
            spec
        };
        let spec = on_path(&self.specs[agent]);
        let own = self.networks.of(entry, &spec)?;
        let (mut opening_policy, mut opener) = (None, None);
        if let Some(policy) = &self.opening_policy {
            let agent = on_path(&policy.agent);
            opener = self.networks.of(entry, &agent)?;
            opening_policy = Some(PolicyOpenings { agent, ..policy.clone() });
        }
        if kind == SeriesKind::RandomPlacement {
            (opening_policy, opener) = (None, None);
        }
        let rules = &self.entries[entry].rules;
        let evaluated_as = self.base_of(entry).rules.ruleset();
        let play = StudyPlay {
            ruleset: SeriesHead::rules_text(rules.ruleset()),
            evaluated_as: SeriesHead::rules_text(evaluated_as),
            agent: spec,
            seed: settings.seed,
            kind,
            opening_length,
            opening_policy,
            visits_within: if settings.metrics { MetricsConfig::default().opening_actions as usize } else { 0 },
        };
        let series = Series::new(play, rules, evaluated_as, first_turn, [own, opener], stop);
        Some(Series { ruleset: entry, agent, ..series })
    }

    /// Returns the first turns of a ruleset that the pie rule tries.
    pub(super) fn first_turns(&self, entry: usize) -> FirstTurns {
        first_turns(&self.entries[entry].rules, self.settings.pie_turns, mix_seeds(&[self.settings.seed, 3]))
    }

    fn is_placement(&self, entry: usize) -> bool {
        self.entries[entry].rules.ruleset().setup.mode == SetupMode::Placement
    }

    fn stones_to_place(&self, entry: usize) -> usize {
        let position = self.entries[entry].rules.initial_position();
        Player::BOTH.iter().map(|&player| usize::from(position.hand(player).stones())).sum()
    }

    /// Returns how many actions are drawn at the beginning of a game.
    pub(super) fn opening_length(&self, entry: usize) -> usize {
        let opening = &self.settings.opening;
        let own = |entry: &Entry| opening.by_ruleset.get(&entry.rules.ruleset().id).copied();
        if let Some(length) = own(&self.entries[entry]).or_else(|| own(self.base_of(entry))) {
            return length;
        }
        let (given, is_placement) =
            if self.is_placement(entry) { (opening.placement, true) } else { (opening.array, false) };
        given.unwrap_or_else(|| match (&opening.policy, is_placement) {
            (None, _) => default_length(&self.entries[entry].rules),
            (Some(_), true) => self.stones_to_place(entry).max(POLICY_OPENING),
            (Some(_), false) => POLICY_OPENING,
        })
    }

    /// Returns whether a side can lack so many men and still have a game.
    fn can_lose(&self, entry: usize, handicap: i32) -> bool {
        let rules = &self.entries[entry].rules;
        let first = first_player(rules);
        let loser = if handicap > 0 { first } else { first.opponent() };
        let left = rules.men_at_start(loser) as i32 - handicap.abs();
        left > i32::from(rules.ruleset().end.eliminate_at) + 1
    }
}

/// Returns the series unless two of them would consist of the same games: those are found by their keys, and each
/// game would count twice as if it were two.
fn all_different(series: Vec<Series>) -> Result<Vec<Series>, Error> {
    let mut keys: HashSet<&str> = HashSet::new();
    let faults: Vec<String> = series
        .iter()
        .filter(|one| !keys.insert(&one.key))
        .map(|one| {
            format!("{} with {}: these games are asked for twice ({})", one.rules.ruleset().id, one.play.agent, one.key)
        })
        .collect();
    if faults.is_empty() { Ok(series) } else { Err(faulty_settings(&faults)) }
}

/// Returns the series of the first turn whose score is nearest ½; the first of several.
pub(super) fn fairest_turn<'a>(series: impl Iterator<Item = &'a (Series, SeriesTally)>) -> Option<&'a Series> {
    series
        .filter(|(series, _)| matches!(series.play.kind, SeriesKind::PieTurn(..)))
        .filter_map(|(series, tally)| Some(((tally.counts.outcomes.win_draw_loss().mean()? - 0.5).abs(), series)))
        .reduce(|nearest, other| if other.0 < nearest.0 { other } else { nearest })
        .map(|(_, series)| series)
}

/// Makes the rules of a study: each ruleset, followed by those that the sweeps derive from it.
fn entries(settings: &StudySettings, rulesets: &[Ruleset], notes: &mut Vec<String>) -> Result<Vec<Entry>, Error> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut faults = Vec::new();
    for ruleset in rulesets {
        if entries.iter().any(|entry| entry.rules.ruleset().id == ruleset.id) {
            faults.push(format!("two rulesets are called {:?}", ruleset.id));
            continue;
        }
        // Their games would say the same, and a correction for many rulesets would count them as two.
        let given = entries.iter().filter(|entry| entry.derived.is_none()).map(|entry| entry.rules.ruleset());
        if let Some(twin) = given.into_iter().find(|given| ruleset_fingerprint(given) == ruleset_fingerprint(ruleset)) {
            faults.push(format!("{:?} and {:?} have the same rules: leave one out", twin.id, ruleset.id));
            continue;
        }
        let rules = match Rules::new(ruleset) {
            Ok(rules) => Arc::new(rules),
            Err(error) => {
                faults.push(error.to_string());
                continue;
            }
        };
        let base = entries.len();
        entries.push(Entry { rules: Arc::clone(&rules), derived: None });
        for (name, texts) in &settings.sweep {
            let parameter = sweep::parameter(name).map_err(|fault| faulty_settings(&[fault]))?;
            for text in texts {
                match sweep::derive(&rules, parameter, text) {
                    Ok((rules, derivation)) => {
                        entries.push(Entry { rules: Arc::new(rules), derived: Some((base, derivation)) });
                    }
                    Err(NotDerived::Same) => {}
                    Err(NotDerived::Useless(note)) => notes.push(note),
                }
            }
        }
    }
    if faults.is_empty() { Ok(entries) } else { Err(faulty_settings(&faults)) }
}

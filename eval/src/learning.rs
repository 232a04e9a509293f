//! The course of training runs: what a run wrote about each of its rounds, and how strong its network was when.

mod round;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rating::Rated;
use crate::study::table::{number, quoted};
use latrunculi_data::MatchScore;
use latrunculi_stats::{BradleyTerry, Confidence, Covariance, DrawModel, Interval, SeriesResult, WinDrawLoss};

pub use round::{EarlierMatch, GameMetrics, Round, RulesetMetrics, RunMatch, TrainingMetrics, percent_of_men};

/// How strong the network of a run was at some time in one ruleset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The ruleset.
    pub ruleset: String,
    /// Minutes of the run that had made this network.
    pub minutes: f64,
    /// Generations played until then.
    pub generations: u64,
    /// Games played until then, the teacher's included.
    pub games: u64,
    /// Training steps made until then.
    pub steps: u64,
    /// What the match found.
    pub verdict: RunMatch,
    /// Elo of the network in this ruleset with its 95 % interval, from all matches of the run in it together: those with
    /// the opponent, who has 0, and those with the run's own earlier networks. `None` where there were none of these. Where no
    /// chain of points joins the network to the opponent in both directions, the interval has one end, or none.
    pub elo: Option<Rated>,
    /// Whether a weak prior holds the numbers of all networks in this ruleset, as the matches alone determine no strengths even
    /// of those that took points off one another ([`BradleyTerry::fit`]).
    pub is_elo_held: bool,
}

impl Measured {
    /// Returns whether the score can be compared with another: the same opponent, and as many simulations.
    #[must_use]
    pub fn is_comparable(&self, other: &Measured) -> bool {
        let (one, other) = (&self.verdict, &other.verdict);
        (&one.opponent, one.simulations) == (&other.opponent, other.simulations)
    }

    /// Returns the 95 % interval of the margin, if that was measured.
    #[must_use]
    pub fn margin_interval(&self) -> Option<Interval> {
        Some(self.verdict.margin?.interval_of_margin(Confidence::NINETY_FIVE))
    }
}

/// Parts the matches of a run by ruleset, by opponent and by the network's simulations, in the order in which these were
/// first met: only scores within one part make a curve.
#[must_use]
pub fn by_opponent(measured: &[Measured]) -> Vec<Vec<&Measured>> {
    let mut parts: Vec<Vec<&Measured>> = Vec::new();
    for one in measured {
        match parts.iter_mut().find(|part| part[0].ruleset == one.ruleset && part[0].is_comparable(one)) {
            Some(part) => part.push(one),
            None => parts.push(vec![one]),
        }
    }
    parts
}

/// A training run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearningRun {
    /// Its name.
    pub name: String,
    /// The rulesets that it learnt, by name.
    pub rulesets: Vec<String>,
    /// The network in words, as `4 blocks x 32 channels`.
    pub network: String,
    /// Simulations of a decision in self-play.
    pub simulations: u32,
    /// Its rounds, in order.
    pub rounds: Vec<Round>,
    /// Whether half a line stands behind them, of a program that writes it or was killed.
    #[serde(skip)]
    pub is_cut: bool,
    /// The matches at its end by ruleset, if it has come so far.
    pub result: Option<BTreeMap<String, RunMatch>>,
}

impl LearningRun {
    /// Returns the rulesets in a few words: the only one, or how many there are.
    #[must_use]
    pub fn subject(&self) -> String {
        match &self.rulesets[..] {
            [only] => only.clone(),
            rulesets => format!("{} rulesets", rulesets.len()),
        }
    }

    /// Returns how strong the network was when, in order; the last entries are those of the finished run.
    #[must_use]
    pub fn measured(&self) -> Vec<Measured> {
        let unrated = |ruleset: &String, verdict: &RunMatch, minutes, generations, games, steps| {
            let (ruleset, verdict) = (ruleset.clone(), verdict.clone());
            Measured { ruleset, minutes, generations, games, steps, verdict, elo: None, is_elo_held: false }
        };
        let mut found = Vec::new();
        let (mut generations, mut games, mut steps) = (0, 0, 0);
        for round in &self.rounds {
            // Not a count of the rounds: lines may be missing.
            generations = round.generation;
            for (ruleset, verdict) in &round.verdicts {
                // That is the network which the round begins with, unless it learns first.
                let (secs, steps) =
                    if round.learns_first { (round.training.train_secs, round.steps_total) } else { (0.0, steps) };
                let minutes = (round.elapsed_secs - round.round_secs + secs).max(0.0) / 60.0;
                found.push(unrated(ruleset, verdict, minutes, generations, games, steps));
            }
            generations += u64::from(round.games.is_some());
            games += round.all_games().map_or(0, |all| all.games);
            steps = round.steps_total;
        }
        for (ruleset, verdict) in self.result.iter().flatten() {
            found.push(unrated(ruleset, verdict, self.minutes(), generations, games, steps));
        }
        for ruleset in &self.rulesets {
            rate(&mut found.iter_mut().filter(|one| one.ruleset == *ruleset).collect::<Vec<_>>());
        }
        found
    }

    /// Returns the minutes that the rounds took.
    #[must_use]
    pub fn minutes(&self) -> f64 {
        self.rounds.last().map_or(0.0, |round| round.elapsed_secs / 60.0)
    }

    /// Returns the games played, the teacher's included.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.rounds.iter().filter_map(Round::all_games).map(|all| all.games).sum()
    }

    /// Returns the rounds in which games were played.
    pub fn played(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| round.games.is_some())
    }
}

/// Rates the networks that were measured in one ruleset by all their matches together, if one was between two of them.
/// Who began a game is not known here, so the model has no advantage of the first player; every opening is played in both
/// seats.
fn rate(measured: &mut [&mut Measured]) {
    let mut opponents: Vec<&str> = measured.iter().map(|one| &*one.verdict.opponent).collect();
    opponents.sort_unstable();
    opponents.dedup();
    // The first opponent of the run is the agent with strength 0, the networks come after the opponents.
    if let Some(first) = measured.first().map(|one| &one.verdict.opponent) {
        opponents.sort_by_key(|opponent| opponent != first);
    }
    let agent_of_opponent = |opponent: &str| opponents.iter().position(|known| *known == opponent).unwrap_or_default();
    let mut series = Vec::new();
    let mut has_earlier = false;
    for (index, one) in measured.iter().enumerate() {
        let first = opponents.len() + index;
        let mut add = |second, MatchScore { wins, draws, losses, .. }| {
            let opening = series.len() as u64;
            series.push(SeriesResult { first, second, games: WinDrawLoss { wins, draws, losses }, opening });
        };
        add(agent_of_opponent(&one.verdict.opponent), one.verdict.result);
        if let Some(EarlierMatch { generation, result }) = one.verdict.earlier
            && let Some(before) = measured[..index].iter().position(|one| one.generations == generation)
        {
            add(opponents.len() + before, result);
            has_earlier = true;
        }
    }
    if !has_earlier {
        return;
    }
    let model = BradleyTerry::new(DrawModel::Davidson, opponents.len() + measured.len()).with_advantage(0.0);
    let (Ok(fit), opponents) = (model.fit(&series), opponents.len()) else { return };
    for (index, one) in measured.iter_mut().enumerate() {
        one.elo = Rated::elo(&fit, opponents + index, Covariance::Fisher, Confidence::NINETY_FIVE).ok();
        one.is_elo_held = one.elo.is_some() && fit.regularised();
    }
}

/// How a run stood over all its rulesets at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Minutes of the run.
    pub minutes: f64,
    /// Rulesets in which a match has been played until then.
    pub rulesets: usize,
    /// Mean of the last score in each of them.
    pub mean: f64,
    /// The lowest of these.
    pub worst: f64,
}

/// Returns mean and worst score over the rulesets at the time of each match on the terms of the last one: its opponent and
/// the network's simulations. The last score of a ruleset counts until the next match in it.
#[must_use]
pub fn standings<'a>(measured: impl IntoIterator<Item = &'a Measured>) -> Vec<Standing> {
    let measured: Vec<&Measured> = measured.into_iter().collect();
    let last = measured.last().copied();
    let mut scores: BTreeMap<&str, f64> = BTreeMap::new();
    let mut found: Vec<Standing> = Vec::new();
    for one in measured.into_iter().filter(|one| last.is_some_and(|last| one.is_comparable(last))) {
        scores.insert(&one.ruleset, one.verdict.result.score);
        let mean = scores.values().sum::<f64>() / scores.len() as f64;
        let worst = scores.values().copied().fold(f64::INFINITY, f64::min);
        let standing = Standing { minutes: one.minutes, rulesets: scores.len(), mean, worst };
        // Matches of the same time make one point.
        if found.last().is_some_and(|last| last.minutes == one.minutes) {
            found.pop();
        }
        found.push(standing);
    }
    found
}

/// A column of [`to_csv`]: its name, as docs/FORMATS.md explains it, and what it says of a match of a run.
type Column = (&'static str, fn(&LearningRun, &Measured) -> String);

const COLUMNS: [Column; 27] = [
    ("run", |run, _| run.name.clone()),
    ("ruleset", |_, one| one.ruleset.clone()),
    ("network", |run, _| run.network.clone()),
    ("selfplay_simulations", |run, _| run.simulations.to_string()),
    ("minutes", |_, one| number(Some(one.minutes))),
    ("generations", |_, one| one.generations.to_string()),
    ("games", |_, one| one.games.to_string()),
    ("steps", |_, one| one.steps.to_string()),
    ("opponent", |_, one| one.verdict.opponent.clone()),
    ("simulations", |_, one| one.verdict.simulations.to_string()),
    ("wins", |_, one| one.verdict.result.wins.to_string()),
    ("draws", |_, one| one.verdict.result.draws.to_string()),
    ("losses", |_, one| one.verdict.result.losses.to_string()),
    ("score", |_, one| number(Some(one.verdict.result.score))),
    ("lower", |_, one| number(Some(one.verdict.result.lower))),
    ("upper", |_, one| number(Some(one.verdict.result.upper))),
    ("margin", |_, one| number(one.verdict.margin.map(|margin| margin.value))),
    ("margin_lower", |_, one| number(one.margin_interval().map(|margin| margin.lower))),
    ("margin_upper", |_, one| number(one.margin_interval().map(|margin| margin.upper))),
    ("earlier_generation", |_, one| one.verdict.earlier.map(|it| it.generation.to_string()).unwrap_or_default()),
    ("earlier_score", |_, one| number(one.verdict.earlier.map(|it| it.result.score))),
    ("earlier_lower", |_, one| number(one.verdict.earlier.map(|it| it.result.lower))),
    ("earlier_upper", |_, one| number(one.verdict.earlier.map(|it| it.result.upper))),
    ("elo", |_, one| finite(one.elo.map(|elo| elo.value))),
    ("elo_lower", |_, one| finite(one.elo.map(|elo| elo.interval.lower))),
    ("elo_upper", |_, one| finite(one.elo.map(|elo| elo.interval.upper))),
    ("elo_is_held", |_, one| one.elo.map(|_| one.is_elo_held.to_string()).unwrap_or_default()),
];

/// Returns a number as text, nothing where it is none.
fn finite(value: Option<f64>) -> String {
    number(value.filter(|value| value.is_finite()))
}

/// Returns the learning curves as comma separated values: a line of names, then one for each match of each run.
#[must_use]
pub fn to_csv(runs: &[LearningRun]) -> String {
    let mut text = COLUMNS.map(|(name, _)| name).join(",") + "\n";
    for run in runs {
        for measured in run.measured() {
            text += &COLUMNS.map(|(_, cell)| quoted(&cell(run, &measured))).join(",");
            text.push('\n');
        }
    }
    text
}

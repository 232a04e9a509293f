//! The course of training runs: what a run wrote about each of its rounds, and how strong its network was when.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Number;
use crate::rating::Rated;
use crate::study::table::{number, quoted};
use latrunculi_stats::{BradleyTerry, Confidence, Covariance, DrawModel, Estimate, SeriesResult, WinDrawLoss};

/// What a match found about a run's network, from its view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The opponent.
    pub opponent: String,
    /// The network's simulations per decision.
    pub simulations: u32,
    /// Games that the network won; pairs that repeat an earlier one count nowhere.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// Mean score in `[0, 1]`, a draw counting one half.
    pub score: f64,
    /// Lower end of the 95 % interval, over pairs.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// The network's mean material margin at the end of the games, in shares of a side's men, its standard error over pairs;
    /// `None` below two pairs, and in what was written before it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<Estimate>,
    /// The match of the same network with the one that the run had at its match before in this ruleset, if it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

/// What a match between a run's network and an earlier one of it found, from the view of the former.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Earlier {
    /// Generations that had been played when the earlier network was measured.
    pub generation: u64,
    /// Games won; pairs that repeat an earlier one count nowhere.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Mean score in `[0, 1]`, a draw counting one half.
    pub score: f64,
    /// Lower end of the 95 % interval, over pairs.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { opponent, simulations, wins, draws, losses, score, lower, upper, margin, earlier: _ } = self;
        write!(
            f,
            "{opponent} with {simulations} simulations: {:.1} % (95 % interval {:.1} to {:.1}; +{wins} ={draws} -{losses}",
            score * 100.0,
            lower * 100.0,
            upper * 100.0
        )?;
        match margin {
            Some(margin) => write!(f, "; margin {})", percent_of_men(margin)),
            None => write!(f, ")"),
        }
    }
}

/// Writes a margin in hundredths of the men that a side begins with, with its 95 % interval.
#[must_use]
pub fn percent_of_men(margin: &Estimate) -> String {
    let interval = margin.interval_of_margin(Confidence::NINETY_FIVE);
    let [value, lower, upper] = [margin.value, interval.lower, interval.upper].map(|share| Number(share * 100.0));
    format!("{value:+.1} % of a side's men, {lower:+.1} to {upper:+.1}")
}

/// Mean losses of a round's training by head, in nats. Heads that are not looked at here are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundLosses {
    /// Weighted sum of the losses.
    #[serde(default)]
    pub loss: f64,
    /// Cross-entropy of the policy; at least the target's own entropy.
    pub policy: f64,
    /// Entropy of the policy's target.
    pub target_entropy: f64,
    /// Cross-entropy of win, draw and loss.
    pub value: f64,
}

/// The games of one ruleset in a round. What is not looked at here is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundRuleset {
    /// Games.
    pub games: u64,
    /// Samples.
    pub samples: u64,
    /// Share of drawn games; like the means below of the games that count (docs/FORMATS.md, "Metrics"), `None` where none
    /// does.
    pub draw_rate: Option<f64>,
    /// The first player's mean score.
    pub first_player_score: Option<f64>,
    /// Mean number of actions of a game.
    pub actions_mean: Option<f64>,
}

/// One line of a run's metrics (docs/FORMATS.md, "Metrics"), as far as a learning curve needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The generation that was played, or would have been played next.
    pub generation: u64,
    /// Seconds from the beginning of the run to the end of the round, breaks left out.
    pub elapsed_secs: f64,
    /// Seconds that the round took.
    pub round_secs: f64,
    /// Samples played until its end.
    pub samples_total: u64,
    /// Training steps made until its end.
    pub steps_total: u64,
    /// Samples in the replay window at its end.
    #[serde(default)]
    pub window: u64,
    /// Training steps made in it.
    pub steps: u64,
    /// Positions that they were trained on per second, repetitions counted.
    #[serde(default)]
    pub training_samples_per_sec: f64,
    /// Seconds that these took.
    #[serde(default)]
    pub train_secs: f64,
    /// Whether they were made before the games and the match, and not beside them.
    #[serde(default)]
    pub learns_first: bool,
    /// Losses of these; zeros where there were none.
    pub losses: RoundLosses,
    /// Whether alpha-beta played the games; `None` where no games were played, as for the next ones.
    #[serde(default)]
    pub teacher: Option<bool>,
    /// Games.
    #[serde(default)]
    pub games: Option<u64>,
    /// Share of drawn games.
    #[serde(default)]
    pub draw_rate: Option<f64>,
    /// The first player's mean score in the games.
    #[serde(default)]
    pub first_player_score: Option<f64>,
    /// Mean number of actions of a game.
    #[serde(default)]
    pub actions_mean: Option<f64>,
    /// Positions that the network evaluated per second.
    #[serde(default)]
    pub evaluations_per_sec: Option<f64>,
    /// How full its batches were, in `[0, 1]`.
    #[serde(default)]
    pub batch_fill: Option<f64>,
    /// The games by ruleset.
    #[serde(default)]
    pub rulesets: BTreeMap<String, RoundRuleset>,
    /// The matches of the network that played, by ruleset.
    #[serde(default)]
    pub verdicts: BTreeMap<String, Verdict>,
}

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
    pub verdict: Verdict,
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
    /// The matches at its end by ruleset, if it has come so far.
    pub result: Option<BTreeMap<String, Verdict>>,
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
        let unrated = |ruleset: &String, verdict: &Verdict, minutes, generations, games, steps| {
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
                    if round.learns_first { (round.train_secs, round.steps_total) } else { (0.0, steps) };
                let minutes = (round.elapsed_secs - round.round_secs + secs).max(0.0) / 60.0;
                found.push(unrated(ruleset, verdict, minutes, generations, games, steps));
            }
            generations += u64::from(round.games.is_some());
            games += round.games.unwrap_or(0);
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
        self.rounds.iter().filter_map(|round| round.games).sum()
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
        let mut add = |second, wins, draws, losses| {
            let opening = series.len() as u64;
            series.push(SeriesResult { first, second, games: WinDrawLoss { wins, draws, losses }, opening });
        };
        let Verdict { opponent, wins, draws, losses, earlier, .. } = &one.verdict;
        add(agent_of_opponent(opponent), *wins, *draws, *losses);
        if let Some(Earlier { generation, wins, draws, losses, .. }) = *earlier
            && let Some(before) = measured[..index].iter().position(|one| one.generations == generation)
        {
            add(opponents.len() + before, wins, draws, losses);
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
        scores.insert(&one.ruleset, one.verdict.score);
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

/// The columns of [`to_csv`], as docs/FORMATS.md explains them.
pub const COLUMNS: [&str; 27] = [
    "run",
    "ruleset",
    "network",
    "selfplay_simulations",
    "minutes",
    "generations",
    "games",
    "steps",
    "opponent",
    "simulations",
    "wins",
    "draws",
    "losses",
    "score",
    "lower",
    "upper",
    "margin",
    "margin_lower",
    "margin_upper",
    "earlier_generation",
    "earlier_score",
    "earlier_lower",
    "earlier_upper",
    "elo",
    "elo_lower",
    "elo_upper",
    "elo_is_held",
];

/// Returns the learning curves as comma separated values: a line of names, then one for each match of each run.
#[must_use]
pub fn to_csv(runs: &[LearningRun]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for run in runs {
        for Measured { ruleset, minutes, generations, games, steps, verdict, elo, is_elo_held } in run.measured() {
            let earlier = |look: fn(&Earlier) -> f64| number(verdict.earlier.as_ref().map(look));
            let finite = |value: Option<f64>| number(value.filter(|value| value.is_finite()));
            let margins = verdict.margin.map(|margin| margin.interval_of_margin(Confidence::NINETY_FIVE));
            let row: [String; COLUMNS.len()] = [
                run.name.clone(),
                ruleset,
                run.network.clone(),
                run.simulations.to_string(),
                number(Some(minutes)),
                generations.to_string(),
                games.to_string(),
                steps.to_string(),
                verdict.opponent,
                verdict.simulations.to_string(),
                verdict.wins.to_string(),
                verdict.draws.to_string(),
                verdict.losses.to_string(),
                number(Some(verdict.score)),
                number(Some(verdict.lower)),
                number(Some(verdict.upper)),
                number(verdict.margin.map(|margin| margin.value)),
                number(margins.map(|margins| margins.lower)),
                number(margins.map(|margins| margins.upper)),
                verdict.earlier.as_ref().map_or_else(String::new, |earlier| earlier.generation.to_string()),
                earlier(|earlier| earlier.score),
                earlier(|earlier| earlier.lower),
                earlier(|earlier| earlier.upper),
                finite(elo.map(|elo| elo.value)),
                finite(elo.map(|elo| elo.interval.lower)),
                finite(elo.map(|elo| elo.interval.upper)),
                elo.map_or_else(String::new, |_| is_elo_held.to_string()),
            ];
            text += &row.map(|field| quoted(&field)).join(",");
            text.push('\n');
        }
    }
    text
}

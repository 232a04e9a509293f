//! The games of a file, one by one: counted, and played over where their rules are known.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::ensure;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{GameRecord, RecordedResult, Rules, presets};
use latrunculi_eval::matches::play_key;
use latrunculi_eval::metrics::{MetricsConfig, measure};
use latrunculi_train::rulesets;
use serde_json::{Value, json};

use super::report::Report;

/// How closely games are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Check {
    /// Each line is a record; actions are not looked at.
    #[default]
    Form,
    /// Games of known rules are played over.
    WherePossible,
    /// Games are played over; unknown rules are an error.
    Demanded,
}

/// The rules of recorded games, each loaded once.
#[derive(Default)]
pub(super) struct KnownRules {
    pub(super) named: Option<Arc<Rules>>,
    /// The folder of the rulesets that lie beside the games.
    pub(super) beside: Option<PathBuf>,
    /// The others by id and fingerprint; `None` where those of the games are unknown here.
    pub(super) loaded: BTreeMap<(String, String), Option<Arc<Rules>>>,
}

impl KnownRules {
    /// Returns the rules of a game: those that the user names, if they have its id, those that lie beside it, or the shipped
    /// ones. `None` if these are unknown or have changed since, and nobody has demanded them.
    fn of(&mut self, record: &GameRecord, is_demanded: bool) -> anyhow::Result<Option<Arc<Rules>>> {
        if let Some(named) = self.named.as_ref().filter(|named| named.ruleset().id == record.ruleset) {
            return Ok(Some(Arc::clone(named)));
        }
        let key = (record.ruleset.clone(), record.ruleset_fingerprint.clone());
        if let Some(known) = self.loaded.get(&key) {
            return Ok(known.clone());
        }
        let beside = self.beside.as_ref().map(|folder| folder.join(format!("{}.toml", record.ruleset)));
        let shipped = presets::ruleset(&record.ruleset).map(|shipped| ruleset_fingerprint(&shipped));
        let rules = if let Some(file) = beside.filter(|file| file.is_file()) {
            Some(rulesets::load(&file.to_string_lossy())?)
        } else if shipped.as_ref() == Some(&record.ruleset_fingerprint) {
            Some(rulesets::load(&record.ruleset)?)
        } else {
            ensure!(
                shipped.is_some() || !is_demanded,
                "{:?} is no shipped ruleset; name its file with --ruleset",
                record.ruleset
            );
            ensure!(
                !is_demanded,
                "{} has other parameters now than in a game; name the file of the rules that it was played under with \
                 --ruleset FILE",
                record.ruleset
            );
            None
        };
        self.loaded.insert(key, rules.clone());
        Ok(rules)
    }
}

/// What is counted over the games of a file.
#[derive(Default)]
pub(super) struct Games {
    check: Check,
    /// Whether games that were played over are kept, to tell what they are like.
    keeps: bool,
    count: u64,
    actions: u64,
    rulesets: BTreeMap<String, u64>,
    agents: BTreeMap<String, u64>,
    results: BTreeMap<&'static str, u64>,
    reasons: BTreeMap<String, u64>,
    series: BTreeMap<String, u64>,
    /// How many games were played over.
    played_over: u64,
    samples: BTreeMap<String, Sample>,
}

/// Games that were begun alike and played by the same agents: what may be counted together.
struct Sample {
    rules: Arc<Rules>,
    games: Vec<GameRecord>,
    /// What tells the games apart: who sat where, and the play.
    keys: HashSet<([String; 2], u64)>,
    /// Games that repeat an earlier one, mirrored or not.
    repeated: u64,
}

/// Returns the name of the sample of a game that stands in no ledger: rules, beginning, agents in any seats.
fn agents_of(record: &GameRecord) -> String {
    let [mut one, mut other] = record.agents.each_ref();
    if other < one {
        (one, other) = (other, one);
    }
    let start = record.start.as_ref().map(|start| format!(" from {start}")).unwrap_or_default();
    format!("{}/{} {one} {other}{start}", record.ruleset, record.ruleset_fingerprint)
}

impl Games {
    pub(super) fn new(check: Check, keeps: bool) -> Games {
        Games { check, keeps, ..Games::default() }
    }

    pub(super) fn add(&mut self, line: &str, known: &mut KnownRules) -> anyhow::Result<()> {
        let record = GameRecord::from_line(line)?;
        self.count += 1;
        self.actions += record.actions.len() as u64;
        *self.rulesets.entry(format!("{} ({})", record.ruleset, record.ruleset_fingerprint)).or_default() += 1;
        *self.agents.entry(record.agents.join(" - ")).or_default() += 1;
        let result = match record.result {
            Some(RecordedResult::First) => "player 1 won",
            Some(RecordedResult::Second) => "player 2 won",
            Some(RecordedResult::Draw) => "drawn",
            None => "not finished",
        };
        *self.results.entry(result).or_default() += 1;
        if record.result.is_some() {
            *self.reasons.entry(record.reason.clone().unwrap_or_else(|| "resigned".to_owned())).or_default() += 1;
        }
        let series = serde_json::from_str::<Value>(line)?["series"].as_str().map(str::to_owned);
        if let Some(series) = &series {
            *self.series.entry(series.clone()).or_default() += 1;
        }
        if self.check != Check::Form
            && let Some(rules) = known.of(&record, self.check == Check::Demanded)?
        {
            self.played_over += 1;
            if !self.keeps {
                record.replay(&rules)?;
                return Ok(());
            }
            let key = (record.agents.clone(), play_key(&rules, &record)?);
            let sample = series.unwrap_or_else(|| agents_of(&record));
            let sample = self.samples.entry(sample).or_insert_with(|| Sample {
                rules,
                games: Vec::new(),
                keys: HashSet::new(),
                repeated: 0,
            });
            match sample.keys.insert(key) {
                true => sample.games.push(record),
                false => sample.repeated += 1,
            }
        }
        Ok(())
    }

    /// Returns what the games are like, by name, if there is something to tell: of the largest sample alone, since
    /// games with a handicap, after a given first turn or of other agents have another score and other ends.
    fn likeness(&self) -> Option<Value> {
        // Of several as large, the first.
        let (name, sample) = self.samples.iter().rev().max_by_key(|(_, sample)| sample.games.len())?;
        let games: Vec<&GameRecord> = sample.games.iter().collect();
        let metrics = measure(&sample.rules, &games, &MetricsConfig::default()).ok()??;
        let told = metrics.headlines().into_iter().map(|(name, text)| (name.to_string(), json!(text)));
        let mut told: serde_json::Map<String, Value> = told.collect();
        if self.samples.len() > 1 {
            let count = self.samples.len();
            told.insert("of".to_owned(), json!(format!("{name}, the most games of {count} kinds that differ")));
        }
        if sample.repeated > 0 {
            let text = format!("{} games left out, which repeat others, mirrored or not", sample.repeated);
            told.insert("repeated".to_owned(), json!(text));
        }
        Some(Value::Object(told))
    }

    pub(super) fn add_to(self, report: &mut Report) {
        report.add("games", self.count);
        report.add("actions", self.actions);
        let mean = self.actions as f64 / self.count.max(1) as f64;
        report.add("actions_a_game", (mean * 10.0).round() / 10.0);
        report.add("rulesets", json!(self.rulesets));
        report.add("agents", json!(self.agents));
        report.add("results", json!(self.results));
        report.add("ends", json!(self.reasons));
        if !self.series.is_empty() {
            report.add("matches", self.series.len());
        }
        if let Some(stale) = self.stale() {
            report.add("warning", stale);
        }
        match self.played_over {
            0 if self.check == Check::Form => report.add("verified", "the form alone; --verify plays the games over"),
            count if count == self.count => {
                report.add("verified", "every action is legal, every result and reason is that of the rules");
            }
            count => report.add(
                "verified",
                format!("{count} games; the others are of rules unknown here: name their file with --ruleset"),
            ),
        }
        report.add_known("what_they_are_like", self.likeness());
    }

    /// Says which rulesets have other parameters now than in these games.
    fn stale(&self) -> Option<String> {
        let changed: Vec<String> = self
            .rulesets
            .keys()
            .filter_map(|key| {
                let (id, fingerprint) = key.strip_suffix(')')?.split_once(" (")?;
                let now = ruleset_fingerprint(&presets::ruleset(id)?);
                (now != fingerprint).then(|| format!("{id} has other parameters now ({now}) than in these games"))
            })
            .collect();
        (!changed.is_empty()).then(|| changed.join("; "))
    }
}

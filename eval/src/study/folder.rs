//! The folder of a study: its fixed settings and its games.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use latrunculi_data::files::write_atomically;
use latrunculi_engine::record::{RecordFault, ruleset_fingerprint};
use latrunculi_engine::{GameRecord, Rules, Ruleset, RulesetFile};
use latrunculi_search::SEARCH_VERSION;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::series::Series;
use super::settings::StudySettings;
use super::tally::SeriesTally;
use crate::Error;
use crate::matches::FinishedGame;
use crate::matches::ledger::{Ledger, LedgerGame, line_fault};

const GUARD: &str = "study.json";

/// What no later call may change, except that it may ask for more or judge otherwise ([`OPEN_FIELDS`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Guard {
    version: String,
    settings: StudySettings,
    /// The id and the fingerprint of every ruleset that was asked for.
    rulesets: Vec<[String; 2]>,
    derived: Vec<[String; 2]>,
    networks: Vec<String>,
    /// What alpha-beta's evaluation of these rulesets is, in short.
    evaluation: String,
    /// [`SEARCH_VERSION`]; 0 in folders of programs that did not write it.
    #[serde(default)]
    search_version: u32,
}

/// The fields of [`Guard`] that say by which program the games were played, not which games they are.
const PROGRAM_FIELDS: [&str; 3] = ["version", "evaluation", "search_version"];

/// The fields in which a study may ask for more ([`extends`]), and those that only judge the games.
const OPEN_FIELDS: [&str; 11] = [
    "agents",
    "networks",
    "max_games",
    "min_games",
    "half_width",
    "compensation",
    "pie",
    "phases",
    "title",
    "margin",
    "min_contact",
];

/// Tells whether a study asks for at least the games that the study in its folder has. The games are functions of their
/// number and of what their series is called, so that those which are there count.
fn extends(found: &Guard, asked: &Guard) -> bool {
    let (before, now) = (&found.settings, &asked.settings);
    now.max_games >= before.max_games
        && now.min_games >= before.min_games
        && now.half_width <= before.half_width
        && has_all(&now.agents, &before.agents)
        && has_all(&asked.networks, &found.networks)
        && has_all(&now.compensation, &before.compensation)
        && now.pie >= before.pie
        && now.phases >= before.phases
}

fn has_all<T: PartialEq>(all: &[T], some: &[T]) -> bool {
    some.iter().all(|one| all.contains(one))
}

pub(super) struct Folder {
    path: PathBuf,
    /// How the program that played the games differs from this one, which then may count them but play no others.
    pub(super) other_program: Vec<String>,
}

impl Folder {
    pub(super) fn open(path: &Path, plan: &Plan) -> Result<Folder, Error> {
        let id = |rules: &Rules| [rules.ruleset().id.clone(), ruleset_fingerprint(rules.ruleset())];
        let ids = |is_derived| {
            let entries = plan.entries.iter().filter(move |entry| entry.derived.is_some() == is_derived);
            entries.map(|entry| id(&entry.rules)).collect()
        };
        let guard = Guard {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: plan.settings.clone(),
            rulesets: ids(false),
            derived: ids(true),
            networks: plan.identities(),
            evaluation: plan.evaluation(),
            search_version: SEARCH_VERSION,
        };
        let mut folder = Folder { path: path.to_owned(), other_program: Vec::new() };
        let guard_path = folder.path.join(GUARD);
        if guard_path.exists() {
            let found = read_guard(&guard_path)?;
            let has_more = extends(&found, &guard);
            let may_differ = |name: &str| PROGRAM_FIELDS.contains(&name) || has_more && OPEN_FIELDS.contains(&name);
            let differences = differences(&found, &guard);
            if differences.iter().any(|(name, _)| !may_differ(name)) {
                folder.other_program = differences.into_iter().map(|(_, words)| words).collect();
                return Err(folder.refuse());
            }
            let of_program = differences.iter().filter(|(name, _)| PROGRAM_FIELDS.contains(&name.as_str()));
            folder.other_program = of_program.map(|(_, words)| words.clone()).collect();
            if folder.other_program.is_empty() && !differences.is_empty() {
                folder.write_guard(&guard)?;
            }
            return Ok(folder);
        }
        let rulesets = folder.path.join("rulesets");
        fs::create_dir_all(&rulesets).map_err(|error| Error::of_file(&rulesets, error))?;
        for entry in &plan.entries {
            let ruleset = entry.rules.ruleset();
            write_whole(&rulesets.join(format!("{}.toml", ruleset.id)), ruleset.to_toml().as_bytes())?;
        }
        // The settings come last: a folder without them holds no study.
        folder.write_guard(&guard)?;
        Ok(folder)
    }

    fn write_guard(&self, guard: &Guard) -> Result<(), Error> {
        let path = self.path.join(GUARD);
        let text = serde_json::to_string_pretty(guard).map_err(|error| Error::of_file(&path, error))?;
        write_whole(&path, (text + "\n").as_bytes())
    }

    /// Refuses to go on with another study, or with games of another program.
    pub(super) fn refuse(&self) -> Error {
        let (folder, differences) = (self.path.display(), self.other_program.join(", "));
        Error::Refused(format!(
            "{folder}: the study in this folder has other settings ({differences}); choose another folder for this one. \
             agents, max_games, min_games, compensation, pie and phases may grow, half_width may shrink, and title, margin and \
             min_contact may change"
        ))
    }

    /// Opens the ledgers of all series by their names, with the games of each series that are there.
    pub(super) fn open_ledgers(
        &self,
        series: &[Series],
        pool: &ThreadPool,
    ) -> Result<(BTreeMap<String, Ledger>, Vec<SeriesTally>), Error> {
        let names: BTreeSet<String> = series.iter().map(Series::ledger_file).collect();
        let by_key: HashMap<&str, usize> = series.iter().enumerate().map(|(at, one)| (one.key.as_str(), at)).collect();
        let open = |name: String| -> Result<_, Error> {
            let path = self.path.join("games").join(&name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| Error::of_file(parent, error))?;
            }
            let mut counted = Vec::new();
            let is_wanted = |key: &str| by_key.contains_key(key);
            let ledger = Ledger::open(&path, is_wanted, |LedgerGame { line, place, record }| {
                let at = by_key[place.series.as_str()];
                let game = evaluate(&series[at], &record, place.pair);
                let game = game.map_err(|fault| line_fault(&path, line, fault))?;
                counted.push((at, place.pair, game));
                Ok(())
            })?;
            Ok((name, ledger, counted))
        };
        let mut tallies: Vec<SeriesTally> = series.iter().map(|one| SeriesTally::new(one.stop)).collect();
        let mut ledgers = BTreeMap::new();
        let opened: Vec<Result<_, Error>> = pool.install(|| names.into_par_iter().map(open).collect());
        for one in opened {
            let (name, ledger, games) = one?;
            ledgers.insert(name, ledger);
            for (at, index, game) in games {
                tallies[at].add(index, Some(game));
            }
        }
        Ok((ledgers, tallies))
    }

    /// Reads the games of a series in the order of `indices`.
    pub(super) fn records(&self, series: &Series, indices: &[usize]) -> Result<Vec<GameRecord>, Error> {
        let wanted: HashSet<usize> = indices.iter().copied().collect();
        let mut by_index: HashMap<usize, GameRecord> = HashMap::new();
        Ledger::open(
            &self.path.join("games").join(series.ledger_file()),
            |key| key == series.key,
            |game| {
                if wanted.contains(&game.place.pair) {
                    by_index.insert(game.place.pair, game.record);
                }
                Ok(())
            },
        )?;
        Ok(indices.iter().filter_map(|index| by_index.remove(index)).collect())
    }
}

/// Replays a game of a ledger; it must be the one that the series has in this place.
fn evaluate(series: &Series, record: &GameRecord, index: usize) -> Result<FinishedGame, RecordFault> {
    let expected = series.game_seed(index);
    if record.seed != expected {
        return Err(RecordFault::contradiction("seed", record.seed, expected));
    }
    FinishedGame::of(&series.rules, record)
}

/// Reads the settings and the rulesets of the study in a folder.
///
/// # Errors
/// [`Error::Refused`] when there is none, or it cannot be read.
pub fn saved_study(folder: &Path) -> Result<(StudySettings, Vec<Ruleset>), Error> {
    if !folder.join(GUARD).is_file() {
        return Err(Error::Refused(format!("there is no study in {}", folder.display())));
    }
    let guard = read_guard(&folder.join(GUARD))?;
    let read = |[id, _]: &[String; 2]| {
        let path = folder.join("rulesets").join(format!("{id}.toml"));
        let text = fs::read_to_string(&path).map_err(|error| Error::of_file(&path, error))?;
        let file = RulesetFile::parse(&text).map_err(|error| Error::of_file(&path, error))?;
        Ok(file.ruleset)
    };
    let rulesets = guard.rulesets.iter().map(read).collect::<Result<_, Error>>()?;
    Ok((guard.settings, rulesets))
}

fn read_guard(path: &Path) -> Result<Guard, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::of_file(path, error))?;
    serde_json::from_str(&text).map_err(|error| Error::of_file(path, format!("not the settings of a study: {error}")))
}

/// Names what differs between two studies: the field, and both values in words.
fn differences(found: &Guard, asked: &Guard) -> Vec<(String, String)> {
    let fields = |guard: &Guard| -> serde_json::Map<String, serde_json::Value> {
        let mut all = match serde_json::to_value(guard) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        if let Some(serde_json::Value::Object(mut settings)) = all.remove("settings") {
            // What the names stand for is compared, not the names.
            settings.remove("rulesets");
            all.extend(settings);
        }
        all
    };
    let (found, asked) = (fields(found), fields(asked));
    asked
        .iter()
        .filter(|(name, value)| found.get(*name) != Some(value))
        .map(|(name, value)| {
            let there = found.get(name).unwrap_or(&serde_json::Value::Null);
            (name.clone(), format!("{name} is {there} there and {value} here"))
        })
        .collect()
}

fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path, |file| file.write_all(bytes)).map_err(|error| Error::of_file(path, error))
}

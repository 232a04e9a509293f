//! What the page can choose from: rulesets, models, and the folders of runs and studies.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Player, Rules, Ruleset, RulesetFile, presets};
use latrunculi_eval::AgentSpec;
use latrunculi_eval::agents::SHIPPED_MODEL;
use latrunculi_eval::report::capture_in_brief;
use latrunculi_train::error::{Error, bail};
use latrunculi_train::{error_chain, models, rulesets, run_dir};
use serde_json::{Value, json};

use crate::folders::Folder;
use crate::refusal::Refusal;
use crate::studies;

/// Rulesets, models, runs and studies.
pub(crate) struct Library {
    pub(crate) runs: Folder,
    pub(crate) studies: Folder,
    /// What `--model` names.
    model: Option<String>,
    /// The rulesets that the user has given.
    own: Vec<RulesetFile>,
    /// Those of the offered rulesets that have been asked for, by their keys.
    ready: Mutex<HashMap<String, Arc<Rules>>>,
}

pub(crate) struct FoundModel {
    /// What [`latrunculi_train::models::NetworkOpener`] opens.
    pub(crate) path: String,
    /// Changes when the file does, as that of a run does while it trains.
    pub(crate) version: String,
}

/// How the page names what belongs to a run or a study: `runs/NAME` and `studies/NAME`.
const RUNS: &str = "runs/";
const STUDIES: &str = "studies/";
/// A ruleset file is a few kilobytes.
const RULESET_BYTES_MAX: usize = 64 << 10;

impl Library {
    /// Fails when two rulesets have one id.
    pub(crate) fn new(
        runs: Folder,
        studies: Folder,
        model: Option<String>,
        own: Vec<RulesetFile>,
    ) -> Result<Library, Error> {
        let mut ids: HashSet<&str> = presets::NAMES.iter().copied().collect();
        if let Some(twice) = own.iter().map(|file| &file.ruleset.id).find(|id| !ids.insert(id)) {
            bail!(
                "two rulesets are called {twice:?}: give yours an id of its own (id = \"...\" at the top of its file)"
            );
        }
        Ok(Library { runs, studies, model, own, ready: Mutex::default() })
    }

    /// Returns the model that plays unless another is asked for.
    pub(crate) fn default_model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the ruleset that the page calls `key`: a shipped name, the id of a ruleset of the user's own, `runs/NAME/ID` or
    /// `studies/NAME/ID`, or the text of a ruleset file itself, which the page keeps. Nothing else is read: the page opens no paths.
    pub(crate) fn file(&self, key: &str) -> Result<RulesetFile, Refusal> {
        if key.contains('\n') {
            return self.read(key);
        }
        let owned = [(RUNS, &self.runs), (STUDIES, &self.studies)];
        for (prefix, folder) in owned {
            if let Some((name, id)) = key.strip_prefix(prefix).and_then(|rest| rest.split_once('/')) {
                let path = folder.path(name, &[run_dir::RULESETS, &format!("{id}.toml")])?;
                return rulesets::load_file(&path.to_string_lossy())
                    .map_err(|error| Refusal::wrong(error_chain(&error)));
            }
        }
        let own = self.own.iter().find(|file| file.ruleset.id == key).cloned();
        own.or_else(|| presets::file(key)).ok_or_else(|| {
            Refusal::unknown(format!(
                "there is no ruleset {key:?} here: if it is one of your own, add its file in Rulesets, or begin with `latrunculi serve --rulesets FILE`"
            ))
        })
    }

    fn read(&self, text: &str) -> Result<RulesetFile, Refusal> {
        if text.len() > RULESET_BYTES_MAX {
            return Err(Refusal::wrong(format!("a ruleset file has at most {RULESET_BYTES_MAX} bytes")));
        }
        let file = RulesetFile::parse(text).map_err(|error| Refusal::wrong(error.to_string()))?;
        match self.taken(&file.ruleset) {
            Some(message) => Err(Refusal::wrong(message)),
            None => Ok(file),
        }
    }

    /// Says that a ruleset has the id of another one that is offered, if so: their games could not be told apart.
    pub(crate) fn taken(&self, ruleset: &Ruleset) -> Option<String> {
        let id = &ruleset.id;
        let own = self.own.iter().find(|file| file.ruleset.id == *id).map(|file| file.ruleset.clone());
        let other = own.or_else(|| presets::ruleset(id))?;
        (ruleset_fingerprint(&other) != ruleset_fingerprint(ruleset))
            .then(|| format!("{id:?} is a ruleset that is here already, with other rules; give yours an id of its own"))
    }

    /// Returns the rules of [`Library::file`], ready to be played.
    pub(crate) fn rules(&self, key: &str) -> Result<Arc<Rules>, Refusal> {
        let ready = || self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = ready().get(key) {
            return Ok(Arc::clone(rules));
        }
        let rules = Arc::new(self.file(key)?.rules());
        if self.keys().any(|offered| offered == key) {
            ready().insert(key.to_owned(), Arc::clone(&rules));
        }
        Ok(rules)
    }

    /// Returns the keys of the rulesets that every page offers.
    fn keys(&self) -> impl Iterator<Item = &str> {
        presets::NAMES.iter().copied().chain(self.own.iter().map(|file| file.ruleset.id.as_str()))
    }

    /// Returns what the page knows from the beginning of every ruleset that it offers.
    pub(crate) fn list(&self) -> Result<Vec<Value>, Refusal> {
        let found = studies::shipped_findings();
        let about = |key: &str| -> Result<Value, Refusal> {
            let rules = self.rules(key)?;
            let mut about = brief(&rules);
            about["key"] = key.into();
            about["found"] = found.get(&ruleset_fingerprint(rules.ruleset())).cloned().unwrap_or_default();
            Ok(about)
        };
        self.keys().map(about).collect()
    }

    /// Finds a model by its name in an agent's text: the one in the program, that of `--model`, and `runs/NAME`.
    pub(crate) fn model(&self, name: &str) -> Result<FoundModel, Refusal> {
        if name == SHIPPED_MODEL {
            return Ok(FoundModel { path: name.to_owned(), version: String::new() });
        }
        let path = if self.model.as_deref() == Some(name) {
            models::model_path(name.as_ref()).map_err(|error| Refusal::wrong(error_chain(&error)))?
        } else if let Some(run) = name.strip_prefix(RUNS) {
            self.run_model(run)?
        } else {
            return Err(Refusal::wrong(format!(
                "the page plays with the network in the program, that of --model, and those of runs as {RUNS}NAME, not with {name:?}"
            )));
        };
        let about = path.metadata().map_err(|error| Refusal::failed(format!("{}: {error}", path.display())))?;
        let written = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let version = format!("{} {}", about.len(), written.as_nanos());
        Ok(FoundModel { path: path.to_string_lossy().into_owned(), version })
    }

    fn run_model(&self, run: &str) -> Result<PathBuf, Refusal> {
        self.runs.path(run, &[run_dir::EXPORT, "model.safetensors"])
    }

    /// Returns the names of the models that the page offers beside that in the program.
    pub(crate) fn models(&self) -> Vec<String> {
        let runs = self.runs.names().into_iter().filter_map(|run| self.model_of(&run));
        self.model.iter().filter(|name| can_be_named(name)).cloned().chain(runs).collect()
    }

    /// Returns the name of the model of a run, if it has one that an agent's text can name.
    pub(crate) fn model_of(&self, run: &str) -> Option<String> {
        let name = format!("{RUNS}{run}");
        (self.run_model(run).is_ok() && can_be_named(&name)).then_some(name)
    }
}

/// Returns what a table of rulesets says of one.
pub(crate) fn brief(rules: &Rules) -> Value {
    let ruleset = rules.ruleset();
    json!({
        "name": ruleset.name, "source": ruleset.source, "files": rules.files(), "ranks": rules.ranks(),
        "men": rules.men_at_start(Player::First), "has_dux": rules.has_duces(), "capture": capture_in_brief(rules),
        "start": if ruleset.setup.array.is_some() { "array" } else { "placement" },
    })
}

/// Tells whether an agent's text can name a model: the name of a run may read as a setting.
fn can_be_named(name: &str) -> bool {
    format!("net:{name},sims=64").parse().is_ok_and(|agent: AgentSpec| agent.model() == Some(name))
}

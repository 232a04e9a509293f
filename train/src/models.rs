//! Models: opens the network that a path or an agent's text names.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use latrunculi_data::{Familiarity, ModelInfo, Precision, StoredModel, TensorFileHeader};
use latrunculi_engine::{GameState, Rules, presets};
use latrunculi_eval::agents::{AgentSpec, NetworkPlay, OpenedNetwork, SHIPPED_MODEL, split_precision};
use latrunculi_search::Evaluation;
use latrunculi_search::mcts::Settings;
use serde_json::Value;

use crate::error::error_chain;
use crate::error::{Context, Error, bail};
use crate::networks::{FusedNetwork, LoadedNetwork, NetworkLoader, Processor, SinglePositions};
use crate::precision::choose_precision;
use crate::{rulesets, run_dir};

/// The file of the model that is part of the program.
static SHIPPED: &[u8] = include_bytes!("../assets/models/universal.safetensors");

/// The model card, which names the SHA-256 of that file.
const CARD: &str = include_str!("../assets/models/README.md");

/// Compares the model that is part of the program with its checksum, once.
fn shipped_is_whole() -> Result<(), Error> {
    static IS_WHOLE: OnceLock<bool> = OnceLock::new();
    if *IS_WHOLE.get_or_init(|| is_of_card(SHIPPED)) {
        return Ok(());
    }
    bail!(
        "the network in this program does not have the checksum of its model card: the program is damaged; install it anew"
    )
}

fn is_of_card(bytes: &[u8]) -> bool {
    CARD.contains(&latrunculi_store::sha256(bytes))
}

/// Opens networks for agents. A network plays every ruleset.
#[derive(Clone)]
pub struct NetworkOpener {
    /// Where networks compute.
    pub loader: Arc<dyn NetworkLoader>,
    /// In which precision; `auto` as [`choose_precision`] and the loader have it.
    pub precision: Precision,
    /// Shown a sentence where a network is asked to play a ruleset that it was not trained on.
    pub notice: Arc<dyn Fn(&str) + Send + Sync>,
}

impl NetworkOpener {
    /// Returns an opener for searches by themselves ([`SinglePositions`], [`FusedNetwork::alone`]).
    #[must_use]
    pub fn for_single_positions(self) -> NetworkOpener {
        let precision = FusedNetwork::alone(self.precision);
        NetworkOpener { loader: Arc::new(SinglePositions::new(self.loader)), precision, ..self }
    }

    /// Returns an opener for matches of these agents: where one plays by the clock, each search has its batches for itself
    /// ([`FusedNetwork::alone`]).
    #[must_use]
    pub fn for_matches<'a>(self, agents: impl IntoIterator<Item = &'a AgentSpec>) -> NetworkOpener {
        let is_by_clock = agents.into_iter().any(|agent| agent.time.is_some());
        let precision = if is_by_clock { FusedNetwork::alone(self.precision) } else { self.precision };
        NetworkOpener { precision, ..self }
    }

    /// Returns a function that opens a network for these rules by the path of its model file, in the precision that stands
    /// behind it ([`split_precision`]), or else in [`NetworkOpener::precision`].
    pub fn factory(&self, rules: &Arc<Rules>) -> impl FnMut(&str) -> Result<OpenedNetwork<'static>, String> + use<> {
        let (opener, rules) = (self.clone(), Arc::clone(rules));
        move |path| opener.open(path, &rules)
    }

    /// Opens a network for games; returns the checksum of its file, too.
    ///
    /// # Errors
    /// In words, when there is no such network, or it cannot play these rules.
    pub fn open_for_games(&self, rules: &Arc<Rules>, name: &str) -> Result<(String, OpenedNetwork<'static>), String> {
        let before = checksum(name).ok();
        let opened = self.open(name, rules)?;
        let checksum = checksum(name).map_err(|error| error_chain(&error))?;
        if before.as_ref() != Some(&checksum) {
            return Err("its file was changed while it was read; try again".to_owned());
        }
        Ok((checksum, opened))
    }

    fn open(&self, name: &str, rules: &Arc<Rules>) -> Result<OpenedNetwork<'static>, String> {
        let (path, own_precision) = with_precision(name);
        let LoadedNetwork { info, network, .. } = load(Path::new(path), &*self.loader).map_err(|error| {
            // The caller names the file.
            let reason = error_chain(&error);
            reason.strip_prefix(&format!("{path}: ")).map_or(reason.clone(), str::to_owned)
        })?;
        let known = Familiarity::of(&info.rulesets, rules).map_err(|error| error.to_string())?;
        if known != Familiarity::Trained {
            (self.notice)(&format!("{path} in {}: the network is {known}", rules.ruleset().id));
        }
        let choice = choose_precision(&*network, own_precision.unwrap_or(self.precision), rules);
        let precision = choice.map_err(|error| error_chain(&error))?.precision;
        let evaluator = network.evaluators(1, precision).map_err(|error| error_chain(&error))?.remove(0);
        let kernel = network.kernel(precision);
        Ok(OpenedNetwork { evaluator, play: NetworkPlay { search: search_of(&info)?, kernel } })
    }
}

/// Takes the name of a network apart as [`split_precision`] does, unless a file has this name.
fn with_precision(name: &str) -> (&str, Option<Precision>) {
    if Path::new(name).exists() {
        return (name, None);
    }
    let (model, precision) = split_precision(name);
    (model, precision.and_then(|precision| precision.parse().ok()))
}

/// Returns a search of self-play, which has many small trees at once, with room for the larger trees of matches.
pub(crate) fn with_room(search: Settings) -> Settings {
    Settings { edges_max: search.edges_max.max(Settings::default().edges_max), ..search }
}

/// Returns the search that a model asks for, with room for the long searches of play; the default one where it names none.
fn search_of(info: &ModelInfo) -> Result<Settings, String> {
    let Some(value) = &info.search else { return Ok(Settings::default()) };
    let unusable = |reason: String| {
        format!("the search settings in the file cannot be used ({reason}); make the model again with this program")
    };
    let mut value = value.clone();
    forget_removed(&mut value);
    let search: Settings = serde_json::from_value(value).map_err(|error| unusable(error.to_string()))?;
    let faults = search.validate();
    if faults.is_empty() { Ok(with_room(search)) } else { Err(unusable(faults.join("; "))) }
}

/// Drops settings of earlier versions that changed nothing in play: the noise of PUCT, and the weight of the margin where it
/// was 0.
fn forget_removed(search: &mut Value) {
    const NOISE: [&str; 5] = [
        "fpu_reduction_noised_root",
        "root_policy_temperature",
        "noise_share",
        "noise_concentration",
        "forced_playouts",
    ];
    if search["margin_weight"] == 0.0
        && let Some(search) = search.as_object_mut()
    {
        search.remove("margin_weight");
    }
    if let Some(puct) = search.pointer_mut("/mode/puct").and_then(Value::as_object_mut) {
        puct.retain(|name, _| !NOISE.contains(&name.as_str()));
    }
}

/// The file name of a model in the folders that `train`, `fit` and `export` write.
const MODEL: &str = "model.safetensors";

/// Returns the model file that a path means: the path itself, or in the folder of a run `export/model.safetensors`,
/// in another folder `model.safetensors`.
/// Fails when the folder holds none, with the command that makes it.
pub fn model_path(path: &Path) -> Result<PathBuf, Error> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let places = [path.join(run_dir::EXPORT).join(MODEL), path.join(MODEL)];
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return Ok(found.clone());
    }
    let shown = path.display();
    if path.join(run_dir::CONFIG).is_file() {
        bail!(
            "{shown}: the run has no {}/{MODEL} yet; the first training step writes it: latrunculi train --resume {shown}",
            run_dir::EXPORT
        );
    }
    bail!("{shown}: there is no model in this folder; give a model file or the folder of a run");
}

/// Reads the model that a path means: [`SHIPPED_MODEL`] the one that is part of the program, else as [`model_path`] finds
/// it; returns where it was found, too.
/// Error: what is wrong with the file; for a checkpoint, where the model of its run is.
pub fn read(path: &Path) -> Result<(PathBuf, StoredModel), Error> {
    if path == Path::new(SHIPPED_MODEL) {
        shipped_is_whole()?;
        return Ok((path.to_owned(), StoredModel::parse(SHIPPED, path)?));
    }
    let path = model_path(path)?;
    match StoredModel::read(&path) {
        Ok(model) => Ok((path, model)),
        Err(error) => Err(with_hint(error, &path)),
    }
}

/// Loads the network of the model that a path means, as [`read`] finds it.
/// Fails as [`read`], and as [`NetworkLoader::network`].
pub fn load(path: &Path, loader: &dyn NetworkLoader) -> Result<LoadedNetwork, Error> {
    let model = read(path)?.1;
    let (fingerprint, network) = (model.fingerprint(), loader.network(&model)?);
    Ok(LoadedNetwork { info: model.info, config: model.config, fingerprint, network })
}

/// Checks a model file as play does: it is read, its search is one that can be used, and its network answers at the beginning
/// of every ruleset that it was trained on, or of every shipped one if it names none that is known here.
pub fn verify(path: &Path) -> Result<(), Error> {
    let LoadedNetwork { info, network, .. } = load(path, &Processor)?;
    search_of(&info).map_err(|reason| Error::Refused(format!("{}: {reason}", path.display())))?;
    let trained = |name: &&&str| info.rulesets.iter().any(|trained| trained.name == **name);
    let mut names: Vec<&str> = presets::NAMES.iter().filter(trained).copied().collect();
    if names.is_empty() {
        names = presets::NAMES.to_vec();
    }
    let mut evaluator = network.evaluators(1, Precision::F32)?.remove(0);
    for name in names {
        let state = GameState::new(rulesets::load(name)?);
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        evaluator
            .evaluate(&[&state], &[&legal[..]], &mut [Evaluation::default()])
            .with_context(|| format!("{}: in {name}", path.display()))?;
    }
    Ok(())
}

/// Adds to an error where the model of a run is, if the file is a checkpoint of it.
fn with_hint(error: impl Into<Error>, path: &Path) -> Error {
    let error = error.into();
    match hint_for_checkpoint(path) {
        Some(hint) => Error::Refused(format!("{}; {hint}", error_chain(&error))),
        None => error,
    }
}

/// Returns where the model of a file is, if that file is a checkpoint.
fn hint_for_checkpoint(path: &Path) -> Option<String> {
    let is_checkpoint = TensorFileHeader::read(path).ok()?.kind() == Some("latrunculi checkpoint");
    let run = path.parent()?.parent().filter(|_| is_checkpoint)?;
    if !run.join(run_dir::CONFIG).is_file() {
        return is_checkpoint.then(|| "the command that made it writes a model at its end".to_owned());
    }
    let (shown, model) = (run.display(), run.join(run_dir::EXPORT).join(MODEL));
    Some(match model.is_file() {
        true => format!("the model of this run is {}", model.display()),
        false => format!("resume the run to get a model: latrunculi train --resume {shown}"),
    })
}

/// Reads the model file of a network ([`split_precision`]), whole, as it is.
pub fn bytes(name: &str) -> Result<Vec<u8>, Error> {
    let path = with_precision(name).0;
    if path == SHIPPED_MODEL {
        return Ok(SHIPPED.to_vec());
    }
    std::fs::read(model_path(Path::new(path))?).with_context(|| format!("cannot read {path}"))
}

/// Returns a [`checksum`](latrunculi_data::files::checksum) of the model file of a network ([`split_precision`]), which shows
/// whether a file still holds the same network. A folder stands for the model in it.
pub fn checksum(name: &str) -> Result<String, Error> {
    let path = with_precision(name).0;
    if path == SHIPPED_MODEL {
        return latrunculi_data::files::checksum(SHIPPED).context("cannot read the program");
    }
    let file = File::open(model_path(Path::new(path))?).with_context(|| format!("cannot read {path}"))?;
    latrunculi_data::files::checksum(file).with_context(|| format!("cannot read {path}"))
}

#[cfg(test)]
mod tests {
    use latrunculi_data::NetworkConfig;

    use latrunculi_search::mcts::Mode;

    use super::*;

    #[test]
    fn what_play_would_refuse_is_not_verified() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let fresh = || StoredModel::fresh(&NetworkConfig::default(), 1).unwrap();
        fresh().write(&path).unwrap();
        verify(&path).unwrap();
        let mut broken = fresh();
        broken.tensors.get_mut("stem.bias").unwrap().values.fill(3e38);
        let mut unusable = fresh();
        unusable.info.search = Some(serde_json::to_value(Settings::default()).unwrap());
        let planner = unusable.info.search.as_mut().unwrap();
        set_value_scale(planner, -0.1);
        for (model, said) in [(broken, "not a number"), (unusable, "value_scale")] {
            model.write(&path).unwrap();
            let error = error_chain(&verify(&path).unwrap_err());
            assert!(error.contains(said) && error.contains("model.safetensors"), "{error}");
        }
    }

    #[test]
    fn a_model_of_an_earlier_version_plays_unless_its_search_weighed_margins() {
        let puct = serde_json::json!({ "c_puct": 1.5, "noise_share": 0.25, "forced_playouts": 2.0 });
        let search = |margin_weight: f64| {
            let search = serde_json::json!({ "mode": { "puct": puct }, "margin_weight": margin_weight });
            search_of(&ModelInfo { search: Some(search), ..ModelInfo::default() })
        };
        assert!(matches!(search(0.0).unwrap().mode, Mode::Puct(settings) if settings.c_puct == 1.5));
        assert!(search(0.2).unwrap_err().contains("unknown field `margin_weight`"));
    }

    /// Sets the scale of values wherever it stands.
    fn set_value_scale(settings: &mut serde_json::Value, scale: f64) {
        let Some(fields) = settings.as_object_mut() else { return };
        for (name, value) in fields {
            match name.as_str() {
                "value_scale" => *value = scale.into(),
                _ => set_value_scale(value, scale),
            }
        }
    }

    #[test]
    fn the_network_in_the_program_has_the_checksum_of_its_card() {
        assert!(is_of_card(SHIPPED) && shipped_is_whole().is_ok());
        let mut damaged = SHIPPED.to_vec();
        damaged[SHIPPED.len() / 2] ^= 1;
        assert!(!is_of_card(&damaged));
    }
}

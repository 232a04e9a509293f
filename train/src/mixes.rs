//! Random mixes of rules: neighbours of the trained rulesets in the parameter space.
//! A mix is a trained ruleset with one to three parameters changed. It is accepted when [`Rules::new`] takes it, it is no
//! shipped ruleset, random games under it end before the cap and not all of them drawn, the changes show in these games,
//! and it is not held out (`configs/held-out`). A network that has played mixes reads the rules instead of recognising
//! the boards of the shipped rulesets.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use latrunculi_data::Familiarity;
use latrunculi_data::ranges::{Range, faults};
use latrunculi_engine::parameters::{PARAMETERS, Parameter, ParameterKind, ParameterValue};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{EndReason, GameState, Rules, Ruleset, RulesetFile, presets};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, bail};
use crate::run_rulesets::{RunRuleset, family};

/// Parameters that are not changed: what has no meaning without another parameter, who begins, and the engine's cap.
const FIXED: [&str; 5] = ["setup.mode", "setup.array", "play.first_player", "end.max_plies", "end.max_plies_result"];

/// Random games that a mix must pass.
const TRIAL_GAMES: usize = 6;

/// Decisions between at least two actions that each of them must have: a mix whose games have hardly any gives no samples.
const TRIAL_DECISIONS_MIN: usize = 10;

/// Rulesets that are drawn before it is given up that one is playable. Of a shipped ruleset about every third is.
const ATTEMPTS_MAX: u32 = 10_000;

/// How random mixes take part in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MixSettings {
    /// Part of the samples of self-play that come from mixes, in `[0, 0.9]`; 0: there are none.
    pub fraction: f64,
    /// Mixes that are played at a time, each in a pool of its own; 1 to 64 where there are mixes.
    pub at_once: usize,
    /// Samples of a mix, after which another takes its place; at least 1 where there are mixes.
    pub samples: u64,
}

impl MixSettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut reasons = faults([("fraction", self.fraction, Range::Within(0.0, 0.9))]);
        if self.fraction > 0.0 {
            reasons.extend(faults([
                ("at_once", self.at_once as f64, Range::Whole(1, 64)),
                ("samples", self.samples as f64, Range::AtLeast(1)),
            ]));
        }
        reasons
    }
}

macro_rules! held_out {
    ($($name:literal),+ $(,)?) => {
        /// Name and text of every ruleset that is held out (`configs/held-out`).
        const HELD_OUT: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../assets/held-out/", $name, ".toml")))),+];
    };
}

held_out!(
    "beads-single",
    "bell-8x8-diagonal",
    "bell-9x10-enclosure",
    "bell-slide",
    "consensus-8x8-rows",
    "dutch-8x8-noking-slide",
    "dutch-8x8-placement-rows",
    "dutch-long-jumps",
    "dux-hunt-16-chains",
    "falkener-rows",
    "mac-12x8-jumps",
    "savard-displacement-diagonal",
    "savard-steps",
);

struct Combination {
    family: String,
    values: Vec<(&'static Parameter, ParameterValue)>,
}

static COMBINATIONS: LazyLock<Vec<Combination>> = LazyLock::new(|| held_out().iter().map(Combination::of).collect());

impl Combination {
    /// Returns the values that the file itself sets.
    fn of(file: &RulesetFile) -> Combination {
        let set_here = |name: &str| file.evidence.get(name).is_some_and(|said| said.ruleset == file.ruleset.id);
        let values = PARAMETERS.iter().filter(|parameter| set_here(parameter.name));
        Combination {
            family: family(file),
            values: values.map(|parameter| (parameter, parameter.value_in(&file.ruleset))).collect(),
        }
    }

    fn holds_in(&self, family: &str, ruleset: &Ruleset) -> bool {
        self.family == family && self.values.iter().all(|(parameter, value)| parameter.value_in(ruleset) == *value)
    }
}

/// Returns the rulesets that are held out.
#[must_use]
pub fn held_out() -> Vec<RulesetFile> {
    let read = |text| RulesetFile::parse(text).expect("the tests read every file");
    HELD_OUT.iter().map(|(_, text)| read(text)).collect()
}

/// Returns whether a ruleset of a family has a combination of values that is held out.
#[must_use]
pub fn is_held_out(family: &str, ruleset: &Ruleset) -> bool {
    COMBINATIONS.iter().any(|combination| combination.holds_in(family, ruleset))
}

/// Draws mix `number` of a run: the ruleset to start from by share, then the changes.
/// Fails when no playable neighbour is found.
pub fn draw(trained: &[RunRuleset], number: u64, stream: &mut ChaCha8Rng) -> Result<Arc<Rules>, Error> {
    for _ in 0..ATTEMPTS_MAX {
        let base = by_share(trained, stream);
        let Some((mut ruleset, changes)) = changed(base.rules.ruleset(), stream) else { continue };
        let fingerprint = ruleset_fingerprint(&ruleset);
        let is_same = |known: &Ruleset| ruleset_fingerprint(known) == fingerprint;
        let is_shipped = presets::NAMES.iter().any(|name| presets::ruleset(name).is_some_and(|known| is_same(&known)));
        let is_trained = trained.iter().any(|known| is_same(known.rules.ruleset()));
        if is_held_out(&base.family, &ruleset) || is_shipped || is_trained {
            continue;
        }
        let base = base.rules.ruleset();
        ruleset.id = format!("{}-mix-{number}", base.id);
        // Shards and curves are named by it. A ruleset of the user's may have been such a mix.
        if trained.iter().any(|known| known.id() == ruleset.id) {
            continue;
        }
        ruleset.name = format!("{} with {}", base.name, changes.join(", "));
        ruleset.summary = format!("A random mix of rules: {} with {}.", base.id, changes.join(", "));
        ruleset.source = "drawn at random for training".to_owned();
        let (Ok(rules), Ok(base)) = (Rules::new(&ruleset), Rules::new(base)) else { continue };
        let rules = Arc::new(rules);
        if is_playable(&rules, &Arc::new(base), stream) {
            return Ok(rules);
        }
    }
    bail!("mixes: none of {ATTEMPTS_MAX} changes of the trained rulesets is playable; set mixes.fraction to 0")
}

fn by_share<'a>(trained: &'a [RunRuleset], stream: &mut ChaCha8Rng) -> &'a RunRuleset {
    let mut left = stream.random::<f64>();
    let found = trained.iter().find(|trained| {
        left -= trained.share;
        left < 0.0
    });
    // Rounding may leave a little over.
    found.unwrap_or(&trained[trained.len() - 1])
}

/// Changes one to three parameters; returns the changes as `name = value`, or nothing where one cannot be changed.
fn changed(base: &Ruleset, stream: &mut ChaCha8Rng) -> Option<(Ruleset, Vec<String>)> {
    let mut ruleset = base.clone();
    let mut changes: BTreeMap<&str, String> = BTreeMap::new();
    let count = stream.random_range(1..=Familiarity::NEAR_MAX);
    while changes.len() < count {
        let parameter = &PARAMETERS[stream.random_range(0..PARAMETERS.len())];
        if FIXED.contains(&parameter.name) || changes.contains_key(parameter.name) {
            continue;
        }
        let value = neighbour(parameter, &parameter.value_in(base), stream)?;
        parameter.set_in(&mut ruleset, &value).ok()?;
        changes.insert(parameter.name, format!("{} = {value}", parameter.name));
    }
    Some((ruleset, changes.into_values().collect()))
}

/// Returns another value of a parameter, near the present one where it is a number.
fn neighbour(parameter: &Parameter, value: &ParameterValue, stream: &mut ChaCha8Rng) -> Option<ParameterValue> {
    use ParameterValue::{Absent, Boolean, Integer, List, Text};
    let near = |number: i64, stream: &mut ChaCha8Rng| {
        let distance = stream.random_range(1..=2);
        if stream.random_bool(0.5) { number + distance } else { number - distance }
    };
    Some(match (parameter.kind, value) {
        (ParameterKind::Boolean, Boolean(truth)) => Boolean(!truth),
        (ParameterKind::Choice(names), Text(present)) => {
            let others: Vec<&&str> = names.iter().filter(|name| *name != present).collect();
            if others.is_empty() {
                return None;
            }
            Text((*others[stream.random_range(0..others.len())]).to_owned())
        }
        (ParameterKind::Set(names), List(present)) => {
            let toggled = names[stream.random_range(0..names.len())];
            let is_in = |name: &&str| present.iter().any(|present| present == name);
            let kept = names.iter().filter(|name| is_in(name) != (**name == toggled));
            List(kept.map(|name| (*name).to_owned()).collect())
        }
        // A limit of turns is changed in proportion.
        (ParameterKind::Integer(_, most), Integer(number)) if most > 255 => {
            let [part, whole] = [[1, 2], [3, 4], [3, 2], [2, 1]][stream.random_range(0..4)];
            Integer(number * part / whole)
        }
        (ParameterKind::Integer(..), Integer(number)) => Integer(near(*number, stream)),
        (ParameterKind::OptionalInteger(..), Integer(number)) if stream.random_bool(0.5) => {
            Integer(near(*number, stream))
        }
        (ParameterKind::OptionalInteger(..), Integer(_)) => Absent,
        (ParameterKind::OptionalInteger(..), Absent) => Integer(stream.random_range(1..=3)),
        _ => return None,
    })
}

/// What is looked at in a random game.
#[derive(PartialEq)]
struct Trial {
    /// Numbers of legal actions, one per action.
    choices: Vec<usize>,
    winner: Option<latrunculi_engine::Player>,
    reason: EndReason,
}

/// Returns whether random games have decisions, end before the cap, not all of them drawn, and differ from those of the
/// base.
fn is_playable(rules: &Arc<Rules>, base: &Arc<Rules>, stream: &mut ChaCha8Rng) -> bool {
    let mut is_different = false;
    let mut is_won = false;
    for _ in 0..TRIAL_GAMES {
        let mut same = stream.clone();
        let Some(trial) = trial(rules, stream) else { return false };
        if trial.choices.iter().filter(|&&choices| choices > 1).count() < TRIAL_DECISIONS_MIN {
            return false;
        }
        is_different |= self::trial(base, &mut same).is_none_or(|other| other != trial);
        is_won |= trial.winner.is_some();
    }
    is_different && is_won
}

/// Plays a random game; `None` when the cap ended it.
fn trial(rules: &Arc<Rules>, stream: &mut ChaCha8Rng) -> Option<Trial> {
    let mut game = GameState::new(Arc::clone(rules));
    let mut legal = Vec::new();
    let mut choices = Vec::new();
    loop {
        if let Some(outcome) = game.outcome() {
            let trial = Trial { choices, winner: outcome.winner, reason: outcome.reason };
            return (outcome.reason != EndReason::MaxPlies).then_some(trial);
        }
        game.legal_actions(&mut legal);
        choices.push(legal.len());
        game.play(legal[stream.random_range(0..legal.len())]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use latrunculi_engine::parameters::differing;
    use rand::SeedableRng;

    use super::*;
    use crate::config::{RulesetChoice, toml_stems};
    use crate::run_rulesets;

    #[test]
    fn every_file_that_is_held_out_is_embedded() {
        assert_eq!(toml_stems("../configs/held-out"), HELD_OUT.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_held_out_could_be_drawn_otherwise() {
        for (file, (name, _)) in held_out().iter().zip(HELD_OUT) {
            assert_eq!(file.ruleset.id, *name);
            let base = presets::ruleset(file.base.as_deref().unwrap()).unwrap();
            assert_eq!(differing(&file.ruleset, &base).len(), 2, "{name}");
            assert!(is_held_out(&family(file), &file.ruleset), "{name}");
            let [rules, base] = [&file.ruleset, &base].map(|ruleset| Arc::new(Rules::new(ruleset).unwrap()));
            // The trial games are random: it depends on them whether a mix is accepted.
            let is_accepted = |seed| is_playable(&rules, &base, &mut ChaCha8Rng::seed_from_u64(seed));
            assert!((0..8).any(is_accepted), "{name}");
        }
        for name in presets::NAMES {
            let shipped = presets::file(name).unwrap();
            assert!(!is_held_out(&family(&shipped), &shipped.ruleset), "{name}");
        }
    }

    #[test]
    fn mixes_are_playable_near_their_ruleset_and_not_held_out() {
        let trained = run_rulesets::load(&"all".into()).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let mut bases: BTreeMap<String, usize> = BTreeMap::new();
        let mut changed: BTreeSet<&str> = BTreeSet::new();
        for number in 0..800 {
            let mix = draw(&trained, number, &mut stream).unwrap();
            let id = &mix.ruleset().id;
            let (base, of_number) = id.rsplit_once("-mix-").unwrap();
            assert_eq!(of_number, number.to_string());
            let base = trained.iter().find(|trained| trained.id() == base).unwrap();
            let rules = base.rules.ruleset();
            assert!((1..=Familiarity::NEAR_MAX).contains(&differing(mix.ruleset(), rules).len()), "{id}");
            assert!(!is_held_out(&base.family, mix.ruleset()), "{id}");
            let read = RulesetFile::parse(&mix.ruleset().to_toml()).unwrap();
            assert_eq!(read.ruleset, *mix.ruleset(), "its text holds the whole ruleset");
            let differs = |parameter: &&Parameter| parameter.value_in(mix.ruleset()) != parameter.value_in(rules);
            changed.extend(PARAMETERS.iter().filter(differs).map(|parameter| parameter.name));
            *bases.entry(base.id().to_owned()).or_default() += 1;
        }
        assert_eq!(bases.len(), trained.len(), "every ruleset has neighbours: {bases:?}");
        assert!(changed.len() > 35, "most parameters change somewhere: {changed:?}");
    }

    #[test]
    fn mixes_are_none_of_the_run_s_own_rulesets_and_have_decisions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.toml");
        let mut text = "id = \"own\"\nname = \"Own\"\nbase = \"dutch-8x8-noking\"\n".to_owned();
        text.push_str("[capture]\nper_move = \"one\"\n");
        std::fs::write(&path, text).unwrap();
        let own = path.to_string_lossy().into_owned();
        let choice = RulesetChoice::List(vec!["dutch-8x8-noking".to_owned(), own]);
        let trained = run_rulesets::load(&choice).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(2);
        for number in 0..400 {
            let mix = draw(&trained, number, &mut stream).unwrap();
            let fingerprint = ruleset_fingerprint(mix.ruleset());
            let is_own = |known: &RunRuleset| ruleset_fingerprint(known.rules.ruleset()) == fingerprint;
            assert!(!trained.iter().any(is_own), "{}", mix.ruleset().summary);
            let mut decisions = [0; 4];
            for game in &mut decisions {
                let choices = trial(&mix, &mut stream).map(|trial| trial.choices).unwrap_or_default();
                *game = choices.iter().filter(|&&choices| choices > 1).count();
            }
            assert!(decisions.iter().any(|&count| count > 5), "{}: {decisions:?}", mix.ruleset().summary);
        }
    }

    #[test]
    fn the_same_stream_draws_the_same_mix() {
        let trained = run_rulesets::load(&"savard".into()).unwrap();
        let mix = |seed| draw(&trained, 3, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        assert_eq!(mix(1).ruleset(), mix(1).ruleset());
        assert_ne!(mix(1).ruleset(), mix(2).ruleset());
    }
}

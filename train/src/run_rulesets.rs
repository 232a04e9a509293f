//! The rulesets that a run trains on, each with its share of the samples.
//! Shares are equal by family, and within a family by ruleset: what two variations of one game have in common is learnt
//! from both. The family of a ruleset is the one that its file is based on in the end (`base` in the file), and the
//! rulesets whose family has no other member in the run count as one family together. No ruleset gets less than
//! [`SHARE_MIN`]. Weights in the configuration replace all this.

use std::collections::BTreeMap;
use std::sync::Arc;

use latrunculi_data::TrainedRuleset;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, RulesetFile, presets};

use crate::config::RulesetChoice;
use crate::error::{Error, bail};
use crate::rulesets;

/// The least share of a ruleset, where there is room for it.
pub const SHARE_MIN: f64 = 0.015;

/// A ruleset that a run trains on.
#[derive(Clone, Debug)]
pub struct RunRuleset {
    /// The rules.
    pub rules: Arc<Rules>,
    /// Its family: the name of the ruleset that its file is based on in the end.
    pub family: String,
    /// Its part of the samples of all rulesets of the configuration, in `(0, 1]`; these sum to 1.
    pub share: f64,
}

impl RunRuleset {
    /// Returns the ruleset's id, by which files and results are named.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.rules.ruleset().id
    }
}

/// Loads the rulesets of a configuration and gives each its share.
/// Fails when one cannot be loaded, none is named, two have one name or the same rules, or a weight is not above 0.
pub fn load(choice: &RulesetChoice) -> Result<Vec<RunRuleset>, Error> {
    let names = choice.names();
    if names.is_empty() {
        bail!("rulesets: name at least one ruleset");
    }
    let mut files: Vec<RulesetFile> = Vec::new();
    for name in &names {
        let file = rulesets::load_file(name)?;
        if files.iter().any(|other| other.ruleset.id == file.ruleset.id) {
            bail!(
                "rulesets: {name}: there is another ruleset with the id {:?}; give one of them another id",
                file.ruleset.id
            );
        }
        // Samples are told apart by the rules that they were played under.
        let fingerprint = ruleset_fingerprint(&file.ruleset);
        if let Some(other) = files.iter().find(|other| ruleset_fingerprint(&other.ruleset) == fingerprint) {
            bail!(
                "rulesets: {:?} and {:?} have the same rules; name only one of them",
                other.ruleset.id,
                file.ruleset.id
            );
        }
        files.push(file);
    }
    let families: Vec<String> = files.iter().map(family).collect();
    let shares = match choice.weights() {
        Some(weights) => {
            if let Some((name, weight)) =
                names.iter().zip(&weights).find(|(_, weight)| !(**weight > 0.0 && weight.is_finite()))
            {
                bail!("rulesets.{name} = {weight} must be above 0");
            }
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / total).collect()
        }
        None => shares_by_family(&families),
    };
    let trained = files.iter().zip(families).zip(shares).map(|((file, family), share)| {
        let rules = Arc::new(Rules::new(&file.ruleset)?);
        Ok(RunRuleset { rules, family, share })
    });
    trained.collect()
}

/// Returns what a model says of the rulesets that it was trained on, the largest share first. They had `part` of all
/// samples, the mixes the rest.
#[must_use]
pub fn of_model(rulesets: &[RunRuleset], part: f64) -> Vec<TrainedRuleset> {
    let mut trained: Vec<TrainedRuleset> =
        rulesets.iter().map(|known| TrainedRuleset::new(&known.rules, known.share * part)).collect();
    trained.sort_by(|one, other| other.share.total_cmp(&one.share));
    trained
}

/// Returns the name of the ruleset at the end of the chain of bases.
#[must_use]
pub fn family(file: &RulesetFile) -> String {
    let mut family = file.ruleset.id.clone();
    let mut base = file.base.clone();
    // A shipped file is based on one that stands before it, so the chain ends.
    while let Some(name) = base {
        base = presets::file(&name).and_then(|file| file.base);
        family = name;
    }
    family
}

/// Returns the share of each ruleset, given the family of each.
fn shares_by_family(families: &[String]) -> Vec<f64> {
    let members = |family: &String| families.iter().filter(|other| *other == family).count();
    // The rulesets without relatives have the family "".
    let families: Vec<&str> =
        families.iter().map(|family| if members(family) > 1 { family.as_str() } else { "" }).collect();
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for family in &families {
        *sizes.entry(family).or_default() += 1;
    }
    let shares = families.iter().map(|family| 1.0 / (sizes.len() * sizes[family]) as f64).collect();
    raised(shares, SHARE_MIN.min(1.0 / families.len() as f64))
}

/// Returns shares of which none is below `least`: those below are raised to it, at the expense of the others in
/// proportion.
fn raised(mut shares: Vec<f64>, least: f64) -> Vec<f64> {
    let mut is_raised = vec![false; shares.len()];
    loop {
        let count = is_raised.iter().filter(|is_raised| **is_raised).count();
        let others: f64 =
            shares.iter().zip(&is_raised).filter(|(_, is_raised)| !**is_raised).map(|(share, _)| share).sum();
        if others <= 0.0 {
            return shares;
        }
        let factor = (1.0 - least * count as f64) / others;
        for (share, is_raised) in shares.iter_mut().zip(&is_raised) {
            *share = if *is_raised { least } else { *share * factor };
        }
        let low: Vec<usize> = (0..shares.len()).filter(|&index| !is_raised[index] && shares[index] < least).collect();
        if low.is_empty() {
            return shares;
        }
        low.into_iter().for_each(|index| is_raised[index] = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(choice: &RulesetChoice) -> BTreeMap<String, f64> {
        load(choice).unwrap().into_iter().map(|trained| (trained.id().to_owned(), trained.share)).collect()
    }

    #[test]
    fn families_of_the_shipped_rulesets_get_equal_shares() {
        let shares = shares(&"all".into());
        assert_eq!(shares.len(), 26);
        assert!((shares.values().sum::<f64>() - 1.0).abs() < 1e-9);
        let close = |name: &str, share: f64| assert!((shares[name] - share).abs() < 1e-9, "{name}: {}", shares[name]);
        // Six families: bell 3, dutch 8, savard 5, dux-hunt 5, falkener 2, and three rulesets without relatives.
        for (name, members) in [
            ("bell-9x10", 3),
            ("dutch-8x8-noking", 8),
            ("savard", 5),
            ("dux-hunt-17", 5),
            ("falkener", 2),
            ("beads", 3),
            ("mac-12x8", 3),
        ] {
            close(name, 1.0 / (6 * members) as f64);
        }
    }

    #[test]
    fn no_share_is_below_the_least() {
        let mut families = vec!["large".to_owned(); 90];
        families.extend(["small".to_owned(), "small".to_owned()]);
        let shares = shares_by_family(&families);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let least = 1.0 / families.len() as f64;
        assert!(shares.iter().all(|share| *share >= least - 1e-9), "there is no room for more than equal shares");
        let families: Vec<String> = [vec!["large".to_owned(); 40], vec!["small".to_owned(); 2]].concat();
        let shares = shares_by_family(&families);
        assert!((shares[0] - SHARE_MIN).abs() < 1e-9 && (shares[41] - 0.2).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn a_file_belongs_to_the_family_of_its_base_and_weights_replace_families() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.toml");
        std::fs::write(&path, "id = \"own\"\nname = \"Own\"\nbase = \"bell-8x8\"\n[end]\nquiet_limit = 40\n").unwrap();
        let own = path.to_string_lossy().into_owned();
        let list = RulesetChoice::List(vec!["bell".to_owned(), own.clone(), "savard".to_owned()]);
        assert_eq!(
            shares(&list),
            [("bell", 0.25), ("own", 0.25), ("savard", 0.5)].map(|(name, share)| (name.to_owned(), share)).into()
        );
        let weights = |weight| RulesetChoice::Weights([("bell".to_owned(), 1.0), ("savard".to_owned(), weight)].into());
        assert_eq!(shares(&weights(3.0))["savard"], 0.75);
        assert!(load(&weights(0.0)).unwrap_err().to_string().contains("rulesets.savard = 0 must be above 0"));
        assert!(load(&RulesetChoice::List(Vec::new())).is_err());
        let twice = RulesetChoice::List(vec!["bell".to_owned(), "bell".to_owned()]);
        assert!(load(&twice).unwrap_err().to_string().contains("another ruleset with the id"));
        std::fs::write(&path, "id = \"own\"\nname = \"Own\"\nbase = \"bell\"\n").unwrap();
        assert!(load(&list).unwrap_err().to_string().contains("\"bell\" and \"own\" have the same rules"));
    }
}

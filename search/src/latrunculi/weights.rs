//! The weights of the features: fitted ones from a file, otherwise set by hand.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::{DuxCapture, Range, Ruleset, Timing};
use serde::{Deserialize, Serialize};

use super::features::{FEATURE_COUNT, Feature};

/// The weight of each [`Feature`], in hundredths of a man.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// While stones are placed.
    pub placement: [f32; FEATURE_COUNT],
    /// While all pieces are on the board; interpolated linearly to `few`.
    pub many: [f32; FEATURE_COUNT],
    /// When no pieces are left.
    pub few: [f32; FEATURE_COUNT],
}

/// The weights of one ruleset, as `search/data/weights.toml` holds them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesetWeights {
    /// The ruleset's short name, for readers.
    pub id: String,
    /// [`ruleset_fingerprint`] of the rules that the weights were made for.
    pub fingerprint: String,
    /// How they were found, and the result of the match against the weights set by hand.
    pub proof: String,
    /// [`Weights::placement`], [`Weights::many`] and [`Weights::few`] of the features by name; 0 where a
    /// feature is not named.
    pub worth: BTreeMap<String, [f32; 3]>,
}

/// The file of weights.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightsFile {
    /// One entry per ruleset with weights that have won their match.
    #[serde(default, rename = "ruleset")]
    pub rulesets: Vec<RulesetWeights>,
}

impl RulesetWeights {
    /// Returns the weights.
    #[must_use]
    pub fn weights(&self) -> Weights {
        let column = |index: usize| {
            let mut values = [0.0; FEATURE_COUNT];
            for (value, feature) in values.iter_mut().zip(Feature::ALL) {
                *value = self.worth.get(feature.as_str()).map_or(0.0, |worth| worth[index]);
            }
            values
        };
        Weights { placement: column(0), many: column(1), few: column(2) }
    }

    /// Writes weights for the file, rounded to hundredths.
    #[must_use]
    pub fn new(ruleset: &Ruleset, weights: &Weights, proof: String) -> RulesetWeights {
        let round = |value: f32| (value * 100.0).round() / 100.0;
        let worth = Feature::ALL.iter().enumerate().filter_map(|(index, feature)| {
            let worth = [weights.placement[index], weights.many[index], weights.few[index]].map(round);
            (worth != [0.0; 3]).then(|| (feature.as_str().to_owned(), worth))
        });
        RulesetWeights {
            id: ruleset.id.clone(),
            fingerprint: ruleset_fingerprint(ruleset),
            proof,
            worth: worth.collect(),
        }
    }
}

/// The weights of the file by fingerprint; a test reads the file strictly.
static PROVEN: LazyLock<BTreeMap<String, Weights>> = LazyLock::new(|| {
    let file: WeightsFile = toml::from_str(include_str!("../../data/weights.toml")).unwrap_or_default();
    file.rulesets.into_iter().map(|entry| (entry.fingerprint.clone(), entry.weights())).collect()
});

impl Weights {
    /// Returns the weights of the file for rulesets that it has, otherwise those set by hand.
    #[must_use]
    pub fn for_ruleset(ruleset: &Ruleset) -> Weights {
        PROVEN.get(&ruleset_fingerprint(ruleset)).copied().unwrap_or_else(|| Weights::by_hand(ruleset))
    }

    /// Returns all weights as bits, in a fixed order; equal if and only if the weights are.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        [self.placement, self.many, self.few].into_iter().flatten().map(|weight| u64::from(weight.to_bits()))
    }

    /// Returns weights set by hand from the ruleset's mechanisms: the start of every fit, usable for any ruleset.
    #[must_use]
    pub fn by_hand(ruleset: &Ruleset) -> Weights {
        let dux_decides = ruleset.end.win_dux && ruleset.dux.capture != DuxCapture::Never;
        let slides = ruleset.man.range == Range::Slide;
        let binds = ruleset.capture.timing != Timing::Immediate;
        let [none, one, two, three] =
            if dux_decides { [-300.0, -110.0, -35.0, -8.0] } else { [-80.0, -40.0, -14.0, -3.0] };
        let mut values = [0.0; FEATURE_COUNT];
        for (feature, worth) in [
            (Feature::Men, 100.0),
            (Feature::Dux, if dux_decides { 0.0 } else { 140.0 }),
            (Feature::Lead, 4.0),
            (Feature::Liberties, if slides { 1.0 } else { 2.0 }),
            (Feature::DuxLiberties, if slides { 1.0 } else { 2.0 }),
            (Feature::Immobile, -6.0),
            (Feature::AtRiskNow, -35.0),
            (Feature::AtRiskLater, -35.0),
            (Feature::DuxAtRiskNow, if dux_decides { -150.0 } else { -50.0 }),
            (Feature::DuxAtRiskLater, if dux_decides { -150.0 } else { -50.0 }),
            (Feature::DuxOpenNone, none),
            (Feature::DuxOpenOne, one),
            (Feature::DuxOpenTwo, two),
            (Feature::DuxOpenThree, three),
            (Feature::Bound, if binds { -45.0 } else { 0.0 }),
            (Feature::DuxBound, if dux_decides { -400.0 } else { -60.0 }),
            (Feature::Outward, -0.5),
            (Feature::DuxOutward, -0.5),
        ] {
            values[feature as usize] = worth;
        }
        Weights { placement: values, many: values, few: values }
    }
}

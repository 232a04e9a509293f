//! Configurations and summaries.

use latrunculi_eval::report::html;
use latrunculi_eval::study::{StudySettings, StudySummary};
use latrunculi_train::{ConfigSource, SHIPPED_CONFIGS, TrainConfig};

use super::text;
use crate::driver::Target;
use crate::mutate::mutated;

/// The configuration of a training.
pub(super) const TRAINING: Target = Target {
    name: "training",
    seeds: || {
        let text = |name: &str| {
            let source = ConfigSource::find(name).expect("a shipped configuration");
            TrainConfig::read(&source, &[]).and_then(|config| config.to_text()).expect("it is whole").into_bytes()
        };
        SHIPPED_CONFIGS.iter().map(|name| text(name)).collect()
    },
    mutate: mutated,
    check: |input| {
        let Some(text) = text(input) else { return false };
        let Ok(config) = TrainConfig::from_text(text) else { return false };
        let is_valid = config.validate(1).is_ok();
        if let Ok(written) = config.to_text() {
            let again = TrainConfig::from_text(&written).expect("what is written is read");
            assert_eq!(again.to_text().expect("it was written before"), written);
            assert_eq!(again.validate(1).is_ok(), is_valid, "a configuration means the same after being written");
        } else {
            assert!(!is_valid, "a valid configuration can be written");
        }
        is_valid
    },
};

/// The settings of a study.
pub(super) const STUDY: Target = Target {
    name: "study",
    seeds: || {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/studies");
        let files = std::fs::read_dir(folder).expect("the shipped studies").flatten();
        files.map(|entry| std::fs::read(entry.path()).expect("a study")).collect()
    },
    mutate: mutated,
    check: |input| {
        let Some(text) = text(input) else { return false };
        let Ok(settings) = toml::from_str::<StudySettings>(text) else { return false };
        if let Ok(written) = toml::to_string(&settings) {
            let again: StudySettings = toml::from_str(&written).expect("what is written is read");
            assert_eq!(toml::to_string(&again).expect("it was written before"), written);
        }
        true
    },
};

/// The summary of a study, from which the report is made.
pub(super) const SUMMARY: Target = Target {
    name: "summary",
    seeds: || {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/studies");
        let files = std::fs::read_dir(folder).expect("the published studies").flatten();
        let texts = files.filter_map(|entry| std::fs::read_to_string(entry.path().join("summary.json")).ok());
        // A study of many rulesets is long: the first of them stand for it.
        let shortened = |text: String| {
            let mut summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            summary["rulesets"].as_array_mut().expect("a list").truncate(1);
            serde_json::to_vec(&summary).expect("JSON")
        };
        texts.map(shortened).collect()
    },
    mutate: mutated,
    check: |input| {
        let Some(text) = text(input) else { return false };
        let Ok(summary) = StudySummary::from_json(text) else { return false };
        let written = summary.to_json().expect("a summary is JSON");
        assert_eq!(
            StudySummary::from_json(&written).expect("what is written is read").to_json().expect("JSON"),
            written
        );
        let page = html(&summary, &[]);
        assert!(page.ends_with("</html>") || page.ends_with("</html>\n"), "the page is whole");
        let _ = summary.to_csv();
        true
    },
};

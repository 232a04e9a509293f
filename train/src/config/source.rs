//! Where a configuration comes from: a shipped name or a file.

use std::fmt;
use std::path::{Path, PathBuf};

use latrunculi_engine::parameters::did_you_mean;

use crate::error::{Context, Error, bail};
use crate::files::read_text;

/// A configuration is a few kilobytes; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        /// Names of the shipped configurations (`configs/train`).
        pub const SHIPPED_CONFIGS: &[&str] = &[$($name),+];

        const TEXTS: &[&str] = &[$(include_str!(concat!("../../assets/train/", $name, ".toml"))),+];
    };
}

shipped!("array", "beads", "evening", "falkener", "gpu", "quick", "smoke", "universal", "universal-16");

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// A shipped configuration, part of the program: an index of [`SHIPPED_CONFIGS`].
    Shipped(usize),
    /// A file.
    File(PathBuf),
}

impl ConfigSource {
    /// Finds the configuration that a shipped name or the path of a file means.
    /// Fails when there is neither, with all shipped names and the nearest one.
    pub fn find(name_or_path: &str) -> Result<ConfigSource, Error> {
        if let Some(index) = SHIPPED_CONFIGS.iter().position(|name| *name == name_or_path) {
            return Ok(ConfigSource::Shipped(index));
        }
        let path = Path::new(name_or_path);
        if !path.exists() {
            let hint = did_you_mean(name_or_path, SHIPPED_CONFIGS.iter().copied());
            bail!(
                "there is no configuration and no file {name_or_path:?}{hint} (shipped configurations: {})",
                SHIPPED_CONFIGS.join(", ")
            );
        }
        Ok(ConfigSource::File(path.to_owned()))
    }

    /// Returns the name that runs of this configuration have: the shipped name, or the file's name without `.toml`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            ConfigSource::Shipped(index) => SHIPPED_CONFIGS[*index].to_owned(),
            ConfigSource::File(path) => {
                path.file_stem().map_or_else(|| "run".to_owned(), |stem| stem.to_string_lossy().into_owned())
            }
        }
    }

    pub(super) fn text(&self) -> Result<String, Error> {
        match self {
            ConfigSource::Shipped(index) => Ok(TEXTS[*index].to_owned()),
            ConfigSource::File(path) => read_text(path, FILE_BYTES_MAX),
        }
    }

    /// Returns the configuration that this one names as its base: of a file the one beside it, or else, as of a shipped
    /// configuration, the shipped one of that name.
    pub(super) fn base(&self, name: &str) -> Result<ConfigSource, Error> {
        let stem = name.strip_suffix(".toml").unwrap_or(name);
        let shipped = SHIPPED_CONFIGS.iter().position(|shipped| *shipped == stem).map(ConfigSource::Shipped);
        match self {
            ConfigSource::Shipped(_) => shipped.with_context(|| format!("{name} is not shipped")),
            ConfigSource::File(path) => {
                let beside = path.parent().unwrap_or(Path::new("")).join(name);
                Ok(shipped.filter(|_| !beside.exists()).unwrap_or(ConfigSource::File(beside)))
            }
        }
    }
}

impl fmt::Display for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigSource::Shipped(index) => f.write_str(SHIPPED_CONFIGS[*index]),
            ConfigSource::File(path) => path.display().fmt(f),
        }
    }
}

impl From<&Path> for ConfigSource {
    fn from(path: &Path) -> ConfigSource {
        ConfigSource::File(path.to_owned())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the names of the TOML files in a folder, given from this crate's, without their ending, in order.
    pub(crate) fn toml_stems(folder: &str) -> Vec<String> {
        let mut stems: Vec<String> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        stems.sort();
        stems
    }

    #[test]
    fn every_shipped_configuration_is_embedded() {
        assert_eq!(toml_stems("../configs/train"), SHIPPED_CONFIGS);
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_names_and_the_nearest() {
        let answer = ConfigSource::find("quik").unwrap_err().to_string();
        assert!(answer.contains("did you mean quick?") && answer.contains("evening"), "{answer}");
    }
}

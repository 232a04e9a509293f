//! The shipped rulesets, embedded in the program.

use std::sync::Arc;

use crate::rules::Rules;
use crate::ruleset::Ruleset;
use crate::ruleset_file::RulesetFile;

macro_rules! embed {
    ($($name:literal),+ $(,)?) => {
        /// Name and text of every shipped ruleset file; a file is based on one that stands before it.
        const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../rulesets/", $name, ".toml")))),+];
        /// The name of every shipped ruleset; those that begin with `x-` are for comparison only.
        pub const NAMES: &[&str] = &[$($name),+];
    };
}

embed! {
    "bell",
    "bell-8x8",
    "bell-9x10",
    "beads",
    "dutch",
    "dutch-noking",
    "dutch-placement",
    "dutch-placement-noking",
    "dutch-8x8",
    "dutch-8x8-noking",
    "dutch-8x8-placement",
    "dutch-8x8-placement-noking",
    "falkener",
    "falkener-orthogonal",
    "dux-hunt-16",
    "dux-hunt-17",
    "dux-hunt-16-duxjump",
    "dux-hunt-16-one-two",
    "dux-hunt-16-men",
    "savard",
    "savard-no-jump-over-dux",
    "savard-plain-men",
    "savard-displacement",
    "savard-delayed",
    "mac-12x8",
    "consensus-8x8",
    "x-schaedler-1994",
    "x-museum-quintana",
}

/// Returns the names of the reconstructions: every shipped ruleset but those for comparison, whose names begin with `x-`.
pub fn reconstructions() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied().filter(|name| !name.starts_with("x-"))
}

/// Returns the shipped ruleset of that name with its evidence, if there is one.
#[must_use]
pub fn file(name: &str) -> Option<RulesetFile> {
    let text = text(name)?;
    Some(RulesetFile::parse(text).expect("the tests read every shipped ruleset"))
}

/// Returns the shipped ruleset of that name, if there is one.
#[must_use]
pub fn ruleset(name: &str) -> Option<Ruleset> {
    file(name).map(|file| file.ruleset)
}

/// Returns the rules of the shipped ruleset of that name, ready to be played.
/// Panics where no shipped ruleset has that name.
#[must_use]
pub fn rules(name: &str) -> Arc<Rules> {
    let file = file(name).unwrap_or_else(|| panic!("no shipped ruleset is named {name}"));
    Arc::new(file.rules())
}

/// Returns the text of the shipped ruleset file of that name, if there is one.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

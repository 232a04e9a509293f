//! A network that has been opened, and how it plays.

use latrunculi_search::mcts::{Mode, Settings};
use serde_json::Value;

use super::NetworkEvaluator;
use super::spec::SearchKind;

/// A network that has been opened.
pub struct OpenedNetwork<'e> {
    /// Evaluates positions.
    pub evaluator: NetworkEvaluator<'e>,
    /// How it plays.
    pub play: NetworkPlay,
}

/// How a network plays. Games repeat exactly only with the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkPlay {
    /// The search that its model asks for.
    pub search: Settings,
    /// What computes it, precision included, such as `bf16-amx`; empty for an evaluator that computes alike everywhere.
    pub kernel: String,
}

impl<'e> OpenedNetwork<'e> {
    /// Returns a network with the default search that computes alike everywhere.
    #[must_use]
    pub fn plain(evaluator: NetworkEvaluator<'e>) -> OpenedNetwork<'e> {
        OpenedNetwork { evaluator, play: NetworkPlay::default() }
    }
}

impl NetworkPlay {
    /// Returns the search of an agent that asks for `wanted` in place of the model's own.
    pub(super) fn search(&self, wanted: Option<SearchKind>) -> Settings {
        match wanted {
            None => self.search.clone(),
            Some(SearchKind::Gumbel) => Settings::gumbel(),
            Some(SearchKind::Puct) => Settings::puct(),
        }
    }

    /// Returns in words of `name=value` what an agent's text leaves open: the settings of the search that are not the
    /// default ones, and the kernel.
    pub(super) fn words(&self, wanted: Option<SearchKind>) -> Vec<String> {
        let mut words = if wanted.is_none() { different_settings(&self.search) } else { Vec::new() };
        if !self.kernel.is_empty() {
            words.push(format!("kernel={}", self.kernel));
        }
        words
    }
}

/// Returns the settings of a search that differ from the defaults of its mode, as `name=value`.
fn different_settings(search: &Settings) -> Vec<String> {
    let (mode, usual) = match search.mode {
        Mode::Gumbel(_) => (None, Settings::gumbel()),
        Mode::Puct(_) => (Some("search=puct".to_owned()), Settings::puct()),
    };
    let [own, usual] = [search, &usual].map(|settings| {
        let mut found = Vec::new();
        leaves(&serde_json::to_value(settings).unwrap_or_default(), "", &mut found);
        found
    });
    let different = own.into_iter().filter(|one| !usual.contains(one));
    mode.into_iter().chain(different.map(|(name, value)| format!("{name}={value}"))).collect()
}

/// Adds the values of a tree with their paths, without the names of the modes.
fn leaves(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let path = path.trim_start_matches("mode.gumbel.").trim_start_matches("mode.puct.");
                leaves(inner, path, found);
            }
        }
        // As it was in single precision: 0.2 and not 0.20000000298.
        Value::Number(number) => match number.as_f64() {
            Some(value) if !number.is_u64() => found.push((path.to_owned(), (value as f32).to_string())),
            _ => found.push((path.to_owned(), number.to_string())),
        },
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        other => found.push((path.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use latrunculi_search::mcts::{GumbelSettings, MaxConsideredActions, PuctSettings};

    use super::*;

    #[test]
    fn only_what_is_not_the_default_is_named() {
        let words = |search: Settings| NetworkPlay { search, kernel: "bf16-amx".to_owned() }.words(None);
        assert_eq!(words(Settings::gumbel()), ["kernel=bf16-amx"]);
        let gumbel = GumbelSettings {
            max_considered_actions: MaxConsideredActions::Fixed(12),
            range_min: 0.2,
            ..GumbelSettings::default()
        };
        let search =
            Settings { mode: Mode::Gumbel(gumbel), draw_value: 0.25, reuse_tree: false, ..Settings::default() };
        let play = NetworkPlay { search: search.clone(), kernel: String::new() };
        let mut found = play.words(None);
        found.sort();
        assert_eq!(found, ["draw_value=0.25", "max_considered_actions.fixed=12", "range_min=0.2", "reuse_tree=false"]);
        assert_eq!(play.words(Some(SearchKind::Gumbel)), Vec::<String>::new());
        assert_eq!(play.search(None), search);
        assert_eq!(play.search(Some(SearchKind::Puct)), Settings::puct());
        let puct = Mode::Puct(PuctSettings { c_puct: 2.5, ..PuctSettings::default() });
        assert_eq!(
            words(Settings { mode: puct, ..Settings::default() }),
            ["search=puct", "c_puct=2.5", "kernel=bf16-amx"]
        );
    }
}

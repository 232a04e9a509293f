//! Validation of a study's settings, with all errors at once.

use latrunculi_engine::Ruleset;
use latrunculi_engine::parameters::did_you_mean;

use super::settings::StudySettings;
use super::summary::AgentSummary;
use super::{faulty_settings, sweep};
use crate::Error;
use crate::agents::{AgentKind, AgentSpec, SearchKind};

pub(super) fn check(settings: &StudySettings, rulesets: &[Ruleset]) -> Result<Vec<AgentSpec>, Error> {
    let mut faults = Vec::new();
    let mut demand = |holds: bool, fault: &str| {
        if !holds {
            faults.push(fault.to_owned());
        }
    };
    demand(!rulesets.is_empty(), "rulesets: the list is empty; name rulesets, or \"all\"");
    demand(!settings.agents.is_empty(), "agents: the list is empty; try alphabeta:nodes=2000");
    // Options are in points and percent, files in fractions: a fraction given to an option is far too small.
    let width = 0.001..0.5;
    demand(
        width.contains(&settings.half_width),
        "half_width must be at least 0.001 and below 0.5 (0.03 is 3 points of 100)",
    );
    demand(width.contains(&settings.margin), "margin must be at least 0.001 and below 0.5 (0.03 is 3 points of 100)");
    demand(
        settings.min_contact == 0.0 || (0.01..=1.0).contains(&settings.min_contact),
        "min_contact must be 0, or from 0.01 to 1 (0.5 is half of the games: --min-contact 50)",
    );
    demand(settings.confidence > 0.5 && settings.confidence < 1.0, "confidence must be above 0.5 and below 1");
    demand(settings.min_games >= 2, "min_games must be at least 2");
    demand(settings.max_games >= settings.min_games, "max_games must be at least min_games");
    demand(settings.max_games <= 10_000_000, "max_games must be at most 10000000");
    demand(settings.batch >= 1, "batch must be at least 1");
    let temperature = settings.opening.temperature;
    demand((0.01..=100.0).contains(&temperature), "opening.temperature must be from 0.01 to 100");
    let lengths = [settings.opening.array, settings.opening.placement, settings.opening.second];
    let lengths = lengths.into_iter().flatten().chain(settings.opening.by_ruleset.values().copied());
    demand(lengths.into_iter().all(|length| length <= 1000), "an opening has at most 1000 actions");
    demand(!settings.pie || settings.pie_turns >= 1, "pie_turns must be at least 1");
    demand(!settings.pie || settings.pie_games >= 2, "pie_games must be at least 2");
    demand(settings.compensation.iter().all(|&men| (1..=100).contains(&men)), "compensation is in men, from 1 to 100");
    for (index, men) in settings.compensation.iter().enumerate() {
        if settings.compensation[..index].contains(men) {
            faults.push(format!("compensation: {men} is listed twice"));
        }
    }
    for name in settings.opening.by_ruleset.keys() {
        if !rulesets.iter().any(|ruleset| ruleset.id == *name) {
            let known = rulesets.iter().map(|ruleset| ruleset.id.as_str());
            let hint = did_you_mean(name, known);
            faults.push(format!("opening.by_ruleset: {name:?} is not among the rulesets of this study{hint}"));
        }
    }
    for (name, texts) in &settings.sweep {
        match sweep::parameter(name) {
            Err(fault) => faults.push(format!("sweep: {fault}")),
            Ok(parameter) => {
                let mut values = Vec::new();
                for text in texts {
                    match sweep::value(parameter, text) {
                        Err(fault) => faults.push(format!("sweep: {name} = {text}: {fault}")),
                        Ok(value) if values.contains(&value) => {
                            faults.push(format!("sweep: {name} = {text} is listed twice"));
                        }
                        Ok(value) => values.push(value),
                    }
                }
            }
        }
    }
    let mut specs: Vec<AgentSpec> = Vec::new();
    for text in &settings.agents {
        match text.parse::<AgentSpec>() {
            Err(error) => faults.push(format!("agents: {error}")),
            Ok(spec) => match spec.check_repeats() {
                Err(error) => faults.push(format!("agents: {error}")),
                Ok(()) if specs.contains(&spec) => faults.push(format!("agents: {text} is listed twice")),
                Ok(()) => specs.push(spec),
            },
        }
    }
    if faults.is_empty() { Ok(specs) } else { Err(faulty_settings(&faults)) }
}

pub(super) fn describe(spec: &AgentSpec, text: &str) -> AgentSummary {
    let (family, budget, unit) = match &spec.kind {
        AgentKind::Random => ("random".to_owned(), None, None),
        AgentKind::Greedy => ("greedy".to_owned(), None, None),
        AgentKind::Human => ("human".to_owned(), None, None),
        AgentKind::AlphaBeta { depth, nodes: Some(nodes) } => {
            let depth = depth.map(|depth| format!(" to depth {depth}")).unwrap_or_default();
            (format!("alphabeta{depth}"), Some(*nodes), Some("nodes"))
        }
        AgentKind::AlphaBeta { depth, nodes: None } => {
            ("alphabeta by depth".to_owned(), depth.map(u64::from), Some("plies"))
        }
        AgentKind::Mcts { simulations } => ("mcts".to_owned(), simulations.map(u64::from), Some("simulations")),
        AgentKind::Network { model, simulations, search } => {
            let search = match search {
                None => "",
                Some(SearchKind::Gumbel) => " by gumbel",
                Some(SearchKind::Puct) => " by puct",
            };
            (format!("net {model}{search}"), simulations.map(u64::from), Some("simulations"))
        }
    };
    // Agents that differ in more than their budget are no steps of one ladder; on a network a seed has no effect.
    let family = match spec.seed {
        Some(seed) if !matches!(spec.kind, AgentKind::Network { .. }) => format!("{family} with seed {seed}"),
        _ => family,
    };
    AgentSummary { agent: text.to_owned(), family, budget, budget_unit: unit.map(str::to_owned) }
}

//! The opponents that the page offers, the weakest first.

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Level {
    name: String,
    agent: String,
}

/// Returns the levels of play of a model, and of agents without a network. `model` is its name in agents' texts; `None` is the
/// network in the program.
pub(crate) fn levels(model: Option<&str>) -> Vec<Level> {
    let level = |name: &str, agent: String| Level { name: name.to_owned(), agent };
    let network = |sims: u32| match model {
        None => format!("net:sims={sims}"),
        Some(model) => format!("net:{model},sims={sims}"),
    };
    let alphabeta = |nodes: u32| format!("alphabeta:nodes={nodes}");
    vec![
        level("Random moves", "random".to_owned()),
        level("Greedy: takes what it can", "greedy".to_owned()),
        level("Network, beginner (1 simulation)", network(1)),
        level("Network, easy (16 simulations)", network(16)),
        level("Network, normal (64 simulations)", network(64)),
        level("Network, strong (400 simulations)", network(400)),
        level("Alpha-beta, easy (500 nodes)", alphabeta(500)),
        level("Alpha-beta, normal (5,000 nodes)", alphabeta(5000)),
        level("Alpha-beta, strong (50,000 nodes)", alphabeta(50_000)),
        level("Random playouts (1,000 simulations)", "mcts:sims=1000".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use latrunculi_eval::AgentSpec;

    use super::*;

    #[test]
    fn every_level_is_an_agent() {
        for level in levels(None).into_iter().chain(levels(Some("runs/quick-1"))) {
            let spec: AgentSpec = level.agent.parse().unwrap();
            assert!(spec.model().is_none_or(|model| ["universal", "runs/quick-1"].contains(&model)), "{level:?}");
        }
    }
}

//! How an agent is to think about one choice, beyond what its text says.

use latrunculi_search::StopSignal;

use super::Choice;

/// How an agent is to think about one choice: with which limits, how many actions it is to weigh, what may
/// end it early, and whom it tells what it finds on the way.
///
/// Agents that do not search choose as ever.
pub struct Thinking<'a> {
    /// Limits in place of the agent's own.
    pub limits: ThinkingLimits,
    /// How many of the best actions alpha-beta searches one after the other, each without those before
    /// it and within all the limits; at least 1. Tree searches weigh all actions in any case.
    pub lines: usize,
    /// Ends the search early while it is raised.
    pub stop: StopSignal,
    /// Is told what has been found whenever it is worth telling: after each depth of alpha-beta, each time
    /// the simulations of a tree search have doubled. The last choice is not told but returned.
    pub report: &'a mut dyn FnMut(&Choice),
}

/// Limits of a search in place of the agent's own; with none set, the agent's own hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkingLimits {
    /// The most nodes of alpha-beta.
    pub nodes: Option<u64>,
    /// The greatest depth of alpha-beta, in actions.
    pub depth: Option<u32>,
    /// The simulations of a tree search.
    pub simulations: Option<u32>,
}

impl<'a> Thinking<'a> {
    /// Returns what leaves an agent as its text says: its own limits, one line, no end but its own.
    pub fn telling(report: &'a mut dyn FnMut(&Choice)) -> Thinking<'a> {
        Thinking { limits: ThinkingLimits::default(), lines: 1, stop: StopSignal::default(), report }
    }
}

//! The options of one search, beyond those of the agent's text.

use std::time::{Duration, Instant};

use latrunculi_search::StopSignal;

use super::Choice;

/// The options of one choice: limits, number of lines, cancellation and progress reports.
///
/// Agents that do not search ignore them.
pub struct SearchOptions<'a> {
    /// Limits in place of the agent's own.
    pub limits: SearchLimits,
    /// The number of best actions that alpha-beta searches, at least 1: one after the other, each excluding
    /// the earlier ones and within all limits. Tree searches always consider all actions.
    pub lines: usize,
    /// Ends the search early while raised.
    pub stop: StopSignal,
    /// Receives intermediate results: after each depth of alpha-beta, and each time the number of simulations
    /// of a tree search has doubled. The final choice is returned, not reported.
    pub report: &'a mut dyn FnMut(&Choice),
}

/// Limits of a search in place of the agent's own; with none set, the agent's own hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchLimits {
    /// The most nodes of alpha-beta.
    pub nodes: Option<u64>,
    /// The greatest depth of alpha-beta, in actions.
    pub depth: Option<u32>,
    /// The simulations of a tree search.
    pub simulations: Option<u32>,
    /// The time of a search. A tree search plans its simulations by the speed of its first ones.
    pub time: Option<Duration>,
}

impl SearchLimits {
    /// Returns these limits, or `own` if none is set.
    pub(super) fn or(self, own: SearchLimits) -> SearchLimits {
        if self == SearchLimits::default() { own } else { self }
    }

    /// Returns `stop` with the time, counted from now, as its deadline.
    pub(super) fn deadline(self, stop: &StopSignal) -> StopSignal {
        match self.time.and_then(|time| Instant::now().checked_add(time)) {
            Some(deadline) => stop.until(deadline),
            None => stop.clone(),
        }
    }
}

impl<'a> SearchOptions<'a> {
    /// Returns the options that leave an agent unchanged: its own limits, one line, no cancellation.
    pub fn reporting(report: &'a mut dyn FnMut(&Choice)) -> SearchOptions<'a> {
        SearchOptions { limits: SearchLimits::default(), lines: 1, stop: StopSignal::default(), report }
    }
}

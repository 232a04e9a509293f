//! What a statistic answers when the data cannot give it.

/// The reason why a statistic has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// There is nothing to count.
    #[error("there are no {0} to judge by")]
    NoObservations(&'static str),
    /// There are some observations, but fewer than the method needs.
    #[error("{needed} {what} are needed, there are {found}")]
    TooFew {
        /// What is counted, in the plural.
        what: &'static str,
        /// The smallest number that will do.
        needed: usize,
        /// The number at hand.
        found: usize,
    },
    /// Every observation is the same, so that their spread says nothing about the error.
    #[error("every observation is the same, so they give no standard error")]
    NoVariance,
    /// An argument lies outside its range.
    #[error("{name} is {value}, it must be {range}")]
    OutOfRange {
        /// The argument's name.
        name: &'static str,
        /// The value given.
        value: f64,
        /// The range, in words.
        range: &'static str,
    },
    /// An agent's index is not below the number of agents.
    #[error("there is no agent {agent} among {agent_count}")]
    UnknownAgent {
        /// The index given.
        agent: usize,
        /// The number of agents.
        agent_count: usize,
    },
    /// No chain of games joins an agent to an anchored one, so its strength cannot be placed.
    #[error("no chain of games joins agent {agent} to an anchored agent")]
    Unconnected {
        /// The agent's index.
        agent: usize,
    },
    /// The games leave a parameter free, such as the advantage when nobody ever changed seats.
    #[error("the games do not tell the parameters apart, let the agents change seats")]
    Unidentified,
    /// The likelihood rises without end, such as when one side won every game.
    #[error("the estimate runs to infinity: one side has every point")]
    Separated,
    /// An iteration did not settle.
    #[error("{what} did not settle in {iterations} steps")]
    NoConvergence {
        /// What was sought.
        what: &'static str,
        /// The number of steps taken.
        iterations: usize,
    },
    /// Too many bootstrap replicates had no value.
    #[error("{undefined} of {replications} bootstrap replicates have no value")]
    UndefinedReplicates {
        /// The replicates without a value.
        undefined: usize,
        /// All replicates.
        replications: usize,
    },
}

impl StatisticsError {
    /// Passes a finite `value` for which `holds`; otherwise says what `range` it left.
    pub(crate) fn check(
        name: &'static str,
        value: f64,
        range: &'static str,
        holds: bool,
    ) -> Result<f64, StatisticsError> {
        if value.is_finite() && holds { Ok(value) } else { Err(StatisticsError::OutOfRange { name, value, range }) }
    }
}

//! The reasons why a statistic has no value.

/// The reason why a statistic has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// There are no observations.
    #[error("there are no {0}")]
    NoObservations(&'static str),
    /// There are some observations, but fewer than the method needs.
    #[error("{needed} {what} are needed, there are {found}")]
    TooFew {
        /// What is counted, in the plural.
        what: &'static str,
        /// The smallest sufficient number.
        needed: usize,
        /// The number available.
        found: usize,
    },
    /// Every observation is the same, so that they give no standard error.
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
    /// No chain of games connects an agent to an anchored one, so its strength is undetermined.
    #[error("no chain of games connects agent {agent} to an anchored agent")]
    Unconnected {
        /// The agent's index.
        agent: usize,
    },
    /// The games do not determine a parameter, such as the advantage when no agent ever changed seats.
    #[error("the games do not determine all parameters; let the agents change seats")]
    Unidentified,
    /// The likelihood has no maximum, for example when one side won every game.
    #[error("the estimate is infinite: one side has every point")]
    Separated,
    /// An iteration did not converge.
    #[error("{what} did not converge in {iterations} steps")]
    NoConvergence {
        /// What was computed.
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
    /// Returns `value` if it is finite and `holds`; otherwise an error that names the allowed `range`.
    pub(crate) fn check(
        name: &'static str,
        value: f64,
        range: &'static str,
        holds: bool,
    ) -> Result<f64, StatisticsError> {
        if value.is_finite() && holds { Ok(value) } else { Err(StatisticsError::OutOfRange { name, value, range }) }
    }
}

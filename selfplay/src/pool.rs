//! A pool: a fixed number of games of one ruleset in flight, which go on from one network to the next.
//!
//! Between two calls of [`play_pools`](crate::play_pools) a pool holds records of its games and no trees. What it plays
//! depends on its plan, its state and the evaluations alone: not on the actors, nor on whether it was saved and read again
//! in between.

use std::sync::Arc;

use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;
use serde::{Deserialize, Serialize};

use crate::error::SelfPlayError;
use crate::record::GameRecord;
use crate::seeds::{GameKey, series_of};
use crate::settings::SelfPlaySettings;
use crate::teacher::TeacherSettings;

/// Most games in flight in a pool.
pub const IN_FLIGHT_MAX: usize = 1 << 16;

/// What a pool plays. A game is a function of the rules, the settings, the seed, the name, its number and the evaluations;
/// an evaluator whose rounding depends on the batch makes it depend on the other games of the pool too.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    /// The rules.
    pub rules: Arc<Rules>,
    /// How the games are played.
    pub settings: SelfPlaySettings,
    /// Set where alpha-beta plays both sides; evaluators are then not asked.
    pub teacher: Option<TeacherSettings>,
    /// Seed of the run.
    pub run_seed: u64,
    /// Name of the pool; names its random streams, and so must be the only one of its kind in the run.
    pub name: String,
    /// Games in flight, 1 to [`IN_FLIGHT_MAX`]: the size of its batches.
    pub in_flight: usize,
    /// Number of the first game: 0 except where several pools share the games of one name.
    pub first_game: u64,
}

impl PoolPlan {
    /// Returns the key of a game.
    pub(crate) fn key(&self, game: u64) -> GameKey {
        GameKey { run_seed: self.run_seed, series: series_of(&self.name), game }
    }

    /// Checks the settings.
    fn validate(&self) -> Result<(), SelfPlayError> {
        let mut reasons = self.settings.validate();
        if !(1..=IN_FLIGHT_MAX).contains(&self.in_flight) {
            reasons.push(format!("in_flight = {} must be 1 to {IN_FLIGHT_MAX}", self.in_flight));
        }
        reasons.extend(self.teacher.iter().flat_map(TeacherSettings::validate));
        if reasons.is_empty() {
            return Ok(());
        }
        Err(SelfPlayError::Failed(format!("the games cannot be set up: {}", reasons.join("; "))))
    }
}

/// A pool between two networks.
#[derive(Clone, Debug)]
pub struct Pool {
    pub(crate) plan: PoolPlan,
    pub(crate) state: PoolState,
}

impl Pool {
    /// Creates a pool that has not played yet.
    ///
    /// # Errors
    /// Every setting that is out of range.
    pub fn new(plan: PoolPlan) -> Result<Pool, SelfPlayError> {
        plan.validate()?;
        let ruleset = ruleset_fingerprint(plan.rules.ruleset());
        let PoolPlan { run_seed, first_game, ref name, .. } = plan;
        let state = PoolState { name: name.clone(), run_seed, ruleset, next_game: first_game, games: Vec::new() };
        Ok(Pool { plan, state })
    }

    /// Creates a pool that goes on from a state, which may come from a file. The settings may be others than before; games
    /// beyond `in_flight` are played to their end and not replaced.
    ///
    /// # Errors
    /// As for a new pool; when the state is that of another pool, seed or ruleset, or a game of it cannot be continued.
    pub fn restore(plan: PoolPlan, state: PoolState) -> Result<Pool, SelfPlayError> {
        plan.validate()?;
        let fault =
            |reason: String| SelfPlayError::Failed(format!("the games in flight of pool {}: {reason}", plan.name));
        if state.name != plan.name || state.run_seed != plan.run_seed {
            return Err(fault(format!("the games are those of pool {}, seed {}", state.name, state.run_seed)));
        }
        if state.ruleset != ruleset_fingerprint(plan.rules.ruleset()) {
            return Err(fault("the games were begun under other rules".to_owned()));
        }
        if state.games.len() > IN_FLIGHT_MAX {
            return Err(fault(format!("{} games are more than {IN_FLIGHT_MAX}", state.games.len())));
        }
        for game in &state.games {
            game.check(&plan.rules).map_err(fault)?;
            if game.number >= state.next_game {
                return Err(fault(format!("game {} has not been begun", game.number)));
            }
        }
        Ok(Pool { plan, state })
    }

    /// Returns what the pool plays.
    #[must_use]
    pub fn plan(&self) -> &PoolPlan {
        &self.plan
    }

    /// Returns the games in flight, to be saved.
    #[must_use]
    pub fn state(&self) -> &PoolState {
        &self.state
    }
}

/// The games in flight of a pool: the actions of each, its targets so far and the positions of its random streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolState {
    name: String,
    run_seed: u64,
    /// Fingerprint of the rules.
    ruleset: String,
    /// Number of the next game to begin.
    pub(crate) next_game: u64,
    /// The games in flight, by place.
    pub(crate) games: Vec<GameRecord>,
}

impl PoolState {
    /// Returns the name of the pool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of games in flight.
    #[must_use]
    pub fn games_in_flight(&self) -> usize {
        self.games.len()
    }
}

/// The first bytes of the states of pools. The digit is the version of the format.
const MAGIC: &[u8; 8] = b"latrpls2";

/// Returns the states of pools as the bytes of a file: the format's name, a checksum (CRC-32, u32 in little-endian order)
/// of the rest, and the states (postcard). Equal states give equal bytes.
///
/// # Errors
/// When they cannot be written.
pub fn states_to_bytes(states: &[&PoolState]) -> Result<Vec<u8>, SelfPlayError> {
    let body = postcard::to_stdvec(states).map_err(|error| refused(&error.to_string()))?;
    Ok([&MAGIC[..], &crc32fast::hash(&body).to_le_bytes(), &body].concat())
}

fn refused(reason: &str) -> SelfPlayError {
    SelfPlayError::Failed(format!("the games in flight: {reason}"))
}

/// Reads what [`states_to_bytes`] wrote. The games are checked by [`Pool::restore`].
///
/// # Errors
/// When the bytes are of another kind or version, or are damaged.
pub fn states_from_bytes(bytes: &[u8]) -> Result<Vec<PoolState>, SelfPlayError> {
    let Some(body) = bytes.strip_prefix(MAGIC) else {
        return Err(refused("they are of another kind, or of another version of this program"));
    };
    match body.split_first_chunk() {
        Some((checksum, body)) if crc32fast::hash(body) == u32::from_le_bytes(*checksum) => {
            postcard::from_bytes(body).map_err(|error| refused(&error.to_string()))
        }
        _ => Err(refused("they are cut off or damaged")),
    }
}

//! Training games that workers play, on any number of machines that share a store with the learner.
//!
//! For each generation the learner writes its network and a head, which says what is to be played. Workers play units of
//! it, each a number of whole games, and write each once. The learner plays every game of a unit again by its record and
//! makes the samples itself, and then writes a manifest: only what that names counts. A learner that was killed goes on
//! from it, and of two learners one is refused at it.
//!
//! A unit has whole games, where a run on one machine keeps games in flight from one network to the next: a game in flight
//! would have to travel with its trees' random streams from one worker to another, and would wait for who has it. Whole
//! games cost some places in the batches at the end of a unit, and nothing waits for anybody.
//!
//! ```text
//! models/SHA256.safetensors        the networks
//! heads/RUN/000012.json            what generation 12 is
//! units/RUN/000012/000007          the records of the games of a unit, behind a line about it
//! manifests/RUN/000012.json        the units that count
//! rejected/…                       what did not count, each with the reason
//! ```

mod head;
mod lead;
#[cfg(test)]
mod tests;
mod work;

pub use head::{GenerationHead, HeadRuleset, Manifest, ManifestUnit};
pub use lead::{Close, Leader, owner_of};
pub use work::{RunStatus, TrainingWorker, runs};

/// The folder of the heads.
pub const HEADS: &str = "heads";
/// The folder of the manifests.
pub const MANIFESTS: &str = "manifests";

//! Training games that workers play (docs/workers.md): units of whole games, as a game in flight would have to travel with its trees'
//! random streams. The learner plays each again by its record and writes a manifest; only what that names counts.

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

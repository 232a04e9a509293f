//! What runs and studies note about the program and its arguments.

use latrunculi_train::Origin;

/// The commit of the source that the program was built from, if known.
pub const COMMIT: Option<&str> = option_env!("LATRUNCULI_COMMIT");

/// Returns what a training run notes about how it was started.
pub fn origin(config: &str, settings: &[String]) -> Origin {
    Origin { config: config.to_owned(), settings: settings.to_vec(), from: None, commit: COMMIT.map(str::to_owned) }
}

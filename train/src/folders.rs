//! What a folder of the program holds, told by the files in it.

use std::path::Path;

use crate::{curves, run_dir};

/// A kind of folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderKind {
    /// A training run.
    Run,
    /// A study, finished or not.
    Study,
    /// A rating.
    Rating,
    /// Learning curves.
    Curves,
}

/// The settings of a study.
pub const STUDY: &str = "study.json";
/// The summary of a study.
pub const SUMMARY: &str = "summary.json";
/// The result of a rating.
pub const RATING: &str = "rating.json";

impl FolderKind {
    /// Returns the kind of a folder; `None` for one without a file that tells.
    #[must_use]
    pub fn of(folder: &Path) -> Option<FolderKind> {
        let kinds = [
            (run_dir::CONFIG, FolderKind::Run),
            (SUMMARY, FolderKind::Study),
            (STUDY, FolderKind::Study),
            (RATING, FolderKind::Rating),
            (curves::TABLE, FolderKind::Curves),
        ];
        kinds.into_iter().find(|(file, _)| folder.join(file).is_file()).map(|(_, kind)| kind)
    }
}

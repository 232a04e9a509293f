//! Balance studies: an agent plays itself, one game per distinct opening, until the interval of each ruleset's score is narrow enough.
//! The rule that stops is applied at fixed points of the schedule, so that a study that is continued gives the same summary.

mod agreements;
mod check;
mod command;
mod conclude;
mod estimates;
mod findings;
mod folder;
mod json;
mod plan;
mod play;
mod series;
pub mod settings;
mod shared;
pub mod summary;
mod sweep;
#[cfg(test)]
mod synthetic;
pub mod table;
mod tally;
mod trend;
mod turns;

use std::ops::ControlFlow;
use std::path::PathBuf;

use latrunculi_engine::Ruleset;
use rayon::ThreadPool;

use crate::Error;
use crate::agents::NetworkEvaluator;
use crate::players::{OpenNetwork, Players};
pub use command::command;
use folder::Folder;
pub use folder::saved_study;
use plan::Plan;
use play::{StudyGames, has_games_left};
use series::Series;
pub(crate) use series::StudyPlay;
pub use settings::{OpeningSettings, StudySettings};
pub(crate) use shared::SharedSeries;
pub use summary::StudySummary;
use tally::SeriesTally;

/// A study and how it is to be played.
#[derive(Clone, Debug)]
pub struct StudyConfig {
    /// What is asked.
    pub settings: StudySettings,
    /// The rulesets that the settings name, in that order.
    pub rulesets: Vec<Ruleset>,
    /// The command that makes this study, for the report.
    pub command: String,
    /// Where its games are written, and found again.
    pub folder: PathBuf,
    /// Who plays.
    pub players: Players,
}

/// Where a study stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyProgress {
    /// Games that have ended, those of the ledgers included.
    pub games: u64,
    /// About how many there will be in this part.
    pub games_expected: u64,
    /// Series of games that are done, and all of this part.
    pub series_done: usize,
    /// Series of games in this part: each ruleset with each agent, and what is measured besides.
    pub series: usize,
    /// Which part, from 1, of how many.
    pub part: (usize, usize),
    /// About how many seconds this part will still take; `None` before the first game.
    pub secs_left: Option<f64>,
    /// Ruleset and agent of the game that has just ended.
    pub latest: Option<String>,
}

/// What is told of the progress of a study; answers whether to go on. May be called from any thread, one
/// call at a time.
pub type StudyObserver<'a> = dyn FnMut(&StudyProgress) -> ControlFlow<()> + Send + 'a;

/// Returns the error of settings with these faults.
fn faulty_settings(faults: &[String]) -> Error {
    Error::Refused(format!("the study cannot be made\n  {}", faults.join("\n  ")))
}

/// Makes a study, or the rest of it where the folder holds some games already. A finished study of a program whose searches
/// play otherwise is summarised anew from its games; an unfinished one is refused.
///
/// The summary of a study that the observer stopped says so, and what it has found until then.
///
/// # Errors
/// [`Error`]
pub fn run_study<'e>(
    config: &StudyConfig,
    networks: &mut OpenNetwork<'_, 'e>,
    observer: &mut StudyObserver<'_>,
) -> Result<StudySummary, Error> {
    let (plan, mut evaluators) = Plan::new(&config.settings, &config.rulesets, networks)?;
    let first_part = plan.first_part()?;
    let folder = Folder::open(&config.folder, &plan)?;
    let pool = config.players.pool()?;
    let has_second_part = plan.settings.pie || !plan.settings.compensation.is_empty();
    let parts = 1 + usize::from(has_second_part);
    let (mut played, mut is_interrupted) =
        play_part(config, (&folder, &pool), (1, parts), first_part, &mut evaluators, observer)?;
    if !is_interrupted && has_second_part {
        let series = plan.second_part(&played)?;
        let second = play_part(config, (&folder, &pool), (2, parts), series, &mut evaluators, observer)?;
        played.extend(second.0);
        is_interrupted = second.1;
    }
    let mut summary = pool.install(|| findings::summary(&plan, &played, &config.command, &folder, !is_interrupted))?;
    if !folder.other_program.is_empty() {
        let differences = folder.other_program.join(", ");
        summary.notes.push(format!("Another program played the games ({differences}); this one counted them anew."));
    }
    Ok(summary)
}

/// Plays the games of all series; answers the series with their games, and whether it was stopped.
fn play_part(
    config: &StudyConfig,
    (folder, pool): (&Folder, &ThreadPool),
    part: (usize, usize),
    series: Vec<Series>,
    evaluators: &mut [NetworkEvaluator<'_>],
    observer: &mut StudyObserver<'_>,
) -> Result<(Vec<(Series, SeriesTally)>, bool), Error> {
    let (mut ledgers, mut tallies) = folder.open_ledgers(&series, pool)?;
    let mut all = series.iter().zip(&mut tallies);
    if !folder.other_program.is_empty() && all.any(|(series, tally)| has_games_left(series, tally)) {
        return Err(folder.refuse());
    }
    let told = StudyProgress { series: series.len(), part, ..StudyProgress::default() };
    let games = StudyGames::new(&series, tallies, &mut ledgers, observer, told);
    let players = &config.players;
    for with_network in [false, true] {
        let at_once = match (&players.workers, with_network) {
            (Some(_), _) => 0,
            (None, true) => players.games_at_once,
            (None, false) => pool.current_num_threads(),
        };
        if games.begin(with_network, at_once) {
            let evaluators = if with_network { &mut *evaluators } else { &mut [] };
            players.play(&games, None, pool, evaluators)?;
        }
    }
    let (tallies, is_interrupted) = games.into_tallies();
    Ok((series.into_iter().zip(tallies).collect(), is_interrupted))
}

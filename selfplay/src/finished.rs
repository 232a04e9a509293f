//! Games that have ended on another machine: their records travel, and whoever receives them plays them again.
//! A record holds the actions and what each search found, not the samples: results, margins and positions follow from it
//! by the same code as on the machine that played it, so none of them can be wrong without being found.
//! The bytes: the records (postcard), compressed (deflate).

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use crate::active_game::ActiveGame;
use crate::pool::{PlayedGame, PoolPlan};
use crate::record::GameRecord;

/// No game takes more bytes: thousands of decisions among hundreds of actions.
const GAME_BYTES_MAX: u64 = 16 << 20;
/// Nor do the games of a unit, however many they are.
const UNIT_BYTES_MAX: u64 = 1 << 30;

/// The record of a game that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedGame(pub(crate) GameRecord);

impl FinishedGame {
    /// Returns its number in the pool.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.number
    }
}

/// Returns games as bytes.
#[must_use]
pub fn finished_to_bytes(games: &[FinishedGame]) -> Vec<u8> {
    let mut bytes = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Neither can fail in memory.
    let body = postcard::to_stdvec(games).unwrap_or_default();
    _ = bytes.write_all(&body);
    bytes.finish().unwrap_or_default()
}

/// Reads games that [`finished_to_bytes`] wrote, `count` of them, and makes what self-play makes of its own: they must be the
/// games of `plan` from number `first` on, each legal to its end, and begun as its number says.
pub fn verify_finished(bytes: &[u8], plan: &PoolPlan, first: u64, count: u64) -> Result<Vec<PlayedGame>, String> {
    let bytes_max = bytes_max(count);
    let mut body = Vec::new();
    // What unpacks to more than it may is not unpacked further.
    let unpacked = DeflateDecoder::new(bytes).take(bytes_max + 1).read_to_end(&mut body);
    unpacked.map_err(|error| format!("it cannot be unpacked: {error}"))?;
    if body.len() as u64 > bytes_max {
        return Err(format!("it unpacks to more than {bytes_max} bytes"));
    }
    let others = |games: u64| format!("it holds {games} games that are not the {count} numbers from {first} on");
    let no_games = |error: postcard::Error| format!("it holds no games: {error}");
    // Their number comes first. Small records take far more memory than bytes: only as many as there must be are read.
    let (games, _) = postcard::take_from_bytes::<u64>(&body).map_err(no_games)?;
    if games != count {
        return Err(others(games));
    }
    let mut games: Vec<FinishedGame> = postcard::from_bytes(&body).map_err(no_games)?;
    games.sort_by_key(FinishedGame::number);
    let numbers: Vec<u64> = games.iter().map(FinishedGame::number).collect();
    if !numbers.iter().copied().eq(first..first + count) {
        return Err(others(count));
    }
    let mut active = ActiveGame::new(plan);
    games.into_iter().map(|FinishedGame(record)| active.verify(plan, record)).collect()
}

/// Returns how many bytes so many games may take.
fn bytes_max(count: u64) -> u64 {
    GAME_BYTES_MAX.saturating_mul(count).min(UNIT_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use latrunculi_engine::presets;
    use latrunculi_search::evaluators::Uniform;

    use super::*;
    use crate::error::SelfPlayError;
    use crate::pool::{Pool, PoolTask, Progress, Quota, Watch, play_pools};
    use crate::settings::SelfPlaySettings;
    use crate::teacher::TeacherSettings;

    /// Gives numbers of games, and keeps the games.
    struct Keep {
        numbers: Mutex<std::ops::Range<u64>>,
        games: Mutex<Vec<FinishedGame>>,
    }

    impl Watch for Keep {
        fn goes_on(&self, _: &Progress) -> bool {
            true
        }

        fn next_game(&self) -> Result<Option<u64>, SelfPlayError> {
            Ok(self.numbers.lock().unwrap().next())
        }

        fn take(&self, game: FinishedGame) -> Result<(), SelfPlayError> {
            self.games.lock().unwrap().push(game);
            Ok(())
        }
    }

    fn plan(teacher: Option<TeacherSettings>) -> PoolPlan {
        let rules = presets::rules("dutch-8x8");
        let mut settings = SelfPlaySettings { simulations: 4, ..SelfPlaySettings::default() };
        settings.playout_cap.quiet_full_probability = 0.5;
        settings.starts.uneven_probability = 0.5;
        settings.starts.uneven_actions_max = 6;
        PoolPlan { rules, settings, teacher, run_seed: 3, name: "games".to_owned(), in_flight: 3, first_game: 4 }
    }

    /// Plays the same games to their samples, and as records.
    fn play(plan: &PoolPlan) -> (Vec<PlayedGame>, Vec<FinishedGame>) {
        let keep = Keep { numbers: Mutex::new(4..9), games: Mutex::default() };
        let play = |quota| {
            let task = PoolTask { pool: Pool::new(plan.clone()).unwrap(), quota, journal: None };
            play_pools(vec![task], &mut [&mut Uniform], false, &Progress::default(), &keep).unwrap().remove(0).1
        };
        let mut games = play(Quota::PlayOut { until: 9 });
        games.sort_by_key(|game| game.index);
        assert!(play(Quota::Stream).is_empty(), "a stream of games has no end, so none is kept");
        (games, keep.games.into_inner().unwrap())
    }

    #[test]
    fn records_make_the_same_games_and_samples_as_where_they_were_played() {
        let teacher = TeacherSettings { nodes: 30, ..TeacherSettings::default() };
        for plan in [plan(None), plan(Some(teacher))] {
            let (games, ended) = play(&plan);
            let bytes = finished_to_bytes(&ended);
            assert_eq!(verify_finished(&bytes, &plan, 4, 5).unwrap(), games);
            assert!(games.iter().map(|game| game.samples.len()).sum::<usize>() > 20);
        }
    }

    #[test]
    fn a_game_that_is_not_what_it_should_be_is_refused() {
        let plan = plan(None);
        let (_, ended) = play(&plan);
        let refused = |games: &[FinishedGame]| verify_finished(&finished_to_bytes(games), &plan, 4, 5).unwrap_err();
        let changed = |change: &dyn Fn(&mut GameRecord)| {
            let mut games = ended.clone();
            let longest = games.iter_mut().max_by_key(|game| game.0.decisions.len()).unwrap();
            change(&mut longest.0);
            refused(&games)
        };
        type Change<'a> = &'a dyn Fn(&mut GameRecord);
        let changes: [(&str, Change<'_>); 10] = [
            ("damaged", &|record| record.decisions[2].policy[0] += 0.5),
            ("damaged", &|record| record.decisions[2].policy[0] = f32::NAN),
            ("damaged", &|record| _ = record.decisions[2].policy.pop()),
            ("damaged", &|record| record.decisions[2].win_draw_loss = [1.0, 1.0, 0.0]),
            ("belongs to no position", &|record| record.decisions[2].ply = 60_000),
            ("not legal", &|record| *record.actions.last_mut().unwrap() = 60_000),
            ("not legal", &|record| record.actions.push(0)),
            ("belongs to no position", &|record| _ = record.actions.pop()),
            ("not the recorded one", &|record| record.game_key ^= 1),
            ("does not begin as its number says", &|record| record.start.random_actions = 7_000),
        ];
        for (reason, change) in changes {
            let told = changed(change);
            assert!(told.contains(reason), "{reason}: {told}");
        }
        let unfinished = changed(&|record| {
            let plan = self::plan(None);
            record.actions.pop();
            record.decisions.retain(|decision| decision.ply < record.actions.len());
            record.game_key = record.game(&plan.rules).unwrap().full_key();
        });
        assert!(unfinished.contains("has not ended"), "{unfinished}");
        assert!(refused(&ended[1..]).contains("are not the 5 numbers from 4 on"));
        assert!(refused(&[&ended[..], &ended[..1]].concat()).contains("are not the 5 numbers"));
    }

    #[test]
    fn bytes_that_are_no_games_or_unpack_to_far_too_much_are_refused() {
        let plan = plan(None);
        let refused = |bytes: &[u8]| verify_finished(bytes, &plan, 4, 5).unwrap_err();
        let (_, ended) = play(&plan);
        let whole = finished_to_bytes(&ended);
        assert!(refused(b"no games").contains("it "));
        assert!(refused(&whole[..whole.len() / 2]).contains("it "));
        let mut bomb = DeflateEncoder::new(Vec::new(), Compression::fast());
        let zeros = vec![0; 1 << 20];
        (0..81).for_each(|_| bomb.write_all(&zeros).unwrap());
        assert!(refused(&bomb.finish().unwrap()).contains("unpacks to more than"));
        assert_eq!([5, 1000, u64::MAX].map(bytes_max), [5 * GAME_BYTES_MAX, 1 << 30, 1 << 30]);
        // What says another number of games is refused before a record is read.
        let mut many = DeflateEncoder::new(Vec::new(), Compression::fast());
        many.write_all(&postcard::to_stdvec(&(1_u64 << 40)).unwrap()).unwrap();
        let told = refused(&many.finish().unwrap());
        assert!(told.contains("it holds 1099511627776 games that are not the 5 numbers from 4 on"), "{told}");
    }
}

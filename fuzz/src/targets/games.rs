//! Games: records, ledgers, journals, pools.

use std::fs;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use latrunculi_data::{ReplayPart, ReplaySettings, ReplayWindows, Samples, ShardInfo};
use latrunculi_engine::{Action, GameRecord, GameState, Rules, presets};
use latrunculi_eval::agents::OpenedNetwork;
use latrunculi_eval::{AgentSpec, MatchConfig, Players, play_match};
use latrunculi_search::{EvalError, Evaluation, Evaluator};
use latrunculi_selfplay::{
    ActorEvaluator, FinishedGame, GameKey, Journal, PlayedGame, Pool, PoolPlan, PoolTask, Progress, Purpose, Quota,
    SelfPlayError, SelfPlaySettings, Watch, finished_to_bytes, play_pools, states_from_bytes, states_to_bytes,
    verify_finished,
};
use latrunculi_store::{UnitHeader, Version};

use super::{file, rules, text, written};
use crate::driver::Target;
use crate::mutate::mutated;

/// The ruleset of the games here, whose board is small.
const RULESET: &str = "bell-8x8";

fn match_config(pairs: usize) -> MatchConfig {
    let agents = ["greedy", "random"].map(|text| text.parse::<AgentSpec>().expect("an agent"));
    let players = Players { threads: 1, ..Players::default() };
    MatchConfig { players, ledger: Some(file("ledger.jsonl")), ..MatchConfig::new(agents, pairs) }
}

fn no_network(_: &Arc<Rules>, _: &str) -> Result<(String, OpenedNetwork<'static>), String> {
    Err("there is none".to_owned())
}

/// Plays the match of the ledger in its file, or what is left of it, and returns its report.
fn play_ledger() -> Option<serde_json::Value> {
    let played = play_match(&rules(RULESET), &match_config(2), &mut no_network, &mut |_| ControlFlow::Continue(()));
    Some(serde_json::to_value(played.ok()?).expect("a report is JSON"))
}

/// The ledger of a small match.
fn ledger() -> &'static [u8] {
    static LEDGER: OnceLock<Vec<u8>> = OnceLock::new();
    LEDGER.get_or_init(|| {
        let _ = fs::remove_file(file("ledger.jsonl"));
        play_ledger().expect("a match");
        fs::read(file("ledger.jsonl")).expect("its ledger")
    })
}

/// A line of a record.
pub(super) const RECORD: Target = Target {
    name: "record",
    seeds: || {
        let lines = ledger().split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.take(2).map(<[u8]>::to_vec).collect()
    },
    mutate: mutated,
    check: |input| {
        let Some(line) = text(input) else { return false };
        let Ok(record) = GameRecord::from_line(line) else { return false };
        let written = record.to_line();
        assert_eq!(GameRecord::from_line(&written).expect("what is written is read"), record);
        assert!(!written.contains('\u{1b}'), "control characters do not reach a terminal");
        let shipped = presets::ruleset(&record.ruleset).map(|ruleset| Rules::new(&ruleset).expect("shipped"));
        let Some(rules) = shipped.map(Arc::new) else { return true };
        if let Ok(end) = record.replay(&rules) {
            let mut again = GameRecord::new(&GameState::new(Arc::clone(&rules)), record.agents.clone(), record.seed);
            again.start.clone_from(&record.start);
            again.actions.clone_from(&record.actions);
            (again.result, again.reason) = (record.result, record.reason.clone());
            assert_eq!(again.replay(&rules).expect("the same game").position(), end.position());
        }
        true
    },
};

/// A ledger from which a match goes on: it ends as the undisturbed one, or with games that are legal, or it is refused and
/// left as it is.
pub(super) const LEDGER: Target = Target {
    name: "ledger",
    seeds: || vec![ledger().to_vec()],
    mutate: mutated,
    check: |input| {
        let path = written("ledger.jsonl", input);
        let Some(report) = play_ledger() else {
            assert_eq!(fs::read(&path).expect("the ledger"), input, "a ledger that is refused is left as it is");
            return false;
        };
        let again = play_ledger().expect("what was accepted is accepted again");
        assert_eq!(again, report, "a match that is over is read from its ledger");
        true
    },
};

/// Answers alike everywhere.
struct Alike;

impl Evaluator<GameState> for Alike {
    fn evaluate(
        &mut self,
        _: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        for (actions, evaluation) in legal_actions.iter().zip(evaluations) {
            evaluation.win_draw_loss = [0.3, 0.4, 0.3];
            evaluation.policy_logits.clear();
            evaluation.policy_logits.resize(actions.len(), 0.0);
        }
        Ok(())
    }
}

fn pool_plan() -> PoolPlan {
    PoolPlan {
        rules: rules(RULESET),
        settings: SelfPlaySettings { simulations: 2, ..SelfPlaySettings::default() },
        teacher: None,
        run_seed: 7,
        name: "pool".to_owned(),
        in_flight: 2,
        first_game: 0,
    }
}

fn play_on(pool: Pool, quota: Quota) -> (Pool, Vec<PlayedGame>) {
    let mut evaluator = Alike;
    let mut actors: Vec<ActorEvaluator<'_>> = vec![&mut evaluator];
    let goes_on = |_: &Progress| true;
    let tasks = vec![PoolTask { pool, quota, journal: None }];
    let mut played = play_pools(tasks, &mut actors, false, &Progress::default(), &goes_on).expect("games");
    played.remove(0)
}

/// Two games of self-play.
pub(super) fn games() -> &'static [PlayedGame] {
    static GAMES: OnceLock<Vec<PlayedGame>> = OnceLock::new();
    GAMES.get_or_init(|| play_on(Pool::new(pool_plan()).expect("a pool"), Quota::PlayOut { until: 2 }).1)
}

/// Draws batches of samples, as a training does.
pub(super) fn draw(rules: &Arc<Rules>, samples: Samples) {
    if samples.is_empty() {
        return;
    }
    let part = ReplayPart { rules: Arc::clone(rules), share: 1.0, earlier: 0 };
    let mut windows = ReplayWindows::new(ReplaySettings::default(), [part], 0.0, 0);
    windows.add(rules, 0, samples);
    let stream = GameKey { run_seed: 1, series: 0, game: 0 }.stream(Purpose::Search);
    for batch in windows.draw(stream).batches(8, 2) {
        batch.check_lengths().expect("a batch fits its samples");
        let numbers = batch.policy.iter().chain(&batch.margin).chain(&batch.moves_left);
        let values = batch.win_draw_loss.iter().flatten();
        assert!(numbers.chain(values).all(|number| number.is_finite()), "targets are numbers");
    }
}

/// A journal; the checksum of the changed entry is repaired.
pub(super) const JOURNAL: Target = Target {
    name: "journal",
    seeds: || {
        let path = file("seed.journal");
        let _ = fs::remove_file(&path);
        let info = ShardInfo::new(&rules(RULESET), 7, 3, "somebody".to_owned());
        let (journal, _) = Journal::open(&path, &rules(RULESET), &info).expect("a journal");
        games().iter().for_each(|game| journal.add(game).expect("a game is written"));
        vec![fs::read(&path).expect("the journal")]
    },
    mutate: |seeds, mutator| {
        let seed = mutator.one_of(seeds).clone();
        if mutator.below(4) == 0 {
            return mutated(&[seed], mutator);
        }
        // What stands before the first entry names the journal.
        let info = ShardInfo::new(&rules(RULESET), 7, 3, "somebody".to_owned());
        let title = 8 + 8 + 8 + info.fingerprint.len() + info.players.len();
        let (mut bytes, mut rest) = (seed[..title].to_vec(), &seed[title..]);
        while let Some((head, body)) = rest.split_first_chunk::<8>() {
            let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
            let mut entry = body[..len].to_vec();
            if mutator.below(2) == 0 {
                mutator.change(&mut entry, &[]);
            }
            bytes.extend_from_slice(&(entry.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&crc32fast::hash(&entry).to_le_bytes());
            bytes.extend_from_slice(&entry);
            rest = &body[len..];
        }
        bytes
    },
    check: |input| {
        let (path, rules) = (written("some.journal", input), rules(RULESET));
        let info = ShardInfo::new(&rules, 7, 3, "somebody".to_owned());
        let (journal, found) = Journal::open(&path, &rules, &info).expect("a journal is opened whatever is in it");
        journal.add(&games()[0]).expect("a game is added");
        drop(journal);
        let (_, again) = Journal::open(&path, &rules, &info).expect("the same journal");
        assert_eq!(again[..], [&found[..], &games()[..1]].concat(), "what was read and added is there");
        for game in &found {
            game.samples.check(&rules).expect("samples of a game that was taken from a journal");
            draw(&rules, game.samples.clone());
        }
        !found.is_empty()
    },
};

/// Games in flight, beside a checkpoint; their checksum is repaired.
pub(super) const POOLS: Target = Target {
    name: "pools",
    seeds: || {
        let (pool, _) = play_on(Pool::new(pool_plan()).expect("a pool"), Quota::Games(1));
        vec![states_to_bytes(&[pool.state()]).expect("bytes")]
    },
    mutate: |seeds, mutator| {
        let mut bytes = mutator.one_of(seeds).clone();
        // A name and a checksum stand before the games.
        let mut body = bytes.split_off(bytes.len().min(12));
        mutator.change(&mut body, &[]);
        let begin = bytes.len() - 4;
        bytes[begin..].copy_from_slice(&crc32fast::hash(&body).to_le_bytes());
        [bytes, body].concat()
    },
    check: |input| {
        let Ok(states) = states_from_bytes(input) else { return false };
        let mut is_restored = false;
        for state in states {
            let Ok(pool) = Pool::restore(pool_plan(), state) else { continue };
            is_restored = true;
            let (_, games) = play_on(pool, Quota::Games(1));
            games.iter().for_each(|game| game.samples.check(&rules(RULESET)).expect("samples of a game"));
        }
        is_restored
    },
};

/// Gives numbers of games and keeps how they were played, as a worker does.
struct Keep {
    numbers: Mutex<std::ops::Range<u64>>,
    games: Mutex<Vec<FinishedGame>>,
}

impl Watch for Keep {
    fn goes_on(&self, _: &Progress) -> bool {
        true
    }

    fn next_game(&self) -> Result<Option<u64>, SelfPlayError> {
        Ok(self.numbers.lock().unwrap_or_else(PoisonError::into_inner).next())
    }

    fn take(&self, game: FinishedGame) -> Result<(), SelfPlayError> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner).push(game);
        Ok(())
    }
}

const UNIT_GAMES: u64 = 2;

/// Packs the games of a unit again.
fn deflated(body: &[u8]) -> Vec<u8> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(body).expect("into memory");
    packed.finish().expect("into memory")
}

/// A worker's unit of games of self-play: what is accepted was played by the rules to its end.
pub(super) const UNIT: Target = Target {
    name: "unit",
    seeds: || {
        let keep = Keep { numbers: Mutex::new(0..UNIT_GAMES), games: Mutex::default() };
        let pool = Pool::new(pool_plan()).expect("a pool");
        play_pools(
            vec![PoolTask { pool, quota: Quota::Stream, journal: None }],
            &mut [&mut Alike],
            false,
            &Progress::default(),
            &keep,
        )
        .expect("games");
        let header = UnitHeader {
            program: "0".to_owned(),
            search_version: 1,
            series: "a".to_owned(),
            games: [0, UNIT_GAMES],
            worker: "w".to_owned(),
            host: "h".to_owned(),
            kernel: String::new(),
            secs: 1.0,
            duplicates: 0,
            at_once: 1,
        };
        let games = keep.games.into_inner().unwrap_or_else(PoisonError::into_inner);
        vec![[header.to_line(), finished_to_bytes(&games)].concat()]
    },
    mutate: |seeds, mutator| {
        let seed = mutator.one_of(seeds).clone();
        let end = seed.iter().position(|&byte| byte == b'\n').expect("a header") + 1;
        let (mut header, packed) = (seed[..end].to_vec(), &seed[end..]);
        match mutator.below(8) {
            0 => return mutated(seeds, mutator),
            1 => mutator.change(&mut header, &[]),
            _ => {
                let mut body = Vec::new();
                DeflateDecoder::new(packed).read_to_end(&mut body).expect("a seed is whole");
                mutator.change(&mut body, &[]);
                return [header, deflated(&body)].concat();
            }
        }
        [&header, packed].concat()
    },
    check: |input| {
        let Ok((header, body)) = UnitHeader::read(input) else { return false };
        let line = header.to_line();
        assert_eq!(UnitHeader::read(&line), Ok((header.clone(), &[][..])), "a header survives being written");
        if UnitHeader::read_checked(input, Version { program: "0", searches: 1 }, "a", [0, UNIT_GAMES]).is_err() {
            return false;
        }
        let plan = pool_plan();
        let Ok(games) = verify_finished(body, &plan, 0, UNIT_GAMES) else { return false };
        assert_eq!(games.len() as u64, UNIT_GAMES);
        for game in &games {
            // What play can never give may still be refused here, as the learner does.
            if game.samples.check(&plan.rules).is_ok() {
                draw(&plan.rules, game.samples.clone());
            }
        }
        true
    },
};

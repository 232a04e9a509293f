//! `worker`: plays what others ask for in a store.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::{Args, CommandFactory};
use latrunculi_engine::Rules;
use latrunculi_eval::workers::{GamesWork, GamesWorker};
use latrunculi_store::{Store, WorkDone, WorkOrder, Worker};
use latrunculi_train::Error;
use latrunculi_train::workers::TrainingWorker;

use crate::games_args::{GamesArgs, number, stopped};
use crate::interrupt::{Stopped, stop_on_signals};
use crate::libtorch::Libtorch;
use crate::network::NetworkArgs;

/// Seconds between two looks at the store while nothing is missing.
const WAIT_SECS: u64 = 5;
/// Seconds between two looks for training while a study or match is played.
const LOOK_SECS: u64 = 60;
/// Seconds between two lines that say what is done.
const LINE_SECS: u64 = 30;

#[derive(Args)]
pub(crate) struct WorkerArgs {
    /// The store that it shares with `train`, `balance`, `match` or `rate --store URL`: a folder, s3://, gs:// or az://
    #[arg(long, value_name = "URL")]
    store: String,
    /// The place of this worker among --of workers, from 0: each begins with work that no other begins with
    #[arg(long, default_value_t = 0, value_name = "I")]
    index: u64,
    /// Number of workers that are told their places; others may join without
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    of: u64,
    /// Ends after so many minutes in which nothing was missing; 0 as soon as nothing is [default: never]
    #[arg(long, value_name = "MINUTES",
        value_parser = number(0.0..=1e6, "a number of minutes from 0 to 1000000 is needed"))]
    idle: Option<f64>,
    /// Folder for networks [default: latrunculi-models in the folder of temporary files]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    side_by_side: GamesArgs,
    #[command(flatten)]
    network: NetworkArgs,
    /// Tells only why it ends
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(args: &WorkerArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let opener = args.network.opener(true, libtorch)?;
    if args.index >= args.of {
        let reason = format!("--index {} must be below --of {}", args.index, args.of);
        let mut program = crate::Cli::command();
        program.build();
        let worker = program.find_subcommand("worker").cloned();
        worker.unwrap_or(program).error(clap::error::ErrorKind::ValueValidation, reason).exit();
    }
    let stop = stop_on_signals()?;
    let store = Store::join(&args.store, Arc::clone(&stop)).map_err(stopped)?;
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(args.side_by_side.threads).build().context("starting threads")?;
    let cache = args.cache.clone().unwrap_or_else(|| std::env::temp_dir().join("latrunculi-models"));
    let worker = Worker::new(store, WorkOrder::new(args.index, args.of), host(), cache);
    let said = Mutex::new(Said { line: Instant::now(), text: String::new() });
    let tell = |title: &str| {
        let WorkDone { units, games, .. } = worker.done();
        show(args, &said, title, &format!("{units} units written, {games} games played; plays {title}"));
    };
    let training = TrainingWorker {
        worker: &worker,
        actors: pool.current_num_threads(),
        loader: &*opener.loader,
        tell: &tell,
        stop: &stop,
        refused: Mutex::default(),
    };
    // A generation that is open waits for its slowest unit; studies can wait.
    let looked = Mutex::new(Instant::now());
    let has_training = || {
        let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < Duration::from_secs(LOOK_SECS) {
            return Ok(false);
        }
        let is_wanted = training.is_wanted();
        *looked = Instant::now();
        is_wanted
    };
    let games = GamesWorker {
        worker: &worker,
        pool: &pool,
        games_at_once: args.side_by_side.games_at_once,
        networks: &|rules: &Arc<Rules>, path: &str| opener.open_for_games(rules, path),
        has_other_work: &has_training,
        tell: &tell,
        stop: &stop,
    };
    let (name, threads) = (worker.order.name(), pool.current_num_threads());
    say(args, &format!("worker {name} on {}, {threads} threads, store {}", worker.host, worker.store));
    let waits = |text: &str| show(args, &said, text, text);
    let ended = until_idle(args.idle, &games, &training, &waits);
    let WorkDone { units, duplicates, games } = worker.done();
    let duplicates = match duplicates {
        0 => String::new(),
        units => format!(", {units} units in vain because others had written them before"),
    };
    let summary = format!("{units} units written, {games} games played{duplicates}");
    match ended {
        Ok(()) => eprintln!("nothing is missing; {summary}"),
        Err(error) if error.is_stopped() => {
            return Err(Stopped::telling(format!("stopped; {summary}; the same command goes on")).into());
        }
        Err(error) => return Err(anyhow::Error::from(error).context(format!("after {summary}"))),
    }
    Ok(())
}

struct Said {
    line: Instant,
    text: String,
}

/// Works until nothing has been missing for so many minutes; `waits` is told what is waited for.
fn until_idle(
    idle: Option<f64>,
    games: &GamesWorker<'_>,
    training: &TrainingWorker<'_>,
    waits: &dyn Fn(&str),
) -> Result<(), Error> {
    let worker = games.worker;
    let idle = idle.map(|minutes| Duration::from_secs_f64(minutes * 60.0));
    let (mut series, mut idle_since) = (GamesWork::default(), Instant::now());
    loop {
        let mut faults = Vec::new();
        let has_played = training.play(&mut faults)? || series.play(games, &mut faults)?;
        if games.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        if has_played {
            idle_since = Instant::now();
            continue;
        }
        faults.extend(worker.take_withheld());
        if idle.is_some_and(|idle| idle_since.elapsed() >= idle) {
            return Ok(());
        }
        waits(&match faults.is_empty() {
            true => format!("waits: nothing is missing in {}; it looks again every {WAIT_SECS} s", worker.store),
            false => format!("waits: nothing that can be played here is missing:\n  {}", faults.join("\n  ")),
        });
        worker.store.sleep(Duration::from_secs(WAIT_SECS))?;
    }
}

/// Says what is done: at once where it is something new, `about` names it, else now and then.
fn show(args: &WorkerArgs, said: &Mutex<Said>, about: &str, text: &str) {
    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
    if said.text != about || said.line.elapsed() > Duration::from_secs(LINE_SECS) {
        *said = Said { line: Instant::now(), text: about.to_owned() };
        say(args, text);
    }
}

fn say(args: &WorkerArgs, text: &str) {
    if !args.quiet {
        eprintln!("{}", crate::shown(text));
    }
}

fn host() -> String {
    let of_system = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = of_system.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    let name: String = name.trim().chars().filter(|letter| !letter.is_control()).take(64).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

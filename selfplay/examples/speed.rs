//! Plays games with the teacher and prints what they cost.
//!
//! `cargo run --release -p latrunculi-selfplay --example speed -- RULESET SIMULATIONS [SCALE]`

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use latrunculi_engine::{Player, Rules, presets};
use latrunculi_selfplay::{Progress, SelfPlayPlan, SelfPlaySettings, Teacher, TeacherSettings, play_games};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or(default.to_owned());
    let ruleset = presets::ruleset(&argument(0, "bell")).ok_or("unknown ruleset")?;
    let rules = Arc::new(Rules::new(&ruleset)?);
    let simulations: u32 = argument(1, "64").parse()?;
    let teaching = TeacherSettings { scale: argument(2, "300").parse()?, ..TeacherSettings::default() };
    let mut teacher = Teacher::new(&rules, teaching);
    let plan = SelfPlayPlan {
        rules: Arc::clone(&rules),
        settings: SelfPlaySettings { simulations, ..SelfPlaySettings::default() },
        run_seed: 1,
        generation: 0,
        games: 40,
        played: BTreeSet::new(),
        in_flight: 32,
        teaching: None,
        parallel_trees: false,
    };
    let since = Instant::now();
    let progress = Progress::default();
    let games = play_games(&plan, &mut [&mut teacher], &progress, &|_: &Progress| true)?;
    let secs = since.elapsed().as_secs_f64();
    let mut reasons: BTreeMap<_, u32> = BTreeMap::new();
    for game in &games {
        *reasons.entry((game.outcome.reason, game.outcome.winner.map(Player::number))).or_default() += 1;
    }
    let count = games.len() as f64;
    let mean = |total: usize| total as f64 / count;
    println!("{reasons:?}");
    println!(
        "{:.1} games/s, {:.0} evaluations/s, {:.1} actions and {:.1} samples a game",
        count / secs,
        progress.evaluations.load(Ordering::Relaxed) as f64 / secs,
        mean(games.iter().map(|game| game.action_count as usize).sum()),
        mean(games.iter().map(|game| game.samples.len()).sum()),
    );
    Ok(())
}

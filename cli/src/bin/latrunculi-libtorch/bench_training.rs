//! `bench training`: the training step.

use std::sync::Arc;
use std::time::Instant;

use latrunculi_cli::bench::{Stopwatch, TrainingArgs, describe};
use latrunculi_data::{Precision, ReplaySettings, ReplayWindow, Shape, TrainingConfig};
use latrunculi_model::{Device, Network, Trainer};
use latrunculi_selfplay::{GameKey, PoolPlan, Purpose, SelfPlaySettings, TeacherSettings};
use latrunculi_train::fair_gate::FairGate;
use latrunculi_train::generation::{self, GameList, Playing};
use latrunculi_train::rulesets;
use serde_json::json;

pub(crate) fn run(args: &TrainingArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.batches <= args.batch,
        "--batches {} of --batch {} positions: take fewer",
        args.batches,
        args.batch
    );
    let rules = rulesets::load(&args.network.ruleset)?;
    let (model, device) = (args.network.model()?, Device::open(args.network.device)?);
    let network = Network::from_tensors(&model.config, &model.tensors, device)?;
    let mut config = TrainingConfig {
        threads: args.threads,
        precision: if args.f32 { Precision::F32 } else { Precision::Auto },
        ..TrainingConfig::default()
    };
    if args.plain {
        config = config.without_training_heads();
    }
    let mut trainer = Trainer::new(&network, &config)?;
    trainer.set_free_threads(args.threads);
    // Real positions, from games that alpha-beta plays in no time.
    let plan = PoolPlan {
        rules: Arc::clone(&rules),
        settings: SelfPlaySettings::default(),
        teacher: Some(TeacherSettings { nodes: 10, ..TeacherSettings::default() }),
        run_seed: 1,
        name: "bench".to_owned(),
        in_flight: 1,
        first_game: 0,
    };
    let gate = &FairGate::new(1);
    let playing = Playing { parallel_trees: false, gate, goes_on: &|_| true, until: None };
    let list = GameList { plan, games: 16, pools: 1, journal: None, found: Vec::new() };
    let played = generation::play_lists(&mut [list], &mut generation::idle_evaluators(1), &playing)?;
    let mut window = ReplayWindow::new(Arc::clone(&rules), ReplaySettings::default(), 0);
    for (generation, game) in (0..).zip(played.rulesets.into_iter().flat_map(|ruleset| ruleset.games)) {
        window.add(generation, game.samples);
    }
    let key = GameKey { run_seed: 1, series: 0, game: 0 };
    let mut draw = window.draw(key.stream(Purpose::Training));
    let mut drawn = || (0..args.batches).map(|_| draw.batch(args.batch / args.batches)).collect::<Vec<_>>();
    for _ in 0..3 {
        trainer.step(&drawn(), 0.0)?;
    }
    let (mut steps, mut draw_secs, mut step_secs) = (0u64, 0.0, 0.0);
    let watch = Stopwatch::start();
    while steps < 3 || watch.secs() < args.seconds {
        let before = Instant::now();
        let batches = drawn();
        let begun = Instant::now();
        trainer.step(&batches, 0.0)?;
        draw_secs += (begun - before).as_secs_f64();
        step_secs += begun.elapsed().as_secs_f64();
        steps += 1;
    }
    let samples = (steps * (args.batch / args.batches * args.batches) as u64) as f64;
    // With several threads the calling one's time is not all.
    let computed = watch.processor_secs();
    let per_processor_sec = computed.filter(|_| args.threads == 1 && !device.is_gpu()).map(|secs| samples / secs);
    let all_secs = draw_secs + step_secs;
    if args.json {
        let shape = Shape::of(&rules);
        let report = json!({
            "network": describe(&model.config, &rules, &device.to_string()), "batch": args.batch, "batches": args.batches, "threads": args.threads,
            "files": shape.files, "ranks": shape.ranks, "planes": shape.planes, "scalars": shape.scalars,
            "parameters": network.parameter_count(),
            "precision": if args.f32 { "f32" } else { "auto" },
            "samples_per_sec": samples / all_secs, "samples_per_sec_of_steps": samples / step_secs,
            "samples_per_processor_sec": per_processor_sec,
            "draw_share": draw_secs / all_secs,
        });
        println!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    println!(
        "{}, steps of {} positions in {} batch(es), {} thread(s)",
        describe(&model.config, &rules, &device.to_string()),
        args.batch,
        args.batches,
        args.threads
    );
    println!("{:.0} samples/s, {:.0} in the steps alone", samples / all_secs, samples / step_secs);
    if let Some(rate) = per_processor_sec {
        println!("{rate:.0} samples per second of the processor");
    }
    println!("drawing batches takes {:.1} % of the time", draw_secs / all_secs * 100.0);
    Ok(())
}

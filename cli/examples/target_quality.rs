//! Asks how good the policy targets of cheap searches are, by the judgement of a long search of the same network.
//!
//! `cargo run --release -p latrunculi-cli --example target_quality -- MODEL POSITIONS SIMULATIONS LONG SCALE…`
//!
//! Positions come from games that the cheap search plays. Of each the long search gives every action a value; a
//! target's quality is the mean of these values by its shares, and what it loses to the best action is printed, with the
//! standard error over the positions, for the bare policy and for each SCALE: `min_max:0.1`, `absolute:0.5`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use latrunculi_data::Precision;
use latrunculi_engine::GameState;
use latrunculi_model::{Device, Model, NetEvaluator};
use latrunculi_search::mcts::{
    self, GumbelSettings, Interior, LeafBatch, Mode, PuctSettings, QScale, SearchBudget, SearchResult,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn scale(text: &str) -> Result<QScale, Box<dyn Error>> {
    let (kind, factor) = text.split_once(':').ok_or("a scale is min_max:F or absolute:F")?;
    match kind {
        "min_max" => Ok(QScale::MinMax { value_scale: factor.parse()?, range_min: 1e-6 }),
        "absolute" => Ok(QScale::Absolute { c_scale: factor.parse()? }),
        _ => Err("a scale is min_max:F or absolute:F".into()),
    }
}

fn settings(q_scale: QScale, interior: Interior) -> mcts::Settings {
    mcts::Settings {
        mode: Mode::Gumbel(GumbelSettings { q_scale, interior, ..GumbelSettings::default() }),
        reuse_tree: false,
        edges_max: 1 << 18,
        ..mcts::Settings::default()
    }
}

/// Searches all games, one leaf of each in every batch.
fn search_all(
    games: &[GameState],
    settings: &mcts::Settings,
    effort: SearchBudget,
    seed: u64,
    evaluator: &mut NetEvaluator,
) -> Result<Vec<SearchResult<latrunculi_engine::Action>>, Box<dyn Error>> {
    let mut searches: Vec<_> = games.iter().map(|game| mcts::Search::new(settings.clone(), game)).collect();
    for (search, number) in searches.iter_mut().zip(0..) {
        search.start(effort, &mut ChaCha8Rng::seed_from_u64(seed + number));
    }
    LeafBatch::default().run(&mut searches, evaluator)?;
    Ok(searches.iter().map(|search| search.result()).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, positions, simulations, long, scales @ ..] = &arguments[..] else {
        return Err("usage: target_quality MODEL POSITIONS SIMULATIONS LONG SCALE…".into());
    };
    let (positions, simulations, long): (usize, u32, u32) = (positions.parse()?, simulations.parse()?, long.parse()?);
    let model = Model::load(Path::new(model), Device::CPU)?;
    let trained = model.info.rulesets.first().ok_or("the model names no ruleset")?;
    let rules = Arc::new(trained.rules().map_err(|error| format!("{error:?}"))?);
    let mut evaluator = NetEvaluator::new(&model.network, Device::CPU, Precision::Auto);
    // One position of each game, at all ages.
    let default = settings(QScale::MCTX, Interior::ImprovedPolicy);
    let mut games: Vec<GameState> = (0..positions).map(|_| GameState::new(Arc::clone(&rules))).collect();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for age in 0..80 {
        let growing: Vec<usize> = (0..positions)
            .filter(|&index| age < 4 + index * 76 / positions && games[index].outcome().is_none())
            .collect();
        let now: Vec<GameState> = growing.iter().map(|&index| games[index].clone()).collect();
        let effort = SearchBudget { simulations: 4, add_noise: true };
        for (&index, result) in
            growing.iter().zip(search_all(&now, &default, effort, 1000 * age as u64, &mut evaluator)?)
        {
            let mut next = games[index].clone();
            next.play(result.actions[result.sample_by_policy(1.0, &mut random)]);
            if next.outcome().is_none() {
                games[index] = next;
            }
        }
    }
    let puct = settings(QScale::MCTX, Interior::Puct(PuctSettings::default()));
    let judge = mcts::Settings { mode: Mode::Puct(PuctSettings::default()), ..puct };
    let effort = SearchBudget { simulations: long, add_noise: true };
    let judged = search_all(&games, &judge, effort, 7, &mut evaluator)?;
    let loss = |policy: &[f32], judged: &SearchResult<latrunculi_engine::Action>| -> f64 {
        // What the long search did not try is worth what its root is at most.
        let worth = |index: usize| {
            if judged.visits[index] > 0 { judged.q[index] } else { judged.q[index].min(judged.value) }
        };
        let best = (0..judged.q.len()).map(worth).fold(f32::NEG_INFINITY, f32::max);
        policy.iter().enumerate().map(|(index, &share)| f64::from(share * (best - worth(index)))).sum()
    };
    let show = |name: &str, losses: &[f64]| {
        let count = losses.len() as f64;
        let mean = losses.iter().sum::<f64>() / count;
        let error = (losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (count - 1.0) / count).sqrt();
        println!("{name:24} loses {mean:.4} ± {error:.4} of a win to the best action");
    };
    println!("{positions} positions, searches of {simulations}, judged by searches of {long}");
    let bare: Vec<f64> = judged.iter().map(|judged| loss(&judged.prior, judged)).collect();
    show("bare policy", &bare);
    for text in scales {
        for (name, interior) in
            [("improved", Interior::ImprovedPolicy), ("puct", Interior::Puct(PuctSettings::default()))]
        {
            let settings = settings(scale(text)?, interior);
            let effort = SearchBudget { simulations, add_noise: true };
            let mut losses = vec![0.0; positions];
            let mut choices = vec![0.0; positions];
            for seed in 0..4 {
                let results = search_all(&games, &settings, effort, 100_000 * (seed + 1), &mut evaluator)?;
                for (index, (result, judged)) in results.iter().zip(&judged).enumerate() {
                    losses[index] += loss(&result.policy, judged) / 4.0;
                    let mut chosen = vec![0.0; result.policy.len()];
                    chosen[result.best] = 1.0;
                    choices[index] += loss(&chosen, judged) / 4.0;
                }
            }
            show(&format!("{text} {name}: target"), &losses);
            show(&format!("{text} {name}: choice"), &choices);
        }
    }
    Ok(())
}

//! Fits the weights of alpha-beta's evaluation to games, ruleset by ruleset (Texel's method), and keeps a fit
//! only if it beats the weights in use.
//!
//! `cargo run --release -p latrunculi-eval --example fit_evaluation -- RULESET… [games=2000] [nodes=200]
//! [rounds=2] [pairs=100] [match_nodes=1000] [seed=1] [random=0.2] [prior=100] [set=advance:2,…]
//! [file=search/data/weights.toml]`
//!
//! Each round plays games by alpha-beta against itself, with random openings and a random share of the
//! actions (drawn per game, so that even peaceful rulesets see decisions), takes quiet positions from them, and
//! minimises `Σ(z − tanh(w·x / SCALE))²` over the weights `w`, where `z` is the result and `x` are the features,
//! drawn towards the weights before. The last fit plays paired games against the weights in use; where the
//! chance of being the better side is 95 % it is written to the file.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::sync::Arc;

use latrunculi_engine::{GameState, Player, Rules, presets};
use latrunculi_eval::agents::mix_seeds;
use latrunculi_eval::matches::openings::{OpeningBook, default_length};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Heuristic, Limits};
use latrunculi_search::latrunculi::{
    FEATURE_COUNT, Feature, LatrunculiHeuristic, RulesetWeights, Stage, Weights, WeightsFile,
};
use latrunculi_stats::pairs::PairTable;
use latrunculi_stats::score::GameResult;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// The unit of weights while they are fitted: hundredths of a man worth `tanh(1)` = 0.76 of a win.
const SCALE: f64 = 400.0;

/// Weights of the three stages in one row, placement, many pieces, few pieces; then what the first player's
/// seat is worth in each, which is fitted so that no feature has to stand for it, and not kept.
const PARAMETERS: usize = 3 * FEATURE_COUNT + 3;

/// Share of the quiet positions that are taken, so that those of one game are not all alike.
const SAMPLED_SHARE: f64 = 0.15;

/// Actions after which a game of the fit counts as a draw.
const ACTIONS_MAX: usize = 400;

struct Settings {
    games: usize,
    nodes: u64,
    rounds: usize,
    pairs: usize,
    match_nodes: u64,
    seed: u64,
    /// The greatest share of random actions in a game.
    random: f64,
    /// How many positions the pull towards the weights before is worth, per parameter.
    prior: f64,
    file: String,
}

/// A quiet position of a game and how that ended.
struct Sample {
    /// The features by stage: the result is judged by their weighted sum.
    features: Vec<f64>,
    /// The result for the first player: 1, 0 or -1.
    result: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (options, names): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|text| text.contains('='));
    let options: HashMap<&str, &str> = options.iter().filter_map(|text| text.split_once('=')).collect();
    let option = |name: &str, default: &str| (*options.get(name).unwrap_or(&default)).to_owned();
    let settings = Settings {
        games: option("games", "2000").parse()?,
        nodes: option("nodes", "200").parse()?,
        rounds: option("rounds", "2").parse()?,
        pairs: option("pairs", "100").parse()?,
        match_nodes: option("match_nodes", "1000").parse()?,
        seed: option("seed", "1").parse()?,
        random: option("random", "0.2").parse()?,
        prior: option("prior", "100").parse()?,
        file: option("file", "search/data/weights.toml"),
    };
    for name in &names {
        let ruleset = presets::ruleset(name).ok_or_else(|| format!("no ruleset is named {name}"))?;
        let rules = Arc::new(Rules::new(&ruleset)?);
        let before = Weights::for_ruleset(&ruleset);
        let mut weights = before;
        for (feature, worth) in option("set", "").split(',').filter_map(|text| text.split_once(':')) {
            let index = Feature::ALL.iter().position(|known| known.as_str() == feature);
            let index = index.ok_or_else(|| format!("no feature is named {feature}"))?;
            let worth: f32 = worth.parse()?;
            for column in [&mut weights.placement, &mut weights.many, &mut weights.few] {
                column[index] = worth;
            }
        }
        for round in 0..settings.rounds {
            let samples = play_samples(&rules, &weights, &settings, round as u64);
            let decided = samples.iter().filter(|sample| sample.result != 0.0).count();
            let prior = parameters(&weights);
            let (fitted, errors) = fit(&samples, &prior, settings.prior);
            weights = to_weights(&fitted, &rules);
            println!(
                "{name}, round {round}: {} positions, {:.0} % of decided games; mean error {:.4} -> {:.4}",
                samples.len(),
                100.0 * decided as f64 / samples.len().max(1) as f64,
                errors[0],
                errors[1]
            );
        }
        for (index, feature) in Feature::ALL.iter().enumerate() {
            let row = [weights.placement[index], weights.many[index], weights.few[index]];
            println!("  {:<16} {:>8.2} {:>8.2} {:>8.2}", feature.as_str(), row[0], row[1], row[2]);
        }
        if option("ladder", "no") == "yes" {
            let table =
                play_match(&rules, [&weights, &weights], [4 * settings.match_nodes, settings.match_nodes], &settings);
            println!("{name}: fourfold nodes score {:.3}: {:?}", table.agent().score()?.mean(), table.agent_games());
        }
        let table = play_match(&rules, [&weights, &before], [settings.match_nodes; 2], &settings);
        let score = table.agent().score()?;
        let superiority = score.likelihood_of_superiority().unwrap_or(0.5);
        let games = table.agent_games();
        let proof = format!(
            "{:.3} in {} games at {} nodes against the weights before: {} won, {} drawn, {} lost",
            score.mean(),
            games.games(),
            settings.match_nodes,
            games.wins,
            games.draws,
            games.losses
        );
        let is_better = superiority >= 0.95;
        println!("{name}: {proof}; better with {superiority:.3}: {}", if is_better { "kept" } else { "thrown away" });
        if is_better {
            keep(&settings.file, RulesetWeights::new(&ruleset, &weights, proof))?;
        }
    }
    Ok(())
}

/// Writes an entry to the file of weights, in the place of an older one, below the comment at its head.
fn keep(path: &str, fitted: RulesetWeights) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    let mut file: WeightsFile = toml::from_str(&text)?;
    file.rulesets.retain(|other| other.fingerprint != fitted.fingerprint);
    file.rulesets.push(fitted);
    file.rulesets.sort_by(|one, other| one.id.cmp(&other.id));
    let written = format!("{path}.new");
    fs::write(&written, format!("{}\n\n{}", head.join("\n"), toml::to_string(&file)?))?;
    fs::rename(written, path)?;
    Ok(())
}

fn alphabeta(rules: &Rules, weights: &Weights, nodes: u64) -> AlphaBeta<GameState, LatrunculiHeuristic> {
    let settings = AlphaBetaSettings { table_bytes: (nodes * 64) as usize, ..AlphaBetaSettings::default() };
    AlphaBeta::new(settings, LatrunculiHeuristic::with_weights(rules, *weights))
}

/// Plays the games of a round and returns quiet positions of them.
fn play_samples(rules: &Arc<Rules>, weights: &Weights, settings: &Settings, round: u64) -> Vec<Sample> {
    let length = default_length(rules);
    let samples = (0..settings.games as u64).into_par_iter().map_init(
        || alphabeta(rules, weights, settings.nodes),
        |search, game| {
            let mut rng = ChaCha8Rng::seed_from_u64(mix_seeds(&[settings.seed, round, game]));
            let random_share = rng.random_range(0.0..=settings.random);
            let mut state = GameState::new(Arc::clone(rules));
            let mut actions = Vec::new();
            let mut samples = Vec::new();
            for played in 0..ACTIONS_MAX {
                if state.outcome().is_some() {
                    break;
                }
                state.legal_actions(&mut actions);
                let is_random = played < length || rng.random_bool(random_share);
                let heuristic = search.heuristic();
                let is_quiet = !state.position().is_mid_turn()
                    && !actions.iter().any(|&action| heuristic.is_tactical(&state, action));
                if played >= length && is_quiet && rng.random_bool(SAMPLED_SHARE) {
                    samples.push(Sample { features: features(heuristic, &state), result: 0.0 });
                }
                let action = if is_random {
                    actions[rng.random_range(0..actions.len())]
                } else {
                    search.search(&state, Limits::nodes(settings.nodes)).action
                };
                state.play(action);
            }
            let result = state.outcome().map_or(0.0, |outcome| outcome.value_for(Player::First) as f64);
            samples.iter_mut().for_each(|sample| sample.result = result);
            samples
        },
    );
    samples.flatten().collect()
}

/// Returns the features of a position, each in the places of the stages that it belongs to.
fn features(heuristic: &LatrunculiHeuristic, state: &GameState) -> Vec<f64> {
    let shares = match heuristic.stage(state.position()) {
        Stage::Placement => [1.0, 0.0, 0.0],
        Stage::Movement { many } => [0.0, f64::from(many) / 64.0, 1.0 - f64::from(many) / 64.0],
    };
    let counts = heuristic.counts(state.position());
    let features = shares.iter().flat_map(|share| counts.iter().map(move |&count| share * f64::from(count)));
    features.chain(shares).collect()
}

fn parameters(weights: &Weights) -> Vec<f64> {
    let stages = [weights.placement, weights.many, weights.few];
    stages.iter().flatten().map(|&weight| f64::from(weight)).chain([0.0; 3]).collect()
}

/// Turns parameters into weights whose man is worth 100 while all pieces are there.
fn to_weights(parameters: &[f64], rules: &Rules) -> Weights {
    let pieces: f64 = Player::BOTH.map(|player| rules.men_at_start(player) as f64).iter().sum();
    let many = &parameters[FEATURE_COUNT..];
    let man = many[Feature::Men as usize] + many[Feature::Lead as usize] * 100.0 / pieces;
    let factor = 100.0 / man.max(10.0);
    let column = |stage: usize| {
        let mut weights = [0.0; FEATURE_COUNT];
        for (weight, parameter) in weights.iter_mut().zip(&parameters[stage * FEATURE_COUNT..]) {
            *weight = (parameter * factor) as f32;
        }
        weights
    };
    Weights { placement: column(0), many: column(1), few: column(2) }
}

/// Minimises the squared error of the results by Gauss and Newton's method, damped by Levenberg's; returns
/// the parameters and the mean errors before and after.
fn fit(samples: &[Sample], prior: &[f64], positions: f64) -> (Vec<f64>, [f64; 2]) {
    // A feature pulls as strongly as it varies; one that never occurs stays where it was.
    let pulls: Vec<f64> = (0..PARAMETERS)
        .map(|index| {
            let squares: f64 = samples.iter().map(|sample| sample.features[index].powi(2)).sum();
            positions * (squares / samples.len().max(1) as f64).max(1e-6) / SCALE.powi(2)
        })
        .collect();
    let mut weights = best_multiple(samples, prior);
    let start = weights.clone();
    let cost = |weights: &[f64]| {
        let pull: f64 = (0..PARAMETERS).map(|i| pulls[i] * (weights[i] - start[i]).powi(2)).sum();
        squared_error(samples, weights) + pull
    };
    let mut damping = 1.0;
    let mut least = cost(&weights);
    for _ in 0..40 {
        let (mut matrix, mut gradient) = (vec![vec![0.0; PARAMETERS]; PARAMETERS], vec![0.0; PARAMETERS]);
        for sample in samples {
            let value = (dot(&sample.features, &weights) / SCALE).tanh();
            let slope = (1.0 - value * value) / SCALE;
            let present: Vec<usize> = (0..PARAMETERS).filter(|&i| sample.features[i] != 0.0).collect();
            for &row in &present {
                gradient[row] += slope * sample.features[row] * (sample.result - value);
                for &column in &present {
                    matrix[row][column] += slope * slope * sample.features[row] * sample.features[column];
                }
            }
        }
        for index in 0..PARAMETERS {
            gradient[index] -= pulls[index] * (weights[index] - start[index]);
            matrix[index][index] += pulls[index];
        }
        loop {
            let mut damped = matrix.clone();
            (0..PARAMETERS).for_each(|index| damped[index][index] *= 1.0 + damping);
            let step = solve(damped, gradient.clone());
            let tried: Vec<f64> = weights.iter().zip(&step).map(|(weight, step)| weight + step).collect();
            let error = cost(&tried);
            if error < least {
                damping /= 4.0;
                let gain = least - error;
                (weights, least) = (tried, error);
                if gain < 1e-7 * least {
                    damping = f64::INFINITY;
                }
                break;
            }
            damping *= 4.0;
            if damping > 1e9 {
                break;
            }
        }
        if damping > 1e9 {
            break;
        }
    }
    let mean = |weights: &[f64]| squared_error(samples, weights) / samples.len().max(1) as f64;
    let errors = [mean(&start), mean(&weights)];
    (weights, errors)
}

/// Returns the multiple of `weights` that fits best: how decisive a man is in this ruleset.
fn best_multiple(samples: &[Sample], weights: &[f64]) -> Vec<f64> {
    let multiples = (0..60).map(|step| 0.02 * 1.1_f64.powi(step));
    let scaled = |multiple: f64| weights.iter().map(|weight| weight * multiple).collect::<Vec<f64>>();
    let errors = multiples.map(|multiple| (squared_error(samples, &scaled(multiple)), multiple));
    scaled(errors.min_by(|one, other| one.0.total_cmp(&other.0)).map_or(1.0, |(_, multiple)| multiple))
}

fn squared_error(samples: &[Sample], weights: &[f64]) -> f64 {
    samples.par_iter().map(|sample| (sample.result - (dot(&sample.features, weights) / SCALE).tanh()).powi(2)).sum()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Solves `matrix · x = right` by Gauss's elimination; the matrix is positive definite.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for pivot in 0..size {
        for row in pivot + 1..size {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            if factor != 0.0 {
                let (above, below) = matrix.split_at_mut(row);
                for (entry, upper) in below[0][pivot..].iter_mut().zip(&above[pivot][pivot..]) {
                    *entry -= factor * upper;
                }
                right[row] -= factor * right[pivot];
            }
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

/// Plays paired games between two sets of weights; the first is agent A.
fn play_match(rules: &Arc<Rules>, sides: [&Weights; 2], nodes: [u64; 2], settings: &Settings) -> PairTable {
    let book = OpeningBook::draw(rules, mix_seeds(&[settings.seed, 77]), settings.pairs, default_length(rules));
    let results: Vec<[GameResult; 2]> = book
        .openings
        .par_iter()
        .map_init(
            || [0, 1].map(|side| alphabeta(rules, sides[side], nodes[side])),
            |searches, opening| {
                [0, 1].map(|first| {
                    let mut state = GameState::new(Arc::clone(rules));
                    opening.actions.iter().for_each(|&action| state.play(action));
                    while state.outcome().is_none() {
                        let side = first ^ state.player_to_act().index();
                        state.play(searches[side].search(&state, Limits::nodes(nodes[side])).action);
                    }
                    GameResult::for_player(state.outcome().and_then(|outcome| outcome.winner), Player::First)
                })
            },
        )
        .collect();
    let mut table = PairTable::default();
    results.iter().for_each(|[one, other]| table.record(*one, *other));
    table
}

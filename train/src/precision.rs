//! Whether fewer than 32 bits are exact enough for a network.

use std::sync::Arc;

use latrunculi_data::{Precision, PrecisionDifference};
use latrunculi_engine::{Action, GameState, Rules};
use latrunculi_infer::policy;
use latrunculi_search::{EvalError, Evaluation};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::Error;
use crate::networks::{PlayEvaluator, PlayNetwork};

/// Games, decisions of each, and every how many decisions a position is taken for the comparison.
const GAMES: usize = 16;
const DECISIONS: usize = 48;
const STRIDE: usize = 4;
/// Seed of their actions: not that of the games from which the scales of 8-bit activations come.
const SEED: u64 = 2;

/// A precision and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionChoice {
    /// The precision; never [`Precision::Auto`].
    pub precision: Precision,
    /// The last comparison that [`Precision::Auto`] made.
    pub difference: Option<PrecisionDifference>,
}

/// Chooses the precision in which `network` plays.
///
/// [`Precision::Auto`] begins with the fastest precision that the hardware has ([`PlayNetwork::precision`]), and takes more
/// bits until the answers agree with those in 32 bits on positions of games that the network plays by its own policy
/// under `rules`. Nothing is timed, so the same network on the same hardware gets the same precision.
/// Fails when the network gives no answer in 32 bits.
pub fn choose_precision(
    network: &dyn PlayNetwork,
    wanted: Precision,
    rules: &Arc<Rules>,
) -> Result<PrecisionChoice, Error> {
    let suggested = network.precision(wanted);
    let mut choice = PrecisionChoice { precision: suggested, difference: None };
    if wanted != Precision::Auto {
        return Ok(choice);
    }
    loop {
        let fewer = choice.precision;
        let more = match fewer {
            Precision::Int8 => Precision::Bf16,
            Precision::Bf16 => Precision::F32,
            Precision::F32 | Precision::Auto => return Ok(choice),
        };
        let difference = difference(network, fewer, rules)?;
        choice.difference = Some(difference);
        if difference.is_small() {
            return Ok(choice);
        }
        choice.precision = more;
    }
}

/// Compares the answers in `precision` with those in 32 bits, on positions of games whose actions are drawn from the policy
/// in `precision`, which is the faster one; the same each time.
fn difference(
    network: &dyn PlayNetwork,
    precision: Precision,
    rules: &Arc<Rules>,
) -> Result<PrecisionDifference, Error> {
    let mut short = network.evaluators(1, precision)?.remove(0);
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut games: Vec<GameState> = (0..GAMES).map(|_| GameState::new(Arc::clone(rules))).collect();
    let mut legal: Vec<Vec<Action>> = vec![Vec::new(); GAMES];
    let (mut taken, mut taken_legal, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for decision in 0..DECISIONS {
        for (game, actions) in games.iter_mut().zip(&mut legal) {
            if game.outcome().is_some() {
                *game = GameState::new(Arc::clone(rules));
            }
            game.legal_actions(actions);
        }
        let Ok(answers) = answers(&mut short, &games, &legal) else {
            // In fewer bits the answers are no numbers.
            return Ok(PrecisionDifference { policy: f64::INFINITY, value: f64::INFINITY });
        };
        if decision % STRIDE == STRIDE - 1 {
            taken.extend(games.iter().cloned());
            taken_legal.extend(legal.iter().cloned());
            found.extend(answers.iter().cloned());
        }
        for ((game, actions), answer) in games.iter_mut().zip(&legal).zip(&answers) {
            game.play(actions[policy::draw(&answer.policy_logits, &mut rng)]);
        }
    }
    let mut exact = network.evaluators(1, Precision::F32)?.remove(0);
    Ok(difference_between(&answers(&mut exact, &taken, &taken_legal)?, &found))
}

/// Compares the answers to the same positions.
fn difference_between(exact: &[Evaluation], short: &[Evaluation]) -> PrecisionDifference {
    let (mut policy, mut value) = (0.0, 0.0);
    for (exact, short) in exact.iter().zip(short) {
        let [left, right] = [exact, short].map(|answer| policy::probabilities(&answer.policy_logits));
        policy += left.iter().zip(&right).map(|(left, right)| (left - right).abs()).sum::<f64>() / 2.0;
        let [left, right] = [exact, short].map(|answer| {
            let [win, _, loss] = answer.win_draw_loss.map(f64::from);
            win - loss
        });
        value += (left - right).abs();
    }
    let mean = |sum: f64| {
        let mean = sum / exact.len() as f64;
        if mean.is_finite() { mean } else { f64::INFINITY }
    };
    PrecisionDifference { policy: mean(policy), value: mean(value) }
}

/// Returns an evaluator's answers to positions with their legal actions.
fn answers(
    evaluator: &mut PlayEvaluator,
    games: &[GameState],
    legal: &[Vec<Action>],
) -> Result<Vec<Evaluation>, EvalError> {
    let mut answers = vec![Evaluation::default(); games.len()];
    let games: Vec<&GameState> = games.iter().collect();
    let legal: Vec<&[Action]> = legal.iter().map(Vec::as_slice).collect();
    evaluator.evaluate(&games, &legal, &mut answers)?;
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use latrunculi_data::{NetworkConfig, StoredModel};
    use latrunculi_engine::presets;
    use rand::RngExt;

    use super::*;
    use crate::networks::{NetworkLoader, Processor};

    /// Rules, and a network of so many channels whose gains are drawn at random, as after training, times `factor`.
    fn network_of(channels: usize, factor: f32) -> (Arc<Rules>, Box<dyn PlayNetwork>) {
        let rules = presets::rules("bell");
        let mut model = StoredModel::fresh(&NetworkConfig { channels, ..NetworkConfig::default() }, 5).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (name, tensor) in &mut model.tensors {
            if name.ends_with(".gain") {
                tensor.values.fill_with(|| rng.random_range(0.5..1.5) * factor);
            }
        }
        (rules, Processor.network(&model).unwrap())
    }

    #[test]
    fn fewer_bits_agree_for_ordinary_weights_and_not_for_extreme_ones() {
        let network = |factor| network_of(32, factor);
        let (rules, ordinary) = network(1.0);
        if ordinary.precision(Precision::Auto) == Precision::F32 {
            println!("SKIPPED: this processor has no kernel in 16 bits");
            return;
        }
        for precision in [Precision::Bf16, Precision::Int8] {
            let difference = difference(&*ordinary, precision, &rules).unwrap();
            assert!(difference.policy > 1e-6 && difference.is_small(), "{precision}: {difference}");
        }
        // 8 bits only where they are faster.
        assert_eq!(choose_precision(&*ordinary, Precision::Auto, &rules).unwrap().precision, Precision::Bf16);
        let (_, wide) = network_of(48, 1.0);
        assert_eq!(choose_precision(&*wide, Precision::Auto, &rules).unwrap().precision, Precision::Int8);
        // Where the gains are larger still, one action takes the whole policy in both precisions.
        let is_extreme = |(rules, network): &(Arc<Rules>, Box<dyn PlayNetwork>)| {
            !difference(&**network, Precision::Bf16, rules).unwrap().is_small()
        };
        let found = [1.5, 2.0, 2.5, 3.0, 4.0, 5.0].map(network).into_iter().find(is_extreme);
        let (rules, extreme) = found.expect("16 bits are too few for some gains");
        let choice = choose_precision(&*extreme, Precision::Auto, &rules).unwrap();
        assert_eq!(choice.precision, Precision::F32);
        let named = choose_precision(&*extreme, Precision::Bf16, &rules).unwrap();
        assert_eq!(named, PrecisionChoice { precision: Precision::Bf16, difference: None });
    }

    #[test]
    fn wrong_answers_differ_and_equal_ones_do_not() {
        let answers = |logits: [f32; 2], win: f32| {
            let evaluation = |policy_logits: &[f32]| Evaluation {
                policy_logits: policy_logits.to_vec(),
                win_draw_loss: [win, 0.0, 1.0 - win],
            };
            [evaluation(&logits), evaluation(&[0.0])]
        };
        let exact = answers([1.0, 2.0], 0.5);
        let between = |other: &[Evaluation]| difference_between(&exact, other);
        assert_eq!(between(&exact.clone()), PrecisionDifference { policy: 0.0, value: 0.0 });
        assert!((between(&answers([2.0, 1.0], 0.5)).policy - 0.5 * 0.4621).abs() < 1e-3);
        assert!((between(&answers([1.0, 2.0], 0.6)).value - 0.2).abs() < 1e-6);
        assert!(!between(&answers([f32::NAN, 2.0], 0.5)).is_small());
    }
}

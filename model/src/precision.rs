//! The precision of the trunk, in play and in training, and whether 16 bits are exact enough for a network.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Rules};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use tch::Kind;

use crate::device::{self, Device};
use crate::error::InferenceError;
use crate::inference::{Answers, InferenceNetwork};
use crate::network::Network;
use latrunculi_data::{EncodedBatch, EncodedPositions};
use latrunculi_infer::{AnswerDifference, probabilities};

/// The precision of the trunk, in play and in training. Weights in files, heads and optimiser are always 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// In play the fastest whose answers agree with those in 32 bits. In training 16 bits where the processor multiplies
    /// them itself, and on a GPU; else 32.
    #[default]
    Auto,
    /// 32 bits.
    F32,
    /// 16 bits (bfloat16).
    Bf16,
    /// In play alone, on a processor with AMX: 8-bit integers.
    Int8,
}

impl Precision {
    /// Returns the precision on `device`: this one, or for [`Precision::Auto`] the one that the hardware suggests.
    #[must_use]
    pub fn on(self, device: Device) -> Precision {
        match self {
            Precision::Auto if device.is_gpu() || device::cpu_has_bf16() => Precision::Bf16,
            Precision::Auto => Precision::F32,
            chosen => chosen,
        }
    }

    /// Returns the kind of the trunk's tensors on `device`.
    pub(crate) fn kind(self, device: Device) -> Kind {
        match self.on(device) {
            Precision::Bf16 | Precision::Int8 => Kind::BFloat16,
            Precision::F32 | Precision::Auto => Kind::Float,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Auto => "auto",
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
            Precision::Int8 => "int8",
        })
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Precision::Auto),
            "f32" => Ok(Precision::F32),
            "bf16" => Ok(Precision::Bf16),
            "int8" => Ok(Precision::Int8),
            _ => Err(format!("unknown precision '{text}' (known: auto, f32, bf16, int8)")),
        }
    }
}

/// Games, decisions of each, and every how many decisions a position is taken for the comparison.
const GAMES: usize = 16;
const DECISIONS: usize = 48;
const STRIDE: usize = 4;
/// Seed of their actions.
const SEED: u64 = 1;

/// A precision and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionChoice {
    /// The precision; never [`Precision::Auto`].
    pub precision: Precision,
    /// The comparison, where [`Precision::Auto`] could have chosen 16 bits.
    pub difference: Option<AnswerDifference>,
}

/// Chooses between 16 and 32 bits of libtorch for `network` in play on `device`.
///
/// [`Precision::Auto`] chooses 16 bits where the hardware has them and the answers agree with those in 32 bits on
/// positions of games that the network plays by its own policy under `rules`. Nothing is timed, so the same network on
/// the same hardware gets the same precision.
///
/// # Errors
/// As [`InferenceNetwork::new`] and [`InferenceNetwork::answer`] in 32 bits.
pub fn choose_precision(
    network: &Network,
    device: Device,
    wanted: Precision,
    rules: &Arc<Rules>,
) -> Result<PrecisionChoice, InferenceError> {
    let suggested = wanted.on(device);
    if wanted != Precision::Auto || suggested == Precision::F32 {
        return Ok(PrecisionChoice { precision: suggested, difference: None });
    }
    let difference = bf16_difference(network, device, rules)?;
    let precision = if difference.is_small() { Precision::Bf16 } else { Precision::F32 };
    Ok(PrecisionChoice { precision, difference: Some(difference) })
}

/// Compares the answers in 16 bits with those in 32 bits.
fn bf16_difference(network: &Network, device: Device, rules: &Arc<Rules>) -> Result<AnswerDifference, InferenceError> {
    let mut exact = InferenceNetwork::new(network, rules, device, Precision::F32)?;
    let mut short = InferenceNetwork::new(network, rules, device, Precision::Bf16)?;
    let positions = positions(&mut exact, rules)?;
    let batch = positions.as_batch();
    let mut answers = [Answers::default(), Answers::default()];
    exact.answer(&batch, &mut answers[0])?;
    match short.answer(&batch, &mut answers[1]) {
        Ok(()) => {
            let offsets: Vec<usize> = batch.action_offsets.iter().map(|&offset| offset as usize).collect();
            let [exact, short] = answers.map(|answers| (answers.logits, answers.win_draw_loss));
            Ok(AnswerDifference::between(&offsets, &exact, &short))
        }
        Err(InferenceError::NotFinite) => Ok(AnswerDifference::INFINITE),
        Err(error) => Err(error),
    }
}

/// Returns positions of games whose actions are drawn from the policy of `network`; the same each time.
fn positions(network: &mut InferenceNetwork, rules: &Arc<Rules>) -> Result<EncodedPositions, InferenceError> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut games: Vec<GameState> = (0..GAMES).map(|_| GameState::new(Arc::clone(rules))).collect();
    let (mut taken, mut current) = (EncodedPositions::default(), EncodedPositions::default());
    let mut answers = Answers::default();
    let mut legal: Vec<Vec<Action>> = vec![Vec::new(); GAMES];
    for decision in 0..DECISIONS {
        current.clear();
        for (game, actions) in games.iter_mut().zip(&mut legal) {
            if game.outcome().is_some() {
                *game = GameState::new(Arc::clone(rules));
            }
            game.legal_actions(actions);
            current.push(game, actions);
            if decision % STRIDE == STRIDE - 1 {
                taken.push(game, actions);
            }
        }
        let batch: EncodedBatch<'_> = current.as_batch();
        network.answer(&batch, &mut answers)?;
        for ((game, actions), pair) in games.iter_mut().zip(&legal).zip(batch.action_offsets.windows(2)) {
            let probabilities = probabilities(&answers.logits[pair[0] as usize..pair[1] as usize]);
            let mut rest = rng.random::<f64>();
            let drawn = probabilities.iter().position(|probability| {
                rest -= probability;
                rest < 0.0
            });
            game.play(actions[drawn.unwrap_or(actions.len() - 1)]);
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use latrunculi_data::NetworkConfig;
    use latrunculi_engine::presets;

    use super::*;

    /// Rules, and a network for them whose gains are drawn at random, as after training, times `factor`.
    fn network(factor: f64) -> (Arc<Rules>, Network) {
        let rules = Arc::new(Rules::new(&presets::ruleset("bell").unwrap()).unwrap());
        let network = Network::new(&NetworkConfig::default(), 5, Device::CPU).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (name, mut tensor) in network.named() {
            if name.ends_with(".gain") {
                let gains: Vec<f32> = (0..tensor.numel()).map(|_| rng.random_range(0.5..1.5) * factor as f32).collect();
                tensor.copy_(&tch::Tensor::from_slice(&gains).view(tensor.size().as_slice()));
            }
        }
        (rules, network)
    }

    #[test]
    fn sixteen_bits_agree_for_ordinary_weights_and_not_for_extreme_ones() {
        let (rules, ordinary) = network(1.0);
        let difference = bf16_difference(&ordinary, Device::CPU, &rules).unwrap();
        assert!(difference.policy > 1e-6 && difference.is_small(), "{difference}");
        // Where the gains are larger still, one action takes the whole policy in both precisions.
        let is_extreme = |(rules, network): &(Arc<Rules>, Network)| {
            !bf16_difference(network, Device::CPU, rules).unwrap().is_small()
        };
        let found = [1.5, 2.0, 2.5, 3.0, 4.0, 5.0].map(network).into_iter().find(is_extreme);
        let (rules, extreme) = found.expect("16 bits are too few for some gains");
        let choice = choose_precision(&extreme, Device::CPU, Precision::Auto, &rules).unwrap();
        assert_eq!(choice.precision, Precision::F32);
        let named = choose_precision(&extreme, Device::CPU, Precision::Bf16, &rules).unwrap();
        assert_eq!(named, PrecisionChoice { precision: Precision::Bf16, difference: None });
    }
}

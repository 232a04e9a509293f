//! Networks in play: what computes them.
//! On the processor the fused kernels of `latrunculi-infer` do ([`Processor`]). A program with libtorch has a
//! [`NetworkLoader`] for GPUs too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{iter, thread};

use latrunculi_data::{ModelInfo, NetworkConfig, Precision, StoredModel};
use latrunculi_engine::GameState;
use latrunculi_eval::OnThreads;
use latrunculi_infer::{InferenceEvaluator, InferenceModel, Kernel, Unit};
use latrunculi_search::Evaluator;

use crate::error::Error;

/// Evaluates positions of any ruleset for search, a batch of one at a time. Each thread has its own.
pub type PlayEvaluator = Box<dyn Evaluator<GameState> + Send>;

/// Makes evaluators, which share what they prepare for a ruleset.
pub type EvaluatorMaker = Box<dyn Fn() -> PlayEvaluator + Send>;

/// A network on what computes it.
pub trait PlayNetwork: Send {
    /// Returns `wanted`, or where that is `auto` the precision that is the fastest on the hardware.
    fn precision(&self, wanted: Precision) -> Precision;

    /// Returns the name of what computes the network in `precision`, which is not `auto`: games repeat exactly only with
    /// the same.
    fn kernel(&self, precision: Precision) -> String;

    /// Returns what makes evaluators in `precision`, which is not `auto`.
    /// Fails when the hardware cannot compute in it or has no room.
    fn evaluator_maker(&self, precision: Precision) -> Result<EvaluatorMaker, Error>;

    /// Makes `count` evaluators in `precision`, which is not `auto`.
    fn evaluators(&self, count: usize, precision: Precision) -> Result<Vec<PlayEvaluator>, Error> {
        let make = self.evaluator_maker(precision)?;
        Ok((0..count).map(|_| make()).collect())
    }
}

/// A model that was loaded to play.
pub struct LoadedNetwork {
    /// What its file says about it.
    pub info: ModelInfo,
    /// The size of the network.
    pub config: NetworkConfig,
    /// A checksum of its weights ([`StoredModel::fingerprint`]).
    pub fingerprint: String,
    /// The network.
    pub network: Box<dyn PlayNetwork>,
}

/// Where networks are computed: a model becomes a network there.
pub trait NetworkLoader: Send + Sync {
    /// Makes the network of a model ready.
    /// Fails when a weight is not finite, or the device has no room.
    fn network(&self, model: &StoredModel) -> Result<Box<dyn PlayNetwork>, Error>;
}

/// Computes networks on the processor, without libtorch.
#[derive(Clone, Copy, Debug)]
pub struct Processor;

impl NetworkLoader for Processor {
    fn network(&self, model: &StoredModel) -> Result<Box<dyn PlayNetwork>, Error> {
        let tensors = model.tensors.clone();
        let fused = InferenceModel::from_tensors(&model.config, tensors)?;
        Ok(Box::new(FusedNetwork { model: fused, fastest: FusedNetwork::fastest(&model.config) }))
    }
}

/// A network on the fused kernels.
#[derive(Clone, Debug)]
pub struct FusedNetwork {
    /// The network's weights.
    pub model: InferenceModel,
    /// The precision of the fastest kernel for it ([`FusedNetwork::fastest`]).
    pub fastest: Precision,
}

/// From so many channels on 8 bits take about half the time of 16 bits. With 32 channels both take as long, and 16 bits are
/// closer to 32 (docs/measurements.md, "Speed").
const INT8_CHANNELS_MIN: usize = 48;

impl FusedNetwork {
    /// Returns the precision of the fastest kernel that this processor has for a network of this size.
    #[must_use]
    pub fn fastest(config: &NetworkConfig) -> Precision {
        match Unit::best().is_available() {
            false => Precision::F32,
            true if config.channels < INT8_CHANNELS_MIN => Precision::Bf16,
            true => Precision::Int8,
        }
    }

    /// Returns `wanted`, or where that is `auto` the precision of the fastest kernel for a search by itself, whose calls have few
    /// positions: the tiles of AMX compute a group of them ([`latrunculi_infer::GROUP`]) in 16 bits in the time of one or two in 32;
    /// on other units one position in fewer bits takes as long as a whole group. It is not compared with 32 bits, which takes longer
    /// than a short search: with 16 no number becomes infinite that is not with 32.
    #[must_use]
    pub fn alone(wanted: Precision) -> Precision {
        match wanted {
            Precision::Auto if Unit::Amx.is_available() => Precision::Bf16,
            Precision::Auto => Precision::F32,
            chosen => chosen,
        }
    }

    /// Returns the kernel that computes in `precision`, which is not `auto`.
    #[must_use]
    pub fn kernel_of(precision: Precision) -> Kernel {
        match precision {
            Precision::Int8 => Kernel::Int8(Unit::best()),
            Precision::Bf16 => Kernel::Bf16(Unit::best()),
            Precision::F32 | Precision::Auto => Kernel::F32,
        }
    }
}

impl PlayNetwork for FusedNetwork {
    fn precision(&self, wanted: Precision) -> Precision {
        match wanted {
            Precision::Auto => self.fastest,
            chosen => chosen,
        }
    }

    fn kernel(&self, precision: Precision) -> String {
        FusedNetwork::kernel_of(precision).name().to_owned()
    }

    fn evaluator_maker(&self, precision: Precision) -> Result<EvaluatorMaker, Error> {
        let networks = self.model.networks(FusedNetwork::kernel_of(precision))?;
        Ok(Box::new(move || Box::new(InferenceEvaluator::new(&networks))))
    }
}

/// Networks that [`SinglePositions`] keeps; the one that was not asked for longest gives way.
const NETWORKS_KEPT: usize = 4;

/// Computes networks for searches by themselves, each on all cores. The last four networks are kept with what was prepared
/// for their rulesets, for whoever opens one of them again.
pub struct SinglePositions {
    loader: Arc<dyn NetworkLoader>,
    /// By size and weights; the last asked for comes last.
    kept: Mutex<Vec<((NetworkConfig, String), KeptNetwork)>>,
}

impl SinglePositions {
    /// Computes networks where `loader` does.
    #[must_use]
    pub fn new(loader: Arc<dyn NetworkLoader>) -> SinglePositions {
        SinglePositions { loader, kept: Mutex::default() }
    }
}

impl NetworkLoader for SinglePositions {
    fn network(&self, model: &StoredModel) -> Result<Box<dyn PlayNetwork>, Error> {
        let key = (model.config.clone(), model.fingerprint());
        let mut kept = locked(&self.kept);
        let network = match kept.iter().position(|(known, _)| *known == key) {
            Some(index) => kept.remove(index).1,
            None => KeptNetwork(Arc::new(Mutex::new((self.loader.network(model)?, Vec::new())))),
        };
        kept.push((key, network.clone()));
        let surplus = kept.len().saturating_sub(NETWORKS_KEPT);
        kept.drain(..surplus);
        Ok(Box::new(network))
    }
}

/// A network, and what makes its evaluators in each precision that was asked for.
#[derive(Clone)]
struct KeptNetwork(Arc<Mutex<(Box<dyn PlayNetwork>, Makers)>>);

type Makers = Vec<(Precision, Arc<Mutex<EvaluatorMaker>>)>;

impl PlayNetwork for KeptNetwork {
    fn precision(&self, wanted: Precision) -> Precision {
        locked(&self.0).0.precision(wanted)
    }

    fn kernel(&self, precision: Precision) -> String {
        locked(&self.0).0.kernel(precision)
    }

    fn evaluator_maker(&self, precision: Precision) -> Result<EvaluatorMaker, Error> {
        let mut kept = locked(&self.0);
        let (network, makers) = &mut *kept;
        let make = match makers.iter().find(|(known, _)| *known == precision) {
            Some((_, make)) => Arc::clone(make),
            None => {
                let make = Arc::new(Mutex::new(network.evaluator_maker(precision)?));
                makers.push((precision, Arc::clone(&make)));
                make
            }
        };
        Ok(Box::new(move || {
            let make = locked(&make);
            let first = make();
            let cores = first.for_another_thread().and_then(|_| thread::available_parallelism().ok());
            let others = cores.map_or(0, |cores| cores.get() - 1);
            Box::new(OnThreads(iter::once(first).chain((0..others).map(|_| make())).collect()))
        }))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Counts the networks that are made and that evaluators are asked of.
    #[derive(Default)]
    struct Counting {
        networks: AtomicU32,
        makers: Arc<AtomicU32>,
    }

    struct Counted(Box<dyn PlayNetwork>, Arc<AtomicU32>);

    impl NetworkLoader for Counting {
        fn network(&self, model: &StoredModel) -> Result<Box<dyn PlayNetwork>, Error> {
            self.networks.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(Counted(Processor.network(model)?, Arc::clone(&self.makers))))
        }
    }

    impl PlayNetwork for Counted {
        fn precision(&self, wanted: Precision) -> Precision {
            self.0.precision(wanted)
        }

        fn kernel(&self, precision: Precision) -> String {
            self.0.kernel(precision)
        }

        fn evaluator_maker(&self, precision: Precision) -> Result<EvaluatorMaker, Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.evaluator_maker(precision)
        }
    }

    #[test]
    fn networks_of_single_positions_are_kept() {
        let counting = Arc::new(Counting::default());
        let loader = SinglePositions::new(Arc::clone(&counting) as Arc<dyn NetworkLoader>);
        let config = NetworkConfig { blocks: 1, channels: 48, ..NetworkConfig::default() };
        let model = |seed: u64| StoredModel::fresh(&config, seed).unwrap();
        let made = || (counting.networks.load(Ordering::Relaxed), counting.makers.load(Ordering::Relaxed));
        for _ in 0..3 {
            let network = loader.network(&model(0)).unwrap();
            assert_eq!(network.evaluators(2, FusedNetwork::alone(Precision::Auto)).unwrap().len(), 2);
        }
        assert_eq!(made(), (1, 1));
        assert_eq!(FusedNetwork::alone(Precision::Int8), Precision::Int8, "what is asked for stands");
        for seed in 1..=NETWORKS_KEPT as u64 {
            loader.network(&model(seed)).unwrap();
        }
        let networks = NETWORKS_KEPT as u32 + 1;
        assert_eq!(made().0, networks);
        loader.network(&model(2)).unwrap();
        assert_eq!(made().0, networks, "this one is kept");
        loader.network(&model(0)).unwrap();
        assert_eq!(made().0, networks + 1, "the one that was not asked for longest has gone");
    }
}

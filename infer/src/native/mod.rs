//! What depends on the processor: vectors, and the kernels that compute with tiles.
#![allow(unsafe_code)]

pub(crate) mod lanes;

#[cfg(target_arch = "x86_64")]
pub(crate) mod tiled;

#[cfg(not(target_arch = "x86_64"))]
pub(crate) mod tiled {
    use latrunculi_data::{NetworkConfig, Shape, TrainingBatch};

    use crate::kernel::Unit;
    use crate::training::{LossWeights, Losses, TrainingWeights};
    use crate::weights::Weights;
    use latrunculi_data::{Answers, PositionBatch};

    pub(crate) const CHUNK: usize = 1;

    pub(crate) fn is_available(_: Unit) -> bool {
        false
    }

    #[derive(Debug)]
    pub(crate) enum Bf16Network {}
    #[derive(Debug)]
    pub(crate) enum Int8Network {}
    #[derive(Debug)]
    pub(crate) enum Bf16Buffers {}
    #[derive(Debug)]
    pub(crate) enum Int8Buffers {}

    impl Bf16Network {
        pub(crate) fn new(_: &Weights, _: Unit) -> Bf16Network {
            unreachable!("asked for where no unit is available")
        }

        pub(crate) fn buffers(&self) -> Bf16Buffers {
            match *self {}
        }

        pub(crate) fn answer(&self, _: &PositionBatch, _: &mut Bf16Buffers, _: &mut Answers) {
            match *self {}
        }
    }

    impl Int8Network {
        pub(crate) fn new(_: &Weights, _: &PositionBatch, _: Unit) -> Int8Network {
            unreachable!("asked for where no unit is available")
        }

        pub(crate) fn buffers(&self) -> Int8Buffers {
            match *self {}
        }

        pub(crate) fn answer(&self, _: &PositionBatch, _: &mut Int8Buffers, _: &mut Answers) {
            match *self {}
        }
    }

    #[derive(Debug)]
    pub(crate) enum GradientNetwork {}
    #[derive(Debug, Default)]
    pub(crate) struct GradientBuffers;

    impl GradientNetwork {
        pub(crate) fn new(_: &NetworkConfig, _: &TrainingWeights, _: Shape, _: Unit) -> GradientNetwork {
            unreachable!("asked for where no unit is available")
        }

        pub(crate) fn learn(
            &self,
            _: &TrainingBatch,
            _: &LossWeights,
            _: impl Iterator<Item = usize>,
            _: &mut GradientBuffers,
            _: &mut TrainingWeights,
        ) -> Losses {
            match *self {}
        }
    }
}

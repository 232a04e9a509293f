//! A network: its description and its parameters. The module `graph` says what it computes.

use std::collections::BTreeMap;

use tch::{Kind, Tensor};

use crate::device::Device;
use crate::error::Error;
use crate::files;
use crate::graph::{Graph, GraphUse, GraphWeight};
use crate::runner::channels_last;
use crate::weights::{RulesetConditioning, WeightMaker};
use latrunculi_data::{NamedTensor, NetworkConfig, ParameterLayout};

/// A network on a device, for every board and ruleset.
#[derive(Debug)]
pub struct Network {
    config: NetworkConfig,
    pub(crate) layout: ParameterLayout,
    /// `[len] f32`
    pub(crate) parameters: Tensor,
    device: Device,
}

impl Network {
    /// Makes a new network, the same for the same seed on every machine.
    pub fn new(config: &NetworkConfig, seed: u64, device: Device) -> Result<Network, Error> {
        config.check()?;
        let layout = ParameterLayout::new(config);
        let parameters = Tensor::f_from_slice(&layout.start_values(seed))?;
        Network::from_parameters(config, &parameters, device)
    }

    /// Makes a network of the weights of a file, which are all there and of their shapes.
    pub fn from_tensors(
        config: &NetworkConfig,
        tensors: &BTreeMap<String, NamedTensor>,
        device: Device,
    ) -> Result<Network, Error> {
        config.check()?;
        let parameters = files::gather(tensors, &ParameterLayout::new(config), "")?;
        Network::from_parameters(config, &parameters, device)
    }

    /// Makes a network of a vector `f32` that begins with its parameters, `[len]`; the rest, which only training has, is
    /// left out.
    pub(crate) fn from_parameters(
        config: &NetworkConfig,
        parameters: &Tensor,
        device: Device,
    ) -> Result<Network, Error> {
        config.check()?;
        let layout = ParameterLayout::new(config);
        let parameters = parameters.detach().f_narrow(0, 0, layout.len())?;
        let parameters = parameters.f_to_device(device.0)?.f_to_kind(Kind::Float)?.copy();
        Ok(Network { config: config.clone(), layout, parameters, device })
    }

    /// Returns the CRC-32 of the weights (`f32`, little end first) as eight hexadecimal digits.
    pub fn fingerprint(&self) -> Result<String, Error> {
        let mut hasher = crc32fast::Hasher::new();
        for weight in files::entries(&self.parameters)? {
            hasher.update(&weight.to_le_bytes());
        }
        Ok(format!("{:08x}", hasher.finalize()))
    }

    /// Returns the description.
    #[must_use]
    pub fn config(&self) -> &NetworkConfig {
        &self.config
    }

    /// Returns the device of its weights.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the number of weights.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        usize::try_from(self.layout.len()).unwrap_or(0)
    }

    /// Returns the weights by name.
    pub fn tensors(&self) -> Result<BTreeMap<String, NamedTensor>, Error> {
        let entries = files::entries(&self.parameters)?;
        Ok(self.layout.tensors(&entries).map(|(name, tensor)| (name.to_owned(), tensor)).collect())
    }

    /// Returns a network that shares the weights of this one.
    #[must_use]
    pub fn shared(&self) -> Network {
        Network {
            config: self.config.clone(),
            layout: self.layout.clone(),
            parameters: self.parameters.shallow_clone(),
            device: self.device,
        }
    }

    /// Returns the weights by name, in a fixed order, as views of the one vector.
    #[cfg(test)]
    pub(crate) fn named(&self) -> Vec<(&str, Tensor)> {
        let cut = |parameter: &latrunculi_data::layout::Parameter| {
            let piece = self.parameters.narrow(0, parameter.offset, parameter.len());
            piece.view(parameter.shape.as_slice())
        };
        self.layout.parameters.iter().map(|parameter| (parameter.name.as_str(), cut(parameter))).collect()
    }

    /// Returns the graph for play under one ruleset, or without one the graph that is exported, with its weights, `f32`
    /// and contiguous on the processor.
    pub(crate) fn graph(&self, conditioning: Option<&RulesetConditioning>) -> Result<WeightedGraph, Error> {
        let graph_use = if conditioning.is_some() { GraphUse::Play } else { GraphUse::Export };
        let graph = Graph::new(&self.config, graph_use);
        let parameters = self.parameters.f_to_device(tch::Device::Cpu)?;
        let weights = tch::no_grad(|| {
            WeightMaker::new(&self.config, &self.layout, &parameters)?.weights(&graph, conditioning, Kind::Float)
        })?;
        let contiguous = |tensor: Tensor| -> Result<Tensor, Error> { Ok(tensor.f_contiguous()?.copy()) };
        let weights = weights.into_iter().map(contiguous).collect::<Result<_, _>>()?;
        Ok(WeightedGraph { graph, weights })
    }
}

/// A graph with its weights, in its order: `f32` and contiguous on the processor.
#[derive(Debug)]
pub(crate) struct WeightedGraph {
    pub(crate) graph: Graph,
    pub(crate) weights: Vec<Tensor>,
}

impl WeightedGraph {
    pub(crate) fn named_weights(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.graph.weights.iter().map(|weight| weight.name.as_str()).zip(&self.weights)
    }

    /// Returns the weights for [`crate::runner::Runner::run`] on a device; those that are not always `f32` in `kind`.
    pub(crate) fn weights_on(&self, device: tch::Device, kind: Kind) -> Result<Vec<Tensor>, Error> {
        let prepare = |(weight, tensor): (&GraphWeight, &Tensor)| -> Result<Tensor, Error> {
            let kind = if weight.is_float { Kind::Float } else { kind };
            let tensor = tensor.f_to_device(device)?.f_to_kind(kind)?;
            if tensor.dim() == 4 { channels_last(&tensor) } else { Ok(tensor.f_contiguous()?) }
        };
        self.graph.weights.iter().zip(&self.weights).map(prepare).collect()
    }
}

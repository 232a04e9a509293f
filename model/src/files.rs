//! Tensors of libtorch on their way into files, and files that get their name late.

use std::collections::BTreeMap;

use latrunculi_data::{NamedTensor, ParameterLayout};
use tch::{Kind, Tensor};

use crate::error::Error;

/// Returns the entries of a tensor as `f32`, in the order of its shape.
pub(crate) fn entries(tensor: &Tensor) -> Result<Vec<f32>, Error> {
    let tensor = tensor.detach().f_to_device(tch::Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
    let mut entries = vec![0.0; tensor.numel()];
    tensor.f_copy_data(&mut entries, tensor.numel())?;
    Ok(entries)
}

pub(crate) fn named<'a>(
    tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
) -> Result<BTreeMap<String, NamedTensor>, Error> {
    let named = |(name, tensor): (&str, &Tensor)| {
        let shape = tensor.size().into_iter().map(|len| len as usize).collect();
        Ok((name.to_owned(), NamedTensor { shape, values: entries(tensor)? }))
    };
    tensors.into_iter().map(named).collect()
}

pub(crate) fn tensor(stored: &NamedTensor) -> Result<Tensor, Error> {
    let shape: Vec<i64> = stored.shape.iter().map(|&len| len as i64).collect();
    Ok(Tensor::f_from_slice(&stored.values)?.f_view(shape.as_slice())?)
}

/// Joins the tensors whose names begin with `part`, which are all there, into the one vector, `[len] f32`.
pub(crate) fn gather(
    tensors: &BTreeMap<String, NamedTensor>,
    layout: &ParameterLayout,
    part: &str,
) -> Result<Tensor, Error> {
    let pieces = layout.parameters.iter().filter_map(|parameter| tensors.get(&format!("{part}{}", parameter.name)));
    let values: Vec<f32> = pieces.flat_map(|tensor| &tensor.values).copied().collect();
    Ok(Tensor::f_from_slice(&values)?)
}

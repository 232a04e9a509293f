//! Reads an ONNX file and runs it, as the ONNX specification defines its operators: the proof of what the writer wrote, so it
//! shares nothing with it but the messages. It refuses operators that a network of ours does not need.

use std::collections::BTreeMap;
use std::path::Path;

use latrunculi_data::exported::onnx::{self, Constant, FLOAT, INT64, Model, Node};
use tch::{Kind, Tensor};

use crate::error::Error;

#[derive(Debug)]
pub(crate) struct Interpreter {
    nodes: Vec<Node>,
    constants: BTreeMap<String, Tensor>,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

fn fault(reason: impl Into<String>) -> Error {
    Error(format!("the ONNX file: {}", reason.into()))
}

impl Interpreter {
    pub(crate) fn read(path: &Path) -> Result<Interpreter, Error> {
        Interpreter::of(onnx::read(path).map_err(Error)?)
    }

    fn of(model: Model) -> Result<Interpreter, Error> {
        let graph = model.graph.ok_or_else(|| fault("there is no graph"))?;
        let constants = graph
            .initializer
            .iter()
            .map(|constant| Ok((constant.name().to_owned(), tensor(constant)?)))
            .collect::<Result<_, Error>>()?;
        Ok(Interpreter {
            nodes: graph.node,
            constants,
            inputs: graph.input.iter().map(|input| input.name().to_owned()).collect(),
            outputs: graph.output.iter().map(|output| output.name().to_owned()).collect(),
        })
    }

    /// Runs it on inputs by name; returns the outputs by name.
    pub(crate) fn run(&self, inputs: &[(&str, &Tensor)]) -> Result<BTreeMap<String, Tensor>, Error> {
        if self.inputs.iter().map(String::as_str).ne(inputs.iter().map(|(name, _)| *name)) {
            return Err(fault(format!("its inputs are {:?}", self.inputs)));
        }
        let mut values: BTreeMap<&str, Tensor> = BTreeMap::new();
        for (name, tensor) in &self.constants {
            values.insert(name, tensor.shallow_clone());
        }
        for (name, tensor) in inputs {
            values.insert(name, tensor.shallow_clone());
        }
        for node in &self.nodes {
            let operands = node
                .input
                .iter()
                .map(|name| {
                    values.get(name.as_str()).ok_or_else(|| fault(format!("'{name}' is read before it is made")))
                })
                .collect::<Result<Vec<&Tensor>, Error>>()?;
            let result = operation(node, &operands)?;
            let [output] = node.output.as_slice() else {
                return Err(fault(format!("'{}' has {} outputs", node.name(), node.output.len())));
            };
            if values.insert(output, result).is_some() {
                return Err(fault(format!("'{output}' is made twice")));
            }
        }
        self.outputs
            .iter()
            .map(|name| {
                let value = values.get(name.as_str()).ok_or_else(|| fault(format!("'{name}' is not made")))?;
                Ok((name.clone(), value.shallow_clone()))
            })
            .collect()
    }
}

fn tensor(constant: &Constant) -> Result<Tensor, Error> {
    let bytes = constant.raw_data();
    let flat = match constant.data_type() {
        FLOAT => {
            let entries: Vec<f32> = bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
            Tensor::f_from_slice(&entries)?
        }
        INT64 => {
            let entries: Vec<i64> = bytes.as_chunks().0.iter().map(|&eight| i64::from_le_bytes(eight)).collect();
            Tensor::f_from_slice(&entries)?
        }
        other => return Err(fault(format!("'{}' has entries of type {other}", constant.name()))),
    };
    Ok(flat.f_view(constant.dims.as_slice())?)
}

/// Runs one node; the letters are those of the specification of its operator.
fn operation(node: &Node, operands: &[&Tensor]) -> Result<Tensor, Error> {
    let attribute = |name: &str| node.attribute.iter().find(|attribute| attribute.name() == name);
    let number = |name: &str, default: i64| attribute(name).and_then(|attribute| attribute.i).unwrap_or(default);
    let numbers = |name: &str, default: &[i64]| attribute(name).map_or(default.to_vec(), |found| found.ints.clone());
    let known: &[&str] = match node.op_type() {
        "Conv" => &["kernel_shape", "pads", "strides", "dilations", "group"],
        "ReduceMean" | "ReduceMax" => &["axes", "keepdims"],
        "ReduceProd" => &["keepdims"],
        "Shape" => &["start", "end"],
        "Cast" => &["to"],
        "Transpose" => &["perm"],
        "Softmax" | "Concat" => &["axis"],
        _ => &[],
    };
    if let Some(unknown) = node.attribute.iter().find(|attribute| !known.contains(&attribute.name())) {
        return Err(fault(format!("'{}' has the attribute '{}'", node.name(), unknown.name())));
    }
    let result = match (node.op_type(), operands) {
        ("Conv", [x, w, b]) => {
            let pads = numbers("pads", &[0, 0, 0, 0]);
            let [top, left, bottom, right] = pads.as_slice() else {
                return Err(fault(format!("'{}' has pads {pads:?}", node.name())));
            };
            if numbers("kernel_shape", &w.size()[2..]) != w.size()[2..] {
                return Err(fault(format!("'{}' has a kernel of another shape", node.name())));
            }
            // libtorch pads the last dimension first.
            let x = x.f_constant_pad_nd([*left, *right, *top, *bottom])?;
            let (strides, dilations) = (numbers("strides", &[1, 1]), numbers("dilations", &[1, 1]));
            x.f_conv2d(w, Some(*b), strides.as_slice(), [0, 0], dilations.as_slice(), number("group", 1))?
        }
        ("MatMul", [a, b]) => a.f_matmul(b)?,
        ("Add", [a, b]) => a.f_add(b)?,
        ("Mul", [a, b]) => a.f_mul(b)?,
        ("Relu", [x]) => x.f_clamp_min(0.0)?,
        ("Tanh", [x]) => x.f_tanh()?,
        ("Identity", [x]) => x.shallow_clone(),
        ("Softmax", [x]) => x.f_softmax(number("axis", -1), None)?,
        ("Concat", tensors) => Tensor::f_cat(tensors, number("axis", 0))?,
        ("ReduceMean", [x]) => x.f_mean_dim(numbers("axes", &[]).as_slice(), number("keepdims", 1) != 0, None)?,
        ("ReduceMax", [x]) => x.f_amax(numbers("axes", &[]).as_slice(), number("keepdims", 1) != 0)?,
        // Over all axes, where none are named.
        ("ReduceProd", [x]) if number("keepdims", 1) == 0 => x.f_prod(x.f_kind()?)?,
        ("Shape", [x]) => {
            let size = x.size();
            let rank = size.len() as i64;
            let place = |index: i64| if index < 0 { index + rank } else { index }.clamp(0, rank);
            let (start, end) = (place(number("start", 0)), place(number("end", rank)));
            Tensor::f_from_slice(&size[start as usize..end.max(start) as usize])?
        }
        ("Cast", [x]) if number("to", 0) == i64::from(FLOAT) => x.f_to_kind(Kind::Float)?,
        ("Sqrt", [x]) => x.f_sqrt()?,
        ("Transpose", [x]) => x.f_permute(numbers("perm", &[]).as_slice())?,
        ("Unsqueeze", [x, axes]) => {
            let mut axes = list(axes)?;
            let rank = (x.dim() + axes.len()) as i64;
            axes.iter_mut().for_each(|axis| *axis = axis.rem_euclid(rank));
            axes.sort_unstable();
            axes.iter().try_fold(x.shallow_clone(), |x, &axis| x.f_unsqueeze(axis))?
        }
        ("Reshape", [x, shape]) => {
            let kept = |(place, len): (usize, i64)| if len == 0 { x.size()[place] } else { len };
            let shape: Vec<i64> = list(shape)?.into_iter().enumerate().map(kept).collect();
            x.f_reshape(shape.as_slice())?
        }
        ("Slice", [x, starts, ends, axes]) => {
            let (starts, ends) = (list(starts)?, list(ends)?);
            let ranges = list(axes)?.into_iter().zip(starts.into_iter().zip(ends));
            let mut part = x.shallow_clone();
            for (axis, (start, end)) in ranges {
                let len = part.size()[axis.rem_euclid(part.dim() as i64) as usize];
                let place = |index: i64| if index < 0 { index + len } else { index }.clamp(0, len);
                let (start, end) = (place(start), place(end));
                part = part.f_narrow(axis, start, (end - start).max(0))?;
            }
            part
        }
        (other, _) => {
            return Err(fault(format!("'{}' is {other} of {} operands", node.name(), operands.len())));
        }
    };
    Ok(result)
}

fn list(tensor: &Tensor) -> Result<Vec<i64>, Error> {
    if tensor.f_kind()? != Kind::Int64 || tensor.dim() != 1 {
        return Err(fault("a list of whole numbers is none"));
    }
    let mut numbers = vec![0_i64; tensor.numel()];
    tensor.f_copy_data(&mut numbers, tensor.numel())?;
    Ok(numbers)
}

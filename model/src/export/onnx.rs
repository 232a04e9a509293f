//! Writes a graph as an ONNX file, operators in version 17. `interpreter.rs` reads and runs it; it knows the specification and
//! nothing of this writer.

mod interpreter;

use std::collections::BTreeMap;

use prost::Message;
use tch::Tensor;

use crate::error::Error;
use crate::files::entries;
use crate::graph::{Length, Op, Output, ValueIndex, WeightIndex};
use crate::network::WeightedGraph;
use latrunculi_data::exported::onnx::{
    self as messages, ATTRIBUTE_INT, ATTRIBUTE_INTS, Attribute, Constant, Dimension, FLOAT, INT64, IR_VERSION, Node,
    OPSET, OperatorSet, Property, Size, TensorType, Type, ValueInfo,
};
use latrunculi_data::network_config::{SIZE_CENTRE, SIZE_STEP};

pub(crate) use interpreter::Interpreter;

/// Returns the file of `network`, with `properties` as its metadata.
pub(super) fn to_bytes(network: &WeightedGraph, properties: &BTreeMap<&str, String>) -> Result<Vec<u8>, Error> {
    let graph = &network.graph;
    let mut writer = Writer { network, nodes: Vec::new(), constants: BTreeMap::new() };
    for (place, op) in graph.ops.iter().enumerate() {
        writer.operation(place, op)?;
    }
    let inputs = super::description::input_shapes();
    let file = messages::Model {
        ir_version: Some(IR_VERSION),
        producer_name: Some("latrunculi".to_owned()),
        producer_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        doc_string: Some("Policy and value of a position of Latrunculi; see the property 'description'".to_owned()),
        opset_import: vec![OperatorSet { domain: Some(String::new()), version: Some(OPSET) }],
        metadata_props: properties
            .iter()
            .map(|(&key, value)| Property { key: Some(key.to_owned()), value: Some(value.clone()) })
            .collect(),
        graph: Some(messages::Graph {
            name: Some("latrunculi".to_owned()),
            input: inputs.iter().map(|(name, shape)| value_info(name, shape)).collect(),
            output: graph.outputs.iter().map(output_info).collect(),
            node: writer.nodes,
            initializer: writer.constants.into_values().collect(),
        }),
    };
    Ok(file.encode_to_vec())
}

struct Writer<'a> {
    network: &'a WeightedGraph,
    nodes: Vec<Node>,
    constants: BTreeMap<String, Constant>,
}

impl Writer<'_> {
    fn operation(&mut self, place: ValueIndex, op: &Op) -> Result<(), Error> {
        let name = |value: &ValueIndex| self.name(*value);
        match op {
            // The inputs are there under their own names.
            Op::Planes | Op::Scalars => {}
            Op::Convolution { input, weight, bias } => {
                let inputs = [name(input), self.weight(*weight, false)?, self.weight(*bias, false)?];
                let attributes = [numbers("kernel_shape", &[3, 3]), numbers("pads", &[1, 1, 1, 1])];
                self.node(place, "Conv", &inputs, &attributes);
            }
            Op::Linear { input, weight, bias } => {
                let product = [name(input), self.weight(*weight, true)?];
                match bias {
                    None => self.node(place, "MatMul", &product, &[]),
                    Some(bias) => {
                        let before = format!("{}.product", self.name(place));
                        self.node_to(&before, "MatMul", &product, &[]);
                        let bias = self.weight(*bias, false)?;
                        self.node(place, "Add", &[before, bias], &[]);
                    }
                }
            }
            Op::Add { left, right } => self.node(place, "Add", &[name(left), name(right)], &[]),
            Op::AddBias { board, bias } => self.on_every_square(place, "Add", *board, *bias),
            Op::Scale { board, factor } => self.on_every_square(place, "Mul", *board, *factor),
            Op::Relu { input } => self.node(place, "Relu", &[name(input)], &[]),
            Op::Tanh { input } => self.node(place, "Tanh", &[name(input)], &[]),
            Op::Softmax { input } => self.node(place, "Softmax", &[name(input)], &[number("axis", 1)]),
            Op::Mean { board } => self.reduce(place, "ReduceMean", *board, &[2, 3]),
            Op::Max { board } => self.reduce(place, "ReduceMax", *board, &[2, 3]),
            Op::MeanSquares { squares } => self.reduce(place, "ReduceMean", *squares, &[1]),
            Op::MaxSquares { squares } => self.reduce(place, "ReduceMax", *squares, &[1]),
            Op::SizeScale { input, board } => {
                let part = |part: &str| format!("{}.{part}", self.name(place));
                let names = ["lengths", "squares", "area", "root", "from_centre", "factor"].map(part);
                let [lengths, squares, area, root, from_centre, factor] = &names;
                let board = [self.name(*board)];
                self.node_to(lengths, "Shape", &board, &[number("start", 2), number("end", 4)]);
                self.node_to(squares, "Cast", std::slice::from_ref(lengths), &[number("to", i64::from(FLOAT))]);
                self.node_to(area, "ReduceProd", std::slice::from_ref(squares), &[number("keepdims", 0)]);
                self.node_to(root, "Sqrt", std::slice::from_ref(area), &[]);
                let (centre, step) = (self.scalar(-SIZE_CENTRE), self.scalar(SIZE_STEP));
                self.node_to(from_centre, "Add", &[root.clone(), centre], &[]);
                self.node_to(factor, "Mul", &[from_centre.clone(), step], &[]);
                let inputs = [self.name(*input), factor.clone()];
                self.node(place, "Mul", &inputs, &[]);
            }
            Op::Concat { inputs } => {
                let inputs: Vec<String> = inputs.iter().map(name).collect();
                self.node(place, "Concat", &inputs, &[number("axis", 1)]);
            }
            Op::Slice { input, dim, start, len } => {
                let (start, end) = (self.list(&[*start]), self.list(&[start + len]));
                let inputs = [self.name(*input), start, end, self.list(&[*dim])];
                self.node(place, "Slice", &inputs, &[]);
            }
            Op::Squares { board } => {
                let flat = format!("{}.flat", self.name(place));
                // A zero keeps the dimension as it is.
                let inputs = [self.name(*board), self.list(&[0, 0, -1])];
                self.node_to(&flat, "Reshape", &inputs, &[]);
                self.node(place, "Transpose", &[flat], &[numbers("perm", &[0, 2, 1])]);
            }
            Op::Transpose { input } => {
                self.node(place, "Transpose", &[name(input)], &[numbers("perm", &[0, 2, 1])]);
            }
            Op::Reshape { input, size } => {
                let size: Vec<i64> = std::iter::once(-1).chain(size.iter().copied()).collect();
                let inputs = [self.name(*input), self.list(&size)];
                self.node(place, "Reshape", &inputs, &[]);
            }
            // A zero keeps the dimension as it is.
            Op::Flatten { input } => {
                let inputs = [self.name(*input), self.list(&[0, -1])];
                self.node(place, "Reshape", &inputs, &[]);
            }
            Op::Product { left, right } => self.node(place, "MatMul", &[name(left), name(right)], &[]),
            Op::DivideByRoot { .. } => {
                return Err(Error("the heads of training are not exported".to_owned()));
            }
            // The file is 32 bits throughout; whoever converts it converts all of it.
            Op::Float { input } => self.node(place, "Identity", &[name(input)], &[]),
        }
        Ok(())
    }

    /// The name of a value: that of the input or output that it is, else its place.
    fn name(&self, value: ValueIndex) -> String {
        let output = self.network.graph.outputs.iter().find(|(_, place)| *place == value);
        match (&self.network.graph.ops[value], output) {
            (Op::Planes, _) => "planes".to_owned(),
            (Op::Scalars, _) => "scalars".to_owned(),
            (_, Some((output, _))) => output.as_str().to_owned(),
            _ => format!("v{value}"),
        }
    }

    fn node(&mut self, place: ValueIndex, op_type: &str, inputs: &[String], attributes: &[Attribute]) {
        let output = self.name(place);
        self.node_to(&output, op_type, inputs, attributes);
    }

    fn node_to(&mut self, output: &str, op_type: &str, inputs: &[String], attributes: &[Attribute]) {
        self.nodes.push(Node {
            input: inputs.to_vec(),
            output: vec![output.to_owned()],
            name: Some(format!("{output}.{op_type}")),
            op_type: Some(op_type.to_owned()),
            attribute: attributes.to_vec(),
            domain: None,
        });
    }

    /// `[B, C, H, W]` and `[B, C]`, which is the same on every square.
    fn on_every_square(&mut self, place: ValueIndex, op_type: &str, board: ValueIndex, channels: ValueIndex) {
        let spread = format!("{}.spread", self.name(place));
        let inputs = [self.name(channels), self.list(&[2, 3])];
        self.node_to(&spread, "Unsqueeze", &inputs, &[]);
        let inputs = [self.name(board), spread];
        self.node(place, op_type, &inputs, &[]);
    }

    fn reduce(&mut self, place: ValueIndex, op_type: &str, input: ValueIndex, axes: &[i64]) {
        let inputs = [self.name(input)];
        self.node(place, op_type, &inputs, &[numbers("axes", axes), number("keepdims", 0)]);
    }

    /// A weight under its own name; turned, as a product from the right wants it, under another.
    fn weight(&mut self, weight: WeightIndex, is_turned: bool) -> Result<String, Error> {
        let (name, tensor) = (&self.network.graph.weights[weight].name, &self.network.weights[weight]);
        let (name, tensor): (String, Tensor) = match is_turned {
            true => (format!("{name}.transposed"), tensor.f_transpose(0, 1)?),
            false => (name.clone(), tensor.shallow_clone()),
        };
        let bytes = entries(&tensor)?.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        self.constants.insert(name.clone(), constant(&name, FLOAT, tensor.size(), bytes));
        Ok(name)
    }

    /// A number, which ONNX wants as a tensor.
    fn scalar(&mut self, value: f32) -> String {
        let name = format!("number[{value}]");
        self.constants.insert(name.clone(), constant(&name, FLOAT, Vec::new(), value.to_le_bytes().to_vec()));
        name
    }

    /// A list of whole numbers, which ONNX wants as a tensor.
    fn list(&mut self, list: &[i64]) -> String {
        let texts: Vec<String> = list.iter().map(i64::to_string).collect();
        let name = format!("list[{}]", texts.join(","));
        let bytes = list.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        self.constants.insert(name.clone(), constant(&name, INT64, vec![list.len() as i64], bytes));
        name
    }
}

fn constant(name: &str, data_type: i32, dims: Vec<i64>, bytes: Vec<u8>) -> Constant {
    Constant { dims, data_type: Some(data_type), name: Some(name.to_owned()), raw_data: Some(bytes) }
}

fn number(name: &str, value: i64) -> Attribute {
    Attribute { name: Some(name.to_owned()), i: Some(value), ints: Vec::new(), r#type: Some(ATTRIBUTE_INT) }
}

fn numbers(name: &str, values: &[i64]) -> Attribute {
    Attribute { name: Some(name.to_owned()), i: None, ints: values.to_vec(), r#type: Some(ATTRIBUTE_INTS) }
}

fn output_info(&(output, _): &(Output, ValueIndex)) -> ValueInfo {
    value_info(output.as_str(), &super::description::output_shape(output))
}

/// An input or output of `f32`.
fn value_info(name: &str, shape: &[Length]) -> ValueInfo {
    let dimension = |&length: &Length| match length {
        Length::Fixed(length) => Dimension { dim_value: Some(length as i64), dim_param: None },
        Length::Free(name) => Dimension { dim_value: None, dim_param: Some(name.to_owned()) },
    };
    let shape = Size { dim: shape.iter().map(dimension).collect() };
    let tensor_type = TensorType { elem_type: Some(FLOAT), shape: Some(shape) };
    ValueInfo { name: Some(name.to_owned()), r#type: Some(Type { tensor_type: Some(tensor_type) }), doc_string: None }
}

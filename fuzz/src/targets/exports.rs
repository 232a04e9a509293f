//! Exported networks: ONNX and the archives that PyTorch and numpy read.

use std::fs;
use std::io::Cursor;

use latrunculi_data::exported::onnx::{
    Attribute, Constant, Dimension, FLOAT, Graph, INT64, IR_VERSION, Model, Node, OPSET, OperatorSet, Property, Size,
    TensorType, Type, ValueInfo, read,
};
use latrunculi_data::exported::{DESCRIPTION, ExportFormat, read_exported};
use latrunculi_data::npz::ArrayWriter;
use prost::Message;

use super::archives::{changed_member, packed};
use super::written;
use crate::driver::Target;
use crate::mutate::{Mutator, mutated};

/// What an exported network says of itself.
const DESCRIBED: &str = "{\"network\":{\"blocks\":1},\"inputs\":[\"planes\"]}";

/// A graph with two constants and everything that a file of ours has.
fn onnx() -> Model {
    let text = |text: &str| Some(text.to_owned());
    let constant = |name: &str, dims: [i64; 2], data_type: i32, bytes: usize| Constant {
        dims: dims.to_vec(),
        data_type: Some(data_type),
        name: text(name),
        raw_data: Some(vec![0; bytes]),
    };
    let dimension =
        |value: Option<i64>, name: Option<&str>| Dimension { dim_value: value, dim_param: name.map(str::to_owned) };
    let size = Size { dim: vec![dimension(None, Some("positions")), dimension(Some(3), None)] };
    let tensor_type = Some(TensorType { elem_type: Some(FLOAT), shape: Some(size) });
    let value = |name: &str| ValueInfo {
        name: text(name),
        r#type: Some(Type { tensor_type: tensor_type.clone() }),
        doc_string: text("planes of the board"),
    };
    let attribute = Attribute { name: text("axis"), i: Some(1), ints: vec![0, 1], r#type: Some(2) };
    let node = Node {
        input: vec!["planes".to_owned(), "weights".to_owned()],
        output: vec!["logits".to_owned()],
        name: text("first"),
        op_type: text("MatMul"),
        attribute: vec![attribute],
        domain: None,
    };
    Model {
        ir_version: Some(IR_VERSION),
        producer_name: text("latrunculi"),
        producer_version: text("0"),
        doc_string: None,
        graph: Some(Graph {
            node: vec![node],
            name: text("network"),
            initializer: vec![constant("weights", [3, 2], FLOAT, 24), constant("lengths", [2, 1], INT64, 16)],
            input: vec![value("planes")],
            output: vec![value("logits")],
        }),
        opset_import: vec![OperatorSet { domain: text(""), version: Some(OPSET) }],
        metadata_props: vec![Property { key: text(DESCRIPTION), value: text(DESCRIBED) }],
    }
}

/// Changes a part of the message and encodes it again, so that its lengths are right.
fn changed_onnx(seeds: &[Vec<u8>], mutator: &mut Mutator) -> Vec<u8> {
    if mutator.below(3) == 0 {
        return mutated(seeds, mutator);
    }
    let mut model = Model::decode(&mutator.one_of(seeds)[..]).expect("a seed is a file");
    let number = *mutator.one_of(&[0, 1, -1, 2, 24, i64::from(i32::MAX), i64::MAX, i64::MIN]);
    match mutator.below(6) {
        0 => model.ir_version = Some(number),
        1 => model.opset_import[0].version = Some(number),
        2 => {
            let property = &mut model.metadata_props[0];
            let mut bytes = property.value.take().unwrap_or_default().into_bytes();
            mutator.change(&mut bytes, &[]);
            property.value = Some(String::from_utf8_lossy(&bytes).into_owned());
        }
        part => {
            let constants = &mut model.graph.as_mut().expect("a graph").initializer;
            let at = mutator.below(constants.len());
            let constant = &mut constants[at];
            match part {
                3 => constant.data_type = Some(number as i32),
                4 => {
                    let at = mutator.below(2);
                    constant.dims[at] = number;
                }
                _ => mutator.change(constant.raw_data.get_or_insert_default(), &[]),
            }
        }
    }
    model.encode_to_vec()
}

/// A file of ONNX: the weights of what is accepted are finite numbers of the announced shapes.
pub(super) const ONNX: Target = Target {
    name: "onnx",
    seeds: || vec![onnx().encode_to_vec()],
    mutate: changed_onnx,
    check: |input| {
        let path = written("some.onnx", input);
        let _ = read_exported(ExportFormat::Onnx, &path, false);
        if read_exported(ExportFormat::Onnx, &path, true).is_err() {
            return false;
        }
        let model = read(&path).expect("what is accepted is read");
        for constant in model.graph.iter().flat_map(|graph| &graph.initializer) {
            let entries: i64 = constant.dims.iter().product();
            let bytes = constant.raw_data();
            match constant.data_type() {
                FLOAT => {
                    assert_eq!(bytes.len() as i64, 4 * entries);
                    let mut numbers = bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four));
                    assert!(numbers.all(f32::is_finite), "every weight is a number");
                }
                other => assert_eq!((other, bytes.len() as i64), (INT64, 8 * entries)),
            }
        }
        fs::write(&path, model.encode_to_vec()).expect("a file for temporary use");
        assert_eq!(read(&path).as_ref(), Ok(&model), "a file survives being written");
        true
    },
};

/// Archives with a description: a checked one is whole.
pub(super) const EXPORT: Target = Target {
    name: "export",
    seeds: || {
        let script = [("network/extra/meta.json", DESCRIBED.as_bytes()), ("network/data/0", &[0; 64])];
        let members: Vec<(String, Vec<u8>)> =
            script.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        let mut arrays = ArrayWriter::new(Cursor::new(Vec::new()), true);
        arrays.array("weights", &[2, 3], &[0.5_f32; 6]).expect("into memory");
        arrays.array("description", &[DESCRIBED.len()], DESCRIBED.as_bytes()).expect("into memory");
        vec![packed(&members), arrays.finish().expect("into memory").into_inner()]
    },
    mutate: changed_member,
    check: |input| {
        let path = written("some-export", input);
        let formats = [ExportFormat::TorchScript, ExportFormat::Npz];
        formats.into_iter().any(|format| {
            let unchecked = read_exported(format, &path, false);
            let checked = read_exported(format, &path, true);
            if let Ok(checked) = &checked {
                let unchecked = unchecked.expect("what is accepted whole is accepted unread");
                assert_eq!(*checked, unchecked, "the description is the same");
            }
            checked.is_ok()
        })
    },
};

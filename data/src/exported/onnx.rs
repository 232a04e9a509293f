//! The messages of an ONNX file: those parts of `onnx.proto` (version 10 of the format) that a network of
//! ours is written with, and how a file is read. What else a file has is passed over.

#![allow(missing_docs, reason = "the fields are those of onnx.proto")]

use std::path::Path;

use prost::Message;

/// Version of the file format: what programs of 2024 on read.
pub const IR_VERSION: i64 = 10;
/// Version of the operators.
pub const OPSET: i64 = 17;

/// Protobuf has no larger messages, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 31;

/// A file.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub producer_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub producer_version: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub doc_string: Option<String>,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Property>,
}

/// Which version of which operators a file is written in.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    /// Empty for ONNX's own.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    #[prost(int64, optional, tag = "2")]
    pub version: Option<i64>,
}

/// A text under a name.
#[derive(Clone, PartialEq, Message)]
pub struct Property {
    #[prost(string, optional, tag = "1")]
    pub key: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// Operations, each after those whose results it reads.
#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Constant>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, optional, tag = "3")]
    pub name: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub op_type: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
    #[prost(string, optional, tag = "7")]
    pub domain: Option<String>,
}

/// A setting of an operation. Zero is written too: an attribute without a value is none.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// [`ATTRIBUTE_INT`] or [`ATTRIBUTE_INTS`].
    #[prost(int32, optional, tag = "20")]
    pub r#type: Option<i32>,
}

/// Type of an attribute: `i`.
pub const ATTRIBUTE_INT: i32 = 2;
/// Type of an attribute: `ints`.
pub const ATTRIBUTE_INTS: i32 = 7;

/// A tensor of known entries.
#[derive(Clone, PartialEq, Message)]
pub struct Constant {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// [`FLOAT`] or [`INT64`].
    #[prost(int32, optional, tag = "2")]
    pub data_type: Option<i32>,
    #[prost(string, optional, tag = "8")]
    pub name: Option<String>,
    /// The entries, little end first.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw_data: Option<Vec<u8>>,
}

/// Type of entries: 32-bit floating point.
pub const FLOAT: i32 = 1;
/// Type of entries: 64-bit whole numbers.
pub const INT64: i32 = 7;

/// Name and type of an input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<Type>,
    #[prost(string, optional, tag = "3")]
    pub doc_string: Option<String>,
}

/// The type of a value: always a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct Type {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// Type of entries and size.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    #[prost(int32, optional, tag = "1")]
    pub elem_type: Option<i32>,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Size>,
}

/// The size of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct Size {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// One dimension: a number, or a name where it is free.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}

fn fault(reason: impl Into<String>) -> String {
    format!("the ONNX file: {}", reason.into())
}

/// Reads a file of the version that we write.
/// Error: what is wrong with it: it cannot be read, is damaged or of another version.
pub fn read(path: &Path) -> Result<Model, String> {
    let about = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?;
    // Opening a named pipe waits for a writer, and a device may have no end.
    if !about.is_file() {
        return Err(fault("it is not a file"));
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(fault(format!("it has {} bytes, and none has more than {FILE_BYTES_MAX}", about.len())));
    }
    let bytes = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
    let cut = |reason: String| fault(format!("it is none, or cut off or damaged: {reason}; export it again"));
    let model = Model::decode(&bytes[..]).map_err(|error| cut(error.to_string()))?;
    if model.graph.is_none() {
        return Err(cut("there is no graph".to_owned()));
    }
    let opsets: Vec<_> = model.opset_import.iter().map(|set| (set.domain().to_owned(), set.version())).collect();
    if model.ir_version() != IR_VERSION || opsets != [(String::new(), OPSET)] {
        let known = format!("format {IR_VERSION} with operators {OPSET} is read here");
        return Err(fault(format!("format {} with operators {opsets:?}; {known}", model.ir_version())));
    }
    Ok(model)
}

/// Returns what a file of ours says under `key`; with `verify`, after checking that every weight has the announced length and
/// is a finite number.
pub(super) fn description(path: &Path, key: &str, verify: bool) -> Result<String, String> {
    let model = read(path)?;
    if verify {
        model.graph.iter().flat_map(|graph| &graph.initializer).try_for_each(check)?;
    }
    let found = model.metadata_props.into_iter().find(|property| property.key() == key);
    Ok(found.and_then(|property| property.value).unwrap_or_default())
}

fn check(constant: &Constant) -> Result<(), String> {
    let (name, bytes) = (constant.name(), constant.raw_data());
    let length = match constant.data_type() {
        FLOAT => 4,
        INT64 => 8,
        other => return Err(fault(format!("'{name}' has entries of type {other}"))),
    };
    let announced = constant.dims.iter().try_fold(length, |all: i64, &length| all.checked_mul(length));
    if announced != i64::try_from(bytes.len()).ok() {
        return Err(fault(format!("'{name}' has {} bytes and the shape {:?}", bytes.len(), constant.dims)));
    }
    let is_finite = |&four: &[u8; 4]| f32::from_le_bytes(four).is_finite();
    if constant.data_type() == FLOAT && !bytes.as_chunks().0.iter().all(is_finite) {
        return Err(fault(format!("'{name}' has an entry that is not a finite number; export it again")));
    }
    Ok(())
}

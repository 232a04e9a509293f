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

/// Type of an attribute: `i`.
pub const ATTRIBUTE_INT: i32 = 2;
/// Type of an attribute: `ints`.
pub const ATTRIBUTE_INTS: i32 = 7;
/// Type of entries: 32-bit floating point.
pub const FLOAT: i32 = 1;
/// Type of entries: 64-bit whole numbers.
pub const INT64: i32 = 7;

/// Declares messages: each field with its type and its place in the file.
macro_rules! messages {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $kind:ty = ($($place:tt)+),)+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Message)]
        pub struct $name {
            $($(#[$of])* #[prost($($place)+)] pub $field: $kind,)+
        }
    )+};
}

messages! {
    /// A file.
    Model {
        ir_version: Option<i64> = (int64, optional, tag = "1"),
        producer_name: Option<String> = (string, optional, tag = "2"),
        producer_version: Option<String> = (string, optional, tag = "3"),
        doc_string: Option<String> = (string, optional, tag = "6"),
        graph: Option<Graph> = (message, optional, tag = "7"),
        opset_import: Vec<OperatorSet> = (message, repeated, tag = "8"),
        metadata_props: Vec<Property> = (message, repeated, tag = "14"),
    }

    /// Which version of which operators a file is written in.
    OperatorSet {
        /// Empty for ONNX's own.
        domain: Option<String> = (string, optional, tag = "1"),
        version: Option<i64> = (int64, optional, tag = "2"),
    }

    /// A text under a name.
    Property {
        key: Option<String> = (string, optional, tag = "1"),
        value: Option<String> = (string, optional, tag = "2"),
    }

    /// Operations, each after those whose results it reads.
    Graph {
        node: Vec<Node> = (message, repeated, tag = "1"),
        name: Option<String> = (string, optional, tag = "2"),
        initializer: Vec<Constant> = (message, repeated, tag = "5"),
        input: Vec<ValueInfo> = (message, repeated, tag = "11"),
        output: Vec<ValueInfo> = (message, repeated, tag = "12"),
    }

    /// One operation.
    Node {
        input: Vec<String> = (string, repeated, tag = "1"),
        output: Vec<String> = (string, repeated, tag = "2"),
        name: Option<String> = (string, optional, tag = "3"),
        op_type: Option<String> = (string, optional, tag = "4"),
        attribute: Vec<Attribute> = (message, repeated, tag = "5"),
        domain: Option<String> = (string, optional, tag = "7"),
    }

    /// A setting of an operation. Zero is written too: an attribute without a value is none.
    Attribute {
        name: Option<String> = (string, optional, tag = "1"),
        i: Option<i64> = (int64, optional, tag = "3"),
        ints: Vec<i64> = (int64, repeated, packed = "false", tag = "8"),
        /// [`ATTRIBUTE_INT`] or [`ATTRIBUTE_INTS`].
        r#type: Option<i32> = (int32, optional, tag = "20"),
    }

    /// A tensor of known entries.
    Constant {
        dims: Vec<i64> = (int64, repeated, packed = "false", tag = "1"),
        /// [`FLOAT`] or [`INT64`].
        data_type: Option<i32> = (int32, optional, tag = "2"),
        name: Option<String> = (string, optional, tag = "8"),
        /// The entries, little end first.
        raw_data: Option<Vec<u8>> = (bytes = "vec", optional, tag = "9"),
    }

    /// Name and type of an input or output.
    ValueInfo {
        name: Option<String> = (string, optional, tag = "1"),
        r#type: Option<Type> = (message, optional, tag = "2"),
        doc_string: Option<String> = (string, optional, tag = "3"),
    }

    /// The type of a value: always a tensor.
    Type {
        tensor_type: Option<TensorType> = (message, optional, tag = "1"),
    }

    /// Type of entries and size.
    TensorType {
        elem_type: Option<i32> = (int32, optional, tag = "1"),
        shape: Option<Size> = (message, optional, tag = "2"),
    }

    /// The size of a tensor.
    Size {
        dim: Vec<Dimension> = (message, repeated, tag = "1"),
    }

    /// One dimension: a number, or a name where it is free.
    Dimension {
        dim_value: Option<i64> = (int64, optional, tag = "1"),
        dim_param: Option<String> = (string, optional, tag = "2"),
    }
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

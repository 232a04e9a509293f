//! Writes a graph as a TorchScript archive: a zip of stored members, the module as Python source (`code/__torch__.py`), its
//! attributes as a pickle (`data.pkl`), the entries of each tensor (`data/N`), which `torch.jit.load` reads.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use tch::Tensor;
use zip::write::FileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::error::Error;
use crate::files::entries;
use crate::graph::{Op, ValueIndex};
use crate::network::WeightedGraph;
use latrunculi_data::network_config::{SIZE_CENTRE, SIZE_STEP};

/// Version of the archive format: what libtorch itself writes for modules without newer features.
const VERSION: &str = "3\n";
const FOLDER: &str = "latrunculi";

#[derive(Debug)]
pub(crate) struct Archive {
    code: String,
    /// Name of a layer, its weight, its bias.
    layers: Vec<(String, Tensor, Option<Tensor>)>,
    extra: Vec<(String, String)>,
}

impl Archive {
    /// Writes the code of `graph`.
    pub(crate) fn of(network: &WeightedGraph) -> Archive {
        let graph = &network.graph;
        let mut layers: Vec<(String, Tensor, Option<Tensor>)> = Vec::new();
        let mut body = String::new();
        let value = |value: ValueIndex| format!("v{value}");
        // Every operation that has weights is a layer of its own, named as its weight is.
        let mut layer = |weight: usize, bias: Option<usize>| -> String {
            let name = graph.weights[weight].name.trim_end_matches(".weight").replace('.', "_");
            let bias = bias.map(|bias| network.weights[bias].shallow_clone());
            layers.push((name.clone(), network.weights[weight].shallow_clone(), bias));
            name
        };
        for (place, op) in graph.ops.iter().enumerate() {
            let expression = match op {
                Op::Planes => "planes".to_owned(),
                Op::Scalars => "scalars".to_owned(),
                Op::Convolution { input, weight, bias } => {
                    let name = layer(*weight, Some(*bias));
                    format!(
                        "torch.conv2d({}, self.{name}.weight, self.{name}.bias, [1, 1], [1, 1], [1, 1], 1)",
                        value(*input)
                    )
                }
                Op::Linear { input, weight, bias } => {
                    let name = layer(*weight, *bias);
                    let bias = bias.map_or_else(|| "None".to_owned(), |_| format!("self.{name}.bias"));
                    format!("torch.linear({}, self.{name}.weight, {bias})", value(*input))
                }
                Op::Add { left, right } => format!("torch.add({}, {})", value(*left), value(*right)),
                Op::AddBias { board, bias } => {
                    format!("torch.add({}, torch.unsqueeze(torch.unsqueeze({}, -1), -1))", value(*board), value(*bias))
                }
                Op::Scale { board, factor } => {
                    format!(
                        "torch.mul({}, torch.unsqueeze(torch.unsqueeze({}, -1), -1))",
                        value(*board),
                        value(*factor)
                    )
                }
                Op::Relu { input } => format!("torch.relu({})", value(*input)),
                Op::Tanh { input } => format!("torch.tanh({})", value(*input)),
                Op::Softmax { input } => format!("torch.softmax({}, 1)", value(*input)),
                Op::Mean { board } => format!("torch.mean({}, [2, 3])", value(*board)),
                Op::Max { board } => format!("torch.amax({}, [2, 3])", value(*board)),
                Op::SizeScale { input, board } => {
                    let squares =
                        format!("torch.sum(torch.ones_like(torch.narrow({}, 1, 0, 1)), [2, 3])", value(*board));
                    let factor =
                        format!("torch.mul(torch.add(torch.sqrt({squares}), {:?}), {SIZE_STEP:?})", -SIZE_CENTRE);
                    format!("torch.mul({}, {factor})", value(*input))
                }
                Op::Concat { inputs } => {
                    let inputs: Vec<String> = inputs.iter().map(|&input| value(input)).collect();
                    format!("torch.cat([{}], 1)", inputs.join(", "))
                }
                Op::Slice { input, dim, start, len } => {
                    format!("torch.narrow({}, {dim}, {start}, {len})", value(*input))
                }
                Op::MeanSquares { squares } => format!("torch.mean({}, [1])", value(*squares)),
                Op::MaxSquares { squares } => format!("torch.amax({}, [1])", value(*squares)),
                Op::Squares { board } => format!("torch.transpose(torch.flatten({}, 2, 3), 1, 2)", value(*board)),
                Op::Transpose { input } => format!("torch.transpose({}, 1, 2)", value(*input)),
                Op::Reshape { input, size } => {
                    let size: Vec<String> =
                        std::iter::once(-1).chain(size.iter().copied()).map(|len| len.to_string()).collect();
                    format!("torch.reshape({}, [{}])", value(*input), size.join(", "))
                }
                Op::Flatten { input } => format!("torch.flatten({}, 1, -1)", value(*input)),
                Op::Product { left, right } => format!("torch.bmm({}, {})", value(*left), value(*right)),
                Op::DivideByRoot { input, len } => {
                    format!("torch.mul({}, {:?})", value(*input), 1.0 / (*len as f64).sqrt())
                }
                // The file is 32 bits throughout; whoever converts it converts all of it.
                Op::Float { input } => value(*input),
            };
            // Writing to a string does not fail.
            let _ = writeln!(body, "    v{place} = {expression}");
        }
        let outputs: Vec<String> = graph.outputs.iter().map(|&(_, output)| value(output)).collect();
        let mut code = String::new();
        for (class, with_bias) in [("Layer", true), ("LayerWithoutBias", false)] {
            let parameters = if with_bias { "\"weight\", \"bias\", " } else { "\"weight\", " };
            let _ = write!(
                code,
                "class {class}(Module):\n  __parameters__ = [{parameters}]\n  __buffers__ = []\n  weight : Tensor\n"
            );
            if with_bias {
                code.push_str("  bias : Tensor\n");
            }
            code.push_str("  training : bool\n");
        }
        code.push_str("class Network(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n");
        for (name, _, bias) in &layers {
            let _ = writeln!(code, "  {name} : __torch__.{}", class_of(bias.as_ref()));
        }
        let types = vec!["Tensor"; outputs.len()].join(", ");
        let _ = write!(
            code,
            "  def forward(self: __torch__.Network,\n    planes: Tensor,\n    scalars: Tensor) -> Tuple[{types}]:\n{body}    return ({})\n",
            outputs.join(", ")
        );
        Archive { code, layers, extra: Vec::new() }
    }

    /// Adds an extra file, which readers find by its name.
    pub(crate) fn extra(&mut self, name: &str, content: String) {
        self.extra.push((name.to_owned(), content));
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut tensors: Vec<&Tensor> = Vec::new();
        let mut pickle = Pickle::default();
        pickle.object("Network", |pickle| {
            pickle.flag("training", false);
            for (name, weight, bias) in &self.layers {
                pickle.text(name);
                pickle.object(class_of(bias.as_ref()), |pickle| {
                    pickle.flag("training", false);
                    for (name, tensor) in [("weight", Some(weight)), ("bias", bias.as_ref())] {
                        if let Some(tensor) = tensor {
                            pickle.text(name);
                            pickle.tensor(tensors.len(), &tensor.size());
                            tensors.push(tensor);
                        }
                    }
                });
            }
        });
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let failed = |error: zip::result::ZipError| Error(format!("the archive cannot be written: {error}"));
        let mut member = |name: &str, content: &[u8]| -> Result<(), Error> {
            // Readers map the entries of tensors into memory at multiples of 64.
            let options = FileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .last_modified_time(zip::DateTime::default());
            zip.start_file_aligned(format!("{FOLDER}/{name}"), options, 64).map_err(failed)?;
            zip.write_all(content).map_err(|error| failed(error.into()))
        };
        member("data.pkl", &pickle.finish())?;
        member("code/__torch__.py", self.code.as_bytes())?;
        // An empty tuple.
        member("constants.pkl", b"\x80\x02).")?;
        for (name, content) in &self.extra {
            member(&format!("extra/{name}"), content.as_bytes())?;
        }
        for (number, tensor) in tensors.iter().enumerate() {
            let bytes: Vec<u8> = entries(tensor)?.iter().flat_map(|entry| entry.to_le_bytes()).collect();
            member(&format!("data/{number}"), &bytes)?;
        }
        member("version", VERSION.as_bytes())?;
        member("byteorder", b"little")?;
        Ok(zip.finish().map_err(failed)?.into_inner())
    }
}

fn class_of(bias: Option<&Tensor>) -> &'static str {
    if bias.is_some() { "Layer" } else { "LayerWithoutBias" }
}

/// A pickle of protocol 2 in the making: what modules of tensors need of it.
struct Pickle(Vec<u8>);

impl Default for Pickle {
    fn default() -> Self {
        Pickle(vec![0x80, 2])
    }
}

impl Pickle {
    /// An object of a class of ours; `attributes` writes names and values.
    fn object(&mut self, class: &str, attributes: impl FnOnce(&mut Pickle)) {
        self.global("__torch__", class);
        // An empty tuple of arguments, the object, a dictionary, its entries after a mark.
        self.0.extend(b")\x81}(");
        attributes(self);
        self.0.extend(b"ub");
    }

    fn flag(&mut self, name: &str, value: bool) {
        self.text(name);
        self.0.push(if value { 0x88 } else { 0x89 });
    }

    /// A contiguous tensor of `f32` whose entries are the member `data/number`.
    fn tensor(&mut self, number: usize, size: &[i64]) {
        self.global("torch._utils", "_rebuild_tensor_v2");
        self.0.push(b'(');
        // The storage, by name: ("storage", type, member, device, entries).
        self.0.push(b'(');
        self.text("storage");
        self.global("torch", "FloatStorage");
        self.text(&number.to_string());
        self.text("cpu");
        self.number(size.iter().product());
        self.0.extend(b"tQ");
        self.number(0);
        let mut strides = vec![1; size.len()];
        for place in (1..size.len()).rev() {
            strides[place - 1] = strides[place] * size[place];
        }
        for numbers in [size, &strides] {
            self.0.push(b'(');
            numbers.iter().for_each(|&number| self.number(number));
            self.0.push(b't');
        }
        // Wants no gradient; no hooks.
        self.0.push(0x89);
        self.global("collections", "OrderedDict");
        self.0.extend(b")RtR");
    }

    fn global(&mut self, module: &str, name: &str) {
        self.0.extend(format!("c{module}\n{name}\n").bytes());
    }

    fn text(&mut self, text: &str) {
        self.0.push(b'X');
        self.0.extend((text.len() as u32).to_le_bytes());
        self.0.extend(text.bytes());
    }

    fn number(&mut self, number: i64) {
        match i32::try_from(number) {
            Ok(number) => {
                self.0.push(b'J');
                self.0.extend(number.to_le_bytes());
            }
            Err(_) => {
                // Eight bytes, little end first.
                self.0.extend([0x8a, 8]);
                self.0.extend(number.to_le_bytes());
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.0.push(b'.');
        self.0
    }
}

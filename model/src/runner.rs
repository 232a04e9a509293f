//! Runs a graph: in training, where gradients are recorded, and in play.

use tch::{Kind, Tensor};

use crate::error::Error;
use crate::graph::{Graph, Op, Output, ValueIndex};
use latrunculi_data::network_config::size_factor;

/// A graph made ready to run: when each value is read last, and how values are cut.
#[derive(Debug)]
pub(crate) struct Runner {
    graph: Graph,
    /// For each value the operation that reads it last; outputs are read after the last operation.
    last_reads: Vec<usize>,
    /// For each operation the values that it reads last.
    released: Vec<Vec<ValueIndex>>,
    /// For each value that slices read: where they start, in rising order, and their lengths.
    cuts: Vec<Vec<(i64, i64)>>,
}

/// The outputs of a graph, by name.
#[derive(Debug)]
pub(crate) struct Outputs(Vec<(Output, Tensor)>);

impl Outputs {
    /// Returns an output.
    /// Panics when the graph does not have it.
    pub(crate) fn get(&self, wanted: Output) -> &Tensor {
        let found = self.0.iter().find(|(output, _)| *output == wanted);
        &found.expect("the graph is made for its use").1
    }

    /// Returns the three kinds of logits of actions: `[B, A, A]`, `[B, 4, A]`, `[B, 2]`.
    pub(crate) fn action_logits(&self) -> [&Tensor; 3] {
        [Output::ActionMap, Output::SquareLogits, Output::StopPass].map(|output| self.get(output))
    }

    /// Returns the outputs in the graph's order.
    pub(crate) fn into_tensors(self) -> Vec<Tensor> {
        self.0.into_iter().map(|(_, tensor)| tensor).collect()
    }
}

impl Runner {
    pub(crate) fn new(graph: Graph) -> Runner {
        let mut last_reads: Vec<usize> = (0..graph.ops.len()).collect();
        let mut cuts = vec![Vec::new(); graph.ops.len()];
        for (index, op) in graph.ops.iter().enumerate() {
            for input in op.inputs() {
                last_reads[input] = index;
            }
            if let Op::Slice { input, start, len, .. } = op {
                cuts[*input].push((*start, *len));
            }
        }
        cuts.iter_mut().for_each(|cuts| cuts.sort_unstable());
        for &(_, output) in &graph.outputs {
            last_reads[output] = graph.ops.len();
        }
        let mut released = vec![Vec::new(); graph.ops.len()];
        for (value, &last) in last_reads.iter().enumerate() {
            if let Some(released) = released.get_mut(last) {
                released.push(value);
            }
        }
        Runner { graph, last_reads, released, cuts }
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Runs the operations.
    /// `weights` are those of the graph in its order, `planes` is `[B, P, H, W]` channels last in memory and `scalars`
    /// `[B, S]`: all of one kind but the weights behind [`Op::Float`], all on one device. Returns the outputs in `f32`.
    pub(crate) fn run(&self, weights: &[Tensor], planes: &Tensor, scalars: &Tensor) -> Result<Outputs, Error> {
        const BOARD: &[i64] = &[2, 3];
        const SQUARES: &[i64] = &[1];
        let ops = &self.graph.ops;
        let mut values: Vec<Option<Tensor>> = Vec::with_capacity(ops.len());
        // For each value that slices read its pieces, made at the first of them: one split has one gradient.
        let mut pieces: Vec<Vec<Tensor>> = ops.iter().map(|_| Vec::new()).collect();
        for (index, op) in ops.iter().enumerate() {
            let read = |value: ValueIndex| values[value].as_ref().expect("a value lives until its last reader");
            // A value that is not read again may be overwritten if it owns its memory and no gradient is made of it.
            let spare = |value: ValueIndex| self.last_reads[value] == index && ops[value].may_be_overwritten();
            let made = match op {
                Op::Planes => planes.shallow_clone(),
                Op::Scalars => scalars.shallow_clone(),
                Op::Convolution { input, weight, bias } => {
                    let (weight, bias) = (&weights[*weight], &weights[*bias]);
                    read(*input).f_conv2d(weight, Some(bias), [1, 1], [1, 1], [1, 1], 1)?
                }
                Op::Linear { input, weight, bias } => {
                    read(*input).f_linear(&weights[*weight], bias.map(|bias| &weights[bias]))?
                }
                Op::Add { left, right } if spare(*left) => read(*left).shallow_clone().f_add_(read(*right))?,
                Op::Add { left, right } => read(*left).f_add(read(*right))?,
                Op::AddBias { board, bias } => {
                    let bias = read(*bias).f_unsqueeze(-1)?.f_unsqueeze(-1)?;
                    match spare(*board) {
                        true => read(*board).shallow_clone().f_add_(&bias)?,
                        false => read(*board).f_add(&bias)?,
                    }
                }
                Op::Scale { board, factor } => {
                    let factor = read(*factor).f_unsqueeze(-1)?.f_unsqueeze(-1)?;
                    // The gradient of the factor is made of the board.
                    match spare(*board) && !read(*board).requires_grad() {
                        true => read(*board).shallow_clone().f_mul_(&factor)?,
                        false => read(*board).f_mul(&factor)?,
                    }
                }
                Op::Relu { input } if spare(*input) => read(*input).shallow_clone().f_relu_()?,
                Op::Relu { input } => read(*input).f_relu()?,
                Op::Tanh { input } => read(*input).f_tanh()?,
                Op::Softmax { input } => read(*input).f_softmax(1, None)?,
                Op::Mean { board } => read(*board).f_mean_dim(BOARD, false, None)?,
                Op::Max { board } => maximum(read(*board))?,
                Op::SizeScale { input, board } => {
                    let (_, _, ranks, files) = read(*board).size4()?;
                    read(*input).f_mul_scalar(f64::from(size_factor((ranks * files) as usize)))?
                }
                Op::Concat { inputs } => {
                    let inputs: Vec<&Tensor> = inputs.iter().map(|&input| read(input)).collect();
                    Tensor::f_cat(&inputs, 1)?
                }
                Op::Slice { input, dim, start, .. } => {
                    let cuts = &self.cuts[*input];
                    if pieces[*input].is_empty() {
                        let lens: Vec<i64> = cuts.iter().map(|&(_, len)| len).collect();
                        pieces[*input] = read(*input).f_split_with_sizes(lens.as_slice(), *dim)?;
                    }
                    let piece = cuts.iter().position(|(cut, _)| cut == start).expect("every slice is a cut");
                    pieces[*input][piece].shallow_clone()
                }
                Op::MeanSquares { squares } => read(*squares).f_mean_dim(SQUARES, false, None)?,
                Op::MaxSquares { squares } => read(*squares).f_amax(SQUARES, false)?,
                Op::Squares { board } => read(*board).f_flatten(2, 3)?.f_transpose(1, 2)?,
                Op::Transpose { input } => read(*input).f_transpose(1, 2)?,
                Op::Reshape { input, size } => {
                    let size: Vec<i64> = std::iter::once(-1).chain(size.iter().copied()).collect();
                    read(*input).f_reshape(size.as_slice())?
                }
                Op::Flatten { input } => read(*input).f_flatten(1, -1)?,
                Op::Product { left, right } => read(*left).f_bmm(read(*right))?,
                Op::DivideByRoot { input, len } => read(*input).f_mul_scalar(1.0 / (*len as f64).sqrt())?,
                Op::Float { input } => read(*input).f_to_kind(Kind::Float)?,
            };
            values.push(Some(made));
            for &value in &self.released[index] {
                values[value] = None;
                pieces[value].clear();
            }
        }
        let output =
            |&(output, value): &(Output, ValueIndex)| (output, values[value].take().expect("outputs are kept"));
        Ok(Outputs(self.graph.outputs.iter().map(output).collect()))
    }
}

/// Returns the maximum over the board: `[B, C, H, W]` to `[B, C]`.
/// In 16 bits libtorch's `amax` is ten times slower than its pooling, in 32 bits three times faster.
pub(crate) fn maximum(board: &Tensor) -> Result<Tensor, Error> {
    if board.f_kind()? == Kind::Float {
        return Ok(board.f_amax(&[2_i64, 3][..], false)?);
    }
    let (_, _, ranks, files) = board.size4()?;
    Ok(board.f_max_pool2d([ranks, files], [1, 1], [0, 0], [1, 1], false)?.f_flatten(1, 3)?)
}

/// Returns `[B, C, H, W]` with the same entries, channels last in memory.
pub(crate) fn channels_last(tensor: &Tensor) -> Result<Tensor, Error> {
    Ok(tensor.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
}

//! The network: its operations, its weights by name, its outputs. This is its only definition: [`crate::runner`] runs it in
//! training and in play, `export` writes it in every format, [`crate::weights`] makes its weights of the parameters.
//!
//! A residual trunk without normalisation of activations: the weights of its convolutions are standardised (each output
//! channel's are shifted to mean 0 and scaled to length 1) and have a learnt gain per channel; the second gain of each block
//! starts at 0. Source: Brock, De, Smith 2021, "Characterizing signal propagation to close the performance gap in
//! unnormalized ResNets" (arXiv 2101.08692), equation 4.
//!
//! The scalars of the position become a bias of every channel of the first convolution. The ruleset is embedded (one
//! layer, tanh); the embedding shifts every channel of the first convolution, and scales and shifts every channel of
//! each convolution of the blocks. Means over the board are read once as they are and once times
//! [`size_factor`](latrunculi_data::network_config::size_factor). In training and in play ruleset and board are part of the
//! weights; only the exported graph has the ruleset as an input and works on every board. The embedding's weights start at
//! 0 and have no weight decay, so an input that is 0 in the whole training keeps weights of 0.
//!
//! Policy: each square has a query as from-square and a key as to-square, and their dot product is the logit. Placing a
//! man, placing a dux, removing and choosing a victim have one query each, made of the pooled features, with
//! the same keys; stop and pass come from the pooled features alone. No layer depends on the size of the board.
//!
//! Heads of training: whether the piece on a square survives the game, the opponent's next decision (a policy over all
//! actions), the turns that are left. Source: Wu 2019, "Accelerating Self-Play Learning in Go", sections 3.4 and 3.5.
//!
//! Legend: `B` positions, `P` planes, `S` scalars of the position, `R` numbers of the ruleset, `E` length of its
//! embedding, `H` ranks, `W` files, `A` = H·W squares, `C` channels, `D` policy channels, `V` value channels, `K` value
//! hidden.

use serde::Serialize;

use latrunculi_data::{NetworkConfig, SCALARS, rule_inputs};
use latrunculi_engine::named;

/// Index of a value: that of the operation that makes it.
pub(crate) type ValueIndex = usize;
/// Index of a weight in [`Graph::weights`].
pub(crate) type WeightIndex = usize;

/// One operation. Its serialised form stands in the description of exported files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Op {
    /// The input `[B, P, H, W]`.
    Planes,
    /// The input `[B, S]`; in exported files `[B, S + R]`.
    Scalars,
    /// Convolution of `[B, I, H, W]` by `[O, I, 3, 3]` plus `[O]`; the board keeps its size.
    Convolution { input: ValueIndex, weight: WeightIndex, bias: WeightIndex },
    /// `[…, I]` by the transpose of `[O, I]`, plus `[O]` if there is a bias.
    Linear { input: ValueIndex, weight: WeightIndex, bias: Option<WeightIndex> },
    /// Sum of two values of one shape.
    Add { left: ValueIndex, right: ValueIndex },
    /// `[B, C, H, W]` plus `[B, C]` on every square.
    AddBias { board: ValueIndex, bias: ValueIndex },
    /// `[B, C, H, W]` times `[B, C]` on every square.
    Scale { board: ValueIndex, factor: ValueIndex },
    /// Maximum with 0.
    Relu { input: ValueIndex },
    /// Hyperbolic tangent.
    Tanh { input: ValueIndex },
    /// Softmax over dimension 1.
    Softmax { input: ValueIndex },
    /// Mean over the board: `[B, C, H, W]` to `[B, C]`.
    Mean { board: ValueIndex },
    /// Maximum over the board: `[B, C, H, W]` to `[B, C]`.
    Max { board: ValueIndex },
    /// `[B, C]` times `(root of the squares of board - 9) / 4`; only in exported files.
    SizeScale { input: ValueIndex, board: ValueIndex },
    /// Joins along dimension 1.
    Concat { inputs: Vec<ValueIndex> },
    /// `len` entries of dimension `dim`, from `start`.
    Slice { input: ValueIndex, dim: i64, start: i64, len: i64 },
    /// Mean over the squares: `[B, A, C]` to `[B, C]`.
    MeanSquares { squares: ValueIndex },
    /// Maximum over the squares: `[B, A, C]` to `[B, C]`.
    MaxSquares { squares: ValueIndex },
    /// `[B, C, H, W]` to `[B, A, C]`.
    Squares { board: ValueIndex },
    /// Exchanges dimensions 1 and 2.
    Transpose { input: ValueIndex },
    /// Gives every dimension but the first a new size.
    Reshape { input: ValueIndex, size: Vec<i64> },
    /// Makes one dimension of all but the first.
    Flatten { input: ValueIndex },
    /// Matrix products `[B, N, D]` by `[B, D, M]`.
    Product { left: ValueIndex, right: ValueIndex },
    /// Divided by the square root of `len`, for dot products of `len` terms. Only in training: in play the
    /// weights are divided.
    DivideByRoot { input: ValueIndex, len: i64 },
    /// `f32` from here on, whatever the precision before.
    Float { input: ValueIndex },
}

impl Op {
    pub(crate) fn inputs(&self) -> Vec<ValueIndex> {
        match self {
            Op::Planes | Op::Scalars => Vec::new(),
            Op::Convolution { input, .. }
            | Op::Linear { input, .. }
            | Op::Relu { input }
            | Op::Tanh { input }
            | Op::Softmax { input }
            | Op::Slice { input, .. }
            | Op::Transpose { input }
            | Op::Reshape { input, .. }
            | Op::Flatten { input }
            | Op::DivideByRoot { input, .. }
            | Op::Float { input }
            | Op::Mean { board: input }
            | Op::Max { board: input }
            | Op::MeanSquares { squares: input }
            | Op::MaxSquares { squares: input }
            | Op::Squares { board: input } => vec![*input],
            Op::Add { left, right } | Op::Product { left, right } => vec![*left, *right],
            Op::AddBias { board, bias } => vec![*board, *bias],
            Op::Scale { board, factor } => vec![*board, *factor],
            Op::SizeScale { input, board } => vec![*input, *board],
            Op::Concat { inputs } => inputs.clone(),
        }
    }

    /// Tells whether the memory of the result may be reused by an operation that reads it last: it is no view, and
    /// the gradient of this operation is not made of its result.
    pub(crate) fn may_be_overwritten(&self) -> bool {
        matches!(
            self,
            Op::Convolution { .. } | Op::Linear { .. } | Op::Add { .. } | Op::AddBias { .. } | Op::Scale { .. }
        )
    }
}

named! {
    /// An output, by name in exported files. All are `f32`.
    pub(crate) Output {
        /// `[B, A, A]`: logit of moving from the first square to the second
        ActionMap = "action_map",
        /// `[B, 4, A]`: logit of placing a man, placing a dux, removing, choosing as victim, per square
        SquareLogits = "square_logits",
        /// `[B, 2]`: logit of stop and of pass
        StopPass = "stop_pass",
        /// `[B, policy_len]`: the three kinds of logits joined, in the order of the policy vector
        PolicyLogits = "policy_logits",
        /// `[B, 3]`: logits of win, draw, loss for the player to act
        WinDrawLossLogits = "win_draw_loss_logits",
        /// `[B, 3]`: their probabilities
        WinDrawLoss = "win_draw_loss",
        /// `[B]`: final margin for the player to act, in `(-1, 1)`
        Margin = "margin",
        /// `[B, A]`: logit that the piece on the square is on the board when the game ends
        Survival = "survival",
        /// `[B, policy_len]`: logits of the opponent's next decision
        OpponentPolicy = "opponent_policy",
        /// `[B]`: `ln(1 + turns left)`
        MovesLeft = "moves_left",
    }
}

/// Length of a dimension of an exported input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Length {
    Fixed(usize),
    /// Free; the same name has the same length everywhere.
    Free(&'static str),
}

/// What a graph is made for; it decides the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphUse {
    /// Action map, square logits, stop and pass, win-draw-loss, margin.
    Play,
    /// Policy logits, win-draw-loss, margin, on any board, with the ruleset among the inputs.
    Export,
    /// As for play with logits of win, draw, loss; the heads that only training has where `extra_heads` is set.
    Training { extra_heads: bool },
}

/// Which weights of the network a weight belongs to. Those of one part are made of the parameters together and
/// have the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WeightPart {
    /// `[C, P, 3, 3]`
    Stem,
    /// `[C]`
    StemBias,
    /// `[C, S]`
    Scalars,
    /// Two per block: `[C, C, 3, 3]`
    Trunk,
    /// Two per block: `[C]`
    TrunkBias,
    /// One per pooled block: `[C, 2C]`; in exported files with `C` more columns, after those of the means, for the means by
    /// size
    Pool,
    /// From-squares, to-squares, value features: `[2D + V, C]`
    Head,
    /// `[2D + V]`
    HeadBias,
    /// `[K, 2V]`; in exported files `[K, 3V]`, as for pooling
    ValueHidden,
    /// `[K]`
    ValueHiddenBias,
    /// Win, draw, loss; margin; stop, pass; four queries: `[6 + 4D, K]`
    Last,
    /// `[6 + 4D]`
    LastBias,
    /// Only in exported files: `[E, R]`
    RulesEmbedding,
    /// Only in exported files: `[C, E]`
    RulesStem,
    /// Only in exported files, two per block: scales and shifts `[2C, E]`
    RulesTrunk,
    /// Only in exported files, two per block: `[2C]`, 1 for scales and 0 for shifts
    RulesTrunkBias,
    /// Survival; from-squares and to-squares of the opponent's policy: `[1 + 2D, C]`
    TrainingSquares,
    /// `[1 + 2D]`
    TrainingSquaresBias,
    /// Moves left; stop, pass and four queries of the opponent's policy: `[3 + 4D, K]`
    TrainingLast,
    /// `[3 + 4D]`
    TrainingLastBias,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GraphWeight {
    /// Its name in exported files.
    pub(crate) name: String,
    pub(crate) part: WeightPart,
    pub(crate) index: usize,
    /// Whether it is `f32` in every precision.
    pub(crate) is_float: bool,
}

/// Operations, each after those it reads from; the weights they use; the outputs.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) ops: Vec<Op>,
    pub(crate) weights: Vec<GraphWeight>,
    pub(crate) outputs: Vec<(Output, ValueIndex)>,
    /// For each value whether it is `f32` in every precision.
    is_float: Vec<bool>,
}

impl Graph {
    pub(crate) fn new(config: &NetworkConfig, graph_use: GraphUse) -> Graph {
        let mut graph = Graph { ops: Vec::new(), weights: Vec::new(), outputs: Vec::new(), is_float: Vec::new() };
        let planes = graph.push(Op::Planes);
        let mut scalars = graph.push(Op::Scalars);
        let mut rules = None;
        if graph_use == GraphUse::Export {
            let (own, numbers) = (SCALARS.len() as i64, rule_inputs::count() as i64);
            let inputs = scalars;
            scalars = graph.push(Op::Slice { input: inputs, dim: 1, start: 0, len: own });
            let numbers = graph.push(Op::Slice { input: inputs, dim: 1, start: own, len: numbers });
            let embedding = graph.linear("rules.embedding", numbers, WeightPart::RulesEmbedding, None, 0);
            rules = Some(graph.push(Op::Tanh { input: embedding }));
        }
        // The board whose size the pooled features know, where it is not in the weights.
        let sized = rules.map(|_| planes);
        let mut trunk = graph.convolution("stem", planes, WeightPart::Stem, WeightPart::StemBias, 0);
        let bias = graph.linear("stem.scalars", scalars, WeightPart::Scalars, None, 0);
        trunk = graph.push(Op::AddBias { board: trunk, bias });
        if let Some(rules) = rules {
            let bias = graph.linear("stem.rules", rules, WeightPart::RulesStem, None, 0);
            trunk = graph.push(Op::AddBias { board: trunk, bias });
        }
        trunk = graph.push(Op::Relu { input: trunk });
        let mut pooled = 0;
        for block in 0..config.blocks {
            let name = format!("blocks.{block}");
            let inner = graph.conditioned(config, &format!("{name}.conv1"), trunk, rules, 2 * block);
            let inner = graph.push(Op::Relu { input: inner });
            let mut branch = graph.conditioned(config, &format!("{name}.conv2"), inner, rules, 2 * block + 1);
            if config.is_pooled(block) {
                let mean = graph.push(Op::Mean { board: inner });
                let max = graph.push(Op::Max { board: inner });
                let summary = graph.summary(mean, max, sized);
                let bias = graph.linear(&format!("{name}.global"), summary, WeightPart::Pool, None, pooled);
                branch = graph.push(Op::AddBias { board: branch, bias });
                pooled += 1;
            }
            trunk = graph.push(Op::Add { left: branch, right: trunk });
            trunk = graph.push(Op::Relu { input: trunk });
        }

        let (keys, features) = (config.policy_channels as i64, config.value_channels as i64);
        let squares = graph.push(Op::Squares { board: trunk });
        let head = graph.linear("head", squares, WeightPart::Head, Some(WeightPart::HeadBias), 0);
        let head = graph.push(Op::Float { input: head });
        let from = graph.push(Op::Slice { input: head, dim: 2, start: 0, len: keys });
        let to = graph.push(Op::Slice { input: head, dim: 2, start: keys, len: keys });
        let to = graph.push(Op::Transpose { input: to });
        let features = graph.push(Op::Slice { input: head, dim: 2, start: 2 * keys, len: features });
        let features = graph.push(Op::Relu { input: features });
        let mean = graph.push(Op::MeanSquares { squares: features });
        let max = graph.push(Op::MaxSquares { squares: features });
        let summary = graph.summary(mean, max, sized);
        let hidden =
            graph.linear("value.hidden", summary, WeightPart::ValueHidden, Some(WeightPart::ValueHiddenBias), 0);
        let hidden = graph.push(Op::Relu { input: hidden });
        let last = graph.linear("last", hidden, WeightPart::Last, Some(WeightPart::LastBias), 0);
        let queries = graph.push(Op::Slice { input: last, dim: 1, start: 6, len: 4 * keys });
        let queries = graph.push(Op::Reshape { input: queries, size: vec![4, keys] });

        let action_map = graph.push(Op::Product { left: from, right: to });
        let square_logits = graph.push(Op::Product { left: queries, right: to });
        let stop_pass = graph.push(Op::Slice { input: last, dim: 1, start: 4, len: 2 });
        let mut win_draw_loss =
            (Output::WinDrawLossLogits, graph.push(Op::Slice { input: last, dim: 1, start: 0, len: 3 }));
        if !matches!(graph_use, GraphUse::Training { .. }) {
            win_draw_loss = (Output::WinDrawLoss, graph.push(Op::Softmax { input: win_draw_loss.1 }));
        }
        let margin = graph.push(Op::Slice { input: last, dim: 1, start: 3, len: 1 });
        let margin = graph.push(Op::Tanh { input: margin });
        let margin = (Output::Margin, graph.push(Op::Reshape { input: margin, size: Vec::new() }));
        if graph_use == GraphUse::Export {
            let policy = graph.policy_vector(action_map, square_logits, stop_pass);
            graph.outputs = vec![(Output::PolicyLogits, policy), win_draw_loss, margin];
            return graph;
        }
        graph.outputs = vec![
            (Output::ActionMap, action_map),
            (Output::SquareLogits, square_logits),
            (Output::StopPass, stop_pass),
            win_draw_loss,
            margin,
        ];
        if graph_use == (GraphUse::Training { extra_heads: true }) {
            graph.extra_heads(keys, squares, hidden);
        }
        graph
    }

    /// Adds the heads that only training has. `squares` is `[B, A, C]`, `hidden` `[B, K]`.
    fn extra_heads(&mut self, keys: i64, squares: ValueIndex, hidden: ValueIndex) {
        let bias = Some(WeightPart::TrainingSquaresBias);
        let squares = self.linear("training.squares", squares, WeightPart::TrainingSquares, bias, 0);
        let squares = self.push(Op::Float { input: squares });
        let last =
            self.linear("training.last", hidden, WeightPart::TrainingLast, Some(WeightPart::TrainingLastBias), 0);
        let from = self.push(Op::Slice { input: squares, dim: 2, start: 1, len: keys });
        let from = self.push(Op::DivideByRoot { input: from, len: keys });
        let to = self.push(Op::Slice { input: squares, dim: 2, start: 1 + keys, len: keys });
        let to = self.push(Op::Transpose { input: to });
        let action_map = self.push(Op::Product { left: from, right: to });
        let queries = self.push(Op::Slice { input: last, dim: 1, start: 3, len: 4 * keys });
        let queries = self.push(Op::Reshape { input: queries, size: vec![4, keys] });
        let square_logits = self.push(Op::Product { left: queries, right: to });
        let stop_pass = self.push(Op::Slice { input: last, dim: 1, start: 1, len: 2 });
        let opponent_policy = self.policy_vector(action_map, square_logits, stop_pass);
        let survival = self.push(Op::Slice { input: squares, dim: 2, start: 0, len: 1 });
        let survival = self.push(Op::Flatten { input: survival });
        let moves_left = self.push(Op::Slice { input: last, dim: 1, start: 0, len: 1 });
        let moves_left = self.push(Op::Reshape { input: moves_left, size: Vec::new() });
        self.outputs.extend([
            (Output::Survival, survival),
            (Output::OpponentPolicy, opponent_policy),
            (Output::MovesLeft, moves_left),
        ]);
    }

    /// Joins the three kinds of logits into the policy vector.
    fn policy_vector(&mut self, map: ValueIndex, squares: ValueIndex, stop_pass: ValueIndex) -> ValueIndex {
        let map = self.push(Op::Flatten { input: map });
        let squares = self.push(Op::Flatten { input: squares });
        self.push(Op::Concat { inputs: vec![map, squares, stop_pass] })
    }

    /// Joins means, means by the size of the board `sized` where that is not in the weights, and maxima.
    fn summary(&mut self, mean: ValueIndex, max: ValueIndex, sized: Option<ValueIndex>) -> ValueIndex {
        let by_size = sized.map(|board| self.push(Op::SizeScale { input: mean, board }));
        let inputs = [Some(mean), by_size, Some(max)].into_iter().flatten().collect();
        self.push(Op::Concat { inputs })
    }

    /// Adds a convolution of a block, scaled and shifted by the embedding `rules` where that is not in the weights.
    fn conditioned(
        &mut self,
        config: &NetworkConfig,
        name: &str,
        input: ValueIndex,
        rules: Option<ValueIndex>,
        index: usize,
    ) -> ValueIndex {
        let board = self.convolution(name, input, WeightPart::Trunk, WeightPart::TrunkBias, index);
        let Some(rules) = rules else { return board };
        let channels = config.channels as i64;
        let (weight, bias) = (WeightPart::RulesTrunk, Some(WeightPart::RulesTrunkBias));
        let numbers = self.linear(&format!("{name}.rules"), rules, weight, bias, index);
        let factor = self.push(Op::Slice { input: numbers, dim: 1, start: 0, len: channels });
        let bias = self.push(Op::Slice { input: numbers, dim: 1, start: channels, len: channels });
        let board = self.push(Op::Scale { board, factor });
        self.push(Op::AddBias { board, bias })
    }

    fn convolution(
        &mut self,
        name: &str,
        input: ValueIndex,
        weight: WeightPart,
        bias: WeightPart,
        index: usize,
    ) -> ValueIndex {
        let weight = self.weight(format!("{name}.weight"), input, weight, index);
        let bias = self.weight(format!("{name}.bias"), input, bias, index);
        self.push(Op::Convolution { input, weight, bias })
    }

    fn linear(
        &mut self,
        name: &str,
        input: ValueIndex,
        weight: WeightPart,
        bias: Option<WeightPart>,
        index: usize,
    ) -> ValueIndex {
        let weight = self.weight(format!("{name}.weight"), input, weight, index);
        let bias = bias.map(|bias| self.weight(format!("{name}.bias"), input, bias, index));
        self.push(Op::Linear { input, weight, bias })
    }

    /// Adds a weight that is applied to `input`.
    fn weight(&mut self, name: String, input: ValueIndex, part: WeightPart, index: usize) -> WeightIndex {
        self.weights.push(GraphWeight { name, part, index, is_float: self.is_float[input] });
        self.weights.len() - 1
    }

    fn push(&mut self, op: Op) -> ValueIndex {
        let is_float = matches!(op, Op::Float { .. }) || op.inputs().into_iter().any(|input| self.is_float[input]);
        self.ops.push(op);
        self.is_float.push(is_float);
        self.ops.len() - 1
    }
}

//! Small games with known values, to test searches on.
//!
//! - [`TreeGame`]: a game tree written as a string;
//! - [`TicTacToe`]: a draw with perfect play, many transpositions;
//! - [`NimTurns`]: Nim in which one turn is several actions; its value follows from a formula.

use std::sync::Arc;

use latrunculi_engine::{EndReason, Outcome, Player};

use crate::alphabeta::Heuristic;
use crate::game::Game;
use crate::mix;

/// A game tree written as a string.
///
/// ```text
/// node   = end | player [ ":" number ] "(" node* ")"
/// end    = ( "+" | "=" | "-" ) [ "?" ]        first player wins, draw, second player wins
/// player = "1" | "2"                          whose decision it is
/// ```
///
/// A `?` marks an end that rests on the history, so that it must not be proven. The number after a colon
/// is the static evaluation for the first player (0 if absent). An action is the index of a child.
///
/// # Examples
/// ```
/// use latrunculi_search::{Game, toy::TreeGame};
/// let mut game = TreeGame::parse("1(= 2(+ -) 1(- +))")?;
/// game.play(2);
/// assert_eq!(game.player_to_act().number(), 1, "the first player acts twice in a row here");
/// # Ok::<(), latrunculi_search::toy::TreeError>(())
/// ```
///
/// Source: the idea is board-game-rs' `DummyGame` (src/games/dummy.rs).
#[derive(Clone, Debug)]
pub struct TreeGame {
    nodes: Arc<[TreeNode]>,
    node_index: usize,
}

#[derive(Clone, Debug)]
struct TreeNode {
    player: Player,
    end: Option<Outcome>,
    is_positional: bool,
    evaluation: i32,
    children: Vec<usize>,
}

/// Why a text is not a game tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a game tree: unexpected text at byte {byte}")]
pub struct TreeError {
    /// Where the fault was noticed, in bytes from the start.
    pub byte: usize,
}

impl TreeGame {
    /// Reads a tree; the game starts at its root.
    /// Fails with [`TreeError`] when the text does not follow the grammar.
    pub fn parse(text: &str) -> Result<TreeGame, TreeError> {
        let bytes = text.as_bytes();
        let mut nodes = Vec::new();
        let mut at = 0;
        parse_node(bytes, &mut at, &mut nodes)?;
        skip_spaces(bytes, &mut at);
        if at < bytes.len() {
            return Err(TreeError { byte: at });
        }
        Ok(TreeGame { nodes: nodes.into(), node_index: 0 })
    }

    fn node(&self) -> &TreeNode {
        &self.nodes[self.node_index]
    }
}

fn skip_spaces(bytes: &[u8], at: &mut usize) {
    while bytes.get(*at).is_some_and(u8::is_ascii_whitespace) {
        *at += 1;
    }
}

fn parse_node(bytes: &[u8], at: &mut usize, nodes: &mut Vec<TreeNode>) -> Result<usize, TreeError> {
    skip_spaces(bytes, at);
    let index = nodes.len();
    let first = bytes.get(*at).copied();
    *at += 1;
    let mut node =
        TreeNode { player: Player::First, end: None, is_positional: true, evaluation: 0, children: Vec::new() };
    match first {
        Some(sign @ (b'+' | b'=' | b'-')) => {
            let (winner, reason) = match sign {
                b'+' => (Some(Player::First), EndReason::DuxCaptured),
                b'-' => (Some(Player::Second), EndReason::DuxCaptured),
                _ => (None, EndReason::NoLegalMove),
            };
            node.is_positional = bytes.get(*at) != Some(&b'?');
            if !node.is_positional {
                *at += 1;
            }
            node.end = Some(Outcome { winner, reason });
            nodes.push(node);
        }
        Some(player @ (b'1' | b'2')) => {
            node.player = if player == b'1' { Player::First } else { Player::Second };
            if bytes.get(*at) == Some(&b':') {
                *at += 1;
                let start = *at;
                while bytes.get(*at).is_some_and(|&b| b == b'-' || b.is_ascii_digit()) {
                    *at += 1;
                }
                let number = std::str::from_utf8(&bytes[start..*at]).ok().and_then(|t| t.parse().ok());
                node.evaluation = number.ok_or(TreeError { byte: start })?;
            }
            if bytes.get(*at) != Some(&b'(') {
                return Err(TreeError { byte: *at });
            }
            *at += 1;
            nodes.push(node);
            loop {
                skip_spaces(bytes, at);
                if bytes.get(*at) == Some(&b')') {
                    break;
                }
                let child = parse_node(bytes, at, nodes)?;
                nodes[index].children.push(child);
            }
            if nodes[index].children.is_empty() {
                return Err(TreeError { byte: *at });
            }
            *at += 1;
        }
        _ => return Err(TreeError { byte: *at - 1 }),
    }
    Ok(index)
}

impl Game for TreeGame {
    type Action = usize;

    fn player_to_act(&self) -> Player {
        self.node().player
    }

    fn outcome(&self) -> Option<Outcome> {
        self.node().end
    }

    fn legal_actions(&self, actions: &mut Vec<usize>) {
        actions.clear();
        actions.extend(0..self.node().children.len());
    }

    fn play(&mut self, action: usize) {
        self.node_index = self.node().children[action];
    }

    fn position_key(&self) -> u64 {
        mix(self.node_index as u64)
    }

    fn full_key(&self) -> u64 {
        self.position_key()
    }

    fn own_position_key(&self) -> u64 {
        self.position_key()
    }

    fn own_action_key(&self, action: usize) -> u64 {
        action as u64
    }

    fn outcome_is_positional(&self) -> bool {
        self.node().is_positional
    }

    fn history_free_plies(&self) -> u32 {
        u32::MAX
    }
}

/// Evaluates a [`TreeGame`] by the numbers written into it; no action is tactical.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeHeuristic;

impl Heuristic<TreeGame> for TreeHeuristic {
    fn evaluate(&self, game: &TreeGame) -> i32 {
        game.node().evaluation
    }

    fn capture_gain(&self, _game: &TreeGame, _action: usize) -> i32 {
        0
    }

    fn action_index(&self, _game: &TreeGame, action: usize) -> usize {
        action.min(15)
    }

    fn action_index_count(&self) -> usize {
        16
    }
}

/// Noughts and crosses; an action is a square, 0 to 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TicTacToe {
    /// The squares of each player, as bits.
    squares: [u16; 2],
}

const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl TicTacToe {
    /// Returns the empty board, the first player to act.
    #[must_use]
    pub fn new() -> TicTacToe {
        TicTacToe::default()
    }

    fn winner(&self) -> Option<Player> {
        let has_line = |p: &&Player| LINES.iter().any(|&l| self.squares[p.index()] & l == l);
        Player::BOTH.iter().find(has_line).copied()
    }
}

impl Game for TicTacToe {
    type Action = u8;

    fn player_to_act(&self) -> Player {
        let [first, second] = self.squares;
        if first.count_ones() > second.count_ones() { Player::Second } else { Player::First }
    }

    fn outcome(&self) -> Option<Outcome> {
        if let Some(winner) = self.winner() {
            return Some(Outcome { winner: Some(winner), reason: EndReason::DuxCaptured });
        }
        let is_full = self.squares[0] | self.squares[1] == 0o777;
        is_full.then_some(Outcome { winner: None, reason: EndReason::NoLegalMove })
    }

    fn legal_actions(&self, actions: &mut Vec<u8>) {
        actions.clear();
        if self.outcome().is_none() {
            let taken = self.squares[0] | self.squares[1];
            actions.extend((0..9).filter(|square| taken & (1 << square) == 0));
        }
    }

    fn play(&mut self, action: u8) {
        assert!(action < 9 && (self.squares[0] | self.squares[1]) & (1 << action) == 0);
        self.squares[self.player_to_act().index()] |= 1 << action;
    }

    fn position_key(&self) -> u64 {
        mix(u64::from(self.squares[0]) << 16 | u64::from(self.squares[1]))
    }

    fn full_key(&self) -> u64 {
        self.position_key()
    }

    fn own_position_key(&self) -> u64 {
        self.position_key()
    }

    fn own_action_key(&self, action: u8) -> u64 {
        u64::from(action)
    }

    fn outcome_is_positional(&self) -> bool {
        true
    }

    fn history_free_plies(&self) -> u32 {
        u32::MAX
    }
}

/// Counts, for [`TicTacToe`], the lines still open to each player.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenLines;

impl Heuristic<TicTacToe> for OpenLines {
    fn evaluate(&self, game: &TicTacToe) -> i32 {
        let open = |p: Player| {
            let theirs = game.squares[p.opponent().index()];
            LINES.iter().filter(|&&l| theirs & l == 0).count() as i32
        };
        10 * (open(Player::First) - open(Player::Second))
    }

    fn capture_gain(&self, _game: &TicTacToe, action: u8) -> i32 {
        // The centre first, then the corners: an ordering to try, not a truth.
        if action == 4 { 20 } else { 0 }
    }

    fn is_tactical(&self, _game: &TicTacToe, _action: u8) -> bool {
        false
    }

    fn action_index(&self, _game: &TicTacToe, action: u8) -> usize {
        usize::from(action)
    }

    fn action_index_count(&self) -> usize {
        9
    }
}

/// Nim in which a turn is spent stone by stone: who takes the last stone wins.
/// The player to act takes one stone at a time from one heap and may [`NimAction::Stop`] after the first;
/// emptying the heap ends the turn as well. Between turns the second player to have moved loses exactly
/// when the exclusive or of the heaps is zero (Bouton 1901), so that every value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NimTurns {
    heaps: [u8; 4],
    player: Player,
    /// The heap that the turn in progress takes from.
    open_heap: Option<u8>,
}

/// One decision in [`NimTurns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NimAction {
    /// Takes one stone from the heap of that index.
    Take(u8),
    /// Ends the turn.
    Stop,
}

impl NimTurns {
    /// Returns the game with these heaps, the first player to act.
    #[must_use]
    pub fn new(heaps: [u8; 4]) -> NimTurns {
        NimTurns { heaps, player: Player::First, open_heap: None }
    }

    /// Returns who wins with perfect play from here.
    #[must_use]
    pub fn winner_by_theory(&self) -> Player {
        if let Some(outcome) = self.outcome() {
            return outcome.winner.unwrap_or(self.player);
        }
        let sum = self.heaps.iter().fold(0, |sum, heap| sum ^ heap);
        let wins = match self.open_heap {
            None => sum != 0,
            // The turn may end with any number of stones left in the open heap.
            Some(open) => {
                let heap = self.heaps[usize::from(open)];
                (sum ^ heap) <= heap
            }
        };
        if wins { self.player } else { self.player.opponent() }
    }
}

impl Game for NimTurns {
    type Action = NimAction;

    fn player_to_act(&self) -> Player {
        self.player
    }

    fn outcome(&self) -> Option<Outcome> {
        let is_over = self.heaps.iter().all(|&heap| heap == 0);
        let winner = Some(self.player.opponent());
        is_over.then_some(Outcome { winner, reason: EndReason::Eliminated })
    }

    fn legal_actions(&self, actions: &mut Vec<NimAction>) {
        actions.clear();
        match self.open_heap {
            Some(open) => actions.extend([NimAction::Take(open), NimAction::Stop]),
            None => {
                let heaps = (0u8..).zip(self.heaps).filter(|&(_, heap)| heap > 0);
                actions.extend(heaps.map(|(index, _)| NimAction::Take(index)));
            }
        }
    }

    fn play(&mut self, action: NimAction) {
        match action {
            NimAction::Stop => self.open_heap = None,
            NimAction::Take(index) => {
                let heap = &mut self.heaps[usize::from(index)];
                assert!(*heap > 0, "an empty heap has no stone to take");
                *heap -= 1;
                self.open_heap = (*heap > 0).then_some(index);
            }
        }
        if self.open_heap.is_none() {
            self.player = self.player.opponent();
        }
    }

    fn position_key(&self) -> u64 {
        let heaps = u64::from(u32::from_le_bytes(self.heaps));
        let open = self.open_heap.map_or(0, |open| u64::from(open) + 1);
        mix(heaps | open << 32 | (self.player.index() as u64) << 40)
    }

    fn full_key(&self) -> u64 {
        self.position_key()
    }

    fn own_position_key(&self) -> u64 {
        self.position_key()
    }

    fn own_action_key(&self, action: NimAction) -> u64 {
        match action {
            NimAction::Take(heap) => u64::from(heap),
            NimAction::Stop => u64::MAX,
        }
    }

    fn outcome_is_positional(&self) -> bool {
        true
    }

    fn history_free_plies(&self) -> u32 {
        u32::MAX
    }
}

/// Prefers, in [`NimTurns`], an odd number of stones for the player to act: a poor guess, on purpose.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoneParity;

impl Heuristic<NimTurns> for StoneParity {
    fn evaluate(&self, game: &NimTurns) -> i32 {
        let stones: i32 = game.heaps.iter().map(|&heap| i32::from(heap)).sum();
        let for_mover = if stones % 2 == 1 { 7 } else { -7 } + stones;
        if game.player == Player::First { for_mover } else { -for_mover }
    }

    fn capture_gain(&self, game: &NimTurns, action: NimAction) -> i32 {
        match action {
            NimAction::Take(heap) if game.heaps[usize::from(heap)] == 1 => 10,
            _ => 0,
        }
    }

    fn action_index(&self, _game: &NimTurns, action: NimAction) -> usize {
        match action {
            NimAction::Take(heap) => usize::from(heap),
            NimAction::Stop => 4,
        }
    }

    fn action_index_count(&self) -> usize {
        5
    }
}

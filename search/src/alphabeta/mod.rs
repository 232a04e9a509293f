//! Alpha-beta search: iterative deepening, principal variation search, a transposition table, captures first, killers, history,
//! quiescence. A function of position, settings and limits alone. Ties are drawn by a seeded hash of what the player to act
//! sees, so that both players choose alike; only which entries the full table drops depends on the side.
//! Source: Knuth and Moore 1975 (alpha-beta); Marsland and Campbell 1982 (principal variation search);
//! Schaeffer 1989 (history); Campbell 1985 and Kishimoto and Müller 2004 (the graph-history interaction).

mod heuristic;
mod minimax;
mod root;
mod table;

use std::cmp::Reverse;
use std::mem;

use latrunculi_engine::Player;

use crate::game::Game;
use crate::mix;
use crate::stop::StopSignal;
use table::{Bound, Entry, NO_TAG, Table};

pub use heuristic::{EVALUATION_MAX, Heuristic};
pub use minimax::minimax;
pub use root::RootScores;

/// The score of a win now; a win in `n` actions scores `WIN - n`.
pub const WIN: i32 = 1_000_000;

/// The most actions that the main search looks ahead.
pub const DEPTH_MAX: u32 = 96;

const INFINITE: i32 = WIN + 1;

/// The limits of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Actions played, quiescence included; never exceeded. At least one action is always returned.
    pub nodes: u64,
    /// Depth of the last iteration, in actions, at most [`DEPTH_MAX`].
    pub depth: u32,
}

impl Limits {
    /// Limits by nodes alone.
    #[must_use]
    pub fn nodes(nodes: u64) -> Limits {
        Limits { nodes, depth: DEPTH_MAX }
    }

    /// Limits by depth alone.
    #[must_use]
    pub fn depth(depth: u32) -> Limits {
        Limits { nodes: u64::MAX, depth }
    }
}

/// Which parts of the search are in use; everything is by default.
/// Without reductions and with `exact_depth` the value at a fixed depth is that of [`minimax()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaBetaSettings {
    /// Bytes of the transposition table; 0 turns it off.
    pub table_bytes: usize,
    /// Whether only scores of exactly the depth wanted are taken from the table, not deeper ones.
    pub exact_depth: bool,
    /// Whether actions are ordered by table, gain, killers and history.
    pub ordering: bool,
    /// Whether all actions but the first are searched with an empty window first.
    pub principal_variation_search: bool,
    /// Whether iterations begin with a narrow window around the last value.
    pub aspiration: bool,
    /// The most captures that quiescence search follows from a leaf; 0 turns it off.
    pub quiescence_plies_max: u32,
    /// Whether late quiet actions are searched less deeply first.
    pub late_move_reductions: bool,
    /// Seed of the draw among actions that are equal to the ordering.
    pub seed: u64,
}

impl Default for AlphaBetaSettings {
    fn default() -> AlphaBetaSettings {
        AlphaBetaSettings {
            table_bytes: 16 << 20,
            exact_depth: false,
            ordering: true,
            principal_variation_search: true,
            aspiration: true,
            quiescence_plies_max: 12,
            late_move_reductions: true,
            seed: 0,
        }
    }
}

impl AlphaBetaSettings {
    /// Returns the settings with which a fixed-depth value equals [`minimax()`]'s.
    #[must_use]
    pub fn exact() -> AlphaBetaSettings {
        AlphaBetaSettings { exact_depth: true, late_move_reductions: false, ..AlphaBetaSettings::default() }
    }

    /// Returns the settings of alpha-beta and nothing else.
    #[must_use]
    pub fn plain() -> AlphaBetaSettings {
        AlphaBetaSettings {
            table_bytes: 0,
            ordering: false,
            principal_variation_search: false,
            aspiration: false,
            ..AlphaBetaSettings::exact()
        }
    }
}

/// The result of an alpha-beta search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlphaBetaResult<A> {
    /// The action to play.
    pub action: A,
    /// Its score for the player to act: the heuristic's unit, or [`WIN`] less the actions to the end. Where the limit
    /// cut an iteration short that had come as far as this action, the score is from that iteration.
    pub score: i32,
    /// The depth completed, in actions; the iteration that was cut short does not count.
    pub depth: u32,
    /// Actions played.
    pub nodes: u64,
    /// The principal variation, `action` first.
    pub principal_variation: Vec<A>,
}

/// The best actions of a search that compares several, the best first.
pub type Lines<A> = [AlphaBetaResult<A>];

impl<A> AlphaBetaResult<A> {
    /// Returns the actions to a certain win (positive) or loss (negative) of the player to act, if seen.
    #[must_use]
    pub fn plies_to_end(&self) -> Option<i32> {
        actions_to_end(self.score)
    }
}

/// Returns the actions to the proven end that a score stands for: positive for a win of the player to act, negative for
/// a loss, `None` for other scores.
#[must_use]
pub fn actions_to_end(score: i32) -> Option<i32> {
    (score.abs() > EVALUATION_MAX).then(|| (WIN - score.abs()) * score.signum())
}

/// An alpha-beta search with its memory: table, killers, history, and one game per ply.
#[derive(Clone, Debug)]
pub struct AlphaBeta<G: Game, H> {
    settings: AlphaBetaSettings,
    heuristic: H,
    table: Table,
    frames: Vec<Frame<G>>,
    /// Credit of quiet actions by player and action index.
    history: [Vec<i32>; 2],
    tag_seed: u64,
    nodes: u64,
    nodes_max: u64,
    stop: StopSignal,
    /// Actions that the root does not consider.
    excluded: Vec<G::Action>,
    /// The score of the action that the root's variation begins with, from when it was found; a bound where the
    /// window was too narrow for it.
    root_score: i32,
    /// Whether the iteration met anything but ends of the game; if not, deeper ones would find the same.
    has_horizon: bool,
    /// Whether the node limit cut the search short; scores on the way up mean nothing then.
    is_aborted: bool,
}

#[derive(Clone, Debug)]
struct Frame<G: Game> {
    game: G,
    actions: Vec<G::Action>,
    /// One entry per action to search; the best is picked one by one.
    order: Vec<Candidate>,
    killers: [Option<G::Action>; 2],
    /// The best continuation found from this ply on.
    variation: Vec<G::Action>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: i32,
    /// Breaks ties between equal scores and identifies the action in the table.
    tag: u32,
    /// Index in `actions`.
    ordinal: u16,
}

impl Candidate {
    /// Returns what the best candidate is greatest in.
    #[inline]
    fn rank(self) -> (i32, u32) {
        (self.score, self.tag)
    }
}

/// A score for the player to act, and whether it depends on the history of the game.
#[derive(Clone, Copy, Debug)]
struct Score {
    value: i32,
    touches_history: bool,
}

impl Score {
    fn of_position(value: i32) -> Score {
        Score { value, touches_history: false }
    }
}

const ORDER_TABLE: i32 = 1 << 30;
const ORDER_TACTICAL: i32 = 1 << 28;
const ORDER_KILLER: i32 = 1 << 26;
/// Beyond this, all history is halved, so that it stays below the killers.
const HISTORY_MAX: i32 = 1 << 24;

/// The search reads the stop signal every so many nodes.
const STOP_NODES: u64 = 1024;

/// Half the width of the first aspiration window, in the heuristic's unit.
const ASPIRATION: i32 = 40;

impl<G: Game, H: Heuristic<G>> AlphaBeta<G, H> {
    /// Creates a search with its table.
    #[must_use]
    pub fn new(settings: AlphaBetaSettings, heuristic: H) -> AlphaBeta<G, H> {
        let count = heuristic.action_index_count();
        AlphaBeta {
            settings,
            table: Table::new(settings.table_bytes),
            frames: Vec::new(),
            history: [vec![0; count], vec![0; count]],
            tag_seed: 0,
            nodes: 0,
            nodes_max: 0,
            stop: StopSignal::default(),
            excluded: Vec::new(),
            root_score: 0,
            has_horizon: false,
            is_aborted: false,
            heuristic,
        }
    }

    /// Returns the heuristic.
    #[must_use]
    pub fn heuristic(&self) -> &H {
        &self.heuristic
    }

    /// Sets the seed of the draw among actions that are equal to the ordering.
    pub fn set_seed(&mut self, seed: u64) {
        self.settings.seed = seed;
    }

    /// Makes all searches end early while `stop` is raised, with the best action found so far.
    pub fn stop_by(&mut self, stop: StopSignal) {
        self.stop = stop;
    }

    /// Searches for the best action of the player to act.
    /// Panics when the game is over.
    pub fn search(&mut self, game: &G, limits: Limits) -> AlphaBetaResult<G::Action> {
        self.search_lines(game, limits, 1, &mut |_| {}).swap_remove(0)
    }

    /// Searches for the best `lines` actions (at least 1) of the player to act within one limit, and calls `report` with those of
    /// each iteration. Returns them best first, all searched equally deep; fewer where there are fewer, or where the limit came
    /// first.
    /// Panics when the game is over.
    pub fn search_lines(
        &mut self,
        game: &G,
        limits: Limits,
        lines: usize,
        report: &mut dyn FnMut(&Lines<G::Action>),
    ) -> Vec<AlphaBetaResult<G::Action>> {
        assert!(game.outcome().is_none(), "a search needs a game that goes on");
        self.begin(game, limits);
        self.excluded.clear();
        game.legal_actions(&mut self.frames[0].actions);
        let lines = lines.clamp(1, self.frames[0].actions.len());
        let mut best: Vec<AlphaBetaResult<G::Action>> = Vec::new();
        for depth in 1..=limits.depth.clamp(1, DEPTH_MAX) {
            let mut found: Vec<AlphaBetaResult<G::Action>> = Vec::new();
            let mut has_horizon = false;
            self.excluded.clear();
            while found.len() < lines && !self.is_aborted {
                let guess = best.get(found.len()).map(|result| result.score);
                self.has_horizon = false;
                self.frames[0].variation.clear();
                let score = self.search_depth(depth as i32, guess);
                has_horizon |= self.has_horizon;
                let variation = &self.frames[0].variation;
                // An iteration cut short still counts once it has searched an action: the first is the last best one, and
                // an action that it prefers is better at this depth.
                let Some(&action) = variation.first() else { break };
                debug_assert!(
                    score.is_none_or(|score| score == self.root_score),
                    "a whole iteration returns its score"
                );
                found.push(AlphaBetaResult {
                    action,
                    score: self.root_score,
                    depth: if self.is_aborted { depth - 1 } else { depth },
                    nodes: self.nodes,
                    principal_variation: variation.clone(),
                });
                self.excluded.push(action);
            }
            // Several actions are compared at one depth: what was cut short counts only where nothing else is known.
            if !found.is_empty() && (!self.is_aborted || lines == 1 || best.is_empty()) {
                // Reductions may have hidden that a later one is better.
                found.sort_by_key(|result| Reverse(result.score));
                best = found;
            }
            if self.is_aborted {
                break;
            }
            report(&best);
            // A win within the depth searched cannot be hastened, nor a loss delayed, by looking further.
            let is_decided =
                |result: &AlphaBetaResult<_>| result.plies_to_end().is_some_and(|plies| plies.unsigned_abs() <= depth);
            if best.iter().all(is_decided) || !has_horizon {
                break;
            }
        }
        self.excluded.clear();
        if best.is_empty() {
            return vec![self.first_action(self.nodes)];
        }
        best.iter_mut().for_each(|result| result.nodes = self.nodes);
        best
    }

    /// Returns the first action in order, for budgets too small to search one.
    fn first_action(&mut self, nodes: u64) -> AlphaBetaResult<G::Action> {
        self.list_actions(0, NO_TAG);
        let ordinal = self.pick_action(0, 0);
        let action = self.frames[0].actions[ordinal as usize];
        let score = self.evaluate(0).value;
        AlphaBetaResult { action, score, depth: 0, nodes, principal_variation: vec![action] }
    }

    fn begin(&mut self, game: &G, limits: Limits) {
        self.table.clear();
        for history in &mut self.history {
            history.fill(0);
        }
        self.tag_seed = mix(mix(self.settings.seed) ^ game.own_position_key());
        self.nodes = 0;
        self.nodes_max = limits.nodes;
        self.is_aborted = false;
        self.frame(0, game);
        self.frames[0].game.clone_from(game);
        self.frames[0].variation.clear();
        for frame in &mut self.frames {
            frame.killers = [None; 2];
        }
    }

    /// Ensures that frame `ply` exists.
    fn frame(&mut self, ply: usize, game: &G) {
        while self.frames.len() <= ply {
            self.frames.push(Frame {
                game: game.clone(),
                actions: Vec::new(),
                order: Vec::new(),
                killers: [None; 2],
                variation: Vec::new(),
            });
        }
    }

    /// Searches one iteration; returns its score unless it was cut short before the first action was done.
    fn search_depth(&mut self, depth: i32, guess: Option<i32>) -> Option<i32> {
        let guess = guess.filter(|score| self.settings.aspiration && depth > 2 && score.abs() <= EVALUATION_MAX);
        let mut width = ASPIRATION;
        let (mut alpha, mut beta) = match guess {
            Some(score) => (score - width, score + width),
            None => (-INFINITE, INFINITE),
        };
        loop {
            let score = self.negamax(0, depth, alpha, beta).value;
            if self.is_aborted {
                return None;
            }
            width *= 4;
            if score <= alpha && alpha > -INFINITE {
                alpha = if width > 3000 { -INFINITE } else { score - width };
            } else if score >= beta && beta < INFINITE {
                beta = if width > 3000 { INFINITE } else { score + width };
            } else {
                return Some(score);
            }
        }
    }

    /// Returns the score of the game at `ply` for the player to act, searched `depth` actions deep.
    /// Fail-soft: outside `(alpha, beta)` the value is a bound. The game must not be over.
    fn negamax(&mut self, ply: usize, depth: i32, alpha: i32, beta: i32) -> Score {
        if depth <= 0 {
            self.has_horizon = true;
            return self.quiescence(ply, 0, alpha, beta);
        }
        let (mut alpha, alpha_before) = (alpha, alpha);
        let uses_table = self.settings.table_bytes > 0;
        let key = self.frames[ply].game.position_key() ^ self.mark_of_root(ply);
        let history_free_plies = self.frames[ply].game.history_free_plies();
        // Where the history matters within the depth, the score belongs to the position with its history.
        let is_history_free = history_free_plies >= depth as u32;
        let remembered = if uses_table { self.table.probe(key) } else { None };
        let table_tag = remembered.map_or(NO_TAG, |entry| entry.tag);
        let full_key = if uses_table && !is_history_free {
            self.frames[ply].game.full_key() ^ self.mark_of_root(ply)
        } else {
            key
        };
        let scored = match is_history_free {
            // A deeper score is valid for this history only if the history cannot matter to that depth either.
            true => remembered.filter(|entry| i64::from(entry.depth) <= i64::from(history_free_plies)),
            false if uses_table => self.table.probe(full_key),
            false => None,
        };
        if let Some(entry) = scored {
            let entry_depth = i32::from(entry.depth);
            let is_deep_enough = match self.settings.exact_depth {
                true => entry_depth == depth,
                false => entry_depth >= depth,
            };
            if ply > 0 && is_deep_enough {
                let score = from_table(entry.score, ply);
                let cuts = match entry.bound {
                    Bound::None => false,
                    Bound::Exact => true,
                    Bound::Lower => score >= beta,
                    Bound::Upper => score <= alpha,
                };
                if cuts {
                    self.has_horizon = true;
                    self.frames[ply].variation.clear();
                    return Score { value: score, touches_history: entry.touches_history };
                }
            }
        }
        self.list_actions(ply, table_tag);
        self.prepare_child(ply);
        let player = self.frames[ply].game.player_to_act();
        let count = self.frames[ply].actions.len();
        let mut best = Score::of_position(-INFINITE);
        let mut best_tag = NO_TAG;
        let mut touches_history = false;
        for index in 0..count {
            let ordinal = self.pick_action(ply, index);
            let Candidate { score, tag, .. } = self.frames[ply].order[index];
            let is_quiet = score < ORDER_KILLER;
            if !self.play(ply, ordinal) {
                return Score::of_position(0);
            }
            let reduction = self.reduction(depth, index, is_quiet);
            let is_first = index == 0;
            let score = self.negamax_child(ply, player, depth, alpha, beta, is_first, reduction);
            if self.is_aborted {
                return Score::of_position(0);
            }
            touches_history |= score.touches_history;
            if score.value > best.value {
                best = score;
                best_tag = tag;
                if score.value > alpha || (ply == 0 && index == 0) {
                    self.extend_variation(ply, ordinal);
                    if ply == 0 {
                        self.root_score = score.value;
                    }
                }
                alpha = alpha.max(score.value);
                if alpha >= beta {
                    self.update_history(ply, depth, index, player);
                    break;
                }
            }
        }
        // A cut rests on the action that made it alone; every other score on all actions.
        if best.value < beta {
            best.touches_history = touches_history;
        }
        if uses_table {
            let bound = match best.value {
                value if value >= beta => Bound::Lower,
                value if value <= alpha_before => Bound::Upper,
                _ => Bound::Exact,
            };
            let tag = if best.value > alpha_before { best_tag } else { NO_TAG };
            let touches_history = best.touches_history;
            let mut entry =
                Entry { score: to_table(best.value, ply), tag, depth: depth as i16, bound, touches_history };
            if !is_history_free {
                self.table.store(full_key, entry);
            }
            // The action is a good guess whatever the history.
            if touches_history || !is_history_free {
                entry.bound = Bound::None;
            }
            self.table.store(key, entry);
        }
        best
    }

    /// Returns a mark on table keys that separates a root with excluded actions from the same position deeper in the tree.
    fn mark_of_root(&self, ply: usize) -> u64 {
        const ROOT_WITHOUT_SOME: u64 = 0x9e37_79b9_7f4a_7c15;
        if ply == 0 { ROOT_WITHOUT_SOME.wrapping_mul(self.excluded.len() as u64) } else { 0 }
    }

    /// Returns the score for `player` of the game in frame `ply + 1`, after `player`'s action.
    #[expect(clippy::too_many_arguments, reason = "the state of one loop")]
    fn negamax_child(
        &mut self,
        ply: usize,
        player: Player,
        depth: i32,
        alpha: i32,
        beta: i32,
        is_first: bool,
        reduction: i32,
    ) -> Score {
        if let Some(score) = self.end_score(ply + 1, player) {
            return score;
        }
        if is_first || !self.settings.principal_variation_search {
            return self.negamax_for(ply + 1, player, depth - 1, alpha, beta);
        }
        let mut score = self.negamax_for(ply + 1, player, depth - 1 - reduction, alpha, alpha + 1);
        if reduction > 0 && score.value > alpha && !self.is_aborted {
            score = self.negamax_for(ply + 1, player, depth - 1, alpha, alpha + 1);
        }
        if score.value > alpha && score.value < beta && !self.is_aborted {
            score = self.negamax_for(ply + 1, player, depth - 1, alpha, beta);
        }
        score
    }

    /// Returns the score of the game at `ply` for `player`, who need not be the one to act.
    fn negamax_for(&mut self, ply: usize, player: Player, depth: i32, alpha: i32, beta: i32) -> Score {
        if self.frames[ply].game.player_to_act() == player {
            self.negamax(ply, depth, alpha, beta)
        } else {
            let score = self.negamax(ply, depth, -beta, -alpha);
            Score { value: -score.value, ..score }
        }
    }

    /// Returns the score of the game at `ply` after its tactical actions are searched.
    /// The player to act may stand pat: only a continuation can be compulsory (`extra.mode`), which no shipped ruleset asks
    /// for; there the score is as if it could be left.
    fn quiescence(&mut self, ply: usize, depth: u32, alpha: i32, beta: i32) -> Score {
        self.frames[ply].variation.clear();
        let mut best = self.evaluate(ply);
        let heuristic = &self.heuristic;
        if best.value >= beta
            || depth >= self.settings.quiescence_plies_max
            || !heuristic.needs_quiescence(&self.frames[ply].game)
        {
            return best;
        }
        let tag_seed = self.tag_seed;
        let Frame { game, actions, order, .. } = &mut self.frames[ply];
        game.legal_actions(actions);
        order.clear();
        heuristic.each_tactical(game, actions, |ordinal, score| {
            order.push(Candidate { score, tag: tag(tag_seed, game, actions[ordinal]), ordinal: ordinal as u16 });
        });
        self.prepare_child(ply);
        let player = self.frames[ply].game.player_to_act();
        let mut alpha = alpha.max(best.value);
        let mut touches_history = false;
        for index in 0..self.frames[ply].order.len() {
            let ordinal = self.pick_action(ply, index);
            if !self.play(ply, ordinal) {
                return Score::of_position(0);
            }
            let score = match self.end_score(ply + 1, player) {
                Some(score) => score,
                None if self.frames[ply + 1].game.player_to_act() == player => {
                    self.quiescence(ply + 1, depth + 1, alpha, beta)
                }
                None => {
                    let score = self.quiescence(ply + 1, depth + 1, -beta, -alpha);
                    Score { value: -score.value, ..score }
                }
            };
            if self.is_aborted {
                return Score::of_position(0);
            }
            touches_history |= score.touches_history;
            if score.value > best.value {
                best = score;
                if score.value > alpha {
                    self.extend_variation(ply, ordinal);
                    alpha = score.value;
                }
                if alpha >= beta {
                    break;
                }
            }
        }
        if best.value < beta {
            best.touches_history = touches_history;
        }
        best
    }

    /// Returns the score for `player` of a game that is over.
    fn end_score(&mut self, ply: usize, player: Player) -> Option<Score> {
        let game = &self.frames[ply].game;
        let outcome = game.outcome()?;
        let value = outcome.value_for(player) as i32 * (WIN - ply as i32);
        let touches_history = !game.outcome_is_positional();
        self.frames[ply].variation.clear();
        Some(Score { value, touches_history })
    }

    fn evaluate(&self, ply: usize) -> Score {
        let game = &self.frames[ply].game;
        let value = self.heuristic.evaluate(game).clamp(-EVALUATION_MAX, EVALUATION_MAX);
        Score::of_position(match game.player_to_act() {
            Player::First => value,
            Player::Second => -value,
        })
    }

    fn prepare_child(&mut self, ply: usize) {
        if self.frames.len() <= ply + 1 {
            let game = self.frames[ply].game.clone();
            self.frame(ply + 1, &game);
        }
    }

    /// Plays an action of `ply` into the next frame; false when the node limit is reached.
    fn play(&mut self, ply: usize, ordinal: u16) -> bool {
        // Not before the first one, so that some action has been searched.
        let is_stopped = self.nodes % STOP_NODES == 1 && self.stop.is_raised();
        if self.nodes >= self.nodes_max || is_stopped {
            self.is_aborted = true;
            return false;
        }
        self.nodes += 1;
        let (above, below) = self.frames.split_at_mut(ply + 1);
        let child = &mut below[0].game;
        child.clone_from(&above[ply].game);
        child.play(above[ply].actions[ordinal as usize]);
        true
    }

    /// Lists the legal actions at `ply` with their ordering scores.
    fn list_actions(&mut self, ply: usize, table_tag: u32) {
        let Frame { game, actions, order, killers, .. } = &mut self.frames[ply];
        game.legal_actions(actions);
        if ply == 0 {
            actions.retain(|action| !self.excluded.contains(action));
        }
        order.clear();
        if !self.settings.ordering {
            order.extend((0..actions.len()).map(|ordinal| Candidate {
                score: 0,
                tag: NO_TAG,
                ordinal: ordinal as u16,
            }));
            return;
        }
        let history = &self.history[game.player_to_act().index()];
        self.heuristic.each_gain(game, actions, |ordinal, gain| {
            let action = actions[ordinal];
            let tag = tag(self.tag_seed, game, action);
            let score = if tag == table_tag {
                ORDER_TABLE
            } else if gain > 0 {
                ORDER_TACTICAL + gain
            } else if killers[0] == Some(action) {
                ORDER_KILLER + 1
            } else if killers[1] == Some(action) {
                ORDER_KILLER
            } else {
                history[self.heuristic.action_index(game, action)] + gain.max(-HISTORY_MAX)
            };
            order.push(Candidate { score, tag, ordinal: ordinal as u16 });
        });
    }

    /// Moves the best action not yet picked to `index` of the order and returns its ordinal.
    fn pick_action(&mut self, ply: usize, index: usize) -> u16 {
        let order = &mut self.frames[ply].order;
        let mut best = index;
        for other in index + 1..order.len() {
            if order[other].rank() > order[best].rank() {
                best = other;
            }
        }
        order.swap(index, best);
        order[index].ordinal
    }

    /// Credits the action at `index` of the order, which made a cut, and debits those before it, which did not.
    fn update_history(&mut self, ply: usize, depth: i32, index: usize, player: Player) {
        if !self.settings.ordering {
            return;
        }
        let Frame { game, actions, order, killers, .. } = &mut self.frames[ply];
        let action = actions[order[index].ordinal as usize];
        if self.heuristic.capture_gain(game, action) > 0 {
            return;
        }
        if killers[0] != Some(action) {
            *killers = [Some(action), killers[0]];
        }
        let history = &mut self.history[player.index()];
        let bonus = (depth * depth).min(1024);
        for &Candidate { score, ordinal, .. } in &order[..index] {
            if score < ORDER_KILLER {
                let index = self.heuristic.action_index(game, actions[ordinal as usize]);
                history[index] = (history[index] - bonus / 4).max(-HISTORY_MAX);
            }
        }
        let entry = &mut history[self.heuristic.action_index(game, action)];
        *entry += bonus;
        if *entry > HISTORY_MAX {
            history.iter_mut().for_each(|entry| *entry /= 2);
        }
    }

    /// Returns the depth reduction of the first search of a late quiet action.
    fn reduction(&self, depth: i32, index: usize, is_quiet: bool) -> i32 {
        let applies = self.settings.late_move_reductions
            && self.settings.principal_variation_search
            && is_quiet
            && depth >= 3
            && index >= 4;
        match applies {
            true if index >= 16 && depth >= 5 => 2,
            true => 1,
            false => 0,
        }
    }

    fn extend_variation(&mut self, ply: usize, ordinal: u16) {
        let mut variation = mem::take(&mut self.frames[ply].variation);
        variation.clear();
        variation.push(self.frames[ply].actions[ordinal as usize]);
        variation.extend_from_slice(&self.frames[ply + 1].variation);
        self.frames[ply].variation = variation;
    }
}

/// Returns the tag of an action: a seeded hash of what the player to act sees, never [`NO_TAG`].
#[inline]
fn tag<G: Game>(seed: u64, game: &G, action: G::Action) -> u32 {
    let mixed = (game.own_action_key(action) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed >> 32) as u32 | 1
}

/// Counts the actions to a win or loss from the position instead of the root.
fn to_table(score: i32, ply: usize) -> i32 {
    match score {
        _ if score > EVALUATION_MAX => score + ply as i32,
        _ if score < -EVALUATION_MAX => score - ply as i32,
        _ => score,
    }
}

fn from_table(score: i32, ply: usize) -> i32 {
    match score {
        _ if score > EVALUATION_MAX => score - ply as i32,
        _ if score < -EVALUATION_MAX => score + ply as i32,
        _ => score,
    }
}

//! Scores of all actions at the root, for policy targets.

use super::{AlphaBeta, Candidate, DEPTH_MAX, Heuristic, INFINITE, Limits, NO_TAG, actions_to_end};
use crate::game::Game;

/// The result of [`AlphaBeta::search_scores`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootScores<A> {
    /// The action of the best score; ties are drawn by the seed.
    pub action: A,
    /// Its score for the player to act, as in [`AlphaBetaResult`](super::AlphaBetaResult).
    pub score: i32,
    /// For each legal action in their order its score at the same depth; `None` where it is `window` or more below the best
    /// one, and where the limit came before.
    pub scores: Vec<Option<i32>>,
    /// The depth of the scores, in actions.
    pub depth: u32,
    /// Actions played.
    pub nodes: u64,
}

impl<G: Game, H: Heuristic<G>> AlphaBeta<G, H> {
    /// Scores every action of the player to act that is less than `window` (in the heuristic's unit, at least 1) below the
    /// best one, all of them at the same depth, by iterative deepening.
    ///
    /// With [`AlphaBetaSettings::exact`](super::AlphaBetaSettings::exact) the scores are those of
    /// [`minimax()`](super::minimax()), so that actions that are equal at that depth have equal scores. An iteration that
    /// the limit cuts short counts if it has come to all actions that the one before left in the window: these come first.
    /// The first one counts if it has come to all. Where none counts, the depth is 0, no action has a score, and the action is
    /// the best of those that it came to.
    /// Panics when the game is over.
    pub fn search_scores(&mut self, game: &G, limits: Limits, window: i32) -> RootScores<G::Action> {
        assert!(game.outcome().is_none(), "a search needs a game that goes on");
        self.begin(game, limits);
        self.list_actions(0, NO_TAG);
        self.prepare_child(0);
        let mut order = self.frames[0].order.clone();
        order.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank()));
        let mut result = RootScores {
            action: self.frames[0].actions[order[0].ordinal as usize],
            score: self.evaluate(0).value,
            scores: vec![None; order.len()],
            depth: 0,
            nodes: 0,
        };
        for depth in 1..=limits.depth.clamp(1, DEPTH_MAX) {
            self.has_horizon = false;
            let found = self.score_in_order(&order, depth as i32, window);
            let contested = if result.depth == 0 { order.len() } else { result.scores.iter().flatten().count() };
            let Some(best) = found.iter().flatten().copied().max() else { break };
            if found.len() < contested {
                if result.depth == 0 {
                    let place = found.iter().position(|&score| score == Some(best)).unwrap_or(0);
                    (result.action, result.score) = (self.frames[0].actions[order[place].ordinal as usize], best);
                }
                break;
            }
            result.scores.fill(None);
            for (candidate, score) in order.iter_mut().zip(found.iter().copied().chain(std::iter::repeat(None))) {
                // The first ones were searched while the best score was lower.
                let score = score.filter(|score| best - score < window);
                result.scores[candidate.ordinal as usize] = score;
                candidate.score = score.unwrap_or(-INFINITE);
            }
            order.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank()));
            (result.action, result.score, result.depth) =
                (self.frames[0].actions[order[0].ordinal as usize], best, depth);
            let is_decided = actions_to_end(best).is_some_and(|plies| plies.unsigned_abs() <= depth);
            if self.is_aborted || is_decided || !self.has_horizon {
                break;
            }
        }
        result.nodes = self.nodes;
        result
    }

    /// Returns the scores of the candidates in order, as far as the limit allows; `None` where one is `window` or more below
    /// a better one before it.
    fn score_in_order(&mut self, order: &[Candidate], depth: i32, window: i32) -> Vec<Option<i32>> {
        let player = self.frames[0].game.player_to_act();
        let mut found = Vec::with_capacity(order.len());
        let mut best = -INFINITE;
        for candidate in order {
            if !self.play(0, candidate.ordinal) {
                break;
            }
            let alpha = (best - window).max(-INFINITE);
            let score = match self.end_score(1, player) {
                Some(score) => score.value,
                None if best == -INFINITE => self.negamax_for(1, player, depth - 1, -INFINITE, INFINITE).value,
                None => {
                    let score = self.negamax_for(1, player, depth - 1, alpha, best + 1).value;
                    let is_better = score > best && !self.is_aborted;
                    if is_better { self.negamax_for(1, player, depth - 1, best, INFINITE).value } else { score }
                }
            };
            if self.is_aborted {
                break;
            }
            found.push((score > alpha).then_some(score));
            best = best.max(score);
        }
        found
    }
}

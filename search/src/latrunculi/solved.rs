//! The exact value of every position of a small game, by retrograde analysis (Thompson 1986, "Retrograde analysis of certain endgames").

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Outcome, Player, Rules};

/// The values of all positions that can come about from the beginning of a game **in which play may go on for ever**: nothing is
/// forbidden or ended by repetition or by a number of turns. Endless play is a draw; where the rules count pieces after so many
/// turns without a capture ([`GameState::winner_without_captures`]), it is won by who has more.
#[derive(Debug)]
pub struct Solved {
    indices: HashMap<u64, u32>,
    games: Vec<GameState>,
    graph: Graph,
    values: Vec<Value>,
}

/// What perfect play leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The winner.
    pub winner: Option<Player>,
    /// Actions to the end of the game, where the winner takes the shortest way and the loser the longest; `None` for a draw and
    /// for a win by endless play.
    pub plies: Option<u16>,
}

const DRAW: Value = Value { winner: None, plies: None };

/// What the actions of each position lead to, position by position.
#[derive(Debug, Default)]
struct Graph {
    ends: Vec<usize>,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
enum Edge {
    To(u32),
    End(Option<Player>),
}

impl Graph {
    fn edges(&self, index: usize) -> &[Edge] {
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.edges[begin..self.ends[index]]
    }
}

impl Solved {
    /// Solves the game; `None` where there are more than `positions_max` positions.
    #[must_use]
    pub fn new(rules: &Arc<Rules>, positions_max: usize) -> Option<Solved> {
        let begin = GameState::new(Arc::clone(rules));
        let mut solved = Solved {
            indices: HashMap::from([(begin.full_key(), 0)]),
            games: vec![begin],
            graph: Graph::default(),
            values: Vec::new(),
        };
        let mut actions = Vec::new();
        while let Some(game) = solved.games.get(solved.graph.ends.len()).cloned() {
            game.legal_actions(&mut actions);
            for &action in &actions {
                let edge = match after(&game, action) {
                    Err(end) => Edge::End(end.winner),
                    Ok(next) => Edge::To(match solved.indices.entry(next.full_key()) {
                        Entry::Occupied(known) => *known.get(),
                        Entry::Vacant(place) => {
                            // A copy has no memory to spare.
                            solved.games.push(next.clone());
                            *place.insert(solved.games.len() as u32 - 1)
                        }
                    }),
                };
                solved.graph.edges.push(edge);
            }
            solved.graph.ends.push(solved.graph.edges.len());
            if solved.games.len() > positions_max {
                return None;
            }
        }
        solved.values = vec![DRAW; solved.games.len()];
        for (_, stratum) in solved.strata() {
            solved.settle(&stratum);
        }
        Some(solved)
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn position_count(&self) -> usize {
        self.games.len()
    }

    /// Returns a position, a game without history; 0 is the beginning, the others follow by their distances from it.
    #[must_use]
    pub fn game(&self, index: usize) -> &GameState {
        &self.games[index]
    }

    /// Returns the value of a position.
    #[must_use]
    pub fn value(&self, index: usize) -> Value {
        self.values[index]
    }

    /// Returns the values to which the legal actions of a position lead, in their order.
    pub fn values_after(&self, index: usize) -> impl ExactSizeIterator<Item = Value> {
        self.graph.edges(index).iter().map(|&edge| self.value_of(edge))
    }

    fn value_of(&self, edge: Edge) -> Value {
        match edge {
            Edge::To(index) => self.values[index as usize],
            Edge::End(winner) => Value { winner, plies: winner.map(|_| 0) },
        }
    }

    /// Divides the positions by the numbers of pieces, which nothing increases: those with fewest come first, so that what leads
    /// out of a stratum leads to one before.
    fn strata(&self) -> BTreeMap<(u32, u32), Vec<u32>> {
        let mut strata = BTreeMap::<_, Vec<u32>>::new();
        for (index, game) in self.games.iter().enumerate() {
            let [first, second] = pieces(game);
            strata.entry((first + second, first)).or_default().push(index as u32);
        }
        strata
    }

    /// Finds the values of a stratum, whose exits are known.
    fn settle(&mut self, stratum: &[u32]) {
        let endless = stratum.first().and_then(|&index| self.games[index as usize].winner_without_captures());
        for player in Player::BOTH {
            // Who wins where nothing happens wins unless the other reaches something better.
            let wins: Vec<u32> = if endless == Some(player) {
                let escapes = self.forced(player.opponent(), stratum, |value| value.winner != Some(player));
                let escapes: BTreeSet<u32> = escapes.into_iter().map(|(index, _)| index).collect();
                stratum.iter().copied().filter(|index| !escapes.contains(index)).collect()
            } else {
                self.forced(player, stratum, |value| value.winner == Some(player))
                    .into_iter()
                    .map(|(index, _)| index)
                    .collect()
            };
            let ends = self.forced(player, stratum, |value| value.winner == Some(player) && value.plies.is_some());
            for index in wins {
                self.values[index as usize].winner = Some(player);
            }
            for (index, plies) in ends {
                self.values[index as usize].plies = Some(plies);
            }
        }
    }

    /// Returns the positions of a stratum from which `player` can force play to an exit of such a value, each with the actions
    /// until the end behind it.
    fn forced(&self, player: Player, stratum: &[u32], is_goal: impl Fn(Value) -> bool) -> Vec<(u32, u16)> {
        let place = |index: u32| stratum.binary_search(&index).ok();
        let mut before = vec![Vec::new(); stratum.len()];
        // How many actions of the opponent do not lead there yet, and the most actions to the end by the others.
        let mut open = vec![(0u32, 0u16); stratum.len()];
        let mut is_forced = vec![false; stratum.len()];
        let mut queue = BinaryHeap::new();
        let is_own = |at: usize| self.games[stratum[at] as usize].player_to_act() == player;
        for (at, &index) in stratum.iter().enumerate() {
            let edges = self.graph.edges(index as usize);
            open[at].0 = edges.len() as u32;
            for &edge in edges {
                if let Edge::To(next) = edge
                    && let Some(next) = place(next)
                {
                    before[next].push(at as u32);
                    continue;
                }
                let value = self.value_of(edge);
                if is_goal(value) {
                    reach(at, value.plies.unwrap_or(0), is_own(at), &mut open, &mut queue);
                }
            }
        }
        let mut found = Vec::new();
        while let Some(Reverse((plies, at))) = queue.pop() {
            if std::mem::replace(&mut is_forced[at], true) {
                continue;
            }
            found.push((stratum[at], plies));
            for &earlier in &before[at] {
                let earlier = earlier as usize;
                reach(earlier, plies, is_own(earlier), &mut open, &mut queue);
            }
        }
        found
    }
}

/// Notes that an action of the position at a place leads to the goal.
fn reach(at: usize, plies: u16, is_own: bool, open: &mut [(u32, u16)], queue: &mut BinaryHeap<Reverse<(u16, usize)>>) {
    let (left, longest) = &mut open[at];
    *left -= 1;
    *longest = plies.max(*longest);
    if is_own {
        queue.push(Reverse((plies.saturating_add(1), at)));
    } else if *left == 0 {
        queue.push(Reverse((longest.saturating_add(1), at)));
    }
}

/// Plays an action where the past does not count.
fn after(game: &GameState, action: Action) -> Result<GameState, Outcome> {
    let mut next = game.clone();
    next.play(action);
    if let Some(outcome) = next.outcome()
        && next.outcome_is_positional()
    {
        return Err(outcome);
    }
    let next = next.without_history();
    next.outcome().map_or(Ok(next), Err)
}

/// Returns the pieces of each side, on the board and in hand.
fn pieces(game: &GameState) -> [u32; 2] {
    let position = game.position();
    Player::BOTH.map(|player| position.stones(player).len() + u32::from(position.hand(player).stones()))
}

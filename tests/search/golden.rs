//! The Gumbel mode gives the results of mctx (scripts/golden-mctx.py wrote the golden data).

use std::sync::Arc;

use latrunculi_engine::{EndReason, Outcome, Player};
use latrunculi_search::mcts::{
    GumbelSettings, MaxConsideredActions, Mode, Proofs, Search, Settings, Step, considered_visits,
};
use latrunculi_search::mix;
use latrunculi_search::{Evaluation, Game};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    sequences: Vec<Sequence>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Sequence {
    considered: usize,
    simulations: u32,
    visits: Vec<u32>,
}

/// A random automaton, and what mctx found in it from state 0.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    simulations: u32,
    considered: u32,
    /// The player of each state, 0 or 1.
    players: Vec<usize>,
    /// The state behind each action of each state.
    following: Vec<Vec<usize>>,
    logits: Vec<Vec<f32>>,
    /// Value of each state for its player.
    values: Vec<f32>,
    /// The result for the acting player where a transition ends the game, 2 where it does not.
    ends: Vec<Vec<i8>>,
    /// 1 for each action that is illegal at the root.
    invalid: Vec<u8>,
    gumbel: Vec<f32>,
    paths: Option<Vec<Vec<usize>>>,
    visits: Vec<u32>,
    completed_q: Vec<f32>,
    policy: Vec<f32>,
    value: f32,
    action: usize,
}

#[derive(Clone)]
struct AutomatonGame {
    case: Arc<Case>,
    state: usize,
    path: Vec<usize>,
    outcome: Option<Outcome>,
}

impl Game for AutomatonGame {
    type Action = usize;

    fn player_to_act(&self) -> Player {
        Player::BOTH[self.case.players[self.state]]
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn legal_actions(&self, actions: &mut Vec<usize>) {
        actions.clear();
        let is_root = self.path.is_empty();
        actions.extend((0..self.case.invalid.len()).filter(|&a| !is_root || self.case.invalid[a] == 0));
    }

    fn play(&mut self, action: usize) {
        let player = self.player_to_act();
        let winner = match self.case.ends[self.state][action] {
            1 => Some(Some(player)),
            -1 => Some(Some(player.opponent())),
            0 => Some(None),
            _ => None,
        };
        self.outcome = winner.map(|winner| Outcome { winner, reason: EndReason::DuxCaptured });
        self.state = self.case.following[self.state][action];
        self.path.push(action);
    }

    fn position_key(&self) -> u64 {
        mix(self.state as u64)
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
        true
    }

    fn history_free_plies(&self) -> u32 {
        u32::MAX
    }
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/mctx.json")).expect("the golden data can be read")
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 2e-5, "{what}[{index}]: {found} instead of {expected}");
    }
}

#[test]
fn visit_sequences_equal_those_of_mctx() {
    let mut visits = Vec::new();
    for sequence in golden().sequences {
        considered_visits(sequence.considered, sequence.simulations, &mut visits);
        assert_eq!(visits, sequence.visits, "m = {}, n = {}", sequence.considered, sequence.simulations);
    }
}

#[test]
fn whole_searches_equal_those_of_mctx() {
    for case in golden().cases {
        let name = case.name.clone();
        let game = AutomatonGame { case: Arc::new(case), state: 0, path: Vec::new(), outcome: None };
        let case = &*game.case;
        let gumbel = GumbelSettings {
            max_considered_actions: MaxConsideredActions::Fixed(case.considered),
            ..GumbelSettings::default()
        };
        let settings = Settings { mode: Mode::Gumbel(gumbel), proofs: Proofs::Off, ..Settings::default() };
        let mut search = Search::new(settings, &game);
        let legal: Vec<usize> = (0..case.invalid.len()).filter(|&a| case.invalid[a] == 0).collect();
        let of_legal = |all: &[f32]| legal.iter().map(|&a| all[a]).collect::<Vec<f32>>();
        search.start_with_gumbel(case.simulations, &of_legal(&case.gumbel));
        let mut paths = Vec::new();
        while search.select() == Step::Evaluate {
            let leaf = search.leaf();
            let state = leaf.game.state;
            paths.push(leaf.game.path.clone());
            let policy_logits = leaf.legal_actions.iter().map(|&a| case.logits[state][a]).collect();
            let value = case.values[state];
            let win_draw_loss = [(1.0 + value) / 2.0, 0.0, (1.0 - value) / 2.0];
            search.receive(&Evaluation { policy_logits, win_draw_loss });
        }
        if let Some(expected) = &case.paths {
            assert_eq!(&paths[1..], expected, "{name}");
        }
        let result = search.result();
        let visits: Vec<u32> = legal.iter().map(|&a| case.visits[a]).collect();
        assert_eq!(result.visits, visits, "{name}");
        assert_eq!(result.best_action(), case.action, "{name}");
        assert_close(&result.q, &of_legal(&case.completed_q), &format!("{name}: completed q"));
        assert_close(&result.policy, &of_legal(&case.policy), &format!("{name}: policy"));
        assert_close(&[result.value], &[case.value], &format!("{name}: value"));
    }
}

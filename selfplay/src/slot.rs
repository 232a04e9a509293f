//! One game in flight: its search, its streams of chance, and what it will teach.

use std::sync::Arc;

use latrunculi_engine::encoding::{ActionIndices, EncodedPosition, Shape};
use latrunculi_engine::{Action, GameState, Outcome, Player, Rules};
use latrunculi_search::Evaluation;
use latrunculi_search::mcts::{Effort, Search, SearchResult, Settings, Step};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::samples::{Sample, Samples};
use crate::seeds::{GameKey, Purpose};
use crate::teacher::{AlphaBetaTeacher, AlphaBetaTeaching};

/// How the actions of a game are found.
#[derive(Clone, Debug)]
pub(crate) struct Habits {
    pub(crate) search: Settings,
    pub(crate) effort: Effort,
    pub(crate) temperature: f32,
    pub(crate) temperature_actions: u32,
    /// Set where alpha-beta finds the actions of both sides.
    pub(crate) teaching: Option<AlphaBetaTeaching>,
}

/// One searched position, until the game's result is known.
#[derive(Clone, Debug)]
struct Record {
    position: EncodedPosition,
    player: Player,
    actions: Vec<ActionIndices>,
    policy: Vec<f32>,
    win_draw_loss: [f32; 3],
    turn: u32,
}

/// A game in flight. Its memory serves one game after the other.
pub(crate) struct Slot {
    pub(crate) index: u64,
    pub(crate) search: Search<GameState>,
    pub(crate) evaluation: Evaluation,
    pub(crate) is_waiting: bool,
    pub(crate) action_count: u32,
    pub(crate) teacher: Option<Box<AlphaBetaTeacher>>,
    is_searching: bool,
    searched_count: u32,
    search_stream: ChaCha8Rng,
    choice_stream: ChaCha8Rng,
    records: Vec<Record>,
    result: SearchResult<Action>,
    legal: Vec<Action>,
}

impl Slot {
    /// Creates a slot without a game; [`Slot::begin`] gives it one.
    pub(crate) fn new(habits: &Habits, game: &GameState) -> Slot {
        let key = GameKey { run_seed: 0, generation: 0, game: 0 };
        Slot {
            index: 0,
            search: Search::new(habits.search.clone(), game),
            evaluation: Evaluation::default(),
            is_waiting: false,
            action_count: 0,
            teacher: None,
            is_searching: false,
            searched_count: 0,
            search_stream: key.stream(Purpose::Search),
            choice_stream: key.stream(Purpose::Choice),
            records: Vec::new(),
            result: empty_result(),
            legal: Vec::new(),
        }
    }

    /// Begins game `key` at `start`, after `action_count` actions.
    pub(crate) fn begin(&mut self, key: GameKey, start: &GameState, action_count: u32) {
        self.index = key.game;
        self.search.set_root(start);
        self.search_stream = key.stream(Purpose::Search);
        self.choice_stream = key.stream(Purpose::Choice);
        self.records.clear();
        self.is_waiting = false;
        self.is_searching = false;
        self.searched_count = 0;
        self.action_count = action_count;
    }

    /// Returns how the game ended, if it has.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.search.game().outcome()
    }

    /// Goes on until a position must be evaluated or the game is over.
    pub(crate) fn advance(&mut self, habits: &Habits) {
        while !self.is_waiting && self.outcome().is_none() {
            if self.is_searching {
                match self.search.select() {
                    Step::Evaluate => self.is_waiting = true,
                    Step::Done => self.finish_search(habits),
                }
                continue;
            }
            let game = self.search.game();
            game.legal_actions(&mut self.legal);
            if let [only] = self.legal[..] {
                self.play(only);
                continue;
            }
            if let (Some(teacher), Some(teaching)) = (&mut self.teacher, &habits.teaching) {
                let lesson = teacher.teach(teaching, game, &self.legal);
                let is_random = self.choice_stream.random_bool(teaching.random_share);
                let random = self.choice_stream.random_range(0..self.legal.len());
                self.record(lesson.policy, lesson.win_draw_loss);
                self.play(if is_random { self.legal[random] } else { lesson.action });
                continue;
            }
            self.search.start(habits.effort, &mut self.search_stream);
            self.is_searching = true;
        }
    }

    /// Takes the evaluation that was waited for.
    pub(crate) fn receive(&mut self) {
        self.search.receive(&self.evaluation);
        self.is_waiting = false;
    }

    fn finish_search(&mut self, habits: &Habits) {
        self.is_searching = false;
        self.search.write_result(&mut self.result);
        let choice = if self.searched_count < habits.temperature_actions && habits.temperature > 0.0 {
            self.result.sample_by_policy(habits.temperature, &mut self.choice_stream)
        } else {
            self.result.best
        };
        self.record(self.result.policy.clone(), self.result.win_draw_loss);
        self.searched_count += 1;
        self.play(self.result.actions[choice]);
    }

    /// Keeps the present position with its targets; `legal` holds its actions.
    fn record(&mut self, policy: Vec<f32>, win_draw_loss: [f32; 3]) {
        let game = self.search.game();
        let (rules, position) = (game.rules(), game.position());
        self.records.push(Record {
            position: EncodedPosition::new(rules, position, game.repetitions()),
            player: position.player_to_act(),
            actions: self.legal.iter().map(|&action| rules.action_indices(position, action)).collect(),
            policy,
            win_draw_loss,
            turn: u32::from(position.turns()),
        });
    }

    fn play(&mut self, action: Action) {
        self.search.advance(action);
        self.action_count += 1;
    }

    /// Returns the samples of a finished game.
    pub(crate) fn take_samples(&mut self, outcome: Outcome) -> Samples {
        let game = self.search.game();
        let rules: &Arc<Rules> = game.rules();
        let mut samples = Samples::new(Shape::of(rules));
        for record in self.records.drain(..) {
            let value = outcome.value_for(record.player);
            let win_draw_loss = [value > 0.0, value == 0.0, value < 0.0].map(|is_so| f32::from(u8::from(is_so)));
            samples.push(&Sample {
                position: &record.position,
                actions: &record.actions,
                policy: &record.policy,
                win_draw_loss,
                search_win_draw_loss: record.win_draw_loss,
                margin: rules.material_margin(game.position(), record.player),
                weight: 1.0,
                game: self.index as u32,
                turn: record.turn,
            });
        }
        samples
    }
}

fn empty_result() -> SearchResult<Action> {
    SearchResult {
        actions: Vec::new(),
        visits: Vec::new(),
        policy: Vec::new(),
        prior: Vec::new(),
        q: Vec::new(),
        best: 0,
        value: 0.0,
        win_draw_loss: [0.0; 3],
        network_value: 0.0,
        proven: None,
        simulations: 0,
        principal_variation: Vec::new(),
    }
}

/// Plays `count` random actions from the start; begins again where the game ends on the way.
pub(crate) fn random_opening(rules: &Arc<Rules>, count: u32, stream: &mut ChaCha8Rng) -> GameState {
    let mut legal = Vec::new();
    let mut game = GameState::new(Arc::clone(rules));
    // Rulesets in which a hundred random openings in a row end the game are no longer games.
    for _ in 0..100 {
        for _ in 0..count {
            if game.outcome().is_some() {
                break;
            }
            game.legal_actions(&mut legal);
            game.play(legal[stream.random_range(0..legal.len())]);
        }
        if game.outcome().is_none() {
            return game;
        }
        game = GameState::new(Arc::clone(rules));
    }
    game
}

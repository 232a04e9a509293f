//! One game in flight: its search, its random streams, and its samples.

use std::sync::Arc;

use latrunculi_data::policy_index::action_indices;
use latrunculi_data::{ActionIndices, EncodedPosition, Sample, Samples, Shape};
use latrunculi_engine::{Action, ActionKind, GameState, Outcome, Player, Rules, SquareSet};
use latrunculi_search::Evaluation;
use latrunculi_search::mcts::{self, SearchBudget, SearchResult, Step};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::cache::{EvaluationCache, key_of_question};
use crate::openings::{Start, fork_choice};
use crate::seeds::{GameKey, Purpose};
use crate::settings::SelfPlaySettings;
use crate::teacher::{Teacher, TeacherSettings};
use crate::weighting::{
    ResignationSettings, Surprise, divergence, rounded_by_chance, surprise_weights, value_divergence,
};

/// How games are played.
#[derive(Clone, Debug)]
pub(crate) struct PlaySettings {
    pub(crate) settings: SelfPlaySettings,
    /// Set where alpha-beta plays both sides.
    pub(crate) teacher: Option<TeacherSettings>,
}

/// What the current search is for.
#[derive(Clone, Copy, Debug)]
enum Search {
    /// An action of the opening, drawn from the network's policy.
    Opening,
    /// A decision; its weight before surprise is considered.
    Decision { weight: f32 },
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
    /// Actions that had been played since the game was begun here.
    actions_before: usize,
    surprise: Surprise,
}

/// A game in flight. Its memory is reused by the next game.
pub(crate) struct ActiveGame {
    pub(crate) index: u64,
    pub(crate) search: mcts::Search<GameState>,
    pub(crate) evaluation: Evaluation,
    pub(crate) is_waiting: bool,
    pub(crate) action_count: u32,
    pub(crate) teacher: Option<Box<Teacher>>,
    /// The noisy player of a bootstrap game, if it has one.
    pub(crate) noisy_player: Option<Player>,
    /// Positions found in the cache since the last round.
    pub(crate) cache_hits: u64,
    /// Key of the leaf that waits for its evaluation, where there is a cache.
    pub(crate) leaf_key: u64,
    /// The player who would have resigned first, if any.
    pub(crate) resigned: Option<Player>,
    searching: Option<Search>,
    start: Start,
    searched_count: u32,
    /// Values of the decisions for the first player.
    values: Vec<f32>,
    search_stream: ChaCha8Rng,
    choice_stream: ChaCha8Rng,
    effort_stream: ChaCha8Rng,
    records: Vec<Record>,
    /// The actions played since the game was begun here.
    played: Vec<Action>,
    result: SearchResult<Action>,
    legal: Vec<Action>,
}

impl ActiveGame {
    /// Creates one without a game; [`ActiveGame::begin`] sets it.
    pub(crate) fn new(play_settings: &PlaySettings, game: &GameState) -> ActiveGame {
        let key = GameKey { run_seed: 0, generation: 0, game: 0 };
        ActiveGame {
            index: 0,
            search: mcts::Search::new(play_settings.settings.search.clone(), game),
            evaluation: Evaluation::default(),
            is_waiting: false,
            action_count: 0,
            teacher: None,
            noisy_player: None,
            cache_hits: 0,
            leaf_key: 0,
            resigned: None,
            searching: None,
            start: Start::default(),
            searched_count: 0,
            values: Vec::new(),
            search_stream: key.stream(Purpose::Search),
            choice_stream: key.stream(Purpose::Choice),
            effort_stream: key.stream(Purpose::Effort),
            records: Vec::new(),
            played: Vec::new(),
            result: SearchResult::default(),
            legal: Vec::new(),
        }
    }

    /// Begins game `key` at `game`, where the random actions of `start` have been played.
    pub(crate) fn begin(&mut self, key: GameKey, game: &GameState, start: Start) {
        self.index = key.game;
        self.search.set_root(game);
        self.start = start;
        self.search_stream = key.stream(Purpose::Search);
        self.choice_stream = key.stream(Purpose::Choice);
        self.effort_stream = key.stream(Purpose::Effort);
        self.records.clear();
        self.values.clear();
        self.resigned = None;
        self.played.clear();
        self.is_waiting = false;
        self.searching = None;
        self.searched_count = 0;
        self.action_count = start.random_actions;
    }

    /// Returns how the game ended, if it has.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.search.game().outcome()
    }

    /// Plays on until a position must be evaluated that is not in `cache`, or the game is over.
    pub(crate) fn advance(&mut self, play_settings: &PlaySettings, cache: &EvaluationCache) {
        while !self.is_waiting && self.outcome().is_none() {
            if let Some(purpose) = self.searching {
                match self.search.select() {
                    Step::Evaluate => self.look_up(cache),
                    Step::Done => self.finish_search(purpose, play_settings),
                }
                continue;
            }
            let game = self.search.game();
            game.legal_actions(&mut self.legal);
            if let [only] = self.legal[..] {
                self.play(only);
                continue;
            }
            if let (Some(teacher), Some(settings)) = (&mut self.teacher, &play_settings.teacher) {
                let demonstration = teacher.demonstrate(settings, game, &self.legal);
                let random_probability = settings.random_probability_of(game.player_to_act(), self.noisy_player);
                let is_random = self.choice_stream.random_bool(random_probability);
                let random = self.choice_stream.random_range(0..self.legal.len());
                let surprise = Surprise { weight: 1.0, ..Surprise::default() };
                self.record(demonstration.policy, demonstration.win_draw_loss, surprise);
                self.play(if is_random { self.legal[random] } else { demonstration.action });
                continue;
            }
            let (effort, purpose) = self.plan_search(&play_settings.settings);
            self.search.start(effort, &mut self.search_stream);
            self.searching = Some(purpose);
        }
    }

    /// Takes the evaluation of the leaf from the cache, or waits for it.
    fn look_up(&mut self, cache: &EvaluationCache) {
        self.is_waiting = true;
        if cache.is_off() {
            return;
        }
        let leaf = self.search.leaf();
        self.leaf_key = key_of_question(leaf.game, leaf.legal_actions);
        if let Some(known) = cache.get(self.leaf_key, leaf.legal_actions.len()) {
            self.evaluation.clone_from(known);
            self.cache_hits += 1;
            self.receive();
        }
    }

    /// Returns the budget and the purpose of the next search.
    fn plan_search(&mut self, settings: &SelfPlaySettings) -> (SearchBudget, Search) {
        if self.start.policy_actions > 0 {
            self.start.policy_actions -= 1;
            return (SearchBudget { simulations: 0, add_noise: false }, Search::Opening);
        }
        let is_full = settings.playout_cap.full_probability >= 1.0
            || self.effort_stream.random_bool(settings.playout_cap.full_probability);
        let mut decided = 0.0;
        if let Some((q, loser)) = settings.resignation.decided(&self.values) {
            decided = q;
            self.resigned = self.resigned.or(Some(loser));
        }
        let weight = f32::from(u8::from(is_full));
        let weight = ResignationSettings::reduced(decided, weight, settings.resignation.weight.min(weight));
        (settings.effort(is_full, decided), Search::Decision { weight })
    }

    /// Gives the search the evaluation of its leaf.
    pub(crate) fn receive(&mut self) {
        self.search.receive(&self.evaluation);
        self.is_waiting = false;
    }

    fn finish_search(&mut self, purpose: Search, play_settings: &PlaySettings) {
        self.searching = None;
        self.search.write_result(&mut self.result);
        let result = &self.result;
        let Search::Decision { weight } = purpose else {
            let choice = result.sample_by_policy(1.0, &mut self.choice_stream);
            self.play(result.actions[choice]);
            return;
        };
        let settings = &play_settings.settings;
        let temperature = settings.temperature_at(u32::from(self.search.game().position().turns()));
        let choice = if self.start.fork_at == Some(self.searched_count) {
            fork_choice(&result.prior, &mut self.choice_stream)
        } else if self.searched_count < settings.temperature_actions && temperature > 0.0 {
            result.sample_by_policy(temperature, &mut self.choice_stream)
        } else {
            result.best
        };
        let mut surprise = Surprise { weight, ..Surprise::default() };
        if !settings.surprise.is_off() {
            surprise.policy = divergence(&result.policy, &result.prior);
            surprise.value = value_divergence(result.value, result.network_value);
        }
        let is_first = self.search.game().player_to_act() == Player::First;
        self.values.push(if is_first { result.value } else { -result.value });
        self.record(self.result.policy.clone(), self.result.policy_win_draw_loss, surprise);
        self.searched_count += 1;
        self.play(self.result.actions[choice]);
    }

    /// Keeps the current position with its targets; `legal` holds its actions.
    fn record(&mut self, policy: Vec<f32>, win_draw_loss: [f32; 3], surprise: Surprise) {
        let game = self.search.game();
        let (rules, position) = (game.rules(), game.position());
        self.records.push(Record {
            position: EncodedPosition::new(rules, position, game.repetitions()),
            player: position.player_to_act(),
            actions: self.legal.iter().map(|&action| action_indices(rules, position, action)).collect(),
            policy,
            win_draw_loss,
            turn: u32::from(position.turns()),
            actions_before: self.played.len(),
            surprise,
        });
    }

    fn play(&mut self, action: Action) {
        self.search.advance(action);
        self.played.push(action);
        self.action_count += 1;
    }

    /// Returns the samples of a finished game: the positions of positive weight.
    pub(crate) fn take_samples(&mut self, outcome: Outcome, play_settings: &PlaySettings) -> Samples {
        let weights = self.weights(play_settings);
        let game = self.search.game();
        let rules: &Arc<Rules> = game.rules();
        let survivors = survivors(game, outcome, &self.played, self.records.iter().map(|record| record.actions_before));
        let last_turn = u32::from(game.position().turns());
        // The index of each position among the samples.
        let mut kept = 0;
        let indices: Vec<Option<usize>> = weights
            .iter()
            .map(|&weight| {
                kept += usize::from(weight > 0.0);
                (weight > 0.0).then(|| kept - 1)
            })
            .collect();
        let mut samples = Samples::new(Shape::of(rules));
        for (index, (record, survivors)) in self.records.iter().zip(survivors).enumerate() {
            if indices[index].is_none() {
                continue;
            }
            let value = outcome.value_for(record.player);
            let win_draw_loss = [value > 0.0, value == 0.0, value < 0.0].map(|is_so| f32::from(u8::from(is_so)));
            let later = &self.records[index + 1..];
            let opponents = later.iter().position(|later| later.player != record.player);
            samples.push(&Sample {
                planes: &record.position.planes,
                scalars: &record.position.scalars,
                action_indices: &record.actions,
                policy: &record.policy,
                win_draw_loss,
                search_win_draw_loss: record.win_draw_loss,
                margin: rules.material_margin(game.position(), record.player),
                survival: rules.turn_squares(record.player, survivors),
                opponent_policy: opponents.and_then(|later| indices[index + 1 + later]),
                moves_left: last_turn - record.turn,
                weights: weights[index],
                games: self.index as u32,
                turns: record.turn,
            });
        }
        self.records.clear();
        samples
    }

    /// Returns the weight of each recorded position.
    fn weights(&mut self, play_settings: &PlaySettings) -> Vec<f32> {
        let surprises: Vec<Surprise> = self.records.iter().map(|record| record.surprise).collect();
        if play_settings.teacher.is_some()
            || play_settings.settings.surprise.is_off() && play_settings.settings.resignation.is_off()
        {
            return surprises.iter().map(|surprise| surprise.weight).collect();
        }
        // A sample of small weight costs as much training time as any other: few of them are kept, with whole weights.
        let weights = surprise_weights(&play_settings.settings.surprise, &surprises);
        weights.into_iter().map(|weight| rounded_by_chance(weight, &mut self.effort_stream)).collect()
    }
}

/// Returns, for each of the rising numbers of actions `after`, which of the pieces on the board after so many of the
/// `played` actions are still there at the end, wherever they have gone; a dux whose enclosure lost the game is not.
fn survivors(
    end: &GameState,
    outcome: Outcome,
    played: &[Action],
    after: impl DoubleEndedIterator<Item = usize>,
) -> Vec<SquareSet> {
    let position = end.position();
    let mut alive = position.stones(Player::First) | position.stones(Player::Second);
    if let (true, Some(winner)) = (outcome.reason.is_dux_lost(), outcome.winner)
        && let Some(dux) = position.dux(winner.opponent())
    {
        alive.remove(dux);
    }
    let mut wanted = after.rev().peekable();
    let mut found = Vec::new();
    for count in (0..=played.len()).rev() {
        while wanted.next_if_eq(&count).is_some() {
            found.push(alive);
        }
        // Back over the action: a piece that survives where it moved to survives where it came from.
        match count.checked_sub(1).map(|last| played[last].kind()) {
            Some(ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. }) if alive.contains(to) => {
                alive.remove(to);
                alive.insert(from);
            }
            Some(ActionKind::PlaceMan(square) | ActionKind::PlaceDux(square)) => alive.remove(square),
            _ => {}
        }
    }
    found.reverse();
    found
}

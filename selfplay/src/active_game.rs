//! One game as an actor plays it: how it begins, its record, its search and its random streams.

use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Outcome, Player, Rules};
use latrunculi_search::Evaluation;
use latrunculi_search::mcts::{self, Leaf, SearchResult, Step};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::pool::{PlayedGame, PoolPlan};
use crate::record::{Decision, GameRecord, PlannedSearch, SearchPurpose};
use crate::seeds::{GameKey, Purpose};
use crate::settings::{SelfPlaySettings, StartSettings};
use crate::teacher::Teacher;

/// A game in flight. Its memory, the tree above all, is reused by the next game, of whatever pool.
pub(crate) struct ActiveGame {
    pub(crate) evaluation: Evaluation,
    record: GameRecord,
    search: mcts::Search<GameState>,
    is_waiting: bool,
    teacher: Option<Teacher>,
    search_stream: ChaCha8Rng,
    choice_stream: ChaCha8Rng,
    effort_stream: ChaCha8Rng,
    result: SearchResult<Action>,
    legal: Vec<Action>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    /// Uniformly random actions before anything else.
    pub(crate) random_actions: u32,
    /// Actions of an uneven beginning, after them: drawn from the network's policy, those of the noisy player at random.
    pub(crate) policy_actions: u32,
}

impl Start {
    /// Draws the start of a game; draws nothing for what is off.
    pub(crate) fn draw(settings: &SelfPlaySettings, stream: &mut ChaCha8Rng) -> Start {
        let is_random = settings.opening_actions_max > 0 && stream.random_bool(settings.opening_probability);
        let random_actions = if is_random { stream.random_range(1..=settings.opening_actions_max) } else { 0 };
        Start { random_actions, policy_actions: 0 }
    }

    /// Draws whether the game begins unevenly; returns the player who then begins it at random.
    pub(crate) fn draw_uneven(&mut self, settings: &StartSettings, stream: &mut ChaCha8Rng) -> Option<Player> {
        if settings.uneven_probability == 0.0 || !stream.random_bool(settings.uneven_probability) {
            return None;
        }
        self.policy_actions = stream.random_range(1..=settings.uneven_actions_max.max(1));
        Some(Player::BOTH[stream.random_range(0..2)])
    }
}

/// Tells whether at least half of the turns without a capture that end the game are left after `more` further ones.
pub(crate) fn leaves_half(game: &GameState, more: u32) -> bool {
    let limit = u32::from(game.rules().ruleset().end.quiet_limit);
    limit == 0 || 2 * (u32::from(game.position().quiet_turns()) + more) <= limit
}

/// Plays `count` random actions from the start, and takes back the last ones until at least half of the turns without a
/// capture that end the game are left: what follows is to be decided on the board, not by the counter. Begins again when
/// the game ends otherwise. Where it ends every time, no action is played. Returns the game and the actions played, each
/// as its index among the legal ones.
pub(crate) fn random_opening(rules: &Arc<Rules>, count: u32, stream: &mut ChaCha8Rng) -> (GameState, Vec<u16>) {
    let mut legal = Vec::new();
    // A ruleset in which a hundred random openings in a row end the game is no playable game.
    for _ in 0..100 {
        let mut game = GameState::new(Arc::clone(rules));
        let (mut played, mut kept) = (Vec::new(), 0);
        while game.outcome().is_none() && played.len() < count as usize {
            game.legal_actions(&mut legal);
            let index = stream.random_range(0..legal.len());
            game.play(legal[index]);
            played.push(index as u16);
            if game.outcome().is_none() && leaves_half(&game, 0) {
                kept = played.len();
            }
        }
        if !leaves_half(&game, 0) {
            played.truncate(kept);
            game = GameState::new(Arc::clone(rules));
            for &index in &played {
                game.legal_actions(&mut legal);
                game.play(legal[usize::from(index)]);
            }
        }
        if game.outcome().is_none() {
            return (game, played);
        }
    }
    (GameState::new(Arc::clone(rules)), Vec::new())
}

/// How a game begins, a function of its plan and number.
struct Beginning {
    start: Start,
    game: GameState,
    actions: Vec<u16>,
    noisy_player: Option<Player>,
}

impl Beginning {
    fn draw(plan: &PoolPlan, number: u64) -> Beginning {
        let mut stream = plan.key(number).stream(Purpose::Opening);
        let mut start = Start::draw(&plan.settings, &mut stream);
        let (game, actions) = random_opening(&plan.rules, start.random_actions, &mut stream);
        let noisy_player = match plan.teacher {
            Some(teacher) => teacher.draw_noisy_player(&mut stream),
            None => start.draw_uneven(&plan.settings.starts, &mut stream),
        };
        Beginning { start, game, actions, noisy_player }
    }

    /// Returns whether a record begins so. Of the actions that a policy draws, only those that are left are recorded.
    fn is_that_of(&self, record: &GameRecord) -> bool {
        let left = Start { policy_actions: record.start.policy_actions, ..self.start };
        record.start == left
            && left.policy_actions <= self.start.policy_actions
            && record.noisy_player == self.noisy_player
            && record.actions.starts_with(&self.actions)
    }
}

impl ActiveGame {
    /// Creates one without a game; [`ActiveGame::begin`] or [`ActiveGame::resume`] sets it.
    pub(crate) fn new(plan: &PoolPlan) -> ActiveGame {
        let key = GameKey { run_seed: 0, series: 0, game: 0 };
        ActiveGame {
            evaluation: Evaluation::default(),
            record: GameRecord::default(),
            search: mcts::Search::new(plan.settings.search.clone(), &GameState::new(Arc::clone(&plan.rules))),
            is_waiting: false,
            teacher: None,
            search_stream: key.stream(Purpose::Search),
            choice_stream: key.stream(Purpose::Choice),
            effort_stream: key.stream(Purpose::Effort),
            result: SearchResult::default(),
            legal: Vec::new(),
        }
    }

    /// Begins game `number` of a pool.
    pub(crate) fn begin(&mut self, plan: &PoolPlan, number: u64) {
        let Beginning { start, game, actions, noisy_player } = Beginning::draw(plan, number);
        let record = GameRecord { number, start, actions, noisy_player, ..GameRecord::default() };
        self.set(plan, record, &game);
    }

    /// Goes on with a game of a pool. The search that was under way begins anew.
    /// Panics when the record is not that of a game under the rules of `plan`.
    pub(crate) fn resume(&mut self, plan: &PoolPlan, record: GameRecord) {
        let game = record.game(&plan.rules).expect("the records of a pool have been checked");
        self.set(plan, record, &game);
        if let Some(planned) = self.record.search {
            self.search.start(planned.budget(&plan.settings), &mut self.search_stream);
        }
    }

    fn set(&mut self, plan: &PoolPlan, record: GameRecord, game: &GameState) {
        if *self.search.settings() != plan.settings.search {
            self.search = mcts::Search::new(plan.settings.search.clone(), game);
        }
        self.search.set_root(game);
        game.legal_actions(&mut self.legal);
        self.is_waiting = false;
        let key = plan.key(record.number);
        let stream = |purpose, words: u64| {
            let mut stream = key.stream(purpose);
            stream.set_word_pos(words.into());
            stream
        };
        let [search, choice, effort] = record.stream_words;
        self.search_stream = stream(Purpose::Search, search);
        self.choice_stream = stream(Purpose::Choice, choice);
        self.effort_stream = stream(Purpose::Effort, effort);
        if plan.teacher.is_some() && self.teacher.as_ref().is_none_or(|teacher| !teacher.plays(&plan.rules)) {
            self.teacher = Some(Teacher::new(&plan.rules));
        }
        if let Some(teacher) = &mut self.teacher {
            teacher.set_seed(key.stream(Purpose::Ties).random());
        }
        self.record = record;
    }

    pub(crate) fn suspend(&mut self) -> GameRecord {
        let words = |stream: &ChaCha8Rng| stream.get_word_pos() as u64;
        self.record.stream_words = [&self.search_stream, &self.choice_stream, &self.effort_stream].map(words);
        self.record.game_key = self.search.game().full_key();
        std::mem::take(&mut self.record)
    }

    /// Finishes a game that ended elsewhere, as it was finished there.
    /// Error: in words, when the record is not that of a whole game of the plan which begins as its number says.
    pub(crate) fn verify(&mut self, plan: &PoolPlan, record: GameRecord) -> Result<PlayedGame, String> {
        let (game, outcome) = record.check_ended(&plan.rules)?;
        let beginning = Beginning::draw(plan, record.number);
        if !beginning.is_that_of(&record) {
            return Err(format!("game {}: it does not begin as its number says", record.number));
        }
        self.set(plan, record, &game);
        Ok(self.finish(plan, outcome))
    }

    pub(crate) fn samples_count(&self) -> u64 {
        self.record.samples_count()
    }

    /// Returns how the game ended, if it has.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.search.game().outcome()
    }

    /// Returns the position that waits for its evaluation.
    /// Panics when none does: the game is over, or [`ActiveGame::advance`] was not called.
    pub(crate) fn leaf(&self) -> Leaf<'_, GameState> {
        self.search.leaf()
    }

    /// Plays on until a position must be evaluated or the game is over.
    pub(crate) fn advance(&mut self, plan: &PoolPlan) {
        while !self.is_waiting && self.outcome().is_none() {
            if let Some(planned) = self.record.search {
                match self.search.select() {
                    Step::Evaluate => self.is_waiting = true,
                    Step::Done => self.finish_search(planned.purpose, &plan.settings),
                }
                continue;
            }
            self.search.game().legal_actions(&mut self.legal);
            if !leaves_half(self.search.game(), 1) {
                self.record.start.policy_actions = 0;
            }
            if self.legal.len() == 1 {
                self.play(0);
            } else if plan.teacher.is_some() {
                self.follow_teacher(plan);
            } else if self.record.start.policy_actions > 0
                && self.record.noisy_player == Some(self.search.game().player_to_act())
            {
                self.record.start.policy_actions -= 1;
                let random = self.choice_stream.random_range(0..self.legal.len());
                self.play(random);
            } else {
                let planned = self.plan_search(&plan.settings);
                self.search.start(planned.budget(&plan.settings), &mut self.search_stream);
                self.record.search = Some(planned);
            }
        }
    }

    /// Plays a decision of alpha-beta; `legal` holds the actions.
    fn follow_teacher(&mut self, plan: &PoolPlan) {
        let (Some(teacher), Some(settings)) = (&mut self.teacher, &plan.teacher) else { return };
        let game = self.search.game();
        let demonstration = teacher.demonstrate(settings, game, &self.legal);
        let random_probability = settings.random_probability_of(game.player_to_act(), self.record.noisy_player);
        let is_random = self.choice_stream.random_bool(random_probability);
        let random = self.choice_stream.random_range(0..self.legal.len());
        self.record(demonstration.policy, demonstration.win_draw_loss, true);
        self.play(if is_random { random } else { demonstration.index });
    }

    fn plan_search(&mut self, settings: &SelfPlaySettings) -> PlannedSearch {
        let record = &mut self.record;
        if record.start.policy_actions > 0 {
            record.start.policy_actions -= 1;
            let budget = mcts::SearchBudget { simulations: 0, add_noise: false };
            return PlannedSearch { budget, purpose: SearchPurpose::Opening };
        }
        let cap = &settings.playout_cap;
        let game = self.search.game();
        let probability = if leaves_half(game, 0) { 1.0 } else { cap.quiet_full_probability };
        let is_full = probability >= 1.0 || self.effort_stream.random_bool(probability);
        PlannedSearch { budget: settings.effort(is_full), purpose: SearchPurpose::Decision { is_full } }
    }

    pub(crate) fn receive(&mut self) {
        self.search.receive(&self.evaluation);
        self.is_waiting = false;
    }

    fn finish_search(&mut self, purpose: SearchPurpose, settings: &SelfPlaySettings) {
        self.record.search = None;
        self.search.write_result(&mut self.result);
        let result = &self.result;
        debug_assert_eq!(result.actions, self.legal, "the root's actions are the legal ones");
        let SearchPurpose::Decision { is_full } = purpose else {
            let choice = result.sample_by_policy(1.0, &mut self.choice_stream);
            self.play(choice);
            return;
        };
        let searched_count = self.record.decisions.len() as u32;
        let choice = if searched_count < settings.temperature_actions && settings.temperature > 0.0 {
            result.sample_by_policy(settings.temperature, &mut self.choice_stream)
        } else {
            result.best
        };
        self.record(self.result.policy.clone(), self.result.policy_win_draw_loss, is_full);
        self.play(choice);
    }

    /// Keeps the current position with its targets.
    fn record(&mut self, policy: Vec<f32>, win_draw_loss: [f32; 3], is_kept: bool) {
        let ply = self.record.actions.len();
        self.record.decisions.push(Decision { ply, policy, win_draw_loss, is_kept });
    }

    /// Plays the legal action at `index`; `legal` holds the actions.
    fn play(&mut self, index: usize) {
        self.search.advance(self.legal[index]);
        self.record.actions.push(index as u16);
    }

    pub(crate) fn finish(&mut self, plan: &PoolPlan, outcome: Outcome) -> PlayedGame {
        let record = &self.record;
        let result_weight = plan.teacher.map_or(1.0, |teacher| teacher.result_weight_with(record.noisy_player));
        // An uneven beginning is over when the first sample is made.
        let is_noisy = plan.teacher.is_some() && record.noisy_player.is_some();
        PlayedGame {
            index: record.number,
            outcome,
            action_count: record.actions.len() as u32,
            turn_count: u32::from(self.search.game().position().turns()),
            is_even: record.noisy_player.is_none(),
            samples: record.samples(&plan.rules, outcome, result_weight, is_noisy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latrunculi_engine::presets;
    use rand::SeedableRng;

    #[test]
    fn an_opening_leaves_half_of_the_turns_without_a_capture() {
        for name in presets::NAMES {
            let rules = presets::rules(name);
            let quiet_limit = rules.ruleset().end.quiet_limit;
            let mut longest = 0;
            for seed in 0..20 {
                let mut stream = ChaCha8Rng::seed_from_u64(seed);
                let (game, played) = random_opening(&rules, 60, &mut stream);
                assert!(game.outcome().is_none(), "{name}");
                assert!(quiet_limit == 0 || 2 * game.position().quiet_turns() <= quiet_limit, "{name}");
                longest = longest.max(played.len());
                let mut again = GameState::new(Arc::clone(&rules));
                let mut legal = Vec::new();
                for index in played {
                    again.legal_actions(&mut legal);
                    again.play(legal[usize::from(index)]);
                }
                assert_eq!(again.position(), game.position(), "{name}");
            }
            assert!(longest >= 15, "{name}: {longest}");
        }
    }

    #[test]
    fn starts_are_drawn_as_set() {
        let starts = StartSettings { uneven_probability: 0.5, uneven_actions_max: 9 };
        let settings = SelfPlaySettings { opening_probability: 0.0, starts, ..SelfPlaySettings::default() };
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<Start> = (0..4000).map(|_| Start::draw(&settings, &mut stream)).collect();
        assert!(drawn.iter().all(|start| *start == Start::default()));

        let mut weak = [0; 2];
        for mut start in drawn {
            match start.draw_uneven(&starts, &mut stream) {
                Some(player) => {
                    weak[player.index()] += 1;
                    assert!((1..=9).contains(&start.policy_actions));
                }
                None => assert_eq!(start.policy_actions, 0),
            }
        }
        assert!(weak.iter().all(|&games| (900..1100).contains(&games)), "{weak:?}");
    }
}

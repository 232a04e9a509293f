//! What the engine knows between two commands: rules, game, agent.

use std::sync::Arc;

use anyhow::{Context, ensure};
use latrunculi_data::policy_index::action_indices;
use latrunculi_data::{EncodedPosition, Encoder, EncodingNames};
use latrunculi_engine::{GameState, Player, Rules};
use latrunculi_eval::agents::mix_seeds;
use latrunculi_eval::{Agent, AgentKind, AgentSpec};
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::rulesets;
use serde_json::{Value, json};

use crate::explain::why_not;
use crate::game::Game;

/// Rules, a game under them, and who thinks.
pub(super) struct Session {
    pub(super) game: Game,
    pub(super) spec: AgentSpec,
    pub(super) seed: u64,
    networks: NetworkOpener,
    /// The agent, made for the present rules.
    pub(super) agent: Box<dyn Agent>,
}

impl Session {
    pub(super) fn new(ruleset: &str, spec: AgentSpec, seed: u64, networks: NetworkOpener) -> anyhow::Result<Session> {
        let rules = rulesets::load(ruleset)?;
        let agent = made(&spec, &rules, &networks)?;
        let mut session = Session { game: begun(GameState::new(rules), &spec, seed), spec, seed, networks, agent };
        session.forget();
        Ok(session)
    }

    pub(super) fn state(&self) -> &GameState {
        self.game.state()
    }

    fn rules(&self) -> &Arc<Rules> {
        self.game.rules()
    }

    /// Lets another agent think. Nothing changes if it cannot.
    pub(super) fn set_agent(&mut self, text: &str) -> anyhow::Result<()> {
        let spec: AgentSpec = text.parse()?;
        ensure!(spec.kind != AgentKind::Human, "human plays only in `latrunculi play`");
        self.agent = made(&spec, self.rules(), &self.networks)?;
        self.spec = spec;
        self.forget();
        let name = self.spec.to_string();
        self.game.set_agents([name.clone(), name]);
        Ok(())
    }

    /// Lets everything random follow from another seed, from now on.
    pub(super) fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
        self.game.set_seed(seed);
        self.forget();
    }

    /// Takes other rules, and begins a game under them. Nothing changes if that cannot be done.
    pub(super) fn set_ruleset(&mut self, ruleset: &str) -> anyhow::Result<()> {
        let rules = rulesets::load(ruleset)?;
        self.agent = made(&self.spec, &rules, &self.networks)?;
        self.begin(GameState::new(rules));
        Ok(())
    }

    pub(super) fn begin_anew(&mut self) {
        self.begin(GameState::new(Arc::clone(self.rules())));
    }

    fn begin(&mut self, state: GameState) {
        self.game = begun(state, &self.spec, self.seed);
        self.forget();
    }

    fn forget(&mut self) {
        self.agent.new_game(mix_seeds(&[self.seed, self.spec.seed.unwrap_or(0)]));
    }

    /// Begins a game at `initial` or at the line of a position, and plays actions in it. Nothing changes if
    /// that cannot be done.
    pub(super) fn set_position(&mut self, text: &str, actions: &[&str]) -> anyhow::Result<()> {
        let rules = Arc::clone(self.rules());
        let state = GameState::parse(&rules, text, Player::First)?;
        let mut game = begun(state, &self.spec, self.seed);
        play_all(&mut game, actions)?;
        self.game = game;
        self.forget();
        Ok(())
    }

    pub(super) fn play(&mut self, actions: &[&str]) -> anyhow::Result<()> {
        let played = self.game.record().actions.len();
        play_all(&mut self.game, actions).inspect_err(|_| self.game.take_back_to(played))
    }

    /// Returns everything about the present position that a program may ask for.
    pub(super) fn state_json(&self) -> Value {
        let mut about = self.state().to_json();
        about["actions_played"] = json!(self.game.record().actions.len());
        about["last_action"] = json!(self.game.last_action());
        about
    }

    /// Returns the present position as a network sees it.
    pub(super) fn encoding_json(&self) -> Value {
        let (state, rules) = (self.state(), self.rules());
        let encoder = Encoder::new(Arc::clone(rules));
        let shape = encoder.shape();
        let encoded = EncodedPosition::new(rules, state.position(), state.repetitions());
        let (mut values, mut scalars) = (Vec::new(), Vec::new());
        encoder.extend_planes(&encoded, &mut values);
        encoder.extend_scalars(&encoded, &mut scalars);
        let names = EncodingNames::default();
        let planes: Vec<Vec<Vec<u8>>> = values
            .chunks_exact(shape.area())
            .map(|plane| {
                let row = |row: &[f32]| row.iter().map(|&value| u8::from(value > 0.5)).collect();
                plane.chunks_exact(shape.files).map(row).collect()
            })
            .collect();
        let actions: Vec<Value> = self
            .game
            .legal_actions()
            .into_iter()
            .map(|action| {
                let indices = action_indices(rules, state.position(), action);
                json!({ "action": state.action_text(action), "indices": indices })
            })
            .collect();
        json!({
            "shape": {
                "files": shape.files, "ranks": shape.ranks, "planes": shape.planes, "scalars": shape.scalars,
                "policy": shape.policy_len(),
            },
            "plane_names": names.planes,
            "planes": planes,
            "scalar_names": names.scalars,
            "scalars": scalars,
            "actions": actions,
        })
    }
}

fn made(spec: &AgentSpec, rules: &Arc<Rules>, networks: &NetworkOpener) -> anyhow::Result<Box<dyn Agent>> {
    spec.make(rules, &mut networks.factory(rules)).with_context(|| format!("agent {spec}"))
}

/// Begins a game in which one agent thinks for both sides.
fn begun(state: GameState, spec: &AgentSpec, seed: u64) -> Game {
    let name = spec.to_string();
    Game::new(state, [name.clone(), name], seed)
}

fn play_all(game: &mut Game, actions: &[&str]) -> anyhow::Result<()> {
    for (index, text) in actions.iter().enumerate() {
        let place = || if actions.len() > 1 { format!("action {}: ", index + 1) } else { String::new() };
        let state = game.state();
        let action = state.parse_action(text).map_err(|_| anyhow::anyhow!("{}{}", place(), why_not(state, text)))?;
        game.play(action);
    }
    Ok(())
}

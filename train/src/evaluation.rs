//! Evaluation matches: how strong the network of a run is.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use latrunculi_data::{MatchScore, Precision};
use latrunculi_engine::{Action, GameState, Rules};
use latrunculi_eval::agents::{NetworkPlay, OpenedNetwork};
use latrunculi_eval::learning::RunMatch;
use latrunculi_eval::matches::{MatchConfig, MatchProgress, play_match};
use latrunculi_eval::{AgentKind, AgentSpec, AgentTextError, Players};
use latrunculi_search::mcts::Settings;
use latrunculi_search::{EvalError, Evaluation, Evaluator};
use latrunculi_stats::Interval;

use crate::config::TrainConfig;
use crate::error::{Context, Error, bail};
use crate::models::{NetworkOpener, with_room};
use crate::networks::PlayEvaluator;

/// The name of the run's own network. No agent's text can contain it: a model's name there is never empty.
const OWN_NETWORK: &str = "";

fn network(model: String, simulations: u32) -> AgentSpec {
    AgentSpec {
        kind: AgentKind::Network { model, simulations: Some(simulations), search: None },
        seed: None,
        time: None,
        memory_mib: None,
    }
}

/// Plays matches of a run's network against one opponent.
pub struct EvaluationMatch {
    rules: Arc<Rules>,
    /// All but the number of pairs and the seed. The run's network is the first agent.
    config: MatchConfig,
    simulations: u32,
    /// The search of the run, with which its network plays.
    search: Settings,
    networks: NetworkOpener,
}

impl EvaluationMatch {
    /// Sets up the matches of a configuration against the agent `opponent`, which `networks` opens where it is a network.
    /// Fails when the opponent is a network that cannot be opened.
    pub fn new(
        rules: Arc<Rules>,
        config: &TrainConfig,
        opponent: &str,
        networks: NetworkOpener,
    ) -> Result<EvaluationMatch, Error> {
        let opponent = opponent.parse().map_err(|error: AgentTextError| Error::Refused(error.to_string()))?;
        EvaluationMatch::against(rules, config, opponent, networks)
    }

    /// Sets up the matches of a configuration against the network in a file, which computes in `precision` and searches as
    /// often as the run's own.
    pub fn against_network(
        rules: Arc<Rules>,
        config: &TrainConfig,
        (path, precision): (&Path, Precision),
        networks: NetworkOpener,
    ) -> Result<EvaluationMatch, Error> {
        let model = format!("{}@{precision}", path.display());
        EvaluationMatch::against(rules, config, network(model, config.evaluation.simulations), networks)
    }

    fn against(
        rules: Arc<Rules>,
        config: &TrainConfig,
        opponent: AgentSpec,
        networks: NetworkOpener,
    ) -> Result<EvaluationMatch, Error> {
        let evaluation = &config.evaluation;
        let simulations = evaluation.simulations;
        let own = network(OWN_NETWORK.to_owned(), simulations);
        if let Some(model) = opponent.model()
            && let Err(fault) = networks.factory(&rules)(model)
        {
            bail!("network {model:?}: {fault}");
        }
        let match_config = MatchConfig {
            opening_length: Some(evaluation.opening_actions as usize),
            players: Players { games_at_once: config.games.actors * config.games.in_flight, ..Players::default() },
            ..MatchConfig::new([own, opponent], 0)
        };
        let search = with_room(config.selfplay.search.clone());
        Ok(EvaluationMatch { rules, config: match_config, simulations, search, networks })
    }

    /// Plays on the calling thread alone, where others have work of their own.
    #[must_use]
    pub fn on_one_thread(mut self) -> EvaluationMatch {
        self.config.players.threads = 1;
        self
    }

    /// Returns the text of the opponent.
    #[must_use]
    pub fn opponent(&self) -> String {
        self.config.agents[1].to_string()
    }

    /// Plays `pairs` openings, each twice with seats swapped. `watch` receives the number of games that have ended, or
    /// `None` where none has since the last call, and returns whether to go on.
    /// Fails with [`Error::Stopped`] when `watch` returns false, otherwise what failed.
    pub fn play(
        &self,
        evaluator: PlayEvaluator,
        pairs: u64,
        seed: u64,
        watch: &(dyn Fn(Option<u64>) -> bool + Sync),
    ) -> Result<RunMatch, Error> {
        let config = MatchConfig { pairs: pairs as usize, seed, ..self.config.clone() };
        let mut own = Some(evaluator);
        let mut networks = |rules: &Arc<Rules>, model: &str| -> Result<(String, OpenedNetwork<'_>), String> {
            if model == OWN_NETWORK {
                let evaluator = own.take().ok_or("it is opened once")?;
                // Nothing is repeated from such a match: what computes the network makes no difference.
                let play = NetworkPlay { search: self.search.clone(), kernel: String::new() };
                let evaluator = Box::new(Watched { evaluator, watch });
                return Ok((String::new(), OpenedNetwork { evaluator, play }));
            }
            self.networks.open_for_games(rules, model)
        };
        let played = play_match(&self.rules, &config, &mut networks, &mut |at: &MatchProgress<'_>| {
            if watch(Some(at.games as u64)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let is_stopped = match &played {
            Ok(report) => report.is_interrupted,
            Err(latrunculi_eval::Error::Agent(_)) => !watch(None),
            Err(_) => false,
        };
        if is_stopped {
            return Err(Error::Stopped);
        }
        let report = played.with_context(|| format!("the match against {}", self.opponent()))?;
        // A single pair has no interval.
        let interval = report.interval.unwrap_or(Interval { lower: 0.0, upper: 1.0 });
        let result = MatchScore {
            wins: report.total.wins,
            draws: report.total.draws,
            losses: report.total.losses,
            score: report.score.context("no game of the match counts")?,
            lower: interval.lower,
            upper: interval.upper,
        };
        let (opponent, simulations) = (self.opponent(), self.simulations);
        Ok(RunMatch { opponent, simulations, result, margin: report.margin, earlier: None })
    }
}

/// The run's network; asks before every batch whether to go on, because the first games may take long.
struct Watched<'a> {
    evaluator: Box<dyn Evaluator<GameState> + Send + 'a>,
    watch: &'a (dyn Fn(Option<u64>) -> bool + Sync),
}

impl Evaluator<GameState> for Watched<'_> {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        if !(self.watch)(None) {
            return Err(EvalError("stopped".to_owned()));
        }
        self.evaluator.evaluate(games, legal_actions, evaluations)
    }

    fn for_another_thread(&self) -> Option<Box<dyn Evaluator<GameState> + Send + '_>> {
        let evaluator = self.evaluator.for_another_thread()?;
        Some(Box::new(Watched { evaluator, watch: self.watch }))
    }
}

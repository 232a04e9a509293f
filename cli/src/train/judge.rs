//! How strong the network is, measured.

use std::fmt;
use std::sync::Arc;

use latrunculi_engine::{Player, Rules};
use latrunculi_eval::statistics::{Confidence, GameResult, PairTable};
use latrunculi_search::mcts::Settings;
use latrunculi_selfplay::games::{LaneEvaluator, Watch};
use latrunculi_selfplay::{Baseline, MatchPlan, Progress, play_match};
use serde::{Deserialize, Serialize};

use crate::train_config::TrainConfig;

/// Measures the strength of the network behind some evaluators.
pub(crate) trait Judge {
    /// Returns the name of the opponent.
    fn opponent(&self) -> String;

    /// Plays `pairs` openings, each twice with seats swapped.
    fn judge(
        &self,
        evaluators: &mut [LaneEvaluator<'_>],
        pairs: u64,
        seed: u64,
        watch: Watch<'_>,
    ) -> anyhow::Result<Verdict>;
}

/// What a match found, from the network's view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verdict {
    /// The opponent.
    pub(crate) opponent: String,
    /// The network's simulations per decision.
    pub(crate) simulations: u32,
    /// Games that the network won.
    pub(crate) wins: u64,
    /// Drawn games.
    pub(crate) draws: u64,
    /// Games that it lost.
    pub(crate) losses: u64,
    /// Mean score, a draw counting one half.
    pub(crate) score: f64,
    /// Lower end of the 95 % interval, over pairs.
    pub(crate) lower: f64,
    /// Its upper end.
    pub(crate) upper: f64,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { opponent, simulations, wins, draws, losses, score, lower, upper } = self;
        write!(
            f,
            "{opponent} with {simulations} simulations: {:.1} % (95 % interval {:.1} to {:.1}; +{wins} ={draws} -{losses})",
            score * 100.0,
            lower * 100.0,
            upper * 100.0
        )
    }
}

/// Plays against a fixed opponent, many games at once.
pub(crate) struct BaselineJudge {
    plan: MatchPlan,
}

impl BaselineJudge {
    /// Creates the judge that a configuration asks for.
    pub(crate) fn new(rules: Arc<Rules>, config: &TrainConfig) -> BaselineJudge {
        let evaluation = &config.evaluation;
        // Checked with the configuration.
        let baseline = evaluation.baseline.parse().unwrap_or(Baseline::Random);
        let plan = MatchPlan {
            rules,
            search: Settings { ..config.selfplay.search.clone() },
            simulations: evaluation.simulations,
            baseline,
            pairs: 0,
            opening_actions: evaluation.opening_actions,
            seed: 0,
            in_flight: config.games.in_flight,
        };
        BaselineJudge { plan }
    }
}

impl Judge for BaselineJudge {
    fn opponent(&self) -> String {
        self.plan.baseline.to_string()
    }

    fn judge(
        &self,
        evaluators: &mut [LaneEvaluator<'_>],
        pairs: u64,
        seed: u64,
        watch: Watch<'_>,
    ) -> anyhow::Result<Verdict> {
        let plan = MatchPlan { pairs, seed, ..self.plan.clone() };
        let results = play_match(&plan, evaluators, &Progress::default(), watch)?;
        let mut table = PairTable::default();
        for pair in &results {
            let first = |winner| GameResult::for_player(winner, Player::First);
            table.record(first(pair.as_first.winner), first(pair.as_second.winner));
        }
        let games = table.agent_games();
        let score = table.agent().score()?;
        // Without any spread between pairs the games alone must say how sure the score is.
        let interval = score
            .interval(Confidence::NINETY_FIVE)
            .unwrap_or_else(|_| games.credible_interval(Confidence::NINETY_FIVE));
        Ok(Verdict {
            opponent: self.opponent(),
            simulations: plan.simulations,
            wins: games.wins,
            draws: games.draws,
            losses: games.losses,
            score: score.mean(),
            lower: interval.lower.clamp(0.0, score.mean()),
            upper: interval.upper.clamp(score.mean(), 1.0),
        })
    }
}

//! What is played in a round: the games of its generation, and the matches of the network that plays them.

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

use latrunculi_data::{ModelInfo, Precision, ShardInfo};
use latrunculi_engine::Rules;
use latrunculi_eval::learning::{EarlierMatch, RunMatch};
use latrunculi_selfplay::{Journal, PlayedGame, Pool, Quota};
use latrunculi_train::error::{Context, bail};
use latrunculi_train::evaluation::EvaluationMatch;
use latrunculi_train::fair_gate::FairGate;
use latrunculi_train::generation::{self, GameList, GenerationGames, ListedGames, Playing};
use latrunculi_train::networks::{PlayEvaluator, PlayNetwork};
use latrunculi_train::observer::Observer;
use latrunculi_train::run_rulesets::{RunRuleset, TaughtRuleset, teacher_games};
use latrunculi_train::workers::{GenerationHead, Leader};
use latrunculi_train::{Error, TrainConfig};

use crate::error::OfLibtorch;
use crate::play_network::LibtorchNetwork;
use crate::run::{TrainingRun, match_name, match_seed, opponent_networks};
use crate::run_pools::PoolTasks;

/// Half of the most games that alpha-beta plays in a unit of work: each takes a second or some.
const TEACHER_UNIT: usize = 8;

/// A bootstrap generation of one ruleset, with its journal.
pub(crate) struct Listed {
    list: GameList,
    pub(crate) journal: Journal,
    found: Vec<PlayedGame>,
}

/// What is played in a round.
pub(crate) enum Games {
    /// By alpha-beta, to the end.
    Lists(Vec<Listed>),
    /// By the network, from the games in flight on.
    Pools(PoolTasks),
    /// By workers, each game from its beginning to its end.
    Workers(WorkersGames),
}

/// A generation that workers play.
pub(crate) struct WorkersGames {
    /// The games of each ruleset, and how many of them a unit has.
    games: Vec<(Arc<Rules>, u64, u64)>,
    /// What the pools of a network would have had to play; `None` where alpha-beta plays.
    pub(crate) planned: Option<PoolTasks>,
    /// How many games, or samples where these are counted, are asked for.
    parts: (u64, &'static str),
}

impl TrainingRun<'_> {
    /// Returns what is to be played in a generation.
    pub(crate) fn games_of(&mut self, generation: u64) -> Result<Games, Error> {
        Ok(match generation::is_bootstrap(&self.config, generation) {
            _ if self.workers.is_some() => Games::Workers(self.workers_games(generation)?),
            true => Games::Lists(self.lists(generation)?),
            false => Games::Pools(self.pool_tasks()?),
        })
    }

    /// Returns how many games alpha-beta plays in each ruleset in the next generation.
    pub(crate) fn teacher_games(&self) -> Vec<u64> {
        let taught = self.state.rulesets.iter().map(|known| TaughtRuleset {
            share: known.share,
            games: known.teacher_games,
            samples: known.samples,
        });
        teacher_games(self.config.teacher.games, self.state.generations, &taught.collect::<Vec<_>>())
    }

    /// Opens the journals of a bootstrap generation.
    fn lists(&self, generation: u64) -> Result<Vec<Listed>, Error> {
        let listed = |(trained, games): (&RunRuleset, u64)| {
            let list = GameList { games, pools: games, ..generation::list(&self.config, &trained.rules, generation) };
            let players = generation::players(&list.plan, list.games, None, Precision::F32);
            let info = ShardInfo::new(&trained.rules, self.config.seed, generation, players);
            let path = self.folder.journal_path(generation, trained.id());
            let (journal, found) = Journal::open(&path, &trained.rules, &info)?;
            Ok(Listed { list, journal, found })
        };
        self.rulesets.iter().zip(self.teacher_games()).map(listed).collect()
    }

    /// Returns what workers have to play in a generation.
    fn workers_games(&mut self, generation: u64) -> Result<WorkersGames, Error> {
        let Some(leader) = self.workers.clone() else { bail!("there are no workers") };
        if generation::is_bootstrap(&self.config, generation) {
            let units = leader.units_for(generation, self.rulesets.len())?;
            let games = self.rulesets.iter().zip(self.teacher_games()).map(|(trained, count)| {
                (Arc::clone(&trained.rules), count, Leader::per_unit(count, TEACHER_UNIT, units))
            });
            let games: Vec<_> = games.collect();
            let parts = (games.iter().map(|(_, count, _)| count).sum(), "games");
            return Ok(WorkersGames { games, planned: None, parts });
        }
        let planned = self.pool_tasks()?;
        let mut games: Vec<(Arc<Rules>, u64, u64)> = Vec::new();
        let quotas = planned.quotas_by_rules();
        let owing = quotas.iter().filter(|(_, quota)| !matches!(quota, Quota::Samples(0) | Quota::Games(0))).count();
        let units = leader.units_for(generation, owing)?;
        for (rules, quota) in quotas {
            let count = match quota {
                Quota::Samples(0) => 0,
                Quota::Samples(samples) => leader.games_for(generation, &rules, samples)?,
                Quota::Games(games) => games,
                Quota::PlayOut { .. } | Quota::Given => 0,
            };
            let per_unit = Leader::per_unit(count, self.config.games.in_flight, units);
            games.push((rules, count, per_unit));
        }
        let parts = planned.parts();
        Ok(WorkersGames { games, planned: Some(planned), parts })
    }
}

/// What the games and the matches of a round depend on, besides the network that plays them.
pub(crate) struct RoundParts<'a> {
    pub(crate) config: &'a TrainConfig,
    pub(crate) rulesets: &'a [RunRuleset],
    pub(crate) generation: u64,
    pub(crate) device: latrunculi_model::Device,
    pub(crate) workers: Option<&'a Leader>,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) secs_left: Option<f64>,
    /// Tells whether the round is still wanted.
    pub(crate) goes_on: &'a (dyn Fn() -> bool + Sync),
}

impl RoundParts<'_> {
    /// Plays the games of the generation. Returns the pools as they are then, where there are any, and what has ended.
    pub(crate) fn play(
        &self,
        games: &mut Games,
        network: &LibtorchNetwork,
        precision: Precision,
        gate: &FairGate,
    ) -> Result<(Vec<Pool>, GenerationGames), Error> {
        let (config, generation) = (self.config, self.generation);
        let (name, count, unit, evaluators) = match games {
            Games::Lists(lists) => {
                let count = lists.iter().map(|listed| listed.list.games).sum();
                ("teacher's games", count, "games", generation::idle_evaluators(config.games.actors))
            }
            Games::Pools(pools) => {
                let evaluators = network.evaluators(config.games.actors, precision)?;
                let (count, unit) = pools.parts();
                ("self-play", count, unit, evaluators)
            }
            Games::Workers(asked) => {
                let (count, unit) = asked.parts;
                ("games by workers", count, unit, Vec::new())
            }
        };
        let work = self.observer.begin(&format!("generation {generation}: {name}"), count, unit, self.secs_left);
        let watch = |done| {
            work.set(done);
            (self.goes_on)()
        };
        let playing = Playing { evaluators, parallel_trees: config.games.parallel_trees, gate, watch: &watch };
        match games {
            Games::Lists(lists) => {
                let listed = lists.iter_mut().map(|Listed { list, journal, found }| ListedGames {
                    list: list.clone(),
                    journal: Some(&*journal),
                    found: mem::take(found),
                });
                Ok((Vec::new(), generation::play_lists(listed.collect(), playing)?))
            }
            Games::Pools(pools) => Ok(generation::play_generation(mem::take(&mut pools.tasks), playing)?),
            Games::Workers(asked) => {
                let Some(leader) = self.workers else { bail!("there are no workers") };
                let fingerprint = match asked.planned {
                    Some(_) => network.network.fingerprint().of_libtorch()?,
                    None => String::new(),
                };
                let head = GenerationHead::new(leader, generation, config, &fingerprint, &asked.games)?;
                let rules: Vec<Arc<Rules>> = asked.games.iter().map(|(rules, ..)| Arc::clone(rules)).collect();
                let model = || network.file(ModelInfo::default());
                let counts_samples = asked.planned.is_some() && config.games.samples_per_generation > 0;
                Ok((Vec::new(), leader.play(head, &rules, &model, (counts_samples, &watch))?))
            }
        }
    }

    /// Plays the matches of the network in the ruleset of that index, each on one thread: with the opponent of the
    /// configuration, and with the network of the match before, if there is one; `earlier` is the number of generations
    /// before that match, and the file of its network.
    pub(crate) fn measure(
        &self,
        index: usize,
        earlier: Option<&(u64, PathBuf)>,
        precision: Precision,
        [evaluator, again]: [PlayEvaluator; 2],
    ) -> Result<RunMatch, Error> {
        let (config, rules) = (self.config, &self.rulesets[index].rules);
        let play = |evaluation: EvaluationMatch, evaluator, pairs| {
            let work = self.observer.begin(&match_name(rules), 2 * pairs, "games", self.secs_left);
            let watch = |games: Option<u64>| {
                games.into_iter().for_each(|games| work.set(games));
                (self.goes_on)()
            };
            evaluation.on_one_thread().play(evaluator, pairs, match_seed(config.seed, self.generation), &watch)
        };
        let evaluation = &config.evaluation;
        let networks = || opponent_networks(config, self.device);
        let with_baseline = EvaluationMatch::new(Arc::clone(rules), config, &evaluation.baseline, networks())?;
        let mut verdict = play(with_baseline, evaluator, evaluation.opening_pairs)?;
        if let (pairs @ 1.., Some((generation, path))) = (evaluation.earlier_opening_pairs, earlier) {
            let opponent = (path.as_path(), precision);
            let with_earlier = EvaluationMatch::against_network(Arc::clone(rules), config, opponent, networks())
                .context("evaluation.earlier_opening_pairs = 0 goes on without this match")?;
            let result = play(with_earlier, again, pairs)?.result;
            verdict.earlier = Some(EarlierMatch { generation: *generation, result });
        }
        Ok(verdict)
    }
}

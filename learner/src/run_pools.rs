//! The pools of a run: which games are in flight, and how many samples each of them owes to a generation.
//! A generation of `samples_per_generation` samples is divided by share: [`MixSettings::fraction`] of it equally among the
//! mixes that are played, the rest among the trained rulesets. Samples count when they are made, whether their games have ended or
//! not: so what a pool has to do is known before. It exceeds its quota by a few samples; the next generation plays so many less.
//! Workers play a number of games that was estimated to
//! have so many samples; where they have fewer, the next generation plays so many more. Mixes come and go: after its samples a mix plays
//! its last games to the end, and then another takes its place, which owes so many samples less.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use latrunculi_engine::Rules;
use latrunculi_selfplay::{GameKey, Pool, PoolPlan, PoolTask, Purpose, Quota};

use crate::run::TrainingRun;
use crate::state::MixState;
use latrunculi_train::Error;
use latrunculi_train::config::TrainConfig;
use latrunculi_train::generation::{self, GenerationGames};
use latrunculi_train::mixes;
use latrunculi_train::run_rulesets::RunRuleset;

#[cfg(doc)]
use latrunculi_train::mixes::MixSettings;

pub(crate) struct PoolTasks {
    /// Pools that play, with their quotas.
    pub(crate) tasks: Vec<PoolTask<'static>>,
    /// Pools that owe nothing to this generation.
    idle: Vec<Pool>,
    /// Names of the pools that are played to their end.
    ending: Vec<String>,
    /// The rules of the pools, each once.
    rules: Vec<Arc<Rules>>,
    /// Samples that each ruleset, then each mix, owes; games where these are counted.
    quotas: Vec<u64>,
    /// Samples that games in flight of each ruleset, then of each mix, have at the beginning.
    in_flight: Vec<u64>,
}

/// Returns how many samples the games in flight of pools under `rules` have.
fn in_flight<'a>(pools: impl IntoIterator<Item = &'a Pool>, rules: &Arc<Rules>) -> u64 {
    let own = pools.into_iter().filter(|pool| Arc::ptr_eq(&pool.plan().rules, rules));
    own.map(|pool| pool.state().samples_in_flight()).sum()
}

impl PoolTasks {
    /// Returns how much is to be played, and whether it is counted in games or in samples.
    pub(crate) fn parts(&self) -> (u64, &'static str) {
        let part = |task: &PoolTask<'_>| match task.quota {
            Quota::Samples(parts) | Quota::Games(parts) => parts,
            Quota::PlayOut { .. } | Quota::Stream => 0,
        };
        let counts_samples = self.tasks.iter().any(|task| matches!(task.quota, Quota::Samples(_)));
        (self.tasks.iter().map(part).sum(), if counts_samples { "samples" } else { "games" })
    }

    /// Returns what each ruleset owes, then each mix, in games or in samples, also where that is nothing.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (&Arc<Rules>, u64)> {
        self.rules.iter().zip(self.quotas.iter().copied())
    }
}

fn mix_pool(number: u64) -> String {
    // No ruleset is called so.
    format!("mix:{number}")
}

/// Returns the plans of all pools: those of each ruleset, then one for each mix, given with its number.
pub(crate) fn plans<'a>(
    config: &TrainConfig,
    rulesets: &[RunRuleset],
    mixes: impl IntoIterator<Item = (u64, &'a Arc<Rules>)>,
) -> Vec<PoolPlan> {
    let mut plans = Vec::new();
    for trained in rulesets {
        let pools = pools_of(config, trained);
        for number in 0..pools {
            plans.push(generation::pool_plan(config, &trained.rules, format!("{}-{number}", trained.id()), pools));
        }
    }
    plans.extend(mixes.into_iter().map(|(number, rules)| generation::pool_plan(config, rules, mix_pool(number), 1)));
    plans
}

/// Returns how many pools a ruleset has: its share of all, none with fewer games of a generation than one.
pub(crate) fn pools_of(config: &TrainConfig, trained: &RunRuleset) -> usize {
    let games = &config.games;
    let share = (games.pools as f64 * trained.share * (1.0 - config.mixes.fraction)).ceil() as usize;
    let most = if games.per_generation > 0 { games.per_generation as usize } else { usize::MAX };
    share.clamp(1, most)
}

/// Returns the whole samples of a generation of self-play, of which `played` were before it: those of all generations together
/// differ from `samples` times their number by half a sample at most.
fn due(samples: f64, played: u64) -> u64 {
    let until = |generations: u64| (generations as f64 * samples).round() as u64;
    until(played + 1) - until(played)
}

/// Returns the samples that are owed where `due` are the share of a generation, and what is then left of `ahead`, the samples
/// that were played too many, or too few where it is negative. Of too few no more than `due` are made up.
fn owed(due: u64, ahead: i64) -> (u64, i64) {
    let due = due as i64;
    let owed = due - ahead.max(-due);
    (owed.max(0) as u64, (-owed).max(0))
}

impl TrainingRun<'_> {
    /// Returns what the pools have to play in the next generation; draws the mixes that are missing.
    pub(crate) fn pool_tasks(&mut self) -> Result<PoolTasks, Error> {
        let (samples, is_off) = (self.config.mixes.samples, self.config.mixes.fraction <= 0.0);
        let is_ending = |mix: &MixState| mix.samples >= samples || is_off;
        if self.workers.is_some() {
            // Their games do not go on from one generation to the next, so a mix that is over has none to play out.
            let is_over: Vec<bool> = self.state.mixes.iter().map(is_ending).collect();
            self.drop_mixes(&is_over);
        }
        let ending: Vec<String> =
            self.state.mixes.iter().filter(|mix| is_ending(mix)).map(|mix| mix_pool(mix.number)).collect();
        let wanted = if self.config.mixes.fraction > 0.0 { self.config.mixes.at_once } else { 0 };
        while self.state.mixes.len() < wanted {
            let number = self.state.mixes_drawn;
            let key = GameKey { run_seed: self.config.seed, series: 0, game: number };
            let rules = mixes::draw(&self.rulesets, number, &mut key.stream(Purpose::Mix))?;
            self.state.mixes.push(MixState {
                number,
                text: rules.ruleset().to_toml(),
                samples: 0,
                ahead: mem::take(&mut self.state.mixes_ahead),
            });
            self.mixes.push(rules);
            self.state.mixes_drawn += 1;
        }
        let numbered = self.state.mixes.iter().map(|mix| mix.number).zip(&self.mixes);
        let plans = plans(&self.config, &self.rulesets, numbered);
        let mut pools: HashMap<String, Pool> =
            mem::take(&mut self.pools).into_iter().map(|pool| (pool.plan().name.clone(), pool)).collect();

        let games = &self.config.games;
        let all = games.samples_per_generation as f64;
        let fraction = self.config.mixes.fraction;
        let played = self.state.generations.saturating_sub(self.config.teacher.generations);
        let mut quotas = Vec::new();
        for (trained, known) in self.rulesets.iter().zip(&mut self.state.rulesets) {
            let (quota, ahead) = owed(due(all * trained.share * (1.0 - fraction), played), known.ahead);
            known.ahead = ahead;
            quotas.push(if games.per_generation > 0 { games.per_generation } else { quota });
        }
        // More than are wanted, where that was lowered: they divide what there is.
        let playing = self.state.mixes.len().max(1) as f64;
        for mix in &mut self.state.mixes {
            let (quota, ahead) = owed(due(all * fraction / playing, played), mix.ahead);
            mix.ahead = ahead;
            quotas.push(quota);
        }
        // The ruleset or mix of each plan, its number among the pools of that, and how many these are.
        let pools_of = |trained: &RunRuleset| pools_of(&self.config, trained);
        let counts = self.rulesets.iter().map(pools_of).chain(self.mixes.iter().map(|_| 1)).enumerate();
        let places =
            counts.flat_map(|(index, count)| (0..count).map(move |number| (index, number as u64, count as u64)));
        let mut rules: Vec<Arc<Rules>> = plans.iter().map(|plan| Arc::clone(&plan.rules)).collect();
        rules.dedup_by(|one, other| Arc::ptr_eq(one, other));
        let in_flight = rules.iter().map(|rules| in_flight(pools.values(), rules)).collect();
        let mut planned = PoolTasks { tasks: Vec::new(), idle: Vec::new(), ending, rules, quotas, in_flight };
        for ((index, number, count), plan) in places.zip(plans) {
            let all = planned.quotas[index];
            let part = all * (number + 1) / count - all * number / count;
            let quota = if planned.ending.contains(&plan.name) {
                Quota::PlayOut { until: 0 }
            } else if games.per_generation > 0 {
                Quota::Games(part)
            } else {
                Quota::Samples(part)
            };
            let pool = match pools.remove(&plan.name) {
                Some(pool) => pool,
                // Where workers played in between, the games that it has begun are not to be played again.
                None => Pool::new(PoolPlan { first_game: self.state.games + plan.in_flight as u64, ..plan })?,
            };
            match quota {
                Quota::Samples(0) | Quota::Games(0) => planned.idle.push(pool),
                quota => planned.tasks.push(PoolTask { pool, quota, journal: None }),
            }
        }
        Ok(planned)
    }

    /// Takes the pools back after a generation, adds up what was played, and drops the mixes that are over.
    pub(crate) fn take_pools(&mut self, pools: Vec<Pool>, planned: &mut PoolTasks, played: &GenerationGames) {
        let PoolTasks { idle, ending, rules, quotas, in_flight: before, .. } = planned;
        let pools: Vec<Pool> = pools.into_iter().chain(mem::take(idle)).collect();
        let samples = |rules: &Arc<Rules>| {
            let of_rules = played.rulesets.iter().filter(|ruleset| Arc::ptr_eq(&ruleset.rules, rules));
            of_rules.flat_map(|ruleset| &ruleset.games).map(|game| game.samples.len() as u64).sum::<u64>()
        };
        let counts_samples = self.config.games.samples_per_generation > 0;
        // What was made beyond the quotas, by ruleset, then by mix.
        let exceeded = rules.iter().zip(quotas).zip(before).map(|((rules, quota), before)| {
            let made = (samples(rules) + in_flight(&pools, rules)) as i64 - *before as i64;
            made - *quota as i64
        });
        let mut exceeded = exceeded.collect::<Vec<i64>>().into_iter();
        for (trained, known) in self.rulesets.iter().zip(&mut self.state.rulesets) {
            known.samples += samples(&trained.rules);
            let exceeded = exceeded.next().unwrap_or(0);
            if counts_samples {
                known.ahead += exceeded;
            }
        }
        for (rules, mix) in self.mixes.iter().zip(&mut self.state.mixes) {
            let ended = samples(rules);
            mix.samples += ended;
            // One that is over had its last games to play, whatever its quota.
            let least = if ending.contains(&mix_pool(mix.number)) { 0 } else { i64::MIN };
            mix.ahead += exceeded.next().unwrap_or(0).max(least);
            self.state.mixes_samples += ended;
        }
        let is_over: Vec<bool> = self.state.mixes.iter().map(|mix| ending.contains(&mix_pool(mix.number))).collect();
        self.drop_mixes(&is_over);
        self.pools = pools.into_iter().filter(|pool| !ending.contains(&pool.plan().name)).collect();
        // In one order, whichever of them played.
        self.pools.sort_by(|one, other| one.plan().name.cmp(&other.plan().name));
    }

    /// Drops the mixes that are over; those drawn next owe less by what these are ahead.
    fn drop_mixes(&mut self, is_over: &[bool]) {
        let ahead = self.state.mixes.iter().zip(is_over).filter(|(_, is_over)| **is_over).map(|(mix, _)| mix.ahead);
        self.state.mixes_ahead += ahead.sum::<i64>();
        let mut each = is_over.iter();
        self.state.mixes.retain(|_| each.next() == Some(&false));
        let mut each = is_over.iter();
        self.mixes.retain(|_| each.next() == Some(&false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shares_are_due_too_in_the_long_run() {
        for share in [0.3, 0.4995, 7.25, 1234.5] {
            let sum: u64 = (0..1000).map(|played| due(share, played)).sum();
            assert!((sum as f64 - 1000.0 * share).abs() <= 0.5, "{share}: {sum}");
        }
    }

    #[test]
    fn who_is_ahead_owes_less() {
        assert_eq!(owed(100, 0), (100, 0));
        assert_eq!(owed(100, 30), (70, 0));
        assert_eq!(owed(100, 250), (0, 150));
    }

    #[test]
    fn what_is_missing_is_made_up_but_not_at_once() {
        assert_eq!(owed(100, -30), (130, 0));
        assert_eq!(owed(100, -100), (200, 0));
        assert_eq!(owed(100, -1000), (200, 0));
        assert_eq!(owed(0, -10), (0, 0));
    }
}

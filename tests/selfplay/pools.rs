//! Pools: what they play depends on nothing but themselves, and their games go on over any number of calls.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use latrunculi_engine::Rules;
use latrunculi_selfplay::{
    FinishedGame, PlayedGame, Pool, PoolPlan, PoolState, PoolTask, Progress, Quota, SelfPlayError, SelfPlaySettings,
    StartSettings, Watch, finished_to_bytes, play_pools, states_from_bytes, states_to_bytes, verify_finished,
};

use crate::static_evaluator::StaticEvaluator;
use crate::{plan, played, rules, techniques};

/// Pools of several rulesets and sizes.
fn plans() -> Vec<PoolPlan> {
    let pools = [("bell", 4), ("bell", 7), ("savard", 3), ("dutch-8x8", 2)];
    let named = pools.iter().enumerate().map(|(number, &(ruleset, in_flight))| PoolPlan {
        name: format!("{ruleset}-{number}"),
        settings: techniques(5),
        ..plan(&rules(ruleset), in_flight)
    });
    named.collect()
}

fn new(plans: &[PoolPlan]) -> Vec<Pool> {
    plans.iter().map(|plan| Pool::new(plan.clone()).unwrap()).collect()
}

/// Plays the pools once with the same quota each; returns them and the games of each.
fn play(pools: Vec<Pool>, quota: Quota, actors: usize) -> (Vec<Pool>, Vec<Vec<PlayedGame>>) {
    let tasks = pools.into_iter().map(|pool| PoolTask { pool, quota, journal: None }).collect();
    played(tasks, actors, false).into_iter().unzip()
}

fn saved(pools: &[Pool]) -> Vec<u8> {
    states_to_bytes(&pools.iter().map(Pool::state).collect::<Vec<_>>()).unwrap()
}

#[test]
fn pools_play_the_same_on_any_number_of_actors_and_after_being_saved() {
    let plans = plans();
    let mut alone = new(&plans);
    let mut together = new(&plans);
    let mut is_mid_search = false;
    for quota in [Quota::Games(2), Quota::Samples(90), Quota::Games(3), Quota::PlayOut { until: 0 }] {
        let (played, games) = play(alone, quota, 1);
        let (others, other_games) = play(together, quota, 3);
        assert_eq!(games, other_games);
        let bytes = saved(&played);
        assert_eq!(bytes, saved(&others));
        is_mid_search |= serde_json::to_string(played[0].state()).unwrap().contains("\"simulations\"");
        alone = played;
        // Only what was written goes on.
        let states = states_from_bytes(&bytes).unwrap();
        let restored = plans.iter().zip(states).map(|(plan, state)| Pool::restore(plan.clone(), state).unwrap());
        together = restored.collect();
    }
    assert!(is_mid_search, "searches were cut short");
    assert!(alone.iter().all(|pool| pool.state().games_in_flight() == 0), "they were played out");
}

#[test]
fn quotas_are_met_and_no_game_is_lost() {
    let plans = plans();
    let mut pools = new(&plans);
    let mut numbers = vec![BTreeSet::new(); pools.len()];
    for quota in [Quota::Samples(60), Quota::Games(3), Quota::Samples(0), Quota::PlayOut { until: 0 }] {
        let in_flight =
            |pools: &[Pool]| -> Vec<u64> { pools.iter().map(|pool| pool.state().samples_in_flight()).collect() };
        let before = in_flight(&pools);
        let (played, games) = play(pools, quota, 2);
        let after = in_flight(&played);
        for (pool, games) in games.iter().enumerate() {
            let samples: usize = games.iter().map(|game| game.samples.len()).sum();
            let made = samples as u64 + after[pool] - before[pool].min(samples as u64 + after[pool]);
            match quota {
                Quota::Samples(0) => assert!(games.is_empty()),
                // In a batch each game makes one sample at most.
                Quota::Samples(quota) => assert!((quota..quota + plans[pool].in_flight as u64).contains(&made)),
                Quota::Games(quota) => assert!(games.len() as u64 >= quota),
                Quota::PlayOut { .. } => assert_eq!(games.len(), plans[pool].in_flight),
                Quota::Stream => unreachable!("no game is given here"),
            }
            assert!(games.iter().all(|game| numbers[pool].insert(game.index)), "a game ends once");
            for samples in games.iter().map(|game| &game.samples) {
                for index in 0..samples.len() {
                    let policy = &samples.policy[samples.action_range(index)];
                    assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-4, "targets fit their positions");
                }
            }
        }
        for (pool, plan) in played.iter().zip(&plans) {
            let left = if matches!(quota, Quota::PlayOut { .. }) { 0 } else { plan.in_flight };
            assert_eq!(pool.state().games_in_flight(), left);
        }
        pools = played;
    }
    for numbers in numbers {
        assert_eq!(numbers.len() as u64, numbers.last().unwrap() + 1, "every game that was begun has ended");
    }
}

/// Gives games one after the other, and keeps those that have ended.
struct Given {
    numbers: Mutex<Vec<u64>>,
    ended: Mutex<Vec<FinishedGame>>,
}

impl Watch for Given {
    fn goes_on(&self, _: &Progress) -> bool {
        true
    }

    fn next_game(&self) -> Result<Option<u64>, SelfPlayError> {
        Ok(self.numbers.lock().unwrap().pop())
    }

    fn take(&self, game: FinishedGame) -> Result<(), SelfPlayError> {
        self.ended.lock().unwrap().push(game);
        Ok(())
    }
}

#[test]
fn games_that_are_given_are_those_of_their_numbers_and_follow_one_another_without_a_gap() {
    let plan = PoolPlan { in_flight: 3, ..plan(&rules("bell"), 1) };
    let play = |first_game, quota, watch: &dyn Watch| {
        let task = PoolTask { pool: Pool::new(PoolPlan { first_game, ..plan.clone() }).unwrap(), quota, journal: None };
        let (mut player, progress) = (StaticEvaluator::default(), Progress::default());
        let mut played = play_pools(vec![task], &mut [&mut player], false, &progress, watch).unwrap().remove(0).1;
        played.sort_by_key(|game| game.index);
        let fill = progress.evaluations.into_inner() as f64 / progress.places.into_inner() as f64;
        (played, fill)
    };
    let goes_on = |_: &Progress| true;
    let (units, gaps): (Vec<_>, Vec<_>) =
        [20, 30, 40, 50].map(|first| play(first, Quota::PlayOut { until: first + 3 }, &goes_on)).into_iter().unzip();
    let numbers: Vec<u64> = [20, 30, 40, 50].into_iter().flat_map(|first| first..first + 3).collect();
    let given = Given { numbers: Mutex::new(numbers.into_iter().rev().collect()), ended: Mutex::default() };
    let (kept, fill) = play(0, Quota::Stream, &given);
    assert!(kept.is_empty(), "a stream of games has no end, so none is kept");
    let ended = given.ended.into_inner().unwrap();
    for (first, games) in [20, 30, 40, 50].into_iter().zip(units) {
        let unit: Vec<_> = ended.iter().filter(|game| (first..first + 3).contains(&game.number())).cloned().collect();
        assert_eq!(verify_finished(&finished_to_bytes(&unit), &plan, first, 3).unwrap(), games);
    }
    assert!(gaps.iter().all(|alone| fill > *alone), "{fill} with all, {gaps:?} one by one");
}

#[test]
fn batches_are_full_however_often_games_end() {
    let plan = PoolPlan { in_flight: 9, ..plan(&rules("bell"), 1) };
    let mut pool = Pool::new(plan).unwrap();
    let mut evaluator = StaticEvaluator::default();
    let progress = Progress::default();
    for _ in 0..3 {
        let task = PoolTask { pool, quota: Quota::Games(5), journal: None };
        let mut results =
            play_pools(vec![task], &mut [&mut evaluator], false, &progress, &|_: &Progress| true).unwrap();
        pool = results.remove(0).0;
    }
    assert!(evaluator.batches.iter().all(|size| *size == 9), "no place is empty");
    let load = |number: &std::sync::atomic::AtomicU64| number.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(load(&progress.evaluations), load(&progress.places));
    assert!(load(&progress.games) >= 15);
}

#[test]
fn a_pool_of_another_size_takes_over_the_games() {
    let small = PoolPlan { in_flight: 3, ..plan(&rules("bell"), 1) };
    let (pools, _) = play(vec![Pool::new(small.clone()).unwrap()], Quota::Games(1), 1);
    for in_flight in [1, 5] {
        let plan = PoolPlan { in_flight, ..small.clone() };
        let pool = Pool::restore(plan, pools[0].state().clone()).unwrap();
        let (pools, games) = play(vec![pool], Quota::Games(8), 1);
        assert_eq!(pools[0].state().games_in_flight(), in_flight);
        assert!(games[0].len() >= 8);
    }
}

#[test]
fn a_state_that_cannot_be_continued_is_refused_with_the_reason() {
    let plan = PoolPlan { in_flight: 2, ..plan(&rules("bell"), 1) };
    let (pools, _) = play(vec![Pool::new(plan.clone()).unwrap()], Quota::Games(3), 1);
    let state = pools[0].state();
    assert!(Pool::restore(plan.clone(), state.clone()).is_ok());
    let refusal =
        |plan: &PoolPlan, state: &PoolState| Pool::restore(plan.clone(), state.clone()).unwrap_err().to_string();
    assert!(refusal(&PoolPlan { run_seed: 8, ..plan.clone() }, state).contains("pool-3, seed 7"));
    assert!(refusal(&PoolPlan { name: "other".to_owned(), ..plan.clone() }, state).contains("of pool other: "));
    assert!(refusal(&PoolPlan { rules: rules("bell-8x8"), ..plan.clone() }, state).contains("other rules"));

    let value = serde_json::to_value(state).unwrap();
    // The game with the most decisions.
    let longest = (0..2).max_by_key(|&game| value["games"][game]["decisions"].as_array().unwrap().len()).unwrap();
    let with = |damage: &dyn Fn(&mut serde_json::Value)| {
        let mut value = value.clone();
        damage(&mut value["games"][longest]);
        refusal(&plan, &serde_json::from_value(value).unwrap())
    };
    type Damage<'a> = &'a dyn Fn(&mut serde_json::Value);
    let damages: [(Damage<'_>, &str); 7] = [
        (&|game| game["actions"][0] = 9999.into(), "action 0"),
        (&|game| _ = game["actions"].as_array_mut().unwrap().pop(), "position"),
        (&|game| game["game_key"] = 1.into(), "position"),
        (&|game| game["decisions"][0]["policy"][0] = 2.0.into(), "targets"),
        (&|game| _ = game["decisions"][0]["policy"].as_array_mut().unwrap().pop(), "targets"),
        (&|game| game["decisions"][0]["ply"] = 1_000_000.into(), "decision"),
        (&|game| game["number"] = 1_000_000.into(), "begun"),
    ];
    for (damage, expected) in damages {
        let reason = with(damage);
        assert!(reason.contains(expected), "{expected}: {reason}");
    }
    let bytes = saved(&pools);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    for broken in [&bytes[..bytes.len() - 1], &bytes[..9], b"latrpls0", &[&bytes[..], &[0]].concat(), &flipped] {
        assert!(states_from_bytes(broken).is_err());
    }
}

#[test]
fn games_that_give_no_samples_are_not_played_without_end() {
    // Every game has one action, which belongs to its random beginning.
    let mut ruleset = rules("dutch-8x8").ruleset().clone();
    ruleset.end.max_plies = 1;
    let starts = StartSettings { uneven_probability: 1.0, uneven_actions_max: 9 };
    let settings = SelfPlaySettings { simulations: 1, starts, ..SelfPlaySettings::default() };
    let plan = PoolPlan { settings, ..plan(&Arc::new(Rules::new(&ruleset).unwrap()), 4) };
    let task = PoolTask { pool: Pool::new(plan).unwrap(), quota: Quota::Samples(1), journal: None };
    let mut player = StaticEvaluator::default();
    let goes_on = |_: &Progress| true;
    let played = play_pools(vec![task], &mut [&mut player], false, &Progress::default(), &goes_on);
    let told = played.map(|_| ()).unwrap_err().to_string();
    assert!(told.contains(" games of dutch-8x8 in turn gave no samples"), "{told}");
}

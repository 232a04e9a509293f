//! `bench targets`: how much of what could be gained policy targets gain.

use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use clap::Args;
use latrunculi_engine::{Action, GameState, Rules};
use latrunculi_eval::agents::{OpenedNetwork, SHIPPED_MODEL, ThreadEvaluator, mix_seeds};
use latrunculi_eval::matches::openings::{OpeningBook, default_length};
use latrunculi_search::mcts::{LeafBatch, MaxConsideredActions, Mode, Search, SearchBudget, SearchResult, Settings};
use latrunculi_stats::Estimate;
use latrunculi_train::rulesets;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;
use serde_json::json;

use super::names_or_all;
use crate::games_args::whole;
use crate::libtorch::Libtorch;
use crate::lines::{beside, print_json};
use crate::network::NetworkArgs;
use crate::progress::GamesProgress;

#[derive(Args)]
pub(super) struct TargetsArgs {
    /// Rulesets, by name or path [default: every shipped one]
    #[arg(value_name = "RULESET")]
    rulesets: Vec<String>,
    /// The network: a model file, or the folder of a run
    #[arg(long, default_value = SHIPPED_MODEL, value_name = "MODEL")]
    model: String,
    /// The targets: simulations, with the settings of the search that are to differ from the network's behind them, as in
    /// 96:shrinkage=8:considered=64:range_min=0.01
    #[arg(long, value_name = "TARGET,TARGET", value_delimiter = ',', default_value = "24,96,384")]
    targets: Vec<Target>,
    /// Positions of each ruleset: one of each of as many games of the network against itself
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = whole(2..=100_000))]
    positions: usize,
    /// Simulations of the search after an action that finds its true value
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    judge: u32,
    /// Source of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    network: NetworkArgs,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Simulations of the games that the positions are taken from.
const SIMULATIONS_IN_PLAY: u32 = 16;
/// Positions come from the first so many actions of a game.
const ACTIONS_MAX: usize = 300;

/// A search whose policy is a target.
#[derive(Clone, Debug)]
struct Target {
    text: String,
    simulations: u32,
    shrinkage: Option<f32>,
    considered: Option<u32>,
    range_min: Option<f32>,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let fault =
            || format!("{text}: write simulations and settings, as in 96:shrinkage=8:considered=64:range_min=0.01");
        let mut parts = text.split(':');
        let simulations =
            parts.next().and_then(|part| part.parse().ok()).filter(|number| (1..=1_000_000).contains(number));
        let simulations = simulations.ok_or_else(fault)?;
        let mut target =
            Target { text: text.to_owned(), simulations, shrinkage: None, considered: None, range_min: None };
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(fault)?;
            let number = || value.parse().ok().filter(|number: &f32| number.is_finite()).ok_or_else(fault);
            match name {
                "shrinkage" => target.shrinkage = Some(number()?),
                "range_min" => target.range_min = Some(number()?),
                "considered" => target.considered = Some(value.parse().map_err(|_| fault())?),
                _ => return Err(fault()),
            }
        }
        Ok(target)
    }
}

impl Target {
    /// Returns the settings of the search, or why there are none.
    fn settings(&self, of_network: &Settings) -> anyhow::Result<Settings> {
        let mut settings = of_network.clone();
        let Mode::Gumbel(gumbel) = &mut settings.mode else {
            anyhow::bail!("the network's search is PUCT; targets are those of a Gumbel search")
        };
        gumbel.shrinkage = self.shrinkage.unwrap_or(gumbel.shrinkage);
        gumbel.range_min = self.range_min.unwrap_or(gumbel.range_min);
        gumbel.max_considered_actions =
            self.considered.map_or(gumbel.max_considered_actions, MaxConsideredActions::Fixed);
        let faults = settings.validate();
        anyhow::ensure!(faults.is_empty(), "{}: {}", self.text, faults.join("; "));
        Ok(settings)
    }
}

/// What the targets of one ruleset gain over the network's own policy: expected true values, from -1 to 1, for the player to act.
#[derive(Serialize)]
struct Row {
    ruleset: String,
    positions: usize,
    /// By the action with the greatest true value.
    possible: Estimate,
    targets: Vec<TargetRow>,
}

#[derive(Serialize)]
struct TargetRow {
    target: String,
    gain: Estimate,
    /// The gain less that of the first target, in the same positions.
    more_than_first: Estimate,
}

pub(super) fn run(args: &TargetsArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let opener = args.network.opener(true, libtorch)?;
    let mut rows = Vec::new();
    if !args.json {
        println!("thousandths of a value from -1 to 1, with standard errors\n");
    }
    for name in names_or_all(&args.rulesets) {
        let rules = rulesets::load(&name)?;
        let (_, network) = opener.open_for_games(&rules, &args.model).map_err(anyhow::Error::msg)?;
        let row = measure(&rules, args, &network)?;
        if !args.json {
            println!("{}", text(&row));
        }
        rows.push(row);
    }
    if args.json { print_json(&json!(rows)) } else { Ok(()) }
}

fn text(row: &Row) -> String {
    let shown = |found: Estimate| format!("{:.2} ± {:.2}", 1000.0 * found.value, 1000.0 * found.standard_error);
    let mut text = format!("{}, {} positions: possible {}", row.ruleset, row.positions, shown(row.possible));
    for (index, target) in row.targets.iter().enumerate() {
        let share = 100.0 * target.gain.value / row.possible.value;
        let mut said = format!("{} ({share:.1} % of the possible)", shown(target.gain));
        if index > 0 {
            _ = write!(said, ", {} more than the first", shown(target.more_than_first));
        }
        text += &format!("\n{}", beside(&format!("  {}  ", target.target), &said));
    }
    text
}

/// The number of a position, what is possible in it, and what each target gains.
type Gains = (usize, Vec<f64>);

/// Finds the gains in positions of one ruleset, on all cores.
fn measure(rules: &Arc<Rules>, args: &TargetsArgs, network: &OpenedNetwork<'_>) -> anyhow::Result<Row> {
    let settings: Vec<Settings> =
        args.targets.iter().map(|target| target.settings(&network.play.search)).collect::<anyhow::Result<_>>()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let evaluators: Vec<ThreadEvaluator<'_>> =
        (0..threads).filter_map(|_| network.evaluator.for_another_thread()).collect();
    anyhow::ensure!(!evaluators.is_empty(), "a network on a GPU is not measured here: --device cpu");
    let (next, search) = (AtomicUsize::new(0), &network.play.search);
    let progress = GamesProgress::new(args.json, "[{bar:30}] {pos}/{len} games  {left}  {msg}");
    let (done, never) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = |mut evaluator: ThreadEvaluator<'_>| {
        let mut found = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= args.positions {
                return Ok(found);
            }
            let mut one = Position { rules, network: search, args, evaluator: &mut *evaluator, index };
            found.push((index, one.gains(&settings)?));
            let message = format!("a position of each, {}", rules.ruleset().id);
            _ = progress.follow(1 + done.fetch_add(1, Ordering::Relaxed), args.positions as u64, Some(message), &never);
        }
    };
    let found: Vec<anyhow::Result<Vec<Gains>>> = std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = evaluators.into_iter().map(|evaluator| scope.spawn(move || work(evaluator))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread has failed"))))
            .collect()
    });
    progress.finish();
    let mut gains: Vec<Gains> = found.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat();
    // In the order of the positions, so that sums do not depend on the threads.
    gains.sort_by_key(|(index, _)| *index);
    let mean = |of: &dyn Fn(&[f64]) -> f64| {
        let values: Vec<f64> = gains.iter().map(|(_, gains)| of(gains)).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Estimate { value: mean, standard_error: (variance / count).sqrt() }
    };
    let targets = args.targets.iter().enumerate().map(|(at, target)| TargetRow {
        target: target.text.clone(),
        gain: mean(&|gains| gains[1 + at]),
        more_than_first: mean(&|gains| gains[1 + at] - gains[1]),
    });
    Ok(Row {
        ruleset: rules.ruleset().id.clone(),
        positions: gains.len(),
        possible: mean(&|gains| gains[0]),
        targets: targets.collect(),
    })
}

/// One position, and what is needed to judge it.
struct Position<'a> {
    rules: &'a Arc<Rules>,
    network: &'a Settings,
    args: &'a TargetsArgs,
    evaluator: &'a mut dyn latrunculi_search::Evaluator<GameState>,
    index: usize,
}

impl Position<'_> {
    /// Returns what is possible, and what each target gains.
    fn gains(&mut self, targets: &[Settings]) -> anyhow::Result<Vec<f64>> {
        let mut rng = ChaCha8Rng::seed_from_u64(mix_seeds(&[self.args.seed, self.index as u64]));
        let state = self.state(&mut rng)?;
        let values = self.true_values(&state, &mut rng)?;
        let expected =
            |policy: &[f32]| policy.iter().zip(&values).map(|(&share, value)| f64::from(share) * value).sum::<f64>();
        let mut gains = Vec::new();
        for (settings, target) in targets.iter().zip(&self.args.targets) {
            // The same noise for all of them.
            let found = self.search(&state, settings, (target.simulations, true), &mut rng.clone())?;
            let of_prior = expected(&found.prior);
            if gains.is_empty() {
                gains.push(values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - of_prior);
            }
            gains.push(expected(&found.policy) - of_prior);
        }
        Ok(gains)
    }

    fn search(
        &mut self,
        state: &GameState,
        settings: &Settings,
        (simulations, add_noise): (u32, bool),
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<SearchResult<Action>> {
        let mut search = Search::new(settings.clone(), state);
        search.start(SearchBudget { simulations, add_noise }, rng);
        LeafBatch::default().run(&mut [&mut search], self.evaluator)?;
        Ok(search.result())
    }

    /// Returns a position with a choice from a game of the network against itself, each of its decisions equally likely.
    fn state(&mut self, rng: &mut ChaCha8Rng) -> anyhow::Result<GameState> {
        let seed = mix_seeds(&[self.args.seed, self.index as u64, 1]);
        let opening = OpeningBook::draw(self.rules, seed, 1, default_length(self.rules)).openings.remove(0);
        let mut state = GameState::new(Arc::clone(self.rules));
        opening.actions.iter().for_each(|&action| state.play(action));
        let mut passed = Vec::new();
        let mut legal = Vec::new();
        for _ in 0..ACTIONS_MAX {
            if state.outcome().is_some() {
                break;
            }
            state.legal_actions(&mut legal);
            if legal.len() > 1 {
                passed.push(state.clone());
            }
            let settings = self.network.clone();
            let found = self.search(&state, &settings, (SIMULATIONS_IN_PLAY, true), rng)?;
            state.play(found.actions[found.sample_by_policy(1.0, rng)]);
        }
        anyhow::ensure!(!passed.is_empty(), "a game of {} had no decision", self.rules.ruleset().id);
        let at = rand::RngExt::random_range(rng, 0..passed.len());
        Ok(passed.swap_remove(at))
    }

    /// Returns the true value of each action for the player to act: that of the end, or of a search after it.
    fn true_values(&mut self, state: &GameState, rng: &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> {
        let player = state.player_to_act();
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        let played = |&action: &Action| {
            let mut after = state.clone();
            after.play(action);
            after
        };
        let after: Vec<GameState> = legal.iter().map(played).collect();
        let mut searches: Vec<Search<GameState>> = after
            .iter()
            .filter(|state| state.outcome().is_none())
            .map(|state| Search::new(self.network.clone(), state))
            .collect();
        for search in &mut searches {
            search.start(SearchBudget { simulations: self.args.judge, add_noise: false }, rng);
        }
        LeafBatch::default().run(&mut searches, self.evaluator)?;
        let mut searches = searches.iter();
        let value = |state: &GameState| match state.outcome() {
            Some(outcome) => Some(f64::from(outcome.value_for(player))),
            None => {
                let [win, _, loss] = searches.next()?.result().policy_win_draw_loss;
                let sign = if state.player_to_act() == player { 1.0 } else { -1.0 };
                Some(sign * f64::from(win - loss))
            }
        };
        Ok(after.iter().filter_map(value).collect())
    }
}

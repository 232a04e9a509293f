//! `solve`: the exact values of all positions of a small ruleset, and how well agents know them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use latrunculi_engine::{Phase, Player};
use latrunculi_eval::{Agent, AgentKind, AgentSpec};
use latrunculi_search::latrunculi::Solved;
use latrunculi_stats::proportion::wilson;
use latrunculi_stats::{Confidence, Interval};
use latrunculi_train::rulesets;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use crate::games_args::whole;
use crate::libtorch::Libtorch;
use crate::lines::{Table, print_json, wrapped};
use crate::network::NetworkArgs;

#[derive(Args)]
pub(crate) struct SolveArgs {
    /// The path of a ruleset file with a small board and few men (configs/small/), or a shipped name
    #[arg(value_name = "RULESET")]
    ruleset: String,
    /// An agent that is asked for its action in positions where a wrong one changes the result; repeatable
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<AgentSpec>,
    /// So many positions are drawn for the agents
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = whole(1..=1_000_000))]
    positions: usize,
    /// Gives up where there are more positions than this; each takes some 600 bytes
    #[arg(long, default_value_t = 10_000_000, value_name = "N", value_parser = whole(1..=1_000_000_000))]
    positions_max: usize,
    /// Source of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    network: NetworkArgs,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What is known of a game.
#[derive(Serialize)]
struct Solution {
    ruleset: String,
    positions: usize,
    /// Of the beginning: 1 or 2, `None` for a draw.
    winner: Option<u8>,
    /// Actions until the winner has won; `None` where nobody wins, or by endless play alone.
    plies: Option<u16>,
    /// Of the longest win.
    plies_max: u16,
    leads: Vec<Lead>,
    /// Positions at the beginning of a turn in which some actions keep the result and others do not.
    critical_positions: usize,
    asked: usize,
    /// Mean share of the actions that keep the result there; `None` where there is no such position.
    by_chance: Option<f64>,
    agents: Vec<Knowledge>,
}

/// The results of the positions at the beginning of a turn, with all stones on the board, in which one side has so many more pieces.
#[derive(Serialize)]
struct Lead {
    /// 0: neither has more, and the results are those of the player to act.
    pieces: u32,
    positions: u64,
    won: u64,
    drawn: u64,
}

/// How often an agent takes an action that keeps the result.
#[derive(Serialize)]
struct Knowledge {
    agent: String,
    kept: Share,
    kept_wins: Share,
    kept_draws: Share,
    /// Positions whose result is that nearest to the agent's value; `None` if it gives none.
    named: Option<Share>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Share {
    count: u64,
    of: u64,
    /// At 95 % (Wilson); `None` of nothing.
    interval: Option<Interval>,
}

impl Share {
    fn of(found: impl IntoIterator<Item = bool>) -> Share {
        let mut share = Share::default();
        for is_counted in found {
            share.count += u64::from(is_counted);
            share.of += 1;
        }
        share.interval = wilson(share.count, share.of, Confidence::NINETY_FIVE).ok();
        share
    }

    fn text(&self) -> String {
        let share = 100.0 * self.count as f64 / self.of as f64;
        self.interval.map_or_else(|| "-".to_owned(), |interval| format!("{share:.1} {:.0}", interval.percent()))
    }
}

pub(crate) fn run(args: SolveArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let rules = rulesets::load(&args.ruleset)?;
    let needs_network = args.agents.iter().any(|agent| agent.model().is_some());
    let networks = args.network.opener(needs_network, libtorch)?.for_single_positions();
    anyhow::ensure!(
        args.agents.iter().all(|agent| agent.kind != AgentKind::Human),
        "human plays only in `latrunculi play`"
    );
    let mut agents = Vec::new();
    for spec in &args.agents {
        agents.push(spec.make(&rules, &mut networks.factory(&rules)).context("the agent")?);
    }
    // Seen on a terminal alone.
    let spinner = ProgressBar::new_spinner().with_message(format!("solving {}", rules.ruleset().id));
    spinner.enable_steady_tick(Duration::from_millis(200));
    let solved = Solved::new(&rules, args.positions_max).with_context(|| {
        let (id, most) = (&rules.ruleset().id, args.positions_max);
        format!("{id} was not solved: it has more than {most} positions; take a smaller board or fewer men, or raise --positions-max")
    })?;
    let critical: Vec<usize> = (0..solved.position_count()).filter(|&index| is_critical(&solved, index)).collect();
    let mut stream = ChaCha8Rng::seed_from_u64(args.seed);
    let drawn = sample(&mut stream, critical.len(), args.positions.min(critical.len()));
    let asked: Vec<usize> = drawn.into_iter().map(|place| critical[place]).collect();
    let beginning = solved.value(0);
    let mut knowledge = Vec::new();
    for (spec, agent) in args.agents.iter().zip(&mut agents) {
        spinner.set_message(format!("asking {spec} about {} positions", asked.len()));
        knowledge.push(ask(spec, agent.as_mut(), &solved, &asked)?);
    }
    spinner.finish_and_clear();
    let solution = Solution {
        ruleset: rules.ruleset().id.clone(),
        positions: solved.position_count(),
        winner: beginning.winner.map(Player::number),
        plies: beginning.plies,
        plies_max: (0..solved.position_count()).filter_map(|index| solved.value(index).plies).max().unwrap_or(0),
        leads: leads(&solved),
        critical_positions: critical.len(),
        asked: asked.len(),
        by_chance: by_chance(&solved, &asked),
        agents: knowledge,
    };
    if args.json {
        return print_json(&solution);
    }
    println!("{}", text(&solution));
    Ok(())
}

/// Tells whether the result of a position at the beginning of a turn depends on the action.
fn is_critical(solved: &Solved, index: usize) -> bool {
    let mut winners = solved.values_after(index).map(|value| value.winner);
    let first = winners.next();
    !solved.game(index).position().is_mid_turn() && winners.any(|winner| Some(winner) != first)
}

/// Tells whether each action of a position keeps its result.
fn keeping(solved: &Solved, index: usize) -> impl Iterator<Item = bool> {
    let winner = solved.value(index).winner;
    solved.values_after(index).map(move |after| after.winner == winner)
}

/// Returns what whoever takes any action would keep, on average.
fn by_chance(solved: &Solved, asked: &[usize]) -> Option<f64> {
    let kept = |&index: &usize| {
        let kept: Vec<bool> = keeping(solved, index).collect();
        kept.iter().filter(|is_kept| **is_kept).count() as f64 / kept.len() as f64
    };
    (!asked.is_empty()).then(|| asked.iter().map(kept).sum::<f64>() / asked.len() as f64)
}

fn ask(spec: &AgentSpec, agent: &mut dyn Agent, solved: &Solved, asked: &[usize]) -> anyhow::Result<Knowledge> {
    let mut kept = Vec::new();
    let mut named = Vec::new();
    let mut actions = Vec::new();
    for &index in asked {
        let game = solved.game(index);
        agent.new_game(spec.seed.unwrap_or(0));
        let choice = agent.choose(game)?;
        game.legal_actions(&mut actions);
        let place = actions.iter().position(|&action| action == choice.action).expect("agents take legal actions");
        let winner = solved.value(index).winner;
        kept.push((winner, keeping(solved, index).nth(place) == Some(true)));
        if let Some(value) = choice.value {
            let truth = winner.map_or(0, |winner| if winner == game.player_to_act() { 1 } else { -1 });
            named.push((1.5 * value).round() as i32 == truth);
        }
    }
    let of = |is_won: &[bool]| {
        Share::of(kept.iter().filter(|(winner, _)| is_won.contains(&winner.is_some())).map(|(_, is_kept)| *is_kept))
    };
    let named = (!named.is_empty()).then(|| Share::of(named));
    Ok(Knowledge {
        agent: spec.to_string(),
        kept: of(&[true, false]),
        kept_wins: of(&[true]),
        kept_draws: of(&[false]),
        named,
    })
}

fn leads(solved: &Solved) -> Vec<Lead> {
    let mut leads = BTreeMap::new();
    for index in 0..solved.position_count() {
        let game = solved.game(index);
        let position = game.position();
        if position.is_mid_turn() || position.phase() == Phase::Placement {
            continue;
        }
        let [first, second] = Player::BOTH.map(|player| position.stones(player).len());
        let ahead = match first.cmp(&second) {
            Ordering::Greater => Player::First,
            Ordering::Less => Player::Second,
            Ordering::Equal => game.player_to_act(),
        };
        let pieces = first.abs_diff(second);
        let lead = leads.entry(pieces).or_insert(Lead { pieces, positions: 0, won: 0, drawn: 0 });
        lead.positions += 1;
        let winner = solved.value(index).winner;
        lead.won += u64::from(winner == Some(ahead));
        lead.drawn += u64::from(winner.is_none());
    }
    leads.into_values().collect()
}

fn text(solution: &Solution) -> String {
    let result = match (solution.winner, solution.plies) {
        (None, _) => "nobody can win by force".to_owned(),
        (Some(winner), Some(plies)) => format!("player {winner} wins, at the latest with action {plies}"),
        (Some(winner), None) => format!("player {winner} wins by having more pieces at the end"),
    };
    let percent = |count: u64, of: u64| format!("{:.1} %", 100.0 * count as f64 / of as f64);
    let leads = Table::new()
        .right("pieces more", 0, |lead: &Lead| lead.pieces.to_string())
        .right("positions", 0, |lead| lead.positions.to_string())
        .right("won", 0, |lead| percent(lead.won, lead.positions))
        .right("drawn", 0, |lead| percent(lead.drawn, lead.positions))
        .right("lost", 0, |lead| percent(lead.positions - lead.won - lead.drawn, lead.positions));
    let mut parts = vec![
        format!("{}: {} positions; from the beginning {result}", solution.ruleset, solution.positions),
        format!("the longest win takes {} actions", solution.plies_max),
        String::new(),
        wrapped(
            "results at the beginning of a turn for who has more pieces, or for the player to act where neither has:",
            0,
        ),
        leads.lines(&solution.leads).join("\n"),
    ];
    if let Some(by_chance) = solution.by_chance.filter(|_| !solution.agents.is_empty()) {
        let Solution { asked, critical_positions, .. } = solution;
        let how = format!(
            "\n{asked} of {critical_positions} positions in which the action decides about the result, drawn evenly; of all actions {:.1} % keep it",
            100.0 * by_chance
        );
        let agents = Table::new()
            .left("agent", 0, |row: &Knowledge| row.agent.clone())
            .left("keeps a win, %", 14, |row| row.kept_wins.text())
            .left("keeps a draw, %", 14, |row| row.kept_draws.text())
            .left("value right, %", 14, |row| row.named.map_or_else(|| "-".to_owned(), |named| named.text()));
        parts.extend([wrapped(&how, 0), agents.lines(&solution.agents).join("\n")]);
    }
    parts.join("\n")
}

//! `analyse`: the best actions of a position, with value, visits and what is expected to follow.

use anyhow::Context;
use clap::Args;
use latrunculi_engine::{Action, GameState};
use latrunculi_eval::{Agent, AgentKind, AgentSpec, Choice};
use serde_json::json;

use crate::network::NetworkArgs;
use crate::perft::read_state;

#[derive(Args)]
pub(crate) struct AnalyseArgs {
    /// A shipped ruleset, or the path of a file
    #[arg(long)]
    ruleset: String,
    /// What to judge: `initial`, a list of pieces (M:c2 D:a1 m:b3 d:h7), or the line of a position
    #[arg(long, default_value = "initial")]
    position: String,
    /// Who is to act in a list of pieces
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=2))]
    player: u64,
    /// Who judges: alphabeta:nodes=200000, mcts:sims=2000, net:MODEL,sims=400, ...
    #[arg(long, default_value = "alphabeta:nodes=200000")]
    agent: AgentSpec,
    /// How many actions to list
    #[arg(long, default_value_t = 5, value_name = "N")]
    best: usize,
    #[command(flatten)]
    network: NetworkArgs,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// One action in the list; the value is for the player to act.
struct Line {
    action: Action,
    value: Option<f32>,
    visits: Option<u32>,
    policy: Option<f32>,
    variation: Vec<Action>,
}

pub(crate) fn run(args: AnalyseArgs) -> anyhow::Result<()> {
    let state = read_state(&args.ruleset, &args.position, args.player)?;
    if let Some(outcome) = state.outcome() {
        let winner = outcome.winner.map_or("nobody".to_owned(), |winner| winner.to_string());
        anyhow::bail!("the game is over here: {}, {winner} wins", outcome.reason);
    }
    let mut agent = args.agent.make(state.rules(), &mut args.network.factory(state.rules())).context("the agent")?;
    agent.new_game(args.agent.seed.unwrap_or(0));
    let choice = agent.choose(&state).context("the analysis")?;
    let lines = lines(&state, &args, agent.as_mut(), &choice)?;
    if args.json {
        print_json(&state, &args, &choice, &lines)?;
    } else {
        print_text(&state, &args, &choice, &lines);
    }
    Ok(())
}

/// Lists the best actions. A tree search has weighed them all; alpha-beta proves only that the others are
/// not better, so each of them is searched by itself.
fn lines(state: &GameState, args: &AnalyseArgs, agent: &mut dyn Agent, choice: &Choice) -> anyhow::Result<Vec<Line>> {
    if !choice.candidates.is_empty() {
        let mut lines: Vec<Line> = Vec::new();
        for candidate in choice.candidates.iter().take(args.best) {
            let is_best = candidate.action == choice.action;
            let variation = if is_best { choice.principal_variation.clone() } else { vec![candidate.action] };
            lines.push(Line {
                action: candidate.action,
                value: candidate.value,
                visits: Some(candidate.visits),
                policy: Some(candidate.policy),
                variation,
            });
        }
        return Ok(lines);
    }
    let best = Line {
        action: choice.action,
        value: choice.value,
        visits: None,
        policy: None,
        variation: choice.principal_variation.clone(),
    };
    let mut lines = vec![best];
    if matches!(args.agent.kind, AgentKind::AlphaBeta { .. }) && args.best > 1 {
        let mut others = Vec::new();
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        for action in legal.into_iter().filter(|&action| action != choice.action) {
            others.push(searched(state, agent, action)?);
        }
        // The sort is stable: of equals, the first in the legal order.
        others.sort_by(|a, b| b.value.unwrap_or(-1.0).total_cmp(&a.value.unwrap_or(-1.0)));
        lines.extend(others.into_iter().take(args.best - 1));
    }
    Ok(lines)
}

/// Judges one action by what the agent finds after it.
fn searched(state: &GameState, agent: &mut dyn Agent, action: Action) -> anyhow::Result<Line> {
    let player = state.player_to_act();
    let mut after = state.clone();
    after.play(action);
    let mut variation = vec![action];
    let value = match after.outcome() {
        Some(outcome) => Some(outcome.value_for(player)),
        None => {
            let reply = agent.choose(&after).context("the analysis")?;
            variation.extend(&reply.principal_variation);
            let sign = if after.player_to_act() == player { 1.0 } else { -1.0 };
            reply.value.map(|value| sign * value)
        }
    };
    Ok(Line { action, value, visits: None, policy: None, variation })
}

/// Returns the texts of actions played one after the other.
pub(crate) fn variation_texts(state: &GameState, variation: &[Action]) -> Vec<String> {
    let mut state = state.clone();
    let mut texts = Vec::new();
    for &action in variation {
        if state.outcome().is_some() || !state.is_legal(action) {
            break;
        }
        texts.push(state.action_text(action));
        state.play(action);
    }
    texts
}

fn print_text(state: &GameState, args: &AnalyseArgs, choice: &Choice, lines: &[Line]) {
    println!("{}", state.drawing());
    println!("{}", state.rules().position_text(state.position()));
    let value = choice.value.map_or("no opinion".to_owned(), |value| format!("value {value:+.3}"));
    println!(
        "{} to act; {}: {value} for him (+1 wins, -1 loses), effort {}",
        state.player_to_act(),
        args.agent,
        choice.effort
    );
    println!("{:<4}{:<14}{:>8}{:>9}{:>9}  variation", "", "action", "value", "visits", "policy");
    for (index, line) in lines.iter().enumerate() {
        let value = line.value.map_or("-".to_owned(), |value| format!("{value:+.3}"));
        let visits = line.visits.map_or("-".to_owned(), |visits| visits.to_string());
        let policy = line.policy.map_or("-".to_owned(), |policy| format!("{:.1} %", policy * 100.0));
        let variation = variation_texts(state, &line.variation).join(" ");
        let action = state.action_text(line.action);
        println!("{:<4}{action:<14}{value:>8}{visits:>9}{policy:>9}  {variation}", index + 1);
    }
}

fn print_json(state: &GameState, args: &AnalyseArgs, choice: &Choice, lines: &[Line]) -> anyhow::Result<()> {
    let actions: Vec<_> = lines
        .iter()
        .map(|line| {
            json!({
                "action": state.action_text(line.action),
                "value": line.value,
                "visits": line.visits,
                "policy": line.policy,
                "variation": variation_texts(state, &line.variation),
            })
        })
        .collect();
    let answer = json!({
        "ruleset": state.rules().ruleset().id,
        "position": state.rules().position_text(state.position()),
        "player": state.player_to_act().number(),
        "agent": args.agent.to_string(),
        "value": choice.value,
        "effort": choice.effort,
        "actions": actions,
    });
    println!("{}", serde_json::to_string_pretty(&answer)?);
    Ok(())
}

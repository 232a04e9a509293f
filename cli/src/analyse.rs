//! `analyse`: the best actions of a position, with value, visits and what is expected to follow.

use anyhow::Context;
use clap::Args;
use latrunculi_engine::{Action, GameState};
use latrunculi_eval::opinion::{self, listed, score_text, variation_texts, visits_sum};
use latrunculi_eval::{AgentKind, AgentSpec, Candidate, Choice, Number, SearchKind, SearchOptions};

use crate::interrupt::{Interrupt, Stopped};
use crate::libtorch::Libtorch;
use crate::lines::{Table, facts, print_json};
use crate::network::NetworkArgs;
use crate::position_args::PositionArgs;

/// How many actions of what is expected stand in the table.
const TABLE_VARIATION_MAX: usize = 6;

#[derive(Args)]
pub(crate) struct AnalyseArgs {
    #[command(flatten)]
    position: PositionArgs,
    /// Who judges: net:MODEL,sims=400, alphabeta:nodes=200000, mcts:sims=2000, ... A network searches by PUCT unless
    /// its text has search=gumbel. A tree (mcts, net) takes up to 400 MiB, or memory_mib=N
    #[arg(long, default_value = "net:sims=400")]
    agent: AgentSpec,
    /// How many actions to list
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    best: u16,
    #[command(flatten)]
    network: NetworkArgs,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(mut args: AnalyseArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    args.agent = args.agent.for_analysis();
    let networks = args.network.opener(args.agent.model().is_some(), libtorch)?.for_single_positions();
    let state = args.position.state()?;
    if let Some(outcome) = state.outcome() {
        let winner = outcome.winner.map_or("nobody".to_owned(), |winner| winner.to_string());
        let reason = state.end_words().unwrap_or_default();
        anyhow::bail!("the game is over here: {reason}, {winner} wins; analyse an earlier state");
    }
    anyhow::ensure!(args.agent.kind != AgentKind::Human, "human plays only in `latrunculi play`");
    let mut agent = args.agent.make(state.rules(), &mut networks.factory(state.rules())).context("the agent")?;
    agent.new_game(args.agent.seed.unwrap_or(0));
    let interrupt = Interrupt::listen(true)?;
    let mut silent = |_: &Choice| {};
    let mut thinking =
        SearchOptions { lines: args.best.into(), stop: interrupt.stop(), ..SearchOptions::reporting(&mut silent) };
    // Ctrl-C once: what has been found so far is worth printing.
    let (choice, is_stopped) = interrupt.during(|| agent.choose_with(&state, &mut thinking));
    let choice = choice.context("the analysis")?;
    let lines = listed(&choice, args.best.into());
    if args.json {
        print_json(&opinion::to_json(&state, &args.agent.to_string(), &choice, &lines, is_stopped))?;
    } else {
        print!("{}", text(&state, &args, &choice, &lines, is_stopped));
    }
    if is_stopped { Err(Stopped::silently().into()) } else { Ok(()) }
}

/// Returns the analysis for people: the board, a verdict, a table.
fn text(state: &GameState, args: &AnalyseArgs, choice: &Choice, lines: &[Candidate], is_stopped: bool) -> String {
    let player = state.player_to_act();
    let early = if is_stopped { " (stopped early)" } else { "" };
    let mut said = Vec::new();
    if let Some(value) = choice.value {
        let value = Number(value.into());
        said.push(("value", format!("{value:+.3} for {player}: +1 is a win, 0 even, -1 a loss")));
    }
    if let Some(score) = choice.score {
        said.push(("score", format!("{} (in men; value = tanh(score / 4))", score_text(score))));
    }
    if let Some(shares) = choice.win_draw_loss {
        let [win, draw, loss] = shares.map(|share| share * 100.0);
        said.push(("expects", format!("{win:.1} % win, {draw:.1} % draw, {loss:.1} % loss")));
    }
    if let Some(depth) = choice.depth {
        said.push(("looked", format!("{depth} actions ahead, {} nodes", choice.effort)));
    } else if choice.effort > 0 {
        said.push(("looked at", format!("{} simulations", choice.effort)));
    }
    let notes = match choice.search {
        Some(SearchKind::Puct) => {
            "\nprior: the network's probability before the search; visits: how often the\n\
             search tried the action, and their share; value: the result that it expects,\n\
             as above\n"
        }
        Some(SearchKind::Gumbel) => {
            "\nprior: the network's probability before the search; visits: how often the\n\
             search tried the action, by a schedule that halves their number; value: the\n\
             result that it expects, as above; improved policy: what training learns\n\
             from; it stretches small differences of value\n"
        }
        None => "",
    };
    format!(
        "{}{}\n\n{player} to act, {} judges{early}\n{}\n{}\n{notes}",
        state.drawing(),
        state.rules().position_text(state.position()),
        args.agent,
        facts(0, &said),
        table(state, choice, lines),
    )
}

/// Returns the table of actions; columns that no action has an entry for are left out.
fn table(state: &GameState, choice: &Choice, lines: &[Candidate]) -> String {
    type Cell<'a> = Box<dyn Fn(&Candidate) -> Option<String> + 'a>;
    fn percent(share: impl Into<f64>) -> String {
        format!("{:.1} %", share.into() * 100.0)
    }
    let visits_sum = visits_sum(choice);
    let is_gumbel = choice.search == Some(SearchKind::Gumbel);
    let columns: [(&str, usize, Cell<'_>); 7] = [
        ("value", 7, Box::new(|line| line.value.map(|value| format!("{:+.3}", Number(value.into()))))),
        ("score", 10, Box::new(|line| line.score.map(score_text))),
        ("depth", 5, Box::new(|line| line.depth.map(|depth| depth.to_string()))),
        ("prior", 7, Box::new(|line| choice.search.map(|_| percent(line.prior)))),
        ("visits", 6, Box::new(|line| choice.search.map(|_| line.visits.to_string()))),
        ("share", 7, Box::new(|line| visits_sum.map(|sum| percent(f64::from(line.visits) / sum)))),
        ("improved policy", 7, Box::new(|line| is_gumbel.then(|| percent(line.policy)))),
    ];
    let mut table = Table::new().right("", 3, |(index, _): &(usize, &Candidate)| (index + 1).to_string()).left(
        "action",
        0,
        |(_, line)| state.action_text(line.action),
    );
    for &(name, width, ref cell) in columns.iter().filter(|(_, _, cell)| lines.iter().any(|line| cell(line).is_some()))
    {
        table = table.right(name, width, move |(_, line)| cell(line).unwrap_or_else(|| "-".to_owned()));
    }
    let table = table.left("expected", 0, |(_, line)| variation_text(state, &line.variation));
    table.lines(&lines.iter().enumerate().collect::<Vec<_>>()).join("\n")
}

fn variation_text(state: &GameState, variation: &[Action]) -> String {
    let texts = variation_texts(state, variation);
    let shown = texts.len().min(TABLE_VARIATION_MAX);
    let more = if texts.len() > shown { " …" } else { "" };
    texts[..shown].join(" ") + more
}

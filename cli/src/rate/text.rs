//! A rating as text and as CSV.

use latrunculi_eval::Number;
use latrunculi_eval::rating::{AgentRating, ErrorKind, Rated, RatingProgress, RatingReport, RatingTable, Test};
use latrunculi_stats::bradley_terry::LikelihoodRatio;
use latrunculi_stats::{DrawModel, ELO_PER_NAT, WinDrawLoss};

use crate::lines::{COLUMNS, Table, beside, facts, wrapped};
use crate::match_command::{CLEARLY, clock_text, elo_text, rest_text, waiting_text};

/// The likelihood of superiority above which an agent is called stronger: a test with two sides on a level of 95 %.
const SHOWN: f64 = 0.975;
/// Columns of the rank in front of a name.
const RANK_COLUMNS: usize = 4;

/// What a column of the agents as CSV is called, and its cell for a rank and the agent there.
type Column = (&'static str, fn(usize, &AgentRating) -> String);

const COLUMNS_OF_CSV: [Column; 12] = [
    ("rank", |rank, _| rank.to_string()),
    // Agents' texts may hold commas; a path might hold quotes.
    ("agent", |_, rating| format!("\"{}\"", rating.agent.replace('"', "\"\""))),
    ("elo", |_, rating| finite(rating.elo.value)),
    ("elo_standard_error", |_, rating| finite(rating.elo.standard_error)),
    ("elo_lower", |_, rating| finite(rating.elo.interval.lower)),
    ("elo_upper", |_, rating| finite(rating.elo.interval.upper)),
    ("is_anchor", |_, rating| rating.is_anchor.to_string()),
    ("games", |_, rating| rating.games.games().to_string()),
    ("wins", |_, rating| rating.games.wins.to_string()),
    ("draws", |_, rating| rating.games.draws.to_string()),
    ("losses", |_, rating| rating.games.losses.to_string()),
    ("score", |_, rating| rating.score.map(|score| format!("{score:.6}")).unwrap_or_default()),
];

fn finite(number: f64) -> String {
    if number.is_finite() { format!("{:.3}", Number(number)) } else { String::new() }
}

/// Returns the agents as CSV, strongest first.
pub(super) fn csv(report: &RatingReport) -> String {
    let mut lines = COLUMNS_OF_CSV.map(|(name, _)| name).join(",") + "\n";
    for (rank, rating) in (1..).zip(report.table.iter().flat_map(|table| &table.agents)) {
        lines += &(COLUMNS_OF_CSV.map(|(_, cell)| cell(rank, rating)).join(",") + "\n");
    }
    lines
}

/// Returns the report; `is_kept` says whether the games are in a folder.
pub(super) fn text(report: &RatingReport, is_kept: bool) -> String {
    let counts = format!(
        "{} games count of {} played, {} openings of {} random actions, seats swapped",
        report.games, report.games_played, report.openings_distinct, report.opening_length
    );
    let mut text = report.table.as_ref().and_then(headline).map(|said| wrapped(&said, 0) + "\n\n").unwrap_or_default();
    text += &(beside(&format!("{}: ", report.ruleset), &counts) + "\n");
    match (&report.table, &report.refused) {
        (Some(table), _) => {
            text += &table_text(table);
            text += &prior_text(table, &beginners(report));
        }
        (None, reason) => {
            text += &(beside("no rating: ", reason.as_deref().unwrap_or("there are no games")) + "\n");
        }
    }
    let repeated: u64 = report.pairings.iter().map(|pairing| pairing.pairs_repeated).sum();
    if repeated > 0 {
        text += &format!("{repeated} pairs of games taken out as repetitions\n");
    }
    if report.truncated > 0 {
        text += &format!("{} games ended by the program's own limit, counted as draws\n", report.truncated);
    }
    if let Some(threads) = report.threads_per_game {
        text += &(beside("by the clock: ", &clock_text(threads)) + "\n");
    }
    if report.is_interrupted {
        text += &format!("stopped early; {}\n", rest_text(is_kept, "--out DIR"));
        if report.games_waiting > 0 {
            text += &(beside("not counted: ", &waiting_text(report.games_waiting)) + "\n");
        }
    }
    text
}

/// Says which agent is the strongest, or that the games do not show it; `None` where no games compare the two best.
fn headline(table: &RatingTable) -> Option<String> {
    let likelihood = (*table.superiority.first()?.get(1)?)?;
    let [best, next] = [0, 1].map(|rank| &table.agents[rank].agent);
    Some(match likelihood {
        likely if likely > CLEARLY => format!("{best} is the strongest, clearly stronger than {next}."),
        likely if likely > SHOWN => format!("{best} is the strongest, stronger than {next}."),
        _ => format!("Too few games to say whether {best} or {next} is the strongest."),
    })
}

fn table_text(table: &RatingTable) -> String {
    let bounds = |rating: &AgentRating| match (rating.is_anchor, rating.elo.bound_text(1)) {
        (true, _) => "given".to_owned(),
        (false, Some(bound)) => bound,
        (false, None) => format!("{:+.1}", rating.elo.interval),
    };
    let numbers = Table::new()
        .right("Elo", 7, |rating: &&AgentRating| match rating.elo.value {
            elo if elo.is_finite() => format!("{:+.1}", Number(elo)),
            _ => "-".to_owned(),
        })
        .right(format!("{:.0} % interval", table.confidence * 100.0), 0, |rating| bounds(rating))
        .right("games", 5, |rating| rating.games.games().to_string())
        .right("score", 8, |rating| percent(rating.score, 2) + " %")
        .left("+/=/-", 0, |rating| format!("{}/{}/{}", rating.games.wins, rating.games.draws, rating.games.losses));
    let rows = numbers.lines(&table.agents.iter().collect::<Vec<_>>());
    let names = || std::iter::once("agent").chain(table.agents.iter().map(|rating| rating.agent.as_str()));
    let width = names().map(str::len).max().unwrap_or(0);
    // Where the names leave no room for the numbers, these stand beneath them.
    let longest = rows.iter().map(String::len).max().unwrap_or(0);
    let has_room = RANK_COLUMNS + width + 2 + longest <= COLUMNS;
    let mut text = String::from("\n");
    for (rank, (name, numbers)) in names().zip(&rows).enumerate() {
        let rank = if rank == 0 { String::new() } else { rank.to_string() };
        text += &match has_room {
            true => format!("{rank:>2}  {name:width$}  {numbers}\n"),
            false => format!("{rank:>2}  {name}\n    {numbers}\n"),
        };
    }
    text + "\nlikelihood that the row is stronger than the column, %\n"
        + &superiority_text(table, width)
        + &fit_text(table)
}

/// Returns a share in hundredths, or a dash.
fn percent(share: Option<f64>, decimals: usize) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.decimals$}", share * 100.0))
}

/// Returns a row and a column for each agent, which have their ranks alone where `width` letters of a name have no room.
fn superiority_text(table: &RatingTable, width: usize) -> String {
    let has_room = width + 7 * table.agents.len() <= COLUMNS;
    let name = |rank: usize| if has_room { table.agents[rank].agent.clone() } else { (rank + 1).to_string() };
    let mut matrix = Table::new().left("", 2, |(rank, _): &(usize, &Vec<Option<f64>>)| name(*rank));
    for column in 0..table.agents.len() {
        matrix = matrix.right((column + 1).to_string(), 4, move |(_, row)| percent(row[column], 1));
    }
    matrix.lines(&table.superiority.iter().enumerate().collect::<Vec<_>>()).join("\n") + "\n"
}

fn fit_text(table: &RatingTable) -> String {
    let share = |rated: &Rated| match rated.standard_error > 0.0 {
        true => format!("{:.2} %  {:.2}", 100.0 * rated.value, rated.interval.percent()),
        false => format!("{:.2} %  no interval: all games are alike in this", 100.0 * rated.value),
    };
    let equal = &table.equal_strength;
    let against_an_equal = [
        ("expected score", share(&equal.score)),
        ("wins", share(&equal.win)),
        ("draws", share(&equal.draw)),
        ("loses", share(&equal.loss)),
        ("score as Elo", elo_text(equal.elo, Some(equal.score.value))),
    ];
    let model = match table.model {
        DrawModel::Davidson => format!("Davidson, draw parameter ν {:.4}", table.draw_parameter),
        DrawModel::RaoKupper => format!("Rao-Kupper, draw parameter {:.1} Elo", table.draw_parameter * ELO_PER_NAT),
    };
    let errors = match table.errors {
        ErrorKind::ClusteredByOpening => "clustered by opening",
        ErrorKind::FisherInformation => {
            "Fisher information, as there are few openings, all say the same, or a prior holds the fit: they may be too small"
        }
    };
    let tests = "games of one opening taken as independent: p is too small where openings matter";
    // Why a test could not be made stands in the JSON alone.
    let test = |name: &'static str, found: Test<(f64, usize, f64)>| match found {
        Test::Done((statistic, degrees, p)) => Some((name, format!("χ² {statistic:.2} of {degrees}, p {p:.3}"))),
        Test::Refused(_) => None,
    };
    let ratio = |found: &LikelihoodRatio| (found.statistic, found.degrees, found.p);
    let advantage = format!("{:+.1} Elo  {:+.1}", Number(table.advantage.value), table.advantage.interval);
    let found: Vec<_> = [
        test("model fits", table.goodness_of_fit.map(|test| (test.statistic, test.degrees, test.p))),
        test("no advantage", table.advantage_test.map(ratio)),
        test("same for all agents", table.constant_advantage_test.map(ratio)),
        test("same at all strengths", table.advantage_by_strength.map(|found| ratio(&found.likelihood_ratio))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut fit = vec![("model", model), ("first-move advantage γ", advantage), ("errors", errors.to_owned())];
    if !found.is_empty() {
        fit.push(("tests", tests.to_owned()));
        fit.extend(found);
    }
    format!("\nthe player who begins, against an equal\n{}\nthe fit\n{}", facts(2, &against_an_equal), facts(2, &fit))
}

/// Returns the results of all counted games for the player who began.
fn beginners(report: &RatingReport) -> WinDrawLoss {
    report.pairings.iter().map(|pairing| pairing.by_seat.beginning + pairing.by_seat.replying.reversed()).sum()
}

/// Returns why some numbers are bounds, and why a weak prior was needed; empty where all are estimates.
fn prior_text(table: &RatingTable, beginners: &WinDrawLoss) -> String {
    let held = "a weak prior (600 Elo wide, and one game, half won and half lost)";
    let groups: Vec<String> = table.separation.iter().map(|group| group.join(", ")).collect();
    if groups.len() > 1 {
        let rest = match table.is_regularised {
            true => format!("; the other games give no finite fit, so {held} holds the rest, and with it these bounds"),
            false => String::new(),
        };
        let said = format!(
            "some agents took every point, so the games bound their distance from one side only, with {:.0} % \
             confidence, and say nothing of agents that neither met nor are joined by such games{rest}",
            table.confidence * 100.0
        );
        let order = beside("  every point went to the left: ", &groups.join("  >  "));
        return format!("\n{}\n{order}\n", wrapped(&said, 0));
    }
    if !table.is_regularised {
        return String::new();
    }
    let (why, so) = match *beginners {
        WinDrawLoss { wins: 0, losses: 0, .. } => {
            ("every game was drawn", "the games neither distinguish the agents nor show how often equals draw")
        }
        WinDrawLoss { losses: 0, .. } => {
            ("the player who began never lost", "the games bound the advantage of the first move from below only")
        }
        WinDrawLoss { wins: 0, .. } => {
            ("the player who began never won", "the games bound the advantage of the first move from above only")
        }
        _ => ("strength and seats together explain every result", "the differences are larger than the games can tell"),
    };
    let said = format!("{why}, so the games alone give no finite fit; {held} holds it, and {so}");
    format!("\n{}\n", wrapped(&said, 0))
}

pub(super) fn progress(at: &RatingProgress<'_>) -> String {
    let [one, other] = at.agents;
    format!("pairing {}/{}: {one} against {other} {}", at.pairing + 1, at.pairings, at.results)
}

#[cfg(test)]
mod tests {
    use latrunculi_eval::rating::FitSettings;
    use latrunculi_stats::SeriesResult;

    use super::*;

    /// Returns the text on the fit of two agents, one of which began the games `one` and the other the games `other`;
    /// results are those of the player who began.
    fn explanation(one: WinDrawLoss, other: WinDrawLoss) -> String {
        let results: Vec<SeriesResult> = (0..10)
            .flat_map(|opening| {
                [(0, 1, one), (1, 0, other)].map(|(first, second, games)| SeriesResult {
                    first,
                    second,
                    games,
                    opening,
                })
            })
            .collect();
        let agents = ["greedy".to_owned(), "random".to_owned()];
        let table = RatingTable::fit(&agents, &results, &FitSettings::default()).expect("a fit");
        prior_text(&table, &(one + other))
    }

    #[test]
    fn a_weak_prior_is_explained_by_what_made_it_necessary() {
        let (won, drawn, lost) = (WinDrawLoss::new(1, 0, 0), WinDrawLoss::new(0, 1, 0), WinDrawLoss::new(0, 0, 1));
        for (one, other, why, what) in [
            (won, lost, "some agents took every point", "every point went to the left: greedy  >  random"),
            (drawn, drawn, "every game was drawn", "neither distinguish the agents"),
            (won, won, "the player who began never lost", "from below only"),
            (lost, lost, "the player who began never won", "from above only"),
        ] {
            let said = explanation(one, other).replace('\n', " ");
            assert!(said.contains(why) && said.contains(what), "{said}");
            assert!(said.contains("every point") == (why == "some agents took every point"), "{said}");
        }
        assert_eq!(explanation(won + lost + drawn, won + lost + drawn), "");
    }
}

//! A rating as text and as CSV.

use std::fmt::Write as _;

use latrunculi_eval::Number;
use latrunculi_eval::rating::{AgentRating, ErrorKind, Rated, RatingProgress, RatingReport, RatingTable, Test};
use latrunculi_stats::bradley_terry::LikelihoodRatio;
use latrunculi_stats::{DrawModel, ELO_PER_NAT, WinDrawLoss};

use crate::lines::{COLUMNS, beside, wrapped};
use crate::match_command::{elo_text, waiting_text};

/// Columns of the rank in front of a name.
const RANK_COLUMNS: usize = 4;

/// Returns the agents as CSV, strongest first.
pub(super) fn csv(report: &RatingReport) -> String {
    let mut lines =
        "rank,agent,elo,elo_standard_error,elo_lower,elo_upper,is_anchor,games,wins,draws,losses,score\n".to_owned();
    for (rank, rating) in report.table.iter().flat_map(|table| &table.agents).enumerate() {
        let Rated { value, standard_error, interval } = rating.elo;
        // What is not finite is left empty.
        let [value, standard_error, lower, upper] = [value, standard_error, interval.lower, interval.upper]
            .map(|number| if number.is_finite() { format!("{:.3}", Number(number)) } else { String::new() });
        let games = rating.games;
        // Agents' texts may hold commas; a path might hold quotes.
        let agent = rating.agent.replace('"', "\"\"");
        let score = rating.score.map(|score| format!("{score:.6}")).unwrap_or_default();
        // Writing to a String cannot fail.
        _ = writeln!(
            lines,
            "{},\"{agent}\",{value},{standard_error},{lower},{upper},{},{},{},{},{},{score}",
            rank + 1,
            rating.is_anchor,
            games.games(),
            games.wins,
            games.draws,
            games.losses,
        );
    }
    lines
}

/// Returns the report; `is_kept` says whether the games are in a folder.
pub(super) fn text(report: &RatingReport, is_kept: bool) -> String {
    let counts = format!(
        "{} games count of {} played, {} openings of {} random actions, seats swapped",
        report.games, report.games_played, report.openings_distinct, report.opening_length
    );
    let mut text = beside(&format!("{}: ", report.ruleset), &counts) + "\n";
    match (&report.table, &report.refused) {
        (Some(table), _) => {
            table_text(&mut text, table);
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
    if report.is_interrupted {
        let hint =
            if is_kept { "run the same command to play the rest" } else { "without --out DIR the games are lost" };
        text += &format!("stopped early; {hint}\n");
        if report.games_waiting > 0 {
            text += &(beside("not counted: ", &waiting_text(report.games_waiting)) + "\n");
        }
    }
    text
}

fn table_text(text: &mut String, table: &RatingTable) {
    let width = table.agents.iter().map(|rating| rating.agent.len()).max().unwrap_or(5).max(5);
    let percent = table.confidence * 100.0;
    let interval = format!("{percent:.0} % interval");
    let bounds = |rating: &AgentRating| match (rating.is_anchor, rating.elo.bound_text(1)) {
        (true, _) => "given".to_owned(),
        (false, Some(bound)) => bound,
        (false, None) => {
            format!("[{:+.1}, {:+.1}]", Number(rating.elo.interval.lower), Number(rating.elo.interval.upper))
        }
    };
    let bounds_width = table.agents.iter().map(|rating| bounds(rating).len()).fold(interval.len(), usize::max);
    let mut rows = vec![format!("{:>7}  {interval:>bounds_width$}  {:>5}  {:>8}  +/=/-", "Elo", "games", "score")];
    for rating in &table.agents {
        let WinDrawLoss { wins, draws, losses } = rating.games;
        let bounds = bounds(rating);
        let score = rating.score.map_or("-".to_owned(), |score| format!("{:.2} %", score * 100.0));
        let elo =
            if rating.elo.value.is_finite() { format!("{:+.1}", Number(rating.elo.value)) } else { "-".to_owned() };
        let games = rating.games.games();
        rows.push(format!("{elo:>7}  {bounds:>bounds_width$}  {games:>5}  {score:>8}  {wins}/{draws}/{losses}"));
    }
    // Where the names leave no room for the numbers, these stand beneath them.
    let longest = rows.iter().map(String::len).max().unwrap_or(0);
    let has_room = RANK_COLUMNS + width + 2 + longest <= COLUMNS;
    let names = std::iter::once("agent").chain(table.agents.iter().map(|rating| rating.agent.as_str()));
    *text += "\n";
    for (rank, (name, numbers)) in names.zip(&rows).enumerate() {
        let rank = if rank == 0 { String::new() } else { rank.to_string() };
        *text += &match has_room {
            true => format!("{rank:>2}  {name:width$}  {numbers}\n"),
            false => format!("{rank:>2}  {name}\n    {numbers}\n"),
        };
    }
    *text += "\nlikelihood that the row is stronger than the column, %\n";
    let has_room = width + 2 + 6 * table.agents.len() <= COLUMNS;
    let width = if has_room { width } else { 2 };
    *text += &format!("{:width$}  ", "");
    for rank in 1..=table.agents.len() {
        *text += &format!("{rank:>6}");
    }
    *text += "\n";
    for ((rank, rating), row) in table.agents.iter().enumerate().zip(&table.superiority) {
        let name = if has_room { rating.agent.clone() } else { (rank + 1).to_string() };
        *text += &format!("{name:width$}  ");
        for likelihood in row {
            let shown = likelihood.map_or("-".to_owned(), |likelihood| format!("{:.1}", likelihood * 100.0));
            *text += &format!("{shown:>6}");
        }
        *text += "\n";
    }
    fit_text(text, table);
}

fn fit_text(text: &mut String, table: &RatingTable) {
    let share = |name: &str, rated: &Rated| {
        let [value, lower, upper] =
            [rated.value, rated.interval.lower, rated.interval.upper].map(|share| share * 100.0);
        match rated.standard_error > 0.0 {
            true => format!("  {name:<22} {value:.2} %  [{lower:.2}, {upper:.2}]\n"),
            false => format!("  {name:<22} {value:.2} %  no interval: all games are alike in this\n"),
        }
    };
    let equal = &table.equal_strength;
    *text += "\nthe player who begins, against an equal\n";
    *text += &share("expected score", &equal.score);
    *text += &share("wins", &equal.win);
    *text += &share("draws", &equal.draw);
    *text += &share("loses", &equal.loss);
    *text += &format!("  {:<22} {}\n", "score as Elo", elo_text(equal.elo, Some(equal.score.value)));
    let model = match table.model {
        DrawModel::Davidson => format!("Davidson, draw parameter ν {:.4}", table.draw_parameter),
        DrawModel::RaoKupper => format!("Rao-Kupper, draw parameter {:.1} Elo", table.draw_parameter * ELO_PER_NAT),
    };
    let advantage = table.advantage;
    *text += "\nthe fit\n";
    *text += &format!("  {:<22} {model}\n", "model");
    *text += &format!(
        "  {:<22} {:+.1} Elo  [{:+.1}, {:+.1}]\n",
        "first-move advantage γ",
        Number(advantage.value),
        Number(advantage.interval.lower),
        Number(advantage.interval.upper)
    );
    let errors = match table.errors {
        ErrorKind::ClusteredByOpening => "clustered by opening",
        ErrorKind::FisherInformation => {
            "Fisher information, as there are few openings, all say the same, or a prior holds the fit: they may be too small"
        }
    };
    *text += &(beside(&format!("  {:<22} ", "errors"), errors) + "\n");
    let tests = "games of one opening taken as independent: p is too small where openings matter";
    *text += &(beside(&format!("  {:<22} ", "tests"), tests) + "\n");
    let mut test = |name: &str, found: &Test<(f64, usize, f64)>| {
        let told = match found {
            Test::Done((statistic, degrees, p)) => format!("χ² {statistic:.2} of {degrees}, p {p:.3}"),
            Test::Refused(reason) => format!("none: {reason}"),
        };
        *text += &(beside(&format!("  {name:<22} "), &told) + "\n");
    };
    let ratio = |found: &Test<LikelihoodRatio>| found.map(|test| (test.statistic, test.degrees, test.p));
    test("model fits", &table.goodness_of_fit.map(|test| (test.statistic, test.degrees, test.p)));
    test("no advantage", &ratio(&table.advantage_test));
    test("same for all agents", &ratio(&table.constant_advantage_test));
    test(
        "same at all strengths",
        &table.advantage_by_strength.map(|test| {
            let ratio = test.likelihood_ratio;
            (ratio.statistic, ratio.degrees, ratio.p)
        }),
    );
}

/// Returns the results of all counted games for the player who began.
fn beginners(report: &RatingReport) -> WinDrawLoss {
    report.pairings.iter().map(|pairing| pairing.beginning + pairing.replying.reversed()).sum()
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

/// Returns how far a rating is.
pub(super) fn progress(at: &RatingProgress<'_>) -> String {
    let [one, other] = at.agents;
    let WinDrawLoss { wins, draws, losses } = at.results;
    format!("pairing {}/{}: {one} against {other} +{wins} ={draws} -{losses}", at.pairing + 1, at.pairings)
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

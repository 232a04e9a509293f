//! The report of a study: the numbers of the summary and no others, in HTML that needs nothing else.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Ruleset, RulesetFile, presets};
use latrunculi_eval::report;
use latrunculi_eval::study::StudySummary;
use latrunculi_eval::study::summary::{Conclusion, Doubt, RankAgreement};
use latrunculi_stats::compensation::FiellerSet;

use crate::report_fixture::study;

/// Returns a study with everything in it, and its page.
fn page() -> &'static (StudySummary, Vec<Ruleset>, String) {
    static PAGE: OnceLock<(StudySummary, Vec<Ruleset>, String)> = OnceLock::new();
    PAGE.get_or_init(make_page)
}

fn make_page() -> (StudySummary, Vec<Ruleset>, String) {
    let mut summary = study(4);
    let mut rulesets: Vec<Ruleset> =
        summary.rulesets.iter().map(|ruleset| presets::rules(&ruleset.name).ruleset().clone()).collect();
    rulesets[1].name = "<script>alert(\"no\")</script> & more".to_owned();
    summary.rulesets[1].title = rulesets[1].name.clone();
    let page = report::html(&summary, &rulesets);
    (summary, rulesets, page)
}

/// Returns what stands between every `start` and the next `end`.
fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| rest.split(end).next()).collect()
}

/// Checks that these numbers stand in a part of the page, each as an exact value.
#[track_caller]
fn assert_numbers(part: &str, numbers: &[f64]) {
    for number in numbers {
        assert!(part.contains(&format!("value=\"{number}\"")), "{number} is missing: {part}");
    }
}

/// Returns every number of a JSON value, by its bits.
fn numbers(value: &serde_json::Value, found: &mut BTreeSet<u64>) {
    match value {
        serde_json::Value::Number(number) => {
            found.extend(number.as_f64().map(f64::to_bits));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| numbers(item, found)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| numbers(field, found)),
        _ => {}
    }
}

/// Reads a number as the page writes it.
fn read(shown: &str) -> (f64, usize) {
    let text = shown.replace('−', "-").replace(['+', '\u{202f}'], "");
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    (text.parse().unwrap_or_else(|_| panic!("{shown} is no number")), decimals)
}

#[test]
fn every_number_on_the_page_is_one_of_the_summary() {
    let (summary, _, page) = page();
    let mut known = BTreeSet::new();
    numbers(&serde_json::to_value(summary).unwrap(), &mut known);
    let entries = between(page, "<data", "</data>");
    assert!(entries.len() > 1000, "{}", entries.len());
    for entry in entries {
        let (attributes, shown) = entry.split_once('>').expect("a start tag ends");
        let exact: f64 = between(attributes, "value=\"", "\"")[0].parse().expect("a value");
        // Counts of things in lists are lengths, not numbers of the summary.
        assert!(known.contains(&exact.to_bits()), "{entry} is not in the summary");
        let expected = match () {
            () if attributes.contains("class=\"p\"") => 100.0 * exact,
            () if attributes.contains("class=\"c\"") => 100.0 * (1.0 - exact),
            () if attributes.contains("class=\"small\"") => {
                assert!(exact < 0.001 && shown == "&lt; 0.001");
                continue;
            }
            () => exact,
        };
        let (number, decimals) = read(shown);
        assert!((number - expected).abs() <= 0.5001 * 0.1f64.powi(decimals as i32), "{entry}: {number} for {expected}");
    }
}

#[test]
fn the_table_of_results_says_what_the_summary_says() {
    let (summary, _, page) = page();
    let table = between(page, "<table class=\"cards sortable\"", "</table>")[0];
    let rows = between(table, "<tr role=\"row\"", "</tr>");
    assert_eq!(rows.len(), 3 + 1, "three rulesets were asked for, and the names of the columns");
    for ruleset in summary.rulesets.iter().filter(|ruleset| ruleset.derived.is_none()) {
        let link = format!("href=\"#r-{}\"", ruleset.name);
        let row = rows.iter().find(|row| row.contains(&link)).expect("every ruleset has a row");
        let cell = &ruleset.cells[summary.headline_agent];
        let score = cell.score.unwrap();
        let outcomes = cell.outcomes;
        assert_numbers(row, &[score.score, score.interval.lower, score.interval.upper]);
        assert_numbers(page, &[score.elo.value, score.elo.lower.unwrap()]);
        let counts = [outcomes.first_wins, outcomes.second_wins, outcomes.rule_draws, cell.games];
        assert_numbers(row, &counts.map(|count| count as f64));
    }
}

#[test]
fn balance_by_draws_is_told_from_balance_by_equal_chances() {
    let (summary, rulesets, _) = page();
    let mut summary = summary.clone();
    let headline = summary.headline_agent;
    for (ruleset, drawn) in summary.rulesets.iter_mut().zip([10, 90]) {
        let cell = &mut ruleset.cells[headline];
        cell.verdict.as_mut().unwrap().verdict = Conclusion::Balanced;
        let decisive = cell.decisive.as_mut().unwrap();
        (decisive.count, decisive.of, decisive.rate) = (100 - drawn, 100, 1.0 - drawn as f64 / 100.0);
    }
    let page = report::html(&summary, rulesets);
    let list = between(&page, "<ul class=\"verdicts\">", "</ul>")[0];
    let entry = |words: &str| {
        let entries: Vec<&str> =
            between(list, "<li", "</li>").into_iter().filter(|item| item.contains(words)).collect();
        assert_eq!(entries.len(), 1, "{words}: {list}");
        between(entries[0], "href=\"#", "\"")
    };
    assert_eq!(entry("with most games decisive, in 1 of 3"), ["r-bell-8x8"]);
    assert_eq!(entry("with most games drawn, in 1 of 3"), ["r-dutch-8x8"]);
    let table = between(&page, "<table class=\"cards sortable\"", "</table>")[0];
    let row = |id: &str| table.split("<tr").find(|row| row.contains(&format!("#r-{id}\""))).unwrap();
    assert!(row("dutch-8x8").contains("mostly drawn") && !row("bell-8x8").contains("mostly drawn"));
}

#[test]
fn a_verdict_stands_beside_what_it_rests_on() {
    let (summary, rulesets, _) = page();
    let mut summary = summary.clone();
    let headline = summary.headline_agent;
    let cell = &mut summary.rulesets[1].cells[headline];
    let verdict = cell.verdict.as_mut().unwrap();
    verdict.verdict = Conclusion::EvenWithThisPlayer;
    verdict.doubts = vec![Doubt::FewCaptures, Doubt::KindsDisagree];
    let pair = RankAgreement {
        agents: ["alphabeta:nodes=2000".to_owned(), "alphabeta:nodes=8000".to_owned()],
        rulesets: 3,
        tau: Some(0.61),
        told_apart: 3,
        alike: 2,
    };
    verdict.rank_agreement = Some(pair.clone());
    let (contact, last) = (cell.contact.unwrap(), verdict.last_doubling.unwrap());
    let page = report::html(&summary, rulesets);
    let list = between(&page, "<ul class=\"verdicts\">", "</ul>")[0];
    let reasons = "(captures in too few games, kinds of players disagree)";
    let item =
        list.split("<li").find(|item| item.contains("Even with this player, but not shown to be balanced")).unwrap();
    assert!(item.contains("#r-dutch-8x8\"") && item.contains(reasons), "{item}");
    let table = between(&page, "<table class=\"cards sortable\"", "</table>")[0];
    assert!(table.contains("alphabeta:nodes=2000") && table.contains("value=\"0.61\""));
    let row = table.split("<tr").find(|row| row.contains("#r-dutch-8x8\"")).unwrap();
    for text in ["even with this player", "captures in too few games", "kinds of players disagree", "unclear, "] {
        assert!(row.contains(text), "{text} is missing: {row}");
    }
    assert_numbers(row, &[contact.rate, last.interval.upper]);
    let ladders = between(&page, "<section id=\"ladders\"", "</section>")[0];
    assert!(ladders.contains("not monotone") && ladders.contains("passes to the other player"));
}

#[test]
fn what_would_make_it_fair_stands_beside_the_scores() {
    let (summary, rulesets, page) = page();
    let section = between(page, "<section id=\"remedies\"", "</section>")[0];
    let compensation = summary.rulesets[0].compensation.as_ref().unwrap();
    let Some(FiellerSet::Within(interval)) = compensation.fair_handicap_set else { panic!("an interval") };
    let row = section.split("<tr>").find(|row| row.contains("#r-bell-8x8\"")).unwrap();
    assert_numbers(row, &[compensation.fair_handicap.unwrap(), interval.lower, interval.upper]);
    let phases = summary.rulesets[0].phases.as_ref().unwrap();
    assert_numbers(row, &[phases.by_placement.unwrap().difference, phases.by_movement.unwrap().difference]);
    assert!(page.contains("href=\"#remedies\""));
    // Without any of it there is neither the section nor a link to it.
    let mut plain = summary.clone();
    (plain.rulesets[0].compensation, plain.rulesets[0].pie, plain.rulesets[0].phases) = (None, None, None);
    assert!(!report::html(&plain, rulesets).contains("remedies"));
}

#[test]
fn the_bare_policy_has_a_place_on_the_ladder() {
    let (summary, rulesets, _) = page();
    let mut summary = summary.clone();
    assert_eq!(summary.agents[3].budget, Some(100));
    summary.agents[3].budget = Some(0);
    let page = report::html(&summary, rulesets);
    let plot = between(&page, "aria-label=\"First player’s score in bell-8x8 by budget\"", "</svg>")[0];
    let ticks: Vec<&str> =
        between(plot, "<text", "</text>").into_iter().filter_map(|text| Some(text.split_once('>')?.1)).collect();
    assert!(ticks.contains(&"0"), "{ticks:?}");
    // The other budgets are not pushed together at the end of the axis.
    assert!(["400", "2k", "8k"].iter().filter(|tick| ticks.contains(tick)).count() >= 2, "{ticks:?}");
}

#[test]
fn the_board_says_whose_pieces_begin() {
    let (summary, rulesets, page) = page();
    assert!(page.contains("first player's pieces are light, at the bottom"));
    let text = rulesets[1].to_toml().replace("first_player = 1", "first_player = 2");
    let changed = RulesetFile::parse(&text).expect("a ruleset").ruleset;
    let opening = |ruleset: &Ruleset| {
        let mut alone = StudySummary { rulesets: vec![summary.rulesets[1].clone()], ..summary.clone() };
        alone.rulesets[0].fingerprint = ruleset_fingerprint(ruleset);
        let page = report::html(&alone, std::slice::from_ref(ruleset));
        between(&page, "<svg class=\"board\"", "</svg>")[0].to_owned()
    };
    let (one, two) = (opening(&rulesets[1]), opening(&changed));
    assert!(two.contains("first player's pieces are dark, at the top"), "{two}");
    let pieces = |board, kind| between(board, kind, "/").join(" ");
    // Whoever begins: player 1 is light.
    for kind in ["<circle class=\"piece one\"", "<circle class=\"piece two\""] {
        assert!(!pieces(&one, kind).is_empty());
        assert_eq!(pieces(&one, kind), pieces(&two, kind));
    }
}

#[test]
fn every_player_has_a_score_in_the_table_of_ladders() {
    let (summary, _, page) = page();
    let section = between(page, "<section id=\"ladders\"", "</section>")[0];
    let table = between(section, "aria-label=\"Scores by ruleset and player\"", "</table>")[0];
    for ruleset in summary.rulesets.iter().filter(|ruleset| ruleset.derived.is_none()) {
        let row = table.split("<tr>").find(|row| row.contains(&format!("#r-{}\"", ruleset.name))).unwrap();
        for cell in &ruleset.cells {
            let score = cell.score.unwrap();
            assert_numbers(row, &[score.score, score.interval.lower, score.interval.upper]);
        }
    }
}

#[test]
fn a_summary_is_the_same_after_it_was_written_and_read() {
    let (summary, ..) = page();
    let json = summary.to_json().unwrap();
    let read: StudySummary = serde_json::from_str(&json).unwrap();
    assert!(&read == summary);
    // Readable from above, and without a line for each number of a curve.
    assert!(json.starts_with("{\n  \"format\": ") && json.ends_with("\n}\n"));
    let lines = json.lines().count();
    assert!(lines * 3 < serde_json::to_string_pretty(summary).unwrap().lines().count(), "{lines} lines");
}

#[test]
fn budgets_stand_below_their_points() {
    let (_, _, page) = page();
    let ladder = between(page, "score in bell-8x8 by budget</title>", "</svg>")[0];
    // Of 400 and 500, which are too near to each other, one is left out.
    let ticks = between(ladder, "text-anchor=\"middle\">", "</text>");
    assert_eq!(ticks, ["100", "400", "2k", "8k", "nodes or simulations a choice"]);
}

#[test]
fn the_page_needs_nothing_else() {
    let (_, _, page) = page();
    for forbidden in ["http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "<object", "javascript:"] {
        assert!(!page.contains(forbidden), "{forbidden} is on the page");
    }
    // Links stay on the page, and lead somewhere.
    let ids: BTreeSet<&str> = between(page, " id=\"", "\"").into_iter().collect();
    assert_eq!(ids.len(), between(page, " id=\"", "\"").len(), "an id is listed twice");
    for target in between(page, "href=\"", "\"") {
        let id = target.strip_prefix('#').unwrap_or_else(|| panic!("{target} leads away"));
        assert!(ids.contains(id), "#{id} leads nowhere");
    }
    for label in between(page, "aria-labelledby=\"", "\"") {
        assert!(ids.contains(label), "{label} labels nothing");
    }
}

#[test]
fn the_page_is_well_formed_and_readable_without_eyes() {
    let (_, _, page) = page();
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"));
    check_nesting(page);
    // Every picture that is not mere decoration has a title and a description; every table says what it is.
    for picture in between(page, "<svg", "</svg>")
        .into_iter()
        .filter(|svg| !svg.starts_with(" aria-hidden") && svg.contains("role=\"img\""))
    {
        assert!(picture.contains("<title>") && picture.contains("<desc>"), "{}", &picture[..picture.len().min(200)]);
    }
    let tables = between(page, "<table", "</table>");
    assert!(tables.len() > 10 && tables.iter().all(|table| table.contains("<caption>")));
    assert_eq!(between(page, "<h1", "</h1>").len(), 1);
    // Headings never leave out a level.
    let levels: Vec<u32> = between(page, "<h", ">")
        .into_iter()
        .filter_map(|tag| tag.chars().next().and_then(|digit| digit.to_digit(10)))
        .collect();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

/// Checks that every element that must end does, in the right order.
fn check_nesting(page: &str) {
    const VOID: [&str; 4] = ["meta", "br", "!DOCTYPE", "link"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("every tag ends");
        let tag = &rest[..end];
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "</{closed}> closes another element");
        } else if !VOID.contains(&name) {
            open.push(name);
            if ["style", "script"].contains(&name) {
                // What is inside is no markup.
                let close = format!("</{name}>");
                rest = &rest[rest.find(&close).expect("it ends")..];
                continue;
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?} never end");
}

#[test]
fn names_and_titles_are_escaped() {
    let (_, _, page) = page();
    assert!(page.contains("&lt;script&gt;alert(&quot;no&quot;)&lt;/script&gt; &amp; more"));
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("A study of &lt;every&gt; ruleset &amp; its &quot;balance&quot;"));
}

#[test]
fn rules_are_shown_only_where_they_are_those_that_were_played() {
    let (summary, rulesets, page) = page();
    let mut rulesets = rulesets.clone();
    assert_eq!(page.matches("class=\"opening\"").count(), 4);
    assert!(page.contains("Each dux is placed after the men"));
    rulesets[0].end.quiet_limit += 1;
    rulesets.remove(3);
    let page = report::html(summary, &rulesets);
    assert_eq!(page.matches("class=\"opening\"").count(), 2);
    assert!(!page.contains("Each dux is placed after the men."));
}

#[test]
fn a_study_that_has_only_begun_has_a_page_too() {
    let (_, rulesets, _) = page();
    let mut summary = study(3);
    summary.rulesets.drain(..2);
    for cell in &mut summary.rulesets[0].cells {
        (cell.games, cell.score, cell.verdict, cell.decisive, cell.first_of_decisive) = (0, None, None, None, None);
        (cell.effective_games, cell.effort_mean, cell.second_opening) = (None, None, None);
        cell.outcomes = Default::default();
        cell.ends.clear();
    }
    let ruleset = &mut summary.rulesets[0];
    (ruleset.trends, ruleset.agreements, ruleset.compensation) = (Vec::new(), Vec::new(), None);
    (ruleset.pie, ruleset.phases) = (None, None);
    let page = report::html(&summary, rulesets);
    check_nesting(&page);
    assert!(page.contains("no games") && page.contains("Not finished."));
    assert!(!page.replace("isNaN", "").contains("NaN"));
    assert!(!page.contains("id=\"ladders\"") && !page.contains("id=\"games\""));
    summary.rulesets.clear();
    check_nesting(&report::html(&summary, &[]));
}

/// Returns the luminance of a colour such as `#8a2f20`, from 0 to 1.
///
/// Source: W3C, Web Content Accessibility Guidelines 2.2, "relative luminance".
fn luminance(colour: &str) -> f64 {
    let part = |from: usize| {
        let value = f64::from(u8::from_str_radix(&colour[from..from + 2], 16).expect("two hexadecimal digits")) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn colours_can_be_told_from_their_ground_in_light_and_dark() {
    let (_, _, page) = page();
    let style = between(page, "<style>", "</style>")[0];
    // Light, dark, print.
    let themes: Vec<&str> = between(style, ":root {", "}");
    assert_eq!(themes.len(), 3);
    for theme in themes {
        let colour = |name: &str| between(theme, &format!("--{name}: "), ";").first().copied().map(str::to_owned);
        let grounds = ["paper", "card", "warn"].map(|name| colour(name).expect("a ground"));
        for name in ["ink", "soft", "accent", "s1", "s2", "s3", "s4", "first", "second", "even", "open"] {
            let found = colour(name).expect("a colour");
            for ground in &grounds {
                let (one, other) = (luminance(&found), luminance(ground));
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                assert!(contrast >= 4.5, "{name} {found} on {ground}: {contrast:.2}");
            }
        }
    }
}

//! Learning curves: which network a match was about, and what the page and the table say of it.

use std::collections::BTreeMap;

use latrunculi_data::{MatchScore, StepReport};
use latrunculi_eval::learning::{
    EarlierMatch, GameMetrics, LearningRun, Round, RulesetMetrics, RunMatch, TrainingMetrics, by_opponent, standings,
    to_csv,
};
use latrunculi_eval::report::learning_html;
use latrunculi_stats::{Confidence, Estimate};

fn verdict(wins: u64, losses: u64) -> RunMatch {
    let (games, score) = ((wins + losses) as f64, wins as f64 / (wins + losses) as f64);
    let half_width = 1.0 / games;
    let (lower, upper) = (score - half_width, score + half_width);
    let margin = Some(Estimate { value: score - 0.5, standard_error: 0.01 });
    let result = MatchScore { wins, draws: 0, losses, score, lower, upper };
    RunMatch { opponent: "alphabeta:nodes=200".into(), simulations: 64, result, margin, earlier: None }
}

fn round(generation: u64, elapsed_secs: f64, games: Option<u64>, steps: u64, steps_total: u64) -> Round {
    let heads = [2.5, 0.75, 0.0, 0.0, 0.0, 0.0];
    let losses = StepReport { loss: 4.0, heads, target_entropy: 1.5, ..StepReport::default() };
    let of_games = |games| {
        let (draw_rate, first_player_score, actions_mean) = (Some(0.25), Some(0.625), Some(90.5));
        let all = RulesetMetrics { games, draw_rate, first_player_score, actions_mean, ..RulesetMetrics::default() };
        GameMetrics { all, ..GameMetrics::default() }
    };
    Round {
        generation,
        elapsed_secs,
        round_secs: 60.0,
        samples_total: 1000 * (generation + 1),
        steps_total,
        window: 1000,
        training: TrainingMetrics { steps, losses, train_secs: 30.0, ..TrainingMetrics::default() },
        teacher: games.map(|_| generation == 0),
        games: games.map(of_games),
        ..Round::default()
    }
}

fn of_bell(verdict: RunMatch) -> BTreeMap<String, RunMatch> {
    [("bell".to_owned(), verdict)].into()
}

fn run(name: &str) -> LearningRun {
    let mut rounds = vec![
        round(0, 60.0, Some(500), 0, 0),
        round(1, 120.0, Some(64), 30, 30),
        round(2, 180.0, Some(64), 10, 40),
        round(3, 240.0, None, 10, 50),
    ];
    rounds[2].verdicts = of_bell(verdict(3, 13));
    LearningRun {
        name: name.to_owned(),
        rulesets: vec!["bell".to_owned()],
        network: "4 blocks x 32 channels".to_owned(),
        simulations: 16,
        rounds,
        is_cut: false,
        result: Some(of_bell(verdict(20, 12))),
    }
}

#[test]
fn a_match_is_about_the_network_that_its_round_began_with() {
    let measured = run("one").measured();
    assert_eq!(measured.len(), 2);
    let (within, last) = (&measured[0], &measured[1]);
    assert_eq!((within.minutes, within.generations, within.games, within.steps), (2.0, 2, 564, 30));
    assert_eq!(within.verdict, verdict(3, 13));
    // The round after the last generation only trains.
    assert_eq!((last.minutes, last.generations, last.games, last.steps), (4.0, 3, 628, 50));
    // Where the training comes first, the match is about what came of it.
    let mut learns_first = run("one");
    learns_first.rounds[2].learns_first = true;
    let within = &learns_first.measured()[0];
    assert_eq!((within.minutes, within.generations, within.games, within.steps), (2.5, 2, 564, 40));
    let unfinished = LearningRun { result: None, ..run("one") };
    assert_eq!(unfinished.measured().len(), 1);
}

#[test]
fn the_table_has_a_row_for_each_match() {
    let table = to_csv(&[run("one, \"first\""), run("two")]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 2);
    assert!(
        lines[0].starts_with("run,ruleset,network,") && lines[0].ends_with(",elo_upper,elo_is_held"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("\"one, \"\"first\"\"\",bell,4 blocks x 32 channels,16,2.000000,2,564,30,"),
        "{}",
        lines[1]
    );
    assert!(
        lines[4].ends_with(",20,0,12,0.625000,0.593750,0.656250,0.125000,0.105400,0.144600,,,,,,,,"),
        "{}",
        lines[4]
    );
    assert!(lines[3..].iter().all(|line| line.split(',').count() == lines[0].split(',').count()));
}

/// Tells whether a number on the page, or a place of a drawing, is none.
fn has_no_number(page: &str) -> bool {
    let shown = page.rsplit_once("<script>").expect("a script at the end").0;
    ["NaN", ">inf", "\"inf", " inf", "-inf"].iter().any(|none| shown.contains(none))
}

#[test]
fn the_page_shows_every_score_with_its_interval() {
    let runs = [run("one"), run("<script>alert(1)</script>")];
    let page = learning_html(&runs, "9.9.9");
    for verdict in [verdict(3, 13), verdict(20, 12)] {
        let margin = verdict.margin.expect("it was measured");
        let ends = margin.interval(Confidence::NINETY_FIVE);
        for number in [margin.value, ends.lower, ends.upper] {
            let shown = page.matches(&format!("value=\"{number}\"")).count();
            assert!(shown >= runs.len(), "{number} stands {shown} times");
        }
        let result = verdict.result;
        for number in [result.score, result.lower, result.upper] {
            let shown = page.matches(&format!("value=\"{number}\"")).count();
            assert!(shown >= 2 * runs.len(), "{number} stands {shown} times");
        }
    }
    assert!(page.contains("latrunculi 9.9.9") && page.contains("against alphabeta:nodes=200 with 64 simulations"));
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    assert!(!has_no_number(&page), "a number is none");
    assert_eq!(page.matches("<svg class=\"plot\"").count(), 5 * runs.len(), "five plots a run");
}

#[test]
fn matches_on_other_terms_are_another_curve() {
    let mut changed = run("one");
    changed.rounds[1].verdicts = of_bell(RunMatch { opponent: "random".into(), ..verdict(16, 0) });
    let measured = changed.measured();
    let parts = by_opponent(&measured);
    assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(parts[1], [&measured[1], &measured[2]]);
    let page = learning_html(&[changed.clone()], "9.9.9");
    let results = page.split("<h2").nth(1).expect("the table of runs").to_owned();
    // In the table of runs the last opponent's matches stand beside each other, not 100 % against another one.
    assert!(results.contains("18.8") && results.contains("62.5") && !results.contains("100.0"), "{results}");
    assert!(page.contains("Score by opponent") && !page.contains("one opponent that stayed the same"));
    for name in ["random with 64 simulations", "alphabeta:nodes=200 with 64 simulations"] {
        assert!(page.contains(name), "{name}");
    }
    assert!(page.contains(">Against</th>") && !has_no_number(&page));
    // Thinking longer is another match too.
    changed.rounds[1].verdicts = of_bell(RunMatch { simulations: 8, ..verdict(16, 0) });
    assert_eq!(by_opponent(&changed.measured()).len(), 2);
    assert_eq!(by_opponent(&run("one").measured()).len(), 1);
}

#[test]
fn a_run_that_has_only_begun_has_a_page_too() {
    for rounds in [Vec::new(), vec![round(0, 60.0, Some(500), 0, 0)]] {
        let begun = LearningRun { rounds, result: None, ..run("new") };
        assert!(begun.measured().is_empty());
        let page = learning_html(&[begun], "9.9.9");
        assert!(page.contains("not measured") && page.contains("not finished"), "{page}");
        assert!(!has_no_number(&page) && !page.contains("<svg class=\"plot\""));
    }
}

/// A run over three rulesets, of which two were measured.
fn run_over_several() -> LearningRun {
    let mut several = run("all");
    several.rulesets = ["bell", "dutch", "savard"].map(str::to_owned).to_vec();
    let played = RulesetMetrics {
        games: 7,
        samples: 210,
        draw_rate: Some(0.5),
        first_player_score: Some(0.25),
        actions_mean: Some(33.5),
        ..RulesetMetrics::default()
    };
    several.rounds[1].games.as_mut().expect("games were played").rulesets =
        several.rulesets.iter().map(|name| (name.clone(), played)).collect();
    several.rounds[1].verdicts = [("bell".to_owned(), verdict(8, 8)), ("dutch".to_owned(), verdict(12, 4))].into();
    several.rounds[2].verdicts = [("bell".to_owned(), verdict(4, 12))].into();
    several.result = None;
    several
}

#[test]
fn the_last_score_of_each_ruleset_makes_mean_and_worst() {
    let measured = run_over_several().measured();
    assert_eq!(measured.iter().map(|one| one.ruleset.as_str()).collect::<Vec<_>>(), ["bell", "dutch", "bell"]);
    let found: Vec<(f64, usize, f64, f64)> =
        standings(&measured).iter().map(|one| (one.minutes, one.rulesets, one.mean, one.worst)).collect();
    assert_eq!(found, [(1.0, 2, 0.625, 0.5), (2.0, 2, 0.5, 0.25)]);
    // Against another opponent the scores are others.
    let mut changed = measured.clone();
    changed[2].verdict.opponent = "random".to_owned();
    let found: Vec<(usize, f64)> = standings(&changed).iter().map(|one| (one.rulesets, one.mean)).collect();
    assert_eq!(found, [(1, 0.25)]);
}

#[test]
fn the_page_of_several_rulesets_has_a_curve_for_each_that_was_measured() {
    let page = learning_html(&[run_over_several()], "9.9.9");
    assert!(page.contains("How all learnt 3 rulesets") && page.contains("one opponent that stayed the same"));
    for title in ["Mean and worst score of all", "Score of all in bell", "Score of all in dutch"] {
        assert!(page.contains(title), "{title}");
    }
    assert!(!page.contains("Score of all in savard"), "it was not measured");
    assert!(page.contains(" of 2),"), "the table has the mean over both");
    assert!(page.contains("worst") && page.contains("33.5") && !has_no_number(&page));
}

/// A match after `generation` generations that ended so from the view of the later network.
fn earlier(generation: u64, wins: u64, draws: u64, losses: u64) -> Option<EarlierMatch> {
    let score = (wins as f64 + 0.5 * draws as f64) / (wins + draws + losses) as f64;
    let result = MatchScore { wins, draws, losses, score, lower: score - 0.1, upper: score + 0.1 };
    Some(EarlierMatch { generation, result })
}

#[test]
fn matches_between_networks_of_a_run_join_those_against_its_opponent_to_one_rating() {
    let mut run = run("one");
    let elo = |run: &LearningRun| run.measured().iter().map(|one| one.elo).collect::<Vec<_>>();
    assert!(elo(&run).iter().all(Option::is_none), "without such a match a score says all");

    // Both matches say the same: the later network is ahead of the earlier one by what the scores differ.
    rounds_with(&mut run, verdict(8, 8), RunMatch { earlier: earlier(2, 12, 0, 4), ..verdict(12, 4) });
    let [first, last] = elo(&run)[..] else { panic!("two matches") };
    let (first, last) = (first.unwrap(), last.unwrap());
    // Three games won for each that is lost: 400 log10(3) Elo.
    let ahead = 400.0 * 3f64.log10();
    assert!(first.value.abs() < 1e-6 && (last.value - ahead).abs() < 1e-6, "{first:?} {last:?}");

    // A second opponent is on the same scale, by way of the networks that played it.
    let other = RunMatch { opponent: "random".into(), earlier: earlier(2, 12, 0, 4), ..verdict(8, 8) };
    rounds_with(&mut run, verdict(8, 8), other);
    let last = elo(&run)[1].unwrap();
    assert!((last.value - ahead).abs() < 1e-6, "{last:?}");
    assert!(run.measured().iter().all(|one| !one.is_elo_held));
    assert!(!learning_html(&[run.clone()], "1.0").contains("weak prior"));

    // Where all games are won the games say how much at least.
    rounds_with(&mut run, verdict(16, 0), RunMatch { earlier: earlier(2, 16, 0, 0), ..verdict(16, 0) });
    let [first, last] = elo(&run)[..] else { panic!("two matches") };
    let (first, last) = (first.unwrap(), last.unwrap());
    assert!(first.value == f64::INFINITY && first.interval.upper == f64::INFINITY, "{first:?}");
    assert!(first.interval.lower > 0.0 && last.interval.lower > first.interval.lower, "{first:?} {last:?}");
    assert!(run.measured().iter().all(|one| !one.is_elo_held));

    let page = learning_html(&[run.clone()], "1.0");
    assert!(page.contains("Against itself") && page.contains("<th scope=\"col\">Elo</th>"), "{page}");
    assert!(page.contains("at least +") && page.contains("bounded from one side") && !has_no_number(&page), "{page}");
    let row = to_csv(&[run.clone()]).lines().last().unwrap().to_owned();
    let bound = format!(",,{:.6},,false", last.interval.lower);
    assert!(row.contains(",2,1.000000,0.900000,1.100000,") && row.ends_with(&bound), "{row}");

    // Whoever never loses but draws is nowhere in a model that leaves draws open: a prior holds the numbers.
    let drawn = |wins, draws| {
        let verdict = verdict(16, 0);
        RunMatch { result: MatchScore { wins, draws, ..verdict.result }, ..verdict }
    };
    rounds_with(&mut run, drawn(14, 2), RunMatch { earlier: earlier(2, 0, 16, 0), ..drawn(14, 2) });
    assert!(run.measured().iter().all(|one| one.is_elo_held && one.elo.unwrap().value.is_finite()));
    let page = learning_html(&[run.clone()], "1.0");
    assert!(page.contains("* <span") && page.contains("a weak prior holds these numbers"), "{page}");
    assert!(to_csv(&[run]).lines().last().unwrap().ends_with(",true"));
}

/// The matches before the third round and at the end.
fn rounds_with(run: &mut LearningRun, before: RunMatch, end: RunMatch) {
    run.rounds[2].verdicts = of_bell(before);
    run.result = Some(of_bell(end));
}

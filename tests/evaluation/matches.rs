//! Matches: the same result however they are played, repeated games found, better agents win.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;

use latrunculi_engine::presets::rules;
use latrunculi_engine::{Rules, presets};
use latrunculi_eval::Players;
use latrunculi_eval::agents::{NetworkPlay, OpenedNetwork};
use latrunculi_eval::matches::openings::{OpeningBook, default_length};
use latrunculi_eval::matches::{MatchConfig, MatchProgress, MatchReport, play_match};
use latrunculi_search::SEARCH_VERSION;
use latrunculi_search::evaluators::Uniform;
use latrunculi_search::mcts::Settings;
use latrunculi_stats::{Confidence, Sprt, SprtBounds, SprtVerdict};

use crate::agents::{on_threads, opened, spec, uniform};

fn config(a: &str, b: &str, pairs: usize) -> MatchConfig {
    MatchConfig { seed: 1, keep_records: true, ..MatchConfig::new([spec(a), spec(b)], pairs) }
}

fn go_on(_: &MatchProgress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn play(ruleset: &str, config: &MatchConfig) -> MatchReport {
    play_match(&rules(ruleset), config, &mut opened, &mut go_on).expect("a match")
}

fn json(report: &MatchReport) -> serde_json::Value {
    serde_json::to_value(report).expect("a report is JSON")
}

#[test]
fn greedy_beats_random() {
    let report = play("bell", &config("greedy", "random", 40));
    assert_eq!(report.games, 80);
    let interval = report.interval.unwrap();
    assert!(interval.lower > 0.5, "{interval:?}");
    assert!(report.likelihood_of_superiority.is_none_or(|likelihood| likelihood > 0.99));
}

#[test]
fn alphabeta_beats_greedy() {
    let report = play("bell", &config("alphabeta:nodes=500", "greedy", 15));
    let interval = report.interval.unwrap();
    assert!(interval.lower > 0.5 && interval.contains(report.score.unwrap()), "{:?} {interval:?}", report.total);
    assert!(report.effort_mean[0].unwrap() > 100.0 && report.effort_mean[1].is_none());
    assert_eq!(report.by_seat.beginning.games(), 15);
    assert_eq!(report.by_seat.replying.games(), 15);
    assert_eq!(report.ends.values().sum::<u64>(), 30);
}

#[test]
fn margins_that_are_all_alike_have_an_interval_all_the_same() {
    // A few quiet actions after the opening no man is lost: all margins are 0, and the next might be another.
    let mut quiet = presets::ruleset("dutch-8x8-noking").expect("shipped");
    quiet.end.quiet_limit = 4;
    let rules = Arc::new(Rules::new(&quiet).expect("valid"));
    let config = MatchConfig { opening_length: Some(2), ..config("random", "greedy", 10) };
    let report = play_match(&rules, &config, &mut opened, &mut go_on).expect("a match");
    let margin = report.margin.expect("ten pairs");
    let interval = margin.interval_of_margin(Confidence::NINETY_FIVE);
    assert_eq!(margin.value, 0.0);
    // None of n pairs had another margin: Clopper and Pearson allow that many.
    let allowed = 1.0 - 0.025f64.powf(1.0 / report.table.pairs() as f64);
    assert!(report.table.pairs() >= 5, "{}", report.table.pairs());
    assert!((interval.upper - allowed).abs() < 1e-6 && (interval.lower + allowed).abs() < 1e-6, "{interval:?}");
}

#[test]
fn the_margin_tells_who_is_ahead() {
    let report = play("bell-8x8", &config("alphabeta:nodes=100", "random", 4));
    let rules = rules("bell-8x8");
    let margins: Vec<f64> = report
        .records
        .iter()
        .map(|game| {
            let end = game.record.as_ref().expect("kept").replay(&rules).expect("it replays");
            // The first agent sits where it began.
            let beginner = rules.initial_position().player_to_act();
            let player = if game.beginner == 0 { beginner } else { beginner.opponent() };
            let men = |player| end.position().stones(player).len() as f64;
            (men(player) - men(player.opponent())) / f64::from(rules.initial_position().hand(player).stones())
        })
        .collect();
    let margin = report.margin.expect("four pairs");
    assert!((margin.value - margins.iter().sum::<f64>() / 8.0).abs() < 1e-6, "{margin:?} {margins:?}");
    assert!(margin.value > 0.1 && margin.standard_error > 0.0, "{margin:?}");
    assert!(play("bell-8x8", &config("greedy", "random", 1)).margin.is_none(), "one pair has no spread");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    for ruleset in ["bell-8x8", "dutch-placement"] {
        let of_threads = |threads| {
            let report = play(
                ruleset,
                &MatchConfig { players: on_threads(threads), ..config("alphabeta:nodes=100", "mcts:sims=5", 6) },
            );
            (json(&report), report.records)
        };
        let alone = of_threads(1);
        assert_eq!(alone, of_threads(4), "{ruleset}");
    }
}

#[test]
fn a_network_plays_the_same_alone_and_in_company() {
    let at_once = |games_at_once, threads| {
        let players = Players { games_at_once, ..on_threads(threads) };
        let config = MatchConfig { players, ..config("net:any,sims=6", "alphabeta:nodes=50", 6) };
        let report = play("bell-8x8", &config);
        (json(&report), report.records)
    };
    let alone = at_once(1, 1);
    assert_eq!(alone, at_once(8, 2));
    assert_eq!(alone, at_once(100, 4));
    assert_eq!(alone, at_once(2, 4), "two threads for each game");
}

#[test]
fn a_match_by_the_clock_says_so_and_goes_on_from_its_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Some(folder.path().join("games.jsonl"));
    let clocked = |pairs, games_at_once| {
        let timed = config("net:any,seconds=0.01", "alphabeta:seconds=0.01", pairs);
        let players = Players { games_at_once, ..on_threads(4) };
        let config = MatchConfig { players, ledger: ledger.clone(), ..timed };
        play("bell-8x8", &config)
    };
    let first = clocked(1, 64);
    assert_eq!((first.games_played, first.threads_per_game), (2, Some(2)), "no more games at once than there are");
    let records = |report: &MatchReport| {
        std::fs::read_to_string(ledger.as_ref().unwrap()).unwrap().lines().count() as u64 == report.games_played
    };
    assert!(records(&first));
    let more = clocked(3, 2);
    assert_eq!((more.games_played, more.threads_per_game), (6, Some(2)));
    assert!(records(&more), "the games of before are not played again");
    assert!(more.effort_mean.iter().all(|effort| effort.is_some_and(|effort| effort > 1.0)), "{:?}", more.effort_mean);
    assert_eq!(play("bell-8x8", &config("greedy", "random", 1)).threads_per_game, None);
}

#[test]
fn two_networks_share_a_match() {
    let report = play("bell-8x8", &config("net:one,sims=4", "net:other,sims=8", 4));
    assert_eq!(report.games_played, 8);
    let report = play("bell-8x8", &config("net:one,sims=4", "net:one,sims=8", 4));
    assert_eq!(report.games_played, 8);
}

#[test]
fn a_match_that_would_repeat_one_game_says_so_and_refuses_an_interval() {
    let from_the_start = |a, b| play("dutch", &MatchConfig { opening_length: Some(0), ..config(a, b, 20) });
    let report = from_the_start("alphabeta:nodes=60", "alphabeta:nodes=40");
    assert_eq!((report.games_played, report.games, report.pairs_repeated), (2, 2, 19));
    assert!(report.interval.is_none() && report.elo.is_none());
    assert!(report.interval_refused.unwrap().contains("would repeat one game"));
    // Who draws lots does not repeat himself.
    let report = from_the_start("random", "greedy");
    assert_eq!((report.pairs_repeated, report.openings_distinct), (0, 1));
    assert!(report.interval.is_some());
}

#[test]
fn an_agent_without_lots_against_itself_repeats_every_game() {
    let report = play("bell-8x8", &config("alphabeta:nodes=40", "alphabeta:nodes=40", 5));
    assert_eq!((report.games_played, report.games_distinct, report.games), (10, 5, 0));
    assert!(report.interval.is_none());
    assert!(report.interval_refused.unwrap().contains("repeats itself"));
}

#[test]
fn openings_differ_even_in_the_mirror() {
    let rules = rules("dutch");
    // Few single actions differ, and each pair of mirror images counts once.
    let book = OpeningBook::draw(&rules, 3, 200, 1);
    let distinct = book.distinct();
    assert!(distinct < 50 && book.openings.iter().any(|opening| opening.redrawn > 0), "{distinct}");
    for opening in book.openings.iter().filter_map(|opening| opening.repeats) {
        assert!(book.openings[opening].repeats.is_none());
    }
    let longer = OpeningBook::draw(&rules, 3, 200, default_length(&rules));
    assert_eq!(longer.distinct(), 200);
    assert_eq!(OpeningBook::draw(&rules, 3, 50, default_length(&rules)).openings, longer.openings[..50]);
}

#[test]
fn games_of_another_network_under_the_same_name_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Some(folder.path().join("games.jsonl"));
    let config = MatchConfig { ledger, ..config("net:any,sims=4", "greedy", 1) };
    for identity in ["one", "another"] {
        let mut open = |_: &Arc<Rules>, model: &str| Ok((identity.to_owned(), uniform(model)?));
        let mut played = 0;
        let report = play_match(&rules("bell-8x8"), &config, &mut open, &mut |progress| {
            assert_eq!((progress.results.games() as usize, progress.games_max), (progress.games, 2));
            played += usize::from(progress.record.is_some());
            ControlFlow::Continue(())
        });
        assert_eq!((report.unwrap().games, played), (2, 2));
    }
}

#[test]
fn games_of_another_alphabeta_under_the_same_name_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let config = MatchConfig { ledger: Some(path.clone()), ..config("alphabeta:nodes=40", "greedy", 2) };
    let played = || {
        let mut played = 0;
        play_match(&rules("bell-8x8"), &config, &mut opened, &mut |progress| {
            played += usize::from(progress.record.is_some());
            ControlFlow::Continue(())
        })
        .unwrap();
        played
    };
    assert_eq!((played(), played()), (4, 0));
    let text = fs::read_to_string(&path).unwrap();
    let judgement = spec("alphabeta:nodes=40").evaluation(rules("bell-8x8").ruleset()).unwrap();
    let version = format!("search={SEARCH_VERSION}");
    assert!(text.contains(&format!("alphabeta:nodes=40@{judgement} greedy")) && text.contains(&version), "{text}");
    // As if the ledger came from a program with other weights, or with another search.
    for (ours, theirs) in [(judgement.as_str(), "0123456789abcdef"), (&version, "search=0")] {
        fs::write(&path, text.replace(ours, theirs)).unwrap();
        assert_eq!((played(), played()), (4, 0), "{ours}");
    }
    // Each ruleset is judged in its own way; who does not search is the same for every version.
    assert_ne!(spec("alphabeta:nodes=40").evaluation(rules("falkener").ruleset()).unwrap(), judgement);
    assert_eq!(spec("greedy").evaluation(rules("bell-8x8").ruleset()), None);
    fs::remove_file(&path).unwrap();
    play("bell-8x8", &MatchConfig { agents: [spec("greedy"), spec("random")], ..config });
    assert!(!fs::read_to_string(&path).unwrap().contains("search="));
}

/// Opens networks that answer alike everywhere, with a search and a kernel.
fn networks(
    search: Settings,
    kernel: &str,
) -> impl FnMut(&Arc<Rules>, &str) -> Result<(String, OpenedNetwork<'static>), String> {
    let play = NetworkPlay { search, kernel: kernel.to_owned() };
    move |_, _| Ok((String::new(), OpenedNetwork { evaluator: Box::new(Uniform), play: play.clone() }))
}

#[test]
fn a_network_plays_the_search_of_its_model_unless_the_text_asks_for_another() {
    let of = |agent: &str, search: Settings| {
        let config = MatchConfig { players: on_threads(1), ..config(agent, "greedy", 2) };
        play_match(&rules("bell-8x8"), &config, &mut networks(search, "f32"), &mut go_on).expect("a match")
    };
    let actions = |report: &MatchReport| -> Vec<_> {
        report.records.iter().map(|game| game.record.as_ref().expect("kept").actions.clone()).collect()
    };
    let puct = Settings { reuse_tree: false, ..Settings::puct() };
    let [gumbel, by_puct] = [Settings::gumbel(), puct.clone()].map(|search| of("net:any,sims=12", search));
    assert_eq!(gumbel.agents, ["net:any,sims=12 [kernel=f32]", "greedy"]);
    assert_eq!(by_puct.agents[0], "net:any,sims=12 [search=puct reuse_tree=false kernel=f32]");
    assert!(by_puct.records.iter().all(|game| game.record.as_ref().expect("kept").agents.contains(&by_puct.agents[0])));
    assert_ne!(actions(&gumbel), actions(&by_puct));
    let asked = of("net:any,sims=12,search=gumbel", puct.clone());
    assert_eq!(asked.agents[0], "net:any,sims=12,search=gumbel [kernel=f32]");
    assert_eq!(actions(&asked), actions(&gumbel));
    assert_eq!(actions(&of("net:any,sims=12", puct)), actions(&by_puct), "the same again");
}

#[test]
fn games_of_another_kernel_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let config = MatchConfig { ledger: Some(path.clone()), ..config("net:any,sims=4", "greedy", 2) };
    let played = |kernel: &str| {
        let mut played = 0;
        play_match(&rules("bell-8x8"), &config, &mut networks(Settings::gumbel(), kernel), &mut |progress| {
            played += usize::from(progress.record.is_some());
            ControlFlow::Continue(())
        })
        .map(|_| played)
        .map_err(|error| error.to_string())
    };
    assert_eq!((played("bf16-amx"), played("bf16-amx")), (Ok(4), Ok(0)));
    let text = fs::read_to_string(&path).unwrap();
    let reason = played("libtorch-f32").unwrap_err();
    for part in ["games.jsonl, line 1", "computed by bf16-amx", "now they are by libtorch-f32", "another ledger"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    // A ledger of a program that did not write the kernel.
    fs::write(&path, text.replace(" kernels=bf16-amx", "")).unwrap();
    assert!(played("bf16-amx").unwrap_err().contains("a kernel that it does not name"));
}

#[test]
fn what_is_no_ledger_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for text in ["Buy bread.", "{\"bread\": 1}", "Buy bread.\nAnd milk.\n", "{\"version\":9}\n"] {
        fs::write(&path, text).unwrap();
        let config = MatchConfig { ledger: Some(path.clone()), ..config("random", "random", 1) };
        let error = play_match(&rules("bell"), &config, &mut opened, &mut go_on).unwrap_err().to_string();
        assert!(error.contains("notes.txt, line 1"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_forged_game_in_a_ledger_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let config = MatchConfig { ledger: Some(path.clone()), players: on_threads(1), ..config("greedy", "random", 2) };
    play("bell-8x8", &config);
    let text = fs::read_to_string(&path).unwrap();
    let forged = text.replacen("\"result\":\"1\"", "\"result\":\"draw\"", 1).replacen(
        "\"result\":\"2\"",
        "\"result\":\"draw\"",
        1,
    );
    assert_ne!(forged, text);
    fs::write(&path, forged).unwrap();
    let error = play_match(&rules("bell-8x8"), &config, &mut opened, &mut go_on).unwrap_err().to_string();
    assert!(error.contains("result is draw"), "{error}");
}

#[test]
fn a_sequential_test_ends_a_match_early_and_alike_on_any_number_of_threads() {
    let sprt = Sprt { elo0: 0.0, elo1: 200.0, bounds: SprtBounds::new(0.05, 0.05).unwrap() };
    let of_threads = |threads| {
        let config = MatchConfig { sprt: Some(sprt), players: on_threads(threads), ..config("greedy", "random", 1000) };
        play("bell-8x8", &config)
    };
    let report = of_threads(1);
    let test = report.sprt.unwrap();
    assert_eq!(test.verdict, SprtVerdict::AcceptH1);
    assert!(test.is_decided && report.games < 400, "{} games", report.games);
    // Which games were under way when the test was decided is the threads' affair and nowhere told.
    for threads in [3, 8] {
        let other = of_threads(threads);
        assert_eq!(json(&other), json(&report), "{threads} threads");
        assert_eq!(other.records, report.records);
    }
}

#[cfg(unix)]
#[test]
fn a_ledger_that_is_deleted_or_replaced_ends_the_match() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let config = MatchConfig { ledger: Some(path.clone()), players: on_threads(1), ..config("greedy", "random", 20) };
    for replacement in [None, Some("")] {
        let mut games = 0;
        let error = play_match(&rules("bell-8x8"), &config, &mut opened, &mut |_| {
            games += 1;
            if games == 3 {
                fs::remove_file(&path).unwrap();
                replacement.into_iter().for_each(|text| fs::write(&path, text).unwrap());
            }
            ControlFlow::Continue(())
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("games.jsonl") && error.contains("deleted or replaced"), "{error}");
        assert_eq!(games, 3, "no game is played for nothing");
    }
}

#[test]
fn a_ledger_that_is_refused_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let config = MatchConfig { ledger: Some(path.clone()), players: on_threads(1), ..config("greedy", "random", 2) };
    play("bell-8x8", &config);
    let whole = fs::read_to_string(&path).unwrap();
    let first = whole.lines().next().unwrap();
    let torn = &first[..first.len() / 2];
    // A game that is not one of these rules, and after it an incomplete line.
    let refused = whole.replacen("\"actions\":[\"", "\"actions\":[\"z9-", 1) + torn;
    fs::write(&path, &refused).unwrap();
    let error = play_match(&rules("bell-8x8"), &config, &mut opened, &mut go_on).unwrap_err().to_string();
    assert!(error.contains("line 1: action 1"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), refused);
    // The incomplete line goes when a game is added.
    fs::write(&path, format!("{first}\n{torn}")).unwrap();
    play("bell-8x8", &config);
    let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    let mut expected: Vec<String> = whole.lines().map(str::to_owned).collect();
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
}

#[test]
fn records_are_kept_only_where_they_are_asked_for() {
    let kept = play("bell-8x8", &config("greedy", "random", 3));
    let counted = play("bell-8x8", &MatchConfig { keep_records: false, ..config("greedy", "random", 3) });
    assert!(kept.records.iter().all(|game| game.record.is_some()));
    assert!(counted.records.iter().all(|game| game.record.is_none()));
    assert_eq!(json(&kept), json(&counted));
}

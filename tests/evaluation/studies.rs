//! Balance studies: the same summary however they are played and interrupted, and the truth where it is known.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use latrunculi_engine::record::read_records;
use latrunculi_engine::{GameRecord, GameState, Player, Rules, Ruleset, RulesetFile, presets};
use latrunculi_eval::Players;
use latrunculi_eval::agents::{NetworkPlay, OpenedNetwork};
use latrunculi_eval::matches::openings::PolicyOpenings;
use latrunculi_eval::matches::{MatchConfig, MatchGame, play_match};
use latrunculi_eval::metrics::diversity::DiversitySource;
use latrunculi_eval::metrics::mechanics::Mechanic;
use latrunculi_eval::study::summary::{Conclusion, Doubt, StopReason, TrendDirection};
use latrunculi_eval::study::{StudyConfig, StudyProgress, StudySettings, StudySummary, run_study};
use latrunculi_search::SEARCH_VERSION;
use latrunculi_search::evaluators::Uniform;
use latrunculi_search::exhaustive::Exhaustive;
use latrunculi_search::mcts::Settings;
use latrunculi_stats::BalanceVerdict;
use latrunculi_stats::multiplicity::holm;

use crate::agents::{on_threads, opened, spec};

/// Three men a side on sixteen squares: the first capture wins, six quiet turns draw.
const SMALL: &str = r#"
    id = "small"
    name = "small"
    summary = "A board that can be solved."
    source = "none"
    [board]
    files = 4
    ranks = 4
    [setup]
    array = "mmm./..../..../.MMM"
    [end]
    eliminate_at = 2
    no_move = "loss"
    quiet_limit = 6
"#;

fn small() -> Ruleset {
    RulesetFile::parse(SMALL).expect("a ruleset").ruleset
}

pub(crate) fn settings(agents: &[&str]) -> StudySettings {
    StudySettings {
        agents: agents.iter().map(|&agent| agent.to_owned()).collect(),
        half_width: 0.12,
        min_games: 20,
        max_games: 60,
        batch: 10,
        seed: 5,
        ..StudySettings::default()
    }
}

pub(crate) fn config(folder: &Path, settings: StudySettings, rulesets: &[&str]) -> StudyConfig {
    let rulesets: Vec<Ruleset> = rulesets
        .iter()
        .map(|&name| if name == "small" { small() } else { presets::ruleset(name).expect("shipped") })
        .collect();
    let (folder, command) = (folder.to_owned(), "latrunculi balance".to_owned());
    StudyConfig { settings, rulesets, command, folder, players: on_threads(2) }
}

fn go_on(_: &StudyProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn run(config: &StudyConfig) -> StudySummary {
    run_study(config, &mut opened, &mut go_on).expect("a study")
}

fn fails(config: &StudyConfig) -> String {
    run_study(config, &mut opened, &mut go_on).expect_err("a fault").to_string()
}

pub(crate) fn json(summary: &StudySummary) -> String {
    serde_json::to_string_pretty(summary).expect("a summary is JSON")
}

/// Everything that a study can be asked, small.
pub(crate) fn everything() -> StudySettings {
    let mut settings = StudySettings {
        min_games: 8,
        max_games: 16,
        batch: 4,
        compensation: vec![1],
        pie: true,
        pie_turns: 2,
        pie_games: 4,
        phases: true,
        ..settings(&["alphabeta:nodes=20", "alphabeta:nodes=60", "greedy"])
    };
    settings.opening.second = Some(3);
    // Six random turns would be a quiet game already.
    settings.opening.by_ruleset.insert("small".to_owned(), 2);
    settings.sweep.insert("capture.per_move".to_owned(), vec!["one".to_owned(), "all".to_owned()]);
    settings
}

#[test]
fn a_study_has_all_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path(), everything(), &["bell", "dutch-8x8-noking", "small"]);
    let study = run(&config);
    // Nothing is left to play.
    let mut played = 0;
    let again = run_study(&config, &mut opened, &mut |progress: &StudyProgress| {
        played += u64::from(progress.latest.is_some());
        ControlFlow::Continue(())
    });
    assert!(json(&again.expect("a study")) == json(&study) && played == 0 && study.is_complete);
    let names: Vec<&str> = study.rulesets.iter().map(|ruleset| ruleset.name.as_str()).collect();
    let expected = [
        "bell",
        "bell--capture-per-move-all",
        "dutch-8x8-noking",
        "dutch-8x8-noking--capture-per-move-one",
        "small",
        "small--capture-per-move-one",
    ];
    assert_eq!(names, expected);
    assert_eq!((study.headline_agent, study.rank_agreements.len()), (1, 2));
    for ruleset in &study.rulesets {
        assert_eq!(ruleset.cells.len(), 3);
        for cell in &ruleset.cells {
            assert_eq!(cell.outcomes.games(), cell.games);
            assert_eq!(cell.ends.values().sum::<u64>(), cell.games);
            assert_eq!(cell.games + cell.games_repeated, cell.games_played.max(cell.games + cell.games_repeated));
            let score = cell.score.expect("a score");
            assert!(score.interval.contains(score.score) && score.simultaneous.lower <= score.interval.lower);
            assert!(score.truncation_bracket.contains(score.score));
            assert!(cell.verdict.is_some());
            assert_ne!(cell.stop, StopReason::Interrupted);
        }
        assert_eq!(ruleset.trends.len(), 1);
        assert_eq!(ruleset.trends[0].budgets, [20, 60]);
        assert_eq!(ruleset.agreements.len(), 1);
        match &ruleset.derived {
            None => {
                let pie = ruleset.pie.as_ref().expect("a pie");
                assert_eq!(pie.tried.len(), 2);
                assert!(pie.held_out.is_some() && pie.chosen.is_some() && pie.first_turns.is_some_and(|all| all >= 2));
                let compensation = ruleset.compensation.as_ref().expect("a compensation");
                assert_eq!(ruleset.phases.is_some(), ruleset.is_placement);
                // Two men of three are lost already.
                let handicaps = if ruleset.name == "small" { 1 } else { 2 };
                assert_eq!(compensation.cells.len(), handicaps, "{}", ruleset.name);
            }
            Some(derived) => {
                assert_eq!(derived.parameter, "capture.per_move");
                assert_ne!(derived.value, derived.base_value);
                assert!(derived.differences.iter().flatten().all(|difference| difference.p_holm >= difference.p));
                assert_eq!(derived.differences.len(), 3);
            }
        }
    }
    // Six agreements are six chances of one that is none: each is judged with all others.
    let agreements: Vec<_> = study.rulesets.iter().flat_map(|ruleset| &ruleset.agreements).collect();
    let p_values: Vec<f64> = agreements.iter().map(|agreement| agreement.difference.p.expect("a p-value")).collect();
    for (agreement, p_holm) in agreements.iter().zip(holm(&p_values).expect("p-values")) {
        assert_eq!(agreement.difference.p_holm, Some(p_holm));
        assert_eq!(agreement.depends_on_agent, p_holm <= 0.05);
    }
    let shifts =
        || study.rulesets.iter().flat_map(|ruleset| &ruleset.cells).filter_map(|cell| cell.second_opening.as_ref());
    assert!(shifts().count() > 0);
    assert!(shifts().all(|second| second.shift.is_some_and(|shift| shift.p_holm.is_some() && shift.p_holm >= shift.p)));
    let csv = study.to_csv();
    assert_eq!(csv.lines().count(), 1 + 6 * 3);
    assert!(csv.lines().all(|line| line.split(',').count() == 49), "{csv}");
    let read: StudySummary = serde_json::from_str(&json(&study)).expect("a summary reads back");
    // Numbers read back but for the last digit.
    assert!(read.to_csv() == csv && read.settings == study.settings);
}

#[test]
fn a_folder_keeps_the_study_that_it_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = || StudySettings { max_games: 20, ..settings(&["random"]) };
    let whole = run(&config(folder.path(), asked(), &["small"]));
    let fault = fails(&config(folder.path(), StudySettings { seed: 6, ..asked() }, &["small"]));
    assert!(fault.contains("seed is 5 there and 6 here"), "{fault}");
    // A finished study of a program whose searches choose otherwise is counted anew; an unfinished one is not gone on with.
    let guard = folder.path().join("study.json");
    let ledger = folder.path().join("games/small/random.jsonl");
    let [text, games] = [&guard, &ledger].map(|path| fs::read_to_string(path).expect("a file"));
    let line = format!("\"search_version\": {SEARCH_VERSION}");
    assert!(text.contains(&line), "{text}");
    for (older, found) in
        [(text.replace(&line, "\"search_version\": 999"), 999), (text.replace(&format!(",\n  {line}"), ""), 0)]
    {
        let difference = format!("search_version is {found} there and {SEARCH_VERSION} here");
        fs::write(&guard, &older).expect("written");
        let mut anew = run(&config(folder.path(), asked(), &["small"]));
        assert!(anew.notes.pop().is_some_and(|note| note.contains(&difference)));
        assert_eq!(anew, whole);
        let last = games.trim_end().rfind('\n').expect("several games");
        fs::write(&ledger, &games[..=last]).expect("written");
        let fault = fails(&config(folder.path(), asked(), &["small"]));
        assert!(fault.contains(&difference), "{fault}\n{older}");
        fs::write(&ledger, &games).expect("written");
    }
    fs::write(&guard, text).expect("written");
    let fault = fails(&config(folder.path(), asked(), &["bell"]));
    assert!(fault.contains("rulesets is [[\"small\"") && fault.contains("[[\"bell\""), "{fault}");
    let changed = small().to_toml().replace("eliminate_at = 2", "eliminate_at = 1");
    let changed = RulesetFile::parse(&changed).expect("a ruleset").ruleset;
    let other = StudyConfig { rulesets: vec![changed], ..config(folder.path(), asked(), &[]) };
    assert!(fails(&other).contains("has other settings"));
    fs::write(folder.path().join("study.json"), "{").expect("a broken file");
    assert!(fails(&config(folder.path(), asked(), &["small"])).contains("study.json"));
}

#[test]
fn a_study_that_is_asked_for_more_plays_on() {
    let [grown, whole] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
    let few = || StudySettings { half_width: 0.002, min_games: 20, max_games: 20, ..settings(&["random"]) };
    let more = || StudySettings {
        half_width: 0.001,
        min_games: 30,
        max_games: 60,
        agents: ["greedy", "random"].map(str::to_owned).to_vec(),
        margin: 0.2,
        compensation: vec![1],
        ..few()
    };
    let first = run(&config(grown.path(), few(), &["small"]));
    let random = |folder: &Path| fs::read_to_string(folder.join("games/small/random.jsonl")).expect("a ledger");
    let before = random(grown.path());
    let again = run(&config(grown.path(), more(), &["small"]));
    assert_eq!(again, run(&config(whole.path(), more(), &["small"])), "as if it had been asked for at once");
    assert_ne!(again, first);
    assert!(random(grown.path()).starts_with(&before), "no game is played again");
    let fault =
        fails(&config(grown.path(), StudySettings { agents: settings(&["greedy"]).agents, ..more() }, &["small"]));
    assert!(fault.contains("agents is [\"greedy\",\"random\"] there and [\"greedy\"] here"), "{fault}");
    let fault = fails(&config(grown.path(), few(), &["small"]));
    assert!(fault.contains("max_games is 60 there and 20 here") && fault.contains("may grow"), "{fault}");
}

#[test]
fn nonsense_is_refused_with_every_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut nonsense = StudySettings {
        agents: vec!["alfabeta:nodes=5".to_owned(), "greedy".to_owned(), "greedy".to_owned(), "human".to_owned()],
        half_width: 0.7,
        margin: 0.0005,
        min_contact: 0.005,
        min_games: 50,
        max_games: 10,
        batch: 0,
        ..StudySettings::default()
    };
    nonsense.opening.by_ruleset.insert("bel".to_owned(), 4);
    nonsense.sweep.insert("capture.per_mov".to_owned(), vec!["one".to_owned()]);
    nonsense.sweep.insert("end.no_move".to_owned(), vec!["lose".to_owned()]);
    nonsense.sweep.insert("end.quiet_limit".to_owned(), ["8", "12", "08"].map(str::to_owned).to_vec());
    nonsense.compensation = vec![1, 2, 1];
    let fault = fails(&config(&folder.path().join("none"), nonsense, &["bell"]));
    for part in [
        "did you mean alphabeta?",
        "greedy is listed twice",
        "human plays only in `latrunculi play`",
        "half_width must be at least 0.001",
        "margin must be at least 0.001",
        "min_contact must be 0, or from 0.01",
        "max_games must be at least min_games",
        "batch must be at least 1",
        "did you mean bell?",
        "did you mean capture.per_move?",
        "did you mean loss?",
        "end.quiet_limit = 08 is listed twice",
        "compensation: 1 is listed twice",
    ] {
        assert!(fault.contains(part), "{fault} lacks {part}");
    }
    let mut by_alphabeta = settings(&["greedy"]);
    by_alphabeta.opening.policy = Some("alphabeta:nodes=5".to_owned());
    assert!(fails(&config(folder.path(), by_alphabeta, &["bell"])).contains("has no policy to draw from"));
    let twice = config(folder.path(), settings(&["greedy"]), &["bell", "bell"]);
    assert!(fails(&twice).contains("two rulesets are called \"bell\""));
    let mut twins = config(folder.path(), settings(&["greedy"]), &["bell", "bell"]);
    twins.rulesets[1].id = "mine".to_owned();
    assert!(fails(&twins).contains("\"bell\" and \"mine\" have the same rules: leave one out"));
    assert!(!folder.path().join("none").exists());
}

#[test]
fn no_games_are_counted_as_if_they_were_others() {
    let folder = tempfile::tempdir().expect("a folder");
    // Two names for one network.
    let agents = ["net:of-{ruleset},sims=4", "net:of-bell-8x8,sims=4"];
    let twice = config(&folder.path().join("twice"), settings(&agents), &["bell-8x8"]);
    let fault = run_study(&twice, &mut but_dutch, &mut go_on).expect_err("the same games").to_string();
    assert!(fault.contains("bell-8x8 with net:of-bell-8x8,sims=4: these games are asked for twice"), "{fault}");
    assert!(!folder.path().join("twice").exists());

    // Openings that place all stones, beside games that begin when all stones are placed.
    let rules = presets::rules("bell-8x8");
    let position = rules.initial_position();
    let stones: usize = Player::BOTH.iter().map(|&player| usize::from(position.hand(player).stones())).sum();
    let mut asked = StudySettings { phases: true, min_games: 4, max_games: 4, ..settings(&["greedy"]) };
    asked.opening.placement = Some(stones);
    let study = run(&config(&folder.path().join("placed"), asked, &["bell-8x8"]));
    let phases = study.rulesets[0].phases.as_ref().expect("phases");
    assert_eq!((phases.outcomes.games(), study.rulesets[0].cells[0].games), (4, 4));
    let place = study.rulesets[0].cells[0].ledger.as_ref().expect("games");
    let ledger = fs::read(folder.path().join("placed/games").join(&place.file)).expect("a ledger");
    let field = format!("\"series\":\"{}\"", place.series);
    let lines = std::str::from_utf8(&ledger).expect("text").lines();
    assert_eq!(lines.filter(|line| line.contains(&field)).count(), 4, "the games of the cell, not those of the phases");
    let mut seeds: Vec<u64> = read_records(ledger.as_slice()).expect("games").iter().map(|game| game.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 8, "each series has games of its own");
}

#[test]
fn a_game_against_oneself_is_one_observation() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = StudySettings { metrics: true, min_games: 6, max_games: 6, ..settings(&["alphabeta:nodes=60"]) };
    let study = run(&config(folder.path(), asked, &["bell-8x8"]));
    let metrics = study.rulesets[0].cells[0].metrics.as_ref().expect("what the games are like");
    let [scale] = &metrics.values.as_ref().expect("values").scales[..] else { panic!("one agent has values") };
    assert_eq!((scale.scale.observations, metrics.sample.games_with_values), (6, 6));
    let captures = metrics.mechanics.iter().find(|used| used.mechanic == Mechanic::Capture).expect("captures");
    let contact = study.rulesets[0].cells[0].contact.expect("captures are counted");
    assert_eq!((contact.count, contact.of), (captures.overall.games.count, 6));
    assert!(contact.count > 0);
}

#[test]
fn players_that_never_meet_show_no_balance() {
    // Seven ranks lie between three men a side, and four quiet turns end the game.
    let text = SMALL
        .replace("\"small\"", "\"wide\"")
        .replace("ranks = 4", "ranks = 8")
        .replace("..../..../", "..../..../..../..../..../..../")
        .replace("quiet_limit = 6", "quiet_limit = 4");
    let wide = RulesetFile::parse(&text).expect("a ruleset").ruleset;
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = settings(&["alphabeta:nodes=20", "alphabeta:nodes=40", "mcts:sims=20"]);
    (asked.min_games, asked.max_games, asked.margin) = (20, 20, 0.4);
    asked.opening.array = Some(2);
    let study = run(&StudyConfig { rulesets: vec![wide], ..config(folder.path(), asked, &[]) });
    for cell in &study.rulesets[0].cells {
        let verdict = cell.verdict.as_ref().expect("a verdict");
        assert_eq!((verdict.test, verdict.verdict), (BalanceVerdict::Balanced, Conclusion::EvenWithThisPlayer));
        assert_eq!((cell.contact.expect("a share").count, verdict.doubts.len()), (0, 2));
        assert_eq!(verdict.doubts[0], Doubt::FewCaptures);
    }
    let last = study.rulesets[0].cells[1].verdict.as_ref().and_then(|verdict| verdict.last_doubling);
    assert_eq!(last.expect("a smaller budget").budgets, [20, 40]);
}

#[test]
fn a_strong_agent_gives_the_exact_value_of_a_solved_board() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked =
        StudySettings { max_games: 40, min_games: 40, half_width: 0.001, ..settings(&["alphabeta:depth=8"]) };
    asked.opening.array = Some(3);
    let study = run(&config(folder.path(), asked, &["small"]));
    let cell = &study.rulesets[0].cells[0];
    assert!(cell.games >= 30);

    let rules = Arc::new(Rules::new(&small()).expect("valid"));
    let mut solved = Exhaustive::new();
    let value = |state: &GameState, solved: &mut Exhaustive| solved.value(state, 2_000_000).expect("a small board");
    let ledger = fs::read(folder.path().join("games/small/alphabeta-depth-8.jsonl")).expect("a ledger");
    let games: Vec<GameRecord> = read_records(ledger.as_slice()).expect("records");
    let (mut points, mut values) = (0.0, [0; 3]);
    for game in &games {
        let mut opened = GameRecord { actions: game.actions[..game.opening].to_vec(), ..game.clone() };
        (opened.result, opened.reason, opened.values, opened.efforts) = (None, None, Vec::new(), Vec::new());
        let exact = value(&opened.replay(&rules).expect("an opening"), &mut solved);
        let winner = game.result.expect("a finished game").winner();
        assert_eq!(winner.map_or(0, |player| if player == Player::First { 1 } else { -1 }), exact, "{game:?}");
        points += (1.0 + f64::from(exact)) / 2.0;
        values[(exact + 1) as usize] += 1;
    }
    // The board would test nothing if every opening led to the same value.
    assert!(values.iter().filter(|&&count| count > 0).count() >= 2, "{values:?}");
    assert!((cell.score.expect("a score").score - points / games.len() as f64).abs() < 1e-12);
}

#[test]
fn a_game_with_few_openings_ends_when_there_are_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = StudySettings { half_width: 0.001, ..settings(&["alphabeta:depth=3", "random"]) };
    asked.opening.array = Some(1);
    let study = run(&config(folder.path(), asked, &["small"]));
    let [fixed, drawn] = [0, 1].map(|agent| &study.rulesets[0].cells[agent]);
    assert_eq!(fixed.stop, StopReason::NoMoreOpenings);
    assert_eq!(fixed.games, fixed.openings_distinct);
    assert_eq!(fixed.games_played, fixed.games);
    assert!(study.notes.iter().any(|note| note.contains("openings that differ")), "{:?}", study.notes);
    // Who draws lots plays on from the same openings, and games of one opening are one observation.
    assert_eq!(drawn.stop, StopReason::MaxGames);
    assert!(drawn.games > drawn.openings_distinct && drawn.openings_distinct == fixed.openings_distinct);
}

#[test]
fn games_without_a_drawn_opening_are_observations_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = StudySettings { max_games: 40, min_games: 40, ..settings(&["random", "alphabeta:depth=2"]) };
    asked.opening.array = Some(0);
    let study = run(&config(folder.path(), asked, &["small"]));
    let [drawn, fixed] = [0, 1].map(|agent| &study.rulesets[0].cells[agent]);
    assert!(drawn.games > 20 && drawn.openings_distinct == drawn.games, "{} games", drawn.games);
    assert!(drawn.score.is_some());
    // One game is all that a program without randomness can play.
    assert!(fixed.games == 1 && fixed.score.is_none());
}

#[test]
fn an_advantage_that_is_there_is_found() {
    // Quiet turns end the game for the side with more men, and the first player has one more.
    let text = SMALL.replace("\"small\"", "\"unfair\"").replace(".MMM", "MMMM");
    let text = text.replace("quiet_limit = 6", "quiet_limit = 6\nquiet_result = \"most_pieces\"");
    let unfair = RulesetFile::parse(&text).expect("a ruleset").ruleset;
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = StudySettings {
        half_width: 0.2,
        min_games: 20,
        max_games: 40,
        ..settings(&["alphabeta:depth=2", "alphabeta:depth=4"])
    };
    asked.opening.array = Some(2);
    let config = StudyConfig { rulesets: vec![unfair], ..config(folder.path(), asked, &[]) };
    let study = run(&config);
    let ruleset = &study.rulesets[0];
    assert_eq!(ruleset.trends[0].family, "alphabeta by depth");
    assert_ne!(ruleset.trends[0].direction, TrendDirection::Stable);
    for cell in &ruleset.cells {
        let verdict = cell.verdict.as_ref().expect("a verdict");
        assert_eq!((verdict.verdict, verdict.test), (Conclusion::First, BalanceVerdict::First), "{cell:?}");
    }
}

/// Uniform networks for every ruleset but one.
fn but_dutch(rules: &Arc<Rules>, model: &str) -> Result<(String, OpenedNetwork<'static>), String> {
    if model.contains("dutch") { Err("not there".to_owned()) } else { opened(rules, model) }
}

#[test]
fn networks_play_the_same_in_any_company_and_open_games_by_their_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = StudySettings { min_games: 6, max_games: 12, ..settings(&["net:of-{ruleset},sims=4", "greedy"]) };
    asked.opening.policy = Some("net:opener,sims=8".to_owned());
    asked.metrics = true;
    asked.opening.array = Some(5);
    asked.opening.placement = Some(5);
    // Longer than the choices that are looked at closely.
    asked.opening.by_ruleset.insert("bell-8x8".to_owned(), 24);
    let at = |name: &str, threads, games_at_once| StudyConfig {
        players: Players { games_at_once, ..on_threads(threads) },
        ..config(&folder.path().join(name), asked.clone(), &["bell-8x8", "dutch-8x8", "small"])
    };
    let study = run_study(&at("one", 1, 1), &mut but_dutch, &mut go_on).expect("a study");
    let other = run_study(&at("other", 2, 7), &mut but_dutch, &mut go_on).expect("a study");
    assert!(json(&study) == json(&other), "{}\n{}", study.to_csv(), other.to_csv());
    assert_eq!(study.rulesets[1].cells[0].games, 0);
    assert!(study.notes.iter().any(|note| note.contains("dutch-8x8") && note.contains("not there")));
    let metrics = study.rulesets[0].cells[0].metrics.as_ref().expect("what the games are like");
    assert_eq!(metrics.sample.games, study.rulesets[0].cells[0].games);
    assert_eq!(metrics.sample.games_with_visits, metrics.sample.games);
    let diversity = metrics.diversity.as_ref().expect("visits tell how openings differ");
    assert_eq!((diversity.source, diversity.actions), (DiversitySource::Visits, 20));
    // The searches' visits are noted of the first twenty choices of every game, and of no others.
    let ledger = fs::read(folder.path().join("one/games/bell-8x8/net-of-bell-8x8-sims-4.jsonl")).expect("a ledger");
    for record in read_records(ledger.as_slice()).expect("games") {
        let noted: Vec<usize> = (0..record.visits.len()).filter(|&number| record.visits[number].is_some()).collect();
        let last = (record.opening + 20).min(record.actions.len());
        assert!(record.opening >= 24 && noted == (record.opening..last).collect::<Vec<_>>(), "{noted:?}");
    }
    let cell = &study.rulesets[0].cells[1];
    assert_eq!(cell.opening.policy.as_deref(), Some("net:opener,sims=8 temperature=1"));
    assert!(cell.games >= 6 && cell.openings_distinct > 1);
    let mut none = StudyConfig { rulesets: vec![presets::ruleset("dutch").expect("shipped")], ..at("none", 1, 1) };
    none.settings.opening.by_ruleset.clear();
    let fault = run_study(&none, &mut but_dutch, &mut go_on).expect_err("no network").to_string();
    assert!(fault.contains("can play none of the rulesets") && fault.contains("not there"), "{fault}");
}

/// Networks whose model asks for a search of its own.
fn searching(
    kernel: &str,
) -> impl FnMut(&Arc<Rules>, &str) -> Result<(String, OpenedNetwork<'static>), String> + use<> {
    let search = Settings { draw_value: 0.25, ..Settings::gumbel() };
    let play = NetworkPlay { search, kernel: kernel.to_owned() };
    move |_, _| Ok(("0123".to_owned(), OpenedNetwork { evaluator: Box::new(Uniform), play: play.clone() }))
}

#[test]
fn a_study_names_the_search_and_the_kernel_of_its_networks_and_keeps_to_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = StudySettings { min_games: 2, max_games: 2, ..settings(&["net:of-{ruleset},sims=4"]) };
    asked.opening.array = Some(2);
    let config = config(folder.path(), asked, &["small"]);
    let study = run_study(&config, &mut searching("bf16-amx"), &mut go_on).expect("a study");
    let played_as = "net:of-small,sims=4 [draw_value=0.25 kernel=bf16-amx]";
    assert_eq!(study.rulesets[0].cells[0].played_as, played_as);
    let ledger = fs::read(folder.path().join("games/small/net-of-small-sims-4.jsonl")).expect("a ledger");
    let games = read_records(ledger.as_slice()).expect("games");
    assert!(!games.is_empty());
    for game in games {
        assert_eq!(game.agents, [played_as, played_as]);
    }
    let fault = run_study(&config, &mut searching("libtorch-f32"), &mut go_on).expect_err("another kernel").to_string();
    assert!(fault.contains("kernel=bf16-amx") && fault.contains("kernel=libtorch-f32"), "{fault}");
}

#[test]
fn the_games_of_networks_are_expected_before_they_begin() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = StudySettings { min_games: 4, max_games: 4, ..settings(&["net:of-{ruleset},sims=4", "greedy"]) };
    let mut told = Vec::new();
    let mut observe = |at: &StudyProgress| {
        told.push((at.games, at.games_expected, at.secs_left.is_some()));
        ControlFlow::Continue(())
    };
    run_study(&config(folder.path(), asked, &["bell-8x8"]), &mut opened, &mut observe).expect("a study");
    assert_eq!(told[..2], [(0, 8, false), (1, 8, true)]);
    assert_eq!(told.last(), Some(&(8, 8, true)));
}

#[test]
fn a_match_opens_its_pairs_by_a_policy() {
    let config = MatchConfig {
        keep_records: true,
        opening_length: Some(4),
        opening_policy: Some(PolicyOpenings { agent: spec("mcts:sims=20"), temperature: 1.0 }),
        ..MatchConfig::new([spec("greedy"), spec("random")], 4)
    };
    let rules = presets::rules("bell-8x8");
    let play = |config: &MatchConfig| {
        play_match(&rules, config, &mut opened, &mut |_| ControlFlow::Continue(())).expect("a match").records
    };
    let games = play(&config);
    for pair in games.chunks(2) {
        let [one, other] = [0, 1].map(|game: usize| pair[game].record.as_deref().expect("kept"));
        assert_eq!((one.opening, &one.actions[..4]), (4, &other.actions[..4]));
        assert!(one.values[..one.values.len().min(4)].iter().all(Option::is_none));
    }
    let opening = |games: &[MatchGame], game: usize| games[game].record.as_ref().expect("kept").actions[..4].to_vec();
    assert_ne!(opening(&games, 0), opening(&games, 2));
    assert_eq!(play(&MatchConfig { players: on_threads(1), ..config.clone() }), games);
    let alone = MatchConfig { opening_policy: None, ..config };
    assert_ne!(opening(&play(&alone), 0), opening(&games, 0));
}

#[test]
fn equal_agents_are_found_equal() {
    // The null of a strength match: as many intervals as they promise hold one half.
    let rules = Arc::new(Rules::new(&small()).expect("valid"));
    let replications = if std::env::var_os("LATRUNCULI_SLOW").is_some() { 1_000 } else { 40 };
    let held = (0..replications)
        .filter(|&seed| {
            let config = MatchConfig {
                seed,
                players: on_threads(1),
                ..MatchConfig::new([spec("random"), spec("random:seed=1")], 40)
            };
            let report = play_match(&rules, &config, &mut opened, &mut |_| ControlFlow::Continue(())).expect("a match");
            report.interval.expect("an interval").contains(0.5)
        })
        .count();
    let share = held as f64 / replications as f64;
    let allowed = f64::max(0.02, 3.0 * (0.95f64 * 0.05 / replications as f64).sqrt());
    assert!((share - 0.95).abs() <= allowed, "{share}");
}

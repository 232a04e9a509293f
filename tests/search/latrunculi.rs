//! Alpha-beta and MCTS on the real game, over all rulesets.

use std::sync::Arc;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Action, GameState, Phase, Rules, presets, ruleset::Ruleset};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Heuristic, Limits, minimax};
use latrunculi_search::evaluators::Uniform;
use latrunculi_search::latrunculi::{Feature, LatrunculiHeuristic, Weights, WeightsFile};
use latrunculi_search::mcts::{LeafBatch, Search, SearchBudget, SearchResult, Settings};
use latrunculi_search::{EvalError, Evaluation, Evaluator, Game, SEARCH_VERSION, mix};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::legal;

fn rules(ruleset: &Ruleset) -> Arc<Rules> {
    Arc::new(Rules::new(ruleset).expect("the ruleset can be played"))
}

/// Plays `count` random actions from the opening, stopping short of the end of the game.
pub(crate) fn random_game(rules: &Arc<Rules>, count: usize, rng: &mut ChaCha8Rng) -> GameState {
    let mut game = GameState::new(Arc::clone(rules));
    let mut actions = Vec::new();
    for _ in 0..count {
        Game::legal_actions(&game, &mut actions);
        let mut next = game.clone();
        next.play(actions[rng.random_range(0..actions.len())]);
        if next.outcome().is_some() {
            break;
        }
        game = next;
    }
    game
}

/// Tells whether the long form of the tests is wanted: 1,000 positions instead of a few.
fn is_slow() -> bool {
    std::env::var_os("LATRUNCULI_SLOW").is_some()
}

/// Returns a random position with at most `actions_max` legal actions, or the narrowest of many.
fn narrow_game(rules: &Arc<Rules>, actions_max: usize, rng: &mut ChaCha8Rng) -> GameState {
    let mut narrowest: Option<(usize, GameState)> = None;
    let mut actions = Vec::new();
    for _ in 0..60 {
        let played = rng.random_range(0..400);
        let game = random_game(rules, played, rng);
        Game::legal_actions(&game, &mut actions);
        if actions.len() <= actions_max {
            return game;
        }
        if narrowest.as_ref().is_none_or(|(count, _)| actions.len() < *count) {
            narrowest = Some((actions.len(), game));
        }
    }
    narrowest.expect("a game was drawn").1
}

#[test]
fn alpha_beta_gives_the_minimax_value_at_depth_3_on_every_ruleset() {
    let (each, actions_max) = if is_slow() { (1000_usize.div_ceil(presets::NAMES.len()), 48) } else { (1, 20) };
    let mut checked = 0;
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let heuristic = LatrunculiHeuristic::new(&rules);
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        // Plain minimax cannot afford long series of captures.
        let quiescence_plies_max = 1;
        let plain = AlphaBetaSettings { quiescence_plies_max, ..AlphaBetaSettings::plain() };
        let table_bytes = 1 << 20;
        let kinds = [
            ("plain", plain),
            ("table", AlphaBetaSettings { table_bytes, ..plain }),
            ("ordering", AlphaBetaSettings { ordering: true, ..plain }),
            ("all", AlphaBetaSettings { table_bytes, quiescence_plies_max, ..AlphaBetaSettings::exact() }),
        ];
        let mut searches = kinds.map(|(kind, settings)| (kind, AlphaBeta::new(settings, heuristic.clone())));
        let mut widest = 0;
        for number in 0..each {
            let game = narrow_game(&rules, actions_max, &mut rng);
            let actions = legal(&game);
            widest = widest.max(actions.len());
            let expected = minimax(&game, &heuristic, 3, quiescence_plies_max);
            for (kind, search) in &mut searches {
                let found = search.search(&game, Limits::depth(3));
                assert_eq!(found.score, expected, "{name}, {kind}, position {number}:\n{:?}", game.position());
            }
            checked += 1;
        }
        println!("{name}: {each} positions of up to {widest} actions");
    }
    println!("{checked} positions at depth 3; LATRUNCULI_SLOW=1 checks 1,000");
}

#[test]
fn quiescence_looks_at_captures_and_at_every_capture() {
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let heuristic = LatrunculiHeuristic::new(&rules);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut seen, mut missed, mut empty) = (0, 0, 0);
        let mut actions = Vec::new();
        for _ in 0..30 {
            let played = rng.random_range(0..300);
            let game = random_game(&rules, played, &mut rng);
            if game.position().phase() != Phase::Movement {
                continue;
            }
            Game::legal_actions(&game, &mut actions);
            for &action in &actions {
                let mut next = game.clone();
                next.play(action);
                let enemy = game.player_to_act().opponent();
                let left = next.position().stones(enemy).len();
                let captures = left < game.position().stones(enemy).len();
                let tactical = heuristic.is_tactical(&game, action);
                seen += u32::from(captures);
                missed += u32::from(captures && !tactical);
                empty += u32::from(tactical && !captures && next.outcome().is_none());
            }
        }
        assert!(missed * 50 <= seen, "{name}: {missed} of {seen} captures missed");
        assert!(empty * 50 <= seen, "{name}: {empty} tactical actions take nothing ({seen} do)");
    }
}

#[test]
fn the_evaluation_depends_on_the_position_alone_and_is_even_at_the_start() {
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let heuristic = LatrunculiHeuristic::new(&rules);
        let start = heuristic.counts(&rules.initial_position());
        for (feature, count) in Feature::ALL.iter().zip(start) {
            let expected = i32::from(*feature == Feature::ToAct);
            assert_eq!(count, expected, "{name}: {feature:?} at the start");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..20 {
            let game = random_game(&rules, 120, &mut rng);
            let fresh = GameState::from_position(Arc::clone(&rules), *game.position());
            assert_eq!(heuristic.evaluate(&game), heuristic.evaluate(&fresh));
            let actions = legal(&game);
            for action in actions {
                assert!(heuristic.action_index(&game, action) < heuristic.action_index_count());
            }
        }
    }
}

#[test]
fn the_file_of_weights_is_for_shipped_rulesets_as_they_are() {
    let file: WeightsFile = toml::from_str(include_str!("../../search/data/weights.toml")).expect("weights");
    for entry in &file.rulesets {
        let ruleset = presets::ruleset(&entry.id).unwrap_or_else(|| panic!("{} is not shipped", entry.id));
        assert_eq!(entry.fingerprint, ruleset_fingerprint(&ruleset), "{} has changed: make them anew", entry.id);
        for name in entry.worth.keys() {
            assert!(Feature::ALL.iter().any(|feature| feature.as_str() == name), "{}: {name}?", entry.id);
        }
        assert_eq!(Weights::for_ruleset(&ruleset), entry.weights());
        assert_ne!(Weights::by_hand(&ruleset), entry.weights());
    }
}

#[test]
fn the_evaluation_of_mirrored_sides_is_turned_round() {
    // The rules treat the players alike: a position seen from the other side has the same value for the other player.
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let heuristic = LatrunculiHeuristic::new(&rules);
        let mut rng = ChaCha8Rng::seed_from_u64(29);
        for _ in 0..10 {
            let text = rules.position_text(random_game(&rules, 100, &mut rng).position());
            let mut fields = text.split(' ');
            let (rows, to_act) = (fields.next().unwrap(), fields.next().unwrap());
            let swap_case = |letter: char| match letter.is_uppercase() {
                true => letter.to_ascii_lowercase(),
                false => letter.to_ascii_uppercase(),
            };
            let turned_rows = rows.chars().map(swap_case).collect::<String>();
            let turned_rows = turned_rows.split('/').rev().collect::<Vec<_>>().join("/");
            let counts_of = |rows: &str, to_act: &str| {
                heuristic.counts(&rules.parse_position(&format!("{rows} {to_act}")).expect("a position"))
            };
            let counts = counts_of(rows, to_act);
            let turned = counts_of(&turned_rows, if to_act == "1" { "2" } else { "1" });
            assert_eq!(counts.map(|count| -count), turned, "{name}: {text}");
        }
    }
}

#[test]
fn the_history_does_not_matter_within_history_free_plies() {
    // Two games at one position, one with its history and one without, have the same future for that many actions.
    fn same_future(one: &GameState, other: &GameState, plies: u32) -> bool {
        if one.outcome() != other.outcome() {
            return false;
        }
        let (mut actions, mut other_actions) = (Vec::new(), Vec::new());
        Game::legal_actions(one, &mut actions);
        Game::legal_actions(other, &mut other_actions);
        actions == other_actions
            && (plies == 0
                || actions.iter().all(|&action| {
                    let (mut one, mut other) = (one.clone(), other.clone());
                    one.play(action);
                    other.play(action);
                    same_future(&one, &other, plies - 1)
                }))
    }
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for _ in 0..20 {
            let played = rng.random_range(20..200);
            let game = random_game(&rules, played, &mut rng);
            let fresh = GameState::from_position(Arc::clone(&rules), *game.position());
            let plies = game.history_free_plies().min(2);
            assert!(same_future(&game, &fresh, plies), "{name}: {:?}", game.position());
        }
    }
}

#[test]
fn mcts_plays_every_ruleset_to_the_end() {
    for name in presets::NAMES {
        let rules = presets::rules(name);
        for settings in [Settings::gumbel(), Settings::puct()] {
            let mut rng = ChaCha8Rng::seed_from_u64(23);
            let mut search = Search::new(settings, &GameState::new(Arc::clone(&rules)));
            let mut actions = 0;
            while search.game().outcome().is_none() && actions < 400 {
                search.start(SearchBudget { simulations: 8, add_noise: true }, &mut rng);
                search.run(&mut Uniform).unwrap();
                let result = search.result();
                assert!((result.policy.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{name}");
                let action = result.actions[result.sample_by_policy(1.0, &mut rng)];
                search.advance(action);
                actions += 1;
            }
        }
    }
}

/// A user's ruleset on the smallest board: five men and a dux a side.
fn tiny(base: &str) -> Arc<Rules> {
    let mut ruleset = presets::ruleset(base).expect("a shipped ruleset");
    ruleset.id = "tiny".to_owned();
    ruleset.board.files = 4;
    ruleset.board.ranks = 4;
    ruleset.setup.array = Some("mdmm/.m.m/M.M./MMDM".to_owned());
    rules(&ruleset)
}

/// Evaluates every position as 0: only ends count.
#[derive(Clone)]
struct Blind;

impl Heuristic<GameState> for Blind {
    fn evaluate(&self, _game: &GameState) -> i32 {
        0
    }

    fn capture_gain(&self, _game: &GameState, _action: Action) -> i32 {
        0
    }

    fn action_index(&self, _game: &GameState, _action: Action) -> usize {
        0
    }

    fn action_index_count(&self) -> usize {
        1
    }
}

#[test]
fn what_is_proven_on_a_small_board_is_what_exhaustive_search_finds() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut counts = [0, 0];
    let bases = ["savard", "dutch", "beads", "savard-displacement", "savard-delayed", "mac-12x8"];
    for number in 0..400 {
        let rules = tiny(bases[number % bases.len()]);
        let settings = AlphaBetaSettings { table_bytes: 1 << 16, ..AlphaBetaSettings::exact() };
        let mut alpha_beta = AlphaBeta::new(settings, LatrunculiHeuristic::new(&rules));
        let played = rng.random_range(0..24);
        let mut game = random_game(&rules, played, &mut rng);
        // Along the proven line, wins and losses alternate.
        while game.outcome().is_none() {
            let mut search = Search::new(Settings::puct(), &game);
            search.start(SearchBudget { simulations: 1500, add_noise: false }, &mut rng);
            search.run(&mut Uniform).unwrap();
            let Some(proven) = search.result().proven else { break };
            let plies = u32::from(proven.plies);
            if plies > 5 || proven.result == 0 {
                break;
            }
            let exhaustive = minimax(&game, &Blind, plies, 0);
            assert_eq!(exhaustive.signum(), i32::from(proven.result), "{number}: {proven:?}, {exhaustive}");
            let found = alpha_beta.search(&game, Limits::depth(plies));
            assert_eq!(found.score, exhaustive, "{number}: {found:?}");
            counts[usize::from(proven.result > 0)] += 1;
            let player = game.player_to_act();
            game.play(search.result().best_action());
            // The chosen action keeps the proven result.
            let value = match game.outcome() {
                Some(outcome) => outcome.value_for(player) as i32,
                None => {
                    let value = minimax(&game, &Blind, plies - 1, 0).signum();
                    if game.player_to_act() == player { value } else { -value }
                }
            };
            assert_eq!(value, i32::from(proven.result), "{number}: {proven:?}");
        }
    }
    assert!(counts[0] >= 3 && counts[1] >= 50, "losses and wins proven: {counts:?}");
}

#[test]
fn the_search_version_is_raised_with_every_change_of_results() {
    // Ledgers and studies continue with games of the same version only. If this fails after an intended change of the
    // search, raise SEARCH_VERSION and update the hash.
    const FOUND: (u32, u64) = (12, 2_344_740_135_974_506_676);
    let mut found = 0;
    for name in ["bell", "dutch", "falkener", "savard", "dux-hunt-16"] {
        let rules = presets::rules(name);
        // Changed weights need no new version.
        let heuristic = LatrunculiHeuristic::with_weights(&rules, Weights::by_hand(rules.ruleset()));
        let mut search = AlphaBeta::new(AlphaBetaSettings::default(), heuristic);
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for played in [0, 8, 40, 80] {
            let game = random_game(&rules, played, &mut rng);
            let result = search.search(&game, Limits::nodes(3000));
            let actions = legal(&game);
            let chosen = actions.iter().position(|&action| action == result.action).expect("a legal action");
            for number in [chosen as u64, result.score as u64, result.depth.into(), result.nodes] {
                found = mix(found ^ number);
            }
        }
    }
    assert_eq!((SEARCH_VERSION, found), FOUND);
}

/// Answers with hashes of the position and its actions, and counts the calls.
struct Hashes {
    positions_at_once: usize,
    calls: u32,
}

impl Evaluator<GameState> for Hashes {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        self.calls += 1;
        for ((game, actions), evaluation) in games.iter().zip(legal_actions).zip(evaluations) {
            let key = Game::own_position_key(*game);
            let unit = |hash: u64| (mix(hash) >> 40) as f32 / (1 << 24) as f32;
            evaluation.policy_logits.clear();
            evaluation
                .policy_logits
                .extend(actions.iter().map(|&action| 4.0 * unit(key ^ game.own_action_key(action))));
            let draw = unit(key) / 2.0;
            let win = (1.0 - draw) * unit(!key);
            evaluation.win_draw_loss = [win, draw, 1.0 - draw - win];
        }
        Ok(())
    }

    fn positions_at_once(&self) -> usize {
        self.positions_at_once
    }
}

/// Runs two searches along a game, with up to so many positions in a call; returns all results and the number of calls.
fn search_along(rules: &Arc<Rules>, settings: &Settings, positions_at_once: usize) -> (Vec<SearchResult<Action>>, u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut game = random_game(rules, 12, &mut rng);
    let mut searches = [Search::new(settings.clone(), &game), Search::new(settings.clone(), &game)];
    let mut evaluator = Hashes { positions_at_once, calls: 0 };
    let mut results = Vec::new();
    while results.len() < 8 && game.outcome().is_none() {
        // Searching on in the same tree, too.
        for simulations in [40, 60] {
            for (search, add_noise) in searches.iter_mut().zip([false, true]) {
                search.start(SearchBudget { simulations, add_noise }, &mut rng);
            }
            LeafBatch::default().run(&mut searches, &mut evaluator).expect("hashes do not fail");
            results.extend(searches.iter().map(Search::result));
        }
        let action = results.last().map(|result| result.actions[result.best]).expect("there are results");
        searches.iter_mut().for_each(|search| search.advance(action));
        game.play(action);
    }
    (results, evaluator.calls)
}

#[test]
fn evaluating_leaves_ahead_changes_nothing_but_the_number_of_calls() {
    let mut calls = [0; 3];
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let kept = Settings { reuse_tree: true, ..Settings::gumbel() };
        let full = Settings { edges_max: 700, draw_value: 0.2, ..Settings::gumbel() };
        for settings in [kept, full, Settings::puct()] {
            let [alone, few, many] = [1, 8, 64].map(|positions| search_along(&rules, &settings, positions));
            assert_eq!(few.0, alone.0, "{name}, {settings:?}");
            assert_eq!(many.0, alone.0, "{name}, {settings:?}");
            for (sum, own) in calls.iter_mut().zip([alone.1, few.1, many.1]) {
                *sum += own;
            }
        }
    }
    let [alone, few, many] = calls;
    assert!(3 * few < 2 * alone && many < few, "{calls:?}");
}

/// The answers of [`Hashes`] with their leads times `factor`.
struct NearDraw {
    factor: f32,
    hashes: Hashes,
}

impl Evaluator<GameState> for NearDraw {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        self.hashes.evaluate(games, legal_actions, evaluations)?;
        for evaluation in evaluations {
            let [win, _, loss] = evaluation.win_draw_loss;
            let lead = (win - loss) * self.factor;
            evaluation.win_draw_loss = [lead.max(0.0), 1.0 - lead.abs(), (-lead).max(0.0)];
        }
        Ok(())
    }
}

/// The constants of PUCT are for values of a usual size; where all are near a draw, the prior alone would decide.
#[test]
fn puct_searches_alike_however_small_the_differences_of_values_are() {
    for name in ["savard", "dutch-8x8", "dux-hunt-16", "falkener", "beads", "consensus-8x8"] {
        let game = GameState::new(presets::rules(name));
        // Powers of two change no digit of a value. Ends keep theirs, so not every ruleset and evaluator searches alike.
        let [usual, small, smallest] = [1.0, 1.0 / 8.0, 1.0 / 64.0].map(|factor| {
            let mut search = Search::new(Settings::puct(), &game);
            search.start(SearchBudget { simulations: 300, add_noise: false }, &mut ChaCha8Rng::seed_from_u64(1));
            let hashes = Hashes { positions_at_once: 1, calls: 0 };
            search.run(&mut NearDraw { factor, hashes }).expect("hashes do not fail");
            search.result().visits
        });
        assert_eq!(small, usual, "{name}");
        assert_eq!(smallest, usual, "{name}");
    }
}

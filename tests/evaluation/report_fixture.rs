//! A study that nobody played: every part of a summary, with numbers that are easy to recognise.

use std::collections::BTreeMap;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{GameRecord, Player, Rules, Ruleset, presets};
use latrunculi_eval::matches::{MatchConfig, play_match};
use latrunculi_eval::metrics::{self, Metrics, MetricsConfig};
use latrunculi_eval::study::StudySummary;
use latrunculi_eval::study::settings::StudySettings;
use latrunculi_eval::study::summary::{
    AgentSummary, CellSummary, CompensationSummary, Conclusion, Derivation, DifferenceSummary, Doubt, FamilyAgreement,
    HandicapCell, LastDoubling, LedgerPlace, OpeningSummary, OutcomeCounts, PhaseSummary, PieSummary, PieTurn,
    RankAgreement, RateSummary, RulesetSummary, SUMMARY_VERSION, ScoreSummary, SecondOpening, Stability, StopReason,
    TrendDirection, TrendSummary, VerdictSummary,
};
use latrunculi_stats::compensation::{FiellerSet, WholeHandicaps};
use latrunculi_stats::score::{ELO_SCORE_MARGIN, EloEstimate, elo_from_score};
use latrunculi_stats::{BalanceVerdict, Confidence, Equivalence, Estimate, Interval, proportion};

use crate::agents::{spec, uniform};

/// The agents: two ladders.
const AGENTS: [(&str, &str, u64, &str); 5] = [
    ("alphabeta:nodes=500", "alphabeta", 500, "nodes"),
    ("alphabeta:nodes=2000", "alphabeta", 2000, "nodes"),
    ("alphabeta:nodes=8000", "alphabeta", 8000, "nodes"),
    ("mcts:sims=100", "mcts", 100, "simulations"),
    ("mcts:sims=400", "mcts", 400, "simulations"),
];
const HEADLINE: usize = 2;

/// Returns a study of these rulesets, the first `described` of them with metrics of a few real games.
pub(crate) fn study(rulesets: &[Ruleset], described: usize) -> StudySummary {
    let mut all: Vec<RulesetSummary> =
        rulesets.iter().enumerate().map(|(number, rules)| ruleset(rules, number, number < described)).collect();
    all[0].compensation = Some(compensation());
    all[0].pie = Some(pie());
    all[0].phases = Some(phases());
    StudySummary {
        format: SUMMARY_VERSION,
        program_version: "0.1.0".to_owned(),
        command: "latrunculi balance --rulesets all --agents alphabeta:nodes=8000 --seed 7 --out DIR".to_owned(),
        settings: StudySettings {
            title: "A study of <every> ruleset & its \"balance\"".to_owned(),
            rulesets: rulesets.iter().map(|rules| rules.id.clone()).collect(),
            agents: AGENTS.iter().map(|(agent, ..)| (*agent).to_owned()).collect(),
            seed: 7,
            metrics: true,
            pie: true,
            phases: true,
            compensation: vec![1, 2],
            sweep: BTreeMap::from([("capture.per_move".to_owned(), vec!["one".to_owned(), "all".to_owned()])]),
            ..StudySettings::default()
        },
        is_complete: false,
        agents: AGENTS.iter().map(|agent| agent_summary(*agent)).collect(),
        headline_agent: HEADLINE,
        rulesets: all,
        rank_agreements: vec![RankAgreement {
            agents: ["alphabeta:nodes=8000".to_owned(), "mcts:sims=400".to_owned()],
            rulesets: rulesets.len(),
            tau: Some(0.53),
            told_apart: 17,
            alike: 15,
        }],
        notes: vec!["The pie rule was not measured for one ruleset: no first turn ends the placement.".to_owned()],
    }
}

/// Makes the last ruleset of a study one that was derived from the first.
pub(crate) fn derive_last(study: &mut StudySummary) {
    let base = study.rulesets[0].name.clone();
    let count = study.agents.len();
    let last = study.rulesets.last_mut().expect("a study has rulesets");
    last.derived = Some(Derivation {
        base,
        parameter: "capture.per_move".to_owned(),
        base_value: "all".to_owned(),
        value: "one".to_owned(),
        differences: vec![Some(difference(-0.043, 0.0123)); count],
    });
}

fn agent_summary((agent, family, budget, unit): (&str, &str, u64, &str)) -> AgentSummary {
    AgentSummary {
        agent: agent.to_owned(),
        family: family.to_owned(),
        budget: Some(budget),
        budget_unit: Some(unit.to_owned()),
    }
}

fn ruleset(ruleset: &Ruleset, number: usize, is_described: bool) -> RulesetSummary {
    let rules = Rules::new(ruleset).expect("valid");
    let base = 0.5 + 0.011 * ((number * 7 % 13) as f64 - 5.0);
    let mut cells: Vec<CellSummary> = AGENTS
        .iter()
        .enumerate()
        .map(|(agent, (text, ..))| {
            cell(text, base + 0.012 * (agent as f64 - 2.0) * if number.is_multiple_of(3) { 1.0 } else { -0.7 }, number)
        })
        .collect();
    if is_described {
        cells[HEADLINE].metrics = Some(described(ruleset));
    }
    let agreement = difference(cells[2].score.expect("scored").score - cells[4].score.expect("scored").score, 0.021);
    RulesetSummary {
        name: ruleset.id.clone(),
        title: ruleset.name.clone(),
        fingerprint: ruleset_fingerprint(ruleset),
        files: rules.files(),
        ranks: rules.ranks(),
        men: rules.men_at_start(Player::First),
        has_duces: rules.has_duces(),
        is_placement: ruleset.setup.array.is_none(),
        derived: None,
        trends: vec![
            trend("alphabeta", &[500, 2000, 8000], 0.0061, TrendDirection::Growing),
            trend("mcts", &[100, 400], -0.0042, TrendDirection::Unclear),
        ],
        agreements: vec![FamilyAgreement {
            agents: [AGENTS[2].0.to_owned(), AGENTS[4].0.to_owned()],
            is_within_margin: number % 4 == 1,
            depends_on_agent: number % 4 == 3,
            difference: agreement,
        }],
        cells,
        compensation: None,
        pie: None,
        phases: None,
    }
}

fn trend(family: &str, budgets: &[u64], change: f64, direction: TrendDirection) -> TrendSummary {
    TrendSummary {
        family: family.to_owned(),
        budgets: budgets.to_vec(),
        distances: [0.0312, 0.0312 + change],
        change: Estimate { value: change, standard_error: 0.0031 },
        interval: Interval { lower: change - 0.0061, upper: change + 0.0061 },
        direction,
        is_monotone: budgets.len() == 2,
        changes_side: budgets.len() == 2,
    }
}

fn difference(difference: f64, standard_error: f64) -> DifferenceSummary {
    DifferenceSummary {
        difference,
        standard_error,
        interval: Interval { lower: difference - 1.96 * standard_error, upper: difference + 1.96 * standard_error },
        p: Some(0.0004),
        p_holm: Some(0.0007),
    }
}

fn outcomes(score: f64, games: u64, truncated: u64) -> OutcomeCounts {
    let rule_draws = games / 7;
    let decided = games - rule_draws - truncated;
    let first_wins = (score * games as f64 - (rule_draws + truncated) as f64 / 2.0).round() as u64;
    OutcomeCounts { first_wins, second_wins: decided - first_wins, rule_draws, truncated }
}

fn score(outcomes: &OutcomeCounts) -> ScoreSummary {
    let games = outcomes.games() as f64;
    let mean = outcomes.win_draw_loss().mean().expect("games");
    let standard_error = 0.45 / games.sqrt();
    let at = |z: f64| Interval { lower: mean - z * standard_error, upper: mean + z * standard_error };
    let elo = |score: f64| elo_from_score(score.clamp(ELO_SCORE_MARGIN, 1.0 - ELO_SCORE_MARGIN));
    ScoreSummary {
        score: mean,
        standard_error,
        interval: at(1.96),
        simultaneous: at(3.1),
        half_width: 1.96 * standard_error,
        truncation_bracket: Interval {
            lower: mean - outcomes.truncated as f64 / 2.0 / games,
            upper: mean + outcomes.truncated as f64 / 2.0 / games,
        },
        elo: EloEstimate { value: elo(mean).unwrap_or(0.0), lower: elo(at(1.96).lower), upper: elo(at(1.96).upper) },
    }
}

fn rate(count: u64, of: u64) -> RateSummary {
    let interval = proportion::wilson(count, of, Confidence::NINETY_FIVE).expect("a rate");
    RateSummary { count, of, rate: count as f64 / of as f64, interval }
}

fn cell(agent: &str, at: f64, number: usize) -> CellSummary {
    let outcomes = outcomes(at, 800 + 37 * number as u64, if number == 5 { 31 } else { 0 });
    let score = score(&outcomes);
    let games = outcomes.games();
    let test = if score.simultaneous.lower > 0.5 {
        BalanceVerdict::First
    } else if score.simultaneous.upper < 0.5 {
        BalanceVerdict::Second
    } else if (score.score - 0.5).abs() < 0.006 {
        BalanceVerdict::Balanced
    } else {
        BalanceVerdict::Unresolved
    };
    let doubts = match test {
        BalanceVerdict::Balanced => vec![Doubt::FewCaptures, Doubt::OneKindOfPlayer],
        _ => Vec::new(),
    };
    CellSummary {
        agent: agent.to_owned(),
        played_as: agent.to_owned(),
        ledger: Some(LedgerPlace { file: format!("bell/{agent}.jsonl"), series: format!("bell {agent}") }),
        opening: OpeningSummary { actions: 6, policy: None },
        games_played: games + 12,
        games,
        games_repeated: 12,
        openings_distinct: games - 3,
        effective_games: Some(0.93 * games as f64),
        stop: StopReason::Width,
        decisive: Some(rate(outcomes.first_wins + outcomes.second_wins, games)),
        first_of_decisive: Some(rate(outcomes.first_wins, outcomes.first_wins + outcomes.second_wins)),
        ends: BTreeMap::from([
            ("dux enclosed".to_owned(), outcomes.first_wins + outcomes.second_wins),
            ("repetition".to_owned(), outcomes.rule_draws),
        ]),
        contact: Some(rate(games / 4, games)),
        verdict: Some(VerdictSummary {
            verdict: Conclusion::of_test(test, &doubts),
            test,
            doubts,
            last_doubling: Some(LastDoubling {
                budgets: [2000, 8000],
                change: Estimate { value: 0.0134, standard_error: 0.0121 },
                interval: Interval { lower: -0.0103, upper: 0.0371 },
                stability: Stability::Unclear,
            }),
            rank_agreement: None,
            p_unbalanced: 0.012,
            p_unbalanced_holm: 0.0831,
            equivalence: Equivalence { p_above: 0.0113, p_below: 0.1874 },
            p_balanced: 0.1874,
            p_balanced_holm: 0.7496,
        }),
        outcomes,
        score: Some(score),
        actions_mean: 61.25 + number as f64,
        effort_mean: Some(1987.5),
        second_opening: Some(SecondOpening {
            opening: OpeningSummary { actions: 2, policy: None },
            games: 400,
            outcomes: OutcomeCounts { first_wins: 190, second_wins: 160, rule_draws: 50, truncated: 0 },
            score: Some(self::score(&OutcomeCounts {
                first_wins: 190,
                second_wins: 160,
                rule_draws: 50,
                truncated: 0,
            })),
            shift: Some(difference(0.0175, 0.0244)),
        }),
        metrics: None,
    }
}

fn compensation() -> CompensationSummary {
    let cell = |handicap: i32, first_wins: u64| {
        let outcomes = OutcomeCounts { first_wins, second_wins: 1000 - first_wins, rule_draws: 0, truncated: 0 };
        HandicapCell { handicap, games: 1000, outcomes, score: Some(score(&outcomes)) }
    };
    CompensationSummary {
        agent: AGENTS[HEADLINE].0.to_owned(),
        cells: vec![cell(0, 600), cell(1, 470), cell(2, 350)],
        coefficients: Some([0.400_946, -0.512_379]),
        fair_handicap: Some(0.7825),
        fair_handicap_set: Some(FiellerSet::Within(Interval { lower: 0.6264, upper: 0.9258 })),
        whole_handicaps: Some(WholeHandicaps {
            smaller: 0.0,
            larger: 1.0,
            larger_share: 0.7825,
            score: Estimate { value: 0.4987, standard_error: 0.0131 },
        }),
        refused: None,
    }
}

fn pie() -> PieSummary {
    let turn = |text: &str, first_wins: u64| {
        let outcomes = OutcomeCounts { first_wins, second_wins: 60 - first_wins, rule_draws: 0, truncated: 0 };
        PieTurn { actions: vec![text.to_owned()], outcomes, score: Some(score(&outcomes)) }
    };
    let held_out = OutcomeCounts { first_wins: 110, second_wins: 90, rule_draws: 100, truncated: 0 };
    PieSummary {
        agent: AGENTS[HEADLINE].0.to_owned(),
        first_turns: Some(14),
        tried: vec![turn("a2-a3", 41), turn("d2-d3", 31), turn("h2-h3", 22)],
        chosen: Some(1),
        held_out: Some(score(&held_out)),
        held_out_outcomes: held_out,
        residual: Some(0.0333),
        within_margin: 1,
    }
}

fn phases() -> PhaseSummary {
    let outcomes = OutcomeCounts { first_wins: 210, second_wins: 170, rule_draws: 20, truncated: 0 };
    PhaseSummary {
        agent: AGENTS[HEADLINE].0.to_owned(),
        random_placement: Some(score(&outcomes)),
        outcomes,
        by_placement: Some(difference(-0.011, 0.02)),
        by_movement: Some(difference(0.05, 0.019)),
    }
}

/// Measures a few real games.
fn described(ruleset: &Ruleset) -> Metrics {
    let rules = std::sync::Arc::new(Rules::new(ruleset).expect("valid"));
    let agents = [spec("alphabeta:nodes=60"), spec("alphabeta:nodes=90")];
    let config = MatchConfig { seed: 5, keep_records: true, ..MatchConfig::new(agents, 12) };
    let report =
        play_match(&rules, &config, &mut uniform, &mut |_| std::ops::ControlFlow::Continue(())).expect("games");
    let games: Vec<&GameRecord> = report.records.iter().filter_map(|game| game.record.as_deref()).collect();
    metrics::measure(&rules, &games, &MetricsConfig { replications: 40, ..MetricsConfig::default() }).expect("metrics")
}

/// Returns shipped rulesets by name.
pub(crate) fn shipped(names: &[&str]) -> Vec<Ruleset> {
    names.iter().map(|name| presets::ruleset(name).expect("shipped")).collect()
}

//! What a score near one half is worth: captures, a second kind of player; and which summaries are read.

use latrunculi_eval::study::StudySummary;
use latrunculi_eval::study::summary::{Conclusion, Doubt, RateSummary, SUMMARY_VERSION, TrendDirection};
use latrunculi_stats::{BalanceVerdict, Confidence, Interval};
use serde_json::{Value, json};

use crate::report_fixture::study;

/// The place of alpha-beta's largest budget.
const ALPHA_BETA: usize = 2;
/// The place of the tree search's largest budget.
const TREE: usize = 4;

/// Returns the conclusion and the doubts about alpha-beta's largest budget: all agents are even in games with captures, but for
/// what `change` changes of the ruleset.
fn concluded(change: impl FnOnce(&mut Value)) -> (Conclusion, Vec<Doubt>) {
    let mut summary = study(1);
    for cell in &mut summary.rulesets[0].cells {
        cell.verdict.as_mut().expect("a verdict").test = BalanceVerdict::Balanced;
    }
    let mut value = serde_json::to_value(&summary).expect("a summary is JSON");
    for agent in 0..summary.agents.len() {
        contact(&mut value["rulesets"][0], agent, 0.5);
    }
    change(&mut value);
    let mut summary = StudySummary::from_json(&value.to_string()).expect("a summary");
    summary.conclude(Confidence::NINETY_FIVE);
    let verdict = summary.rulesets[0].cells[ALPHA_BETA].verdict.clone().expect("a verdict");
    (verdict.verdict, verdict.doubts)
}

fn contact(ruleset: &mut Value, agent: usize, rate: f64) {
    let interval = Interval { lower: 0.0, upper: 1.0 };
    let contact = RateSummary { count: (1000.0 * rate) as u64, of: 1000, rate, interval };
    ruleset["cells"][agent]["contact"] = serde_json::to_value(contact).expect("a rate");
}

fn test(value: &mut Value, agent: usize, test: &str) {
    value["rulesets"][0]["cells"][agent]["verdict"]["test"] = json!(test);
}

#[test]
fn balance_needs_captures_and_another_kind_of_player_that_agrees() {
    let even = |doubts: &[Doubt]| (Conclusion::EvenWithThisPlayer, doubts.to_vec());
    assert_eq!(concluded(|_| {}), (Conclusion::Balanced, Vec::new()));
    // Half of the games is the floor, unless the study says otherwise.
    assert_eq!(concluded(|value| contact(&mut value["rulesets"][0], ALPHA_BETA, 0.499)), even(&[Doubt::FewCaptures]));
    let lower_floor = |value: &mut Value| {
        contact(&mut value["rulesets"][0], ALPHA_BETA, 0.2);
        contact(&mut value["rulesets"][0], TREE, 0.2);
        value["settings"]["min_contact"] = json!(0.2);
    };
    assert_eq!(concluded(lower_floor), (Conclusion::Balanced, Vec::new()));
    let unknown = |value: &mut Value| value["rulesets"][0]["cells"][ALPHA_BETA]["contact"] = Value::Null;
    assert_eq!(concluded(unknown), even(&[Doubt::CapturesUnknown]));
    // Games that were cut off and might have gone to one side.
    let cut_off = |agent: usize| {
        move |value: &mut Value| {
            value["rulesets"][0]["cells"][agent]["score"]["truncation_bracket"] =
                json!({ "lower": 0.46, "upper": 0.51 });
        }
    };
    assert_eq!(concluded(cut_off(ALPHA_BETA)), even(&[Doubt::CutOff]));
    assert_eq!(concluded(cut_off(TREE)), even(&[Doubt::NotConfirmed]));
    // Other budgets of the same search, and players that do not search, are no second opinion.
    let alone = |value: &mut Value| {
        for (agent, family) in [(3, "greedy"), (4, "alphabeta by depth")] {
            value["agents"][agent]["family"] = json!(family);
        }
    };
    assert_eq!(concluded(alone), even(&[Doubt::OneKindOfPlayer]));
    let greedy = |value: &mut Value| {
        for agent in 0..=ALPHA_BETA {
            value["agents"][agent]["family"] = json!("greedy");
        }
    };
    assert_eq!(concluded(greedy), even(&[Doubt::NoSearch]));
    assert_eq!(concluded(|value| test(value, TREE, "second")), even(&[Doubt::KindsDisagree]));
    let differs = |value: &mut Value| value["rulesets"][0]["agreements"][0]["depends_on_agent"] = json!(true);
    assert_eq!(concluded(differs), even(&[Doubt::KindsDisagree]));
    assert_eq!(concluded(|value| test(value, TREE, "unresolved")), even(&[Doubt::NotConfirmed]));
    assert_eq!(concluded(|value| contact(&mut value["rulesets"][0], TREE, 0.1)), even(&[Doubt::NotConfirmed]));
    // The smaller budget of the other kind has no say.
    assert_eq!(concluded(|value| test(value, 3, "first")), (Conclusion::Balanced, Vec::new()));
    // A third kind that disagrees outweighs a second one that agrees.
    let third = |value: &mut Value| {
        value["agents"][3]["family"] = json!("net models/bell.safetensors");
        test(value, 3, "first");
    };
    assert_eq!(concluded(third), even(&[Doubt::KindsDisagree]));
    let several = |value: &mut Value| {
        contact(&mut value["rulesets"][0], ALPHA_BETA, 0.0);
        test(value, TREE, "first");
    };
    assert_eq!(concluded(several), even(&[Doubt::FewCaptures, Doubt::KindsDisagree]));
}

#[test]
fn an_advantage_needs_no_second_opinion() {
    for (found, conclusion) in
        [("first", Conclusion::First), ("second", Conclusion::Second), ("unresolved", Conclusion::Unresolved)]
    {
        let few = |value: &mut Value| {
            contact(&mut value["rulesets"][0], ALPHA_BETA, 0.0);
            test(value, ALPHA_BETA, found);
        };
        assert_eq!(concluded(few), (conclusion, Vec::new()));
    }
}

#[test]
fn conclusions_are_drawn_from_the_scores() {
    let mut summary = study(3);
    summary.conclude(Confidence::NINETY_FIVE);
    for ruleset in &summary.rulesets {
        assert_eq!(ruleset.trends.len(), 2);
        let scores = [0, ALPHA_BETA].map(|agent| (ruleset.cells[agent].score.expect("a score").score - 0.5).abs());
        assert!((ruleset.trends[0].change.value - (scores[1] - scores[0])).abs() < 1e-9);
        assert_eq!(ruleset.trends[0].budgets, [500, 2000, 8000]);
        assert_ne!(ruleset.trends[0].direction, TrendDirection::Growing);
        let verdict = |agent: usize| ruleset.cells[agent].verdict.as_ref().expect("a verdict");
        let order = verdict(ALPHA_BETA).rank_agreement.as_ref().expect("a pair");
        assert_eq!((order.agents[0].as_str(), order.rulesets), ("alphabeta:nodes=2000", 3));
        // Of three rulesets, none with the score of another, three pairs.
        assert!(order.tau.is_some_and(|tau| (3.0 * tau).fract().abs() < 1e-9) && order.alike <= order.told_apart);
        assert_eq!(verdict(ALPHA_BETA).last_doubling.expect("a change").budgets, [2000, 8000]);
        assert_eq!((verdict(0).last_doubling, verdict(0).rank_agreement.as_ref()), (None, None));
    }
}

#[test]
fn only_summaries_of_this_format_are_read() {
    let summary = study(1);
    let value = serde_json::to_value(&summary).expect("a summary is JSON");
    let own = StudySummary::from_json(&value.to_string()).expect("a summary");
    assert_eq!((own.format, own.rulesets[0].cells[0].contact), (SUMMARY_VERSION, summary.rulesets[0].cells[0].contact));
    for format in [0, 1, SUMMARY_VERSION - 1, SUMMARY_VERSION + 1] {
        let mut other = value.clone();
        other["format"] = json!(format);
        let fault = StudySummary::from_json(&other.to_string()).expect_err("another format").to_string();
        assert!(fault.starts_with(&format!("it has format {format}, this program reads format")), "{fault}");
    }
    let empty = json!({ "format": SUMMARY_VERSION }).to_string();
    let wrong_cells = json!({ "format": SUMMARY_VERSION, "rulesets": [3, { "cells": 4 }] }).to_string();
    for wrong in ["", "{}", "[1]", empty.as_str(), wrong_cells.as_str()] {
        let fault = StudySummary::from_json(wrong).expect_err("no summary").to_string();
        assert!(fault.starts_with("this is no summary of a balance study: "), "{wrong}: {fault}");
    }
}

#[test]
fn a_summary_with_a_number_out_of_range_is_refused_by_its_name() {
    let summary = study(2);
    let value = serde_json::to_value(&summary).expect("JSON");
    StudySummary::from_json(&value.to_string()).expect("a summary");
    let changes: [(&str, Value, &str); 9] = [
        ("/rulesets/0/cells/1/score/score", json!(7.5), "rulesets[0].cells[1].score.score"),
        ("/rulesets/0/cells/1/score/interval/upper", json!(1.5), "rulesets[0].cells[1].score.score or its interval"),
        ("/rulesets/0/cells/1/score/interval", json!({ "lower": 0.9, "upper": 0.1 }), "interval from 0.9 to 0.1"),
        ("/rulesets/0/cells/1/score/standard_error", json!(-1.0), "standard_error"),
        // Wherever they stand: ranges of turns are parts of the metrics.
        ("/rulesets/0/cells/1/metrics", json!({ "from_turn": 9, "to_turn": 8 }), "range of turns from 9 to 8"),
        ("/rulesets/0/cells/1/games", json!(1_000_000), "outcomes"),
        ("/rulesets/0/files", json!(1_000_000), "board"),
        ("/headline_agent", json!(99), "headline_agent"),
        ("/rulesets/0/cells", json!([]), "cells"),
    ];
    for (path, wrong, words) in changes {
        let mut changed = value.clone();
        *changed.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = wrong;
        let fault = StudySummary::from_json(&changed.to_string()).expect_err(path).to_string();
        assert!(fault.contains(words), "{path}: {fault}");
    }
}

#[test]
fn every_published_summary_is_read_and_says_what_its_numbers_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/studies");
    let mut count = 0;
    for study in std::fs::read_dir(folder).expect("studies").flatten() {
        let Ok(text) = std::fs::read_to_string(study.path().join("summary.json")) else { continue };
        let summary = StudySummary::from_json(&text).expect("a summary");
        count += 1;
        for ruleset in &summary.rulesets {
            for trend in &ruleset.trends {
                let [first, last] = trend.distances;
                let expected = match trend.direction {
                    TrendDirection::Growing => last > first,
                    TrendDirection::Shrinking => last < first,
                    TrendDirection::Stable | TrendDirection::Unclear => true,
                };
                assert!(expected, "{}: {trend:?}", ruleset.name);
            }
            for cell in &ruleset.cells {
                let Some(verdict) = &cell.verdict else { continue };
                let is_met = cell.contact.is_some_and(|contact| contact.rate >= summary.settings.min_contact);
                assert!(verdict.verdict != Conclusion::Balanced || is_met, "{}: {}", ruleset.name, cell.agent);
            }
        }
    }
    assert!(count >= 1);
}

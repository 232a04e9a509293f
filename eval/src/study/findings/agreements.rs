//! Whether the largest budgets of two families agree about a ruleset.

use super::estimates::difference;
use crate::study::summary::{AgentSummary, CellSummary, FamilyAgreement};
use crate::study::trend::tops;
use latrunculi_stats::{Confidence, Interval};

pub(in crate::study) fn family_agreements(
    agents: &[AgentSummary],
    cells: &[CellSummary],
    margin: f64,
    confidence: Confidence,
) -> Vec<FamilyAgreement> {
    let tops: Vec<usize> = tops(agents);
    let mut agreements = Vec::new();
    for (position, &one) in tops.iter().enumerate() {
        for &other in &tops[position + 1..] {
            let (Some(first), Some(second)) = (&cells[one].score, &cells[other].score) else { continue };
            let difference = difference(first, second, confidence);
            let Interval { lower, upper } = difference.interval;
            agreements.push(FamilyAgreement {
                agents: [one, other].map(|agent| agents[agent].agent.clone()),
                difference,
                is_within_margin: -margin < lower && upper < margin,
                // What all rulesets say together decides it.
                depends_on_agent: false,
            });
        }
    }
    agreements
}

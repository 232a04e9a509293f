//! Whether the largest budgets of two families agree about a ruleset.

use super::Findings;
use super::estimates::difference;
use crate::study::summary::{CellSummary, FamilyAgreement};
use crate::study::trend::tops;
use latrunculi_stats::Interval;

impl Findings<'_> {
    pub(super) fn family_agreements(&self, cells: &[CellSummary]) -> Vec<FamilyAgreement> {
        let tops: Vec<usize> = tops(&self.plan.agents);
        let margin = self.plan.settings.margin;
        let mut agreements = Vec::new();
        for (position, &one) in tops.iter().enumerate() {
            for &other in &tops[position + 1..] {
                let (Some(first), Some(second)) = (&cells[one].score, &cells[other].score) else { continue };
                let difference = difference(first, second, self.plan.confidence);
                let Interval { lower, upper } = difference.interval;
                agreements.push(FamilyAgreement {
                    agents: [one, other].map(|agent| self.plan.agents[agent].agent.clone()),
                    difference,
                    is_within_margin: -margin < lower && upper < margin,
                    // What all rulesets say together decides it.
                    depends_on_agent: false,
                });
            }
        }
        agreements
    }
}

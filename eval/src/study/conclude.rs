//! Conclusions from the numbers of a summary: trends over the budget, the order of the rulesets, and what a score near one
//! half is worth.

use latrunculi_stats::{BalanceVerdict, Confidence, Interval};

use super::StudySummary;
use super::agreements::rank_agreements;
use super::summary::{AgentSummary, Conclusion, Doubt, RulesetSummary};
use super::trend::{is_within, last_doubling, tops, trends};

impl StudySummary {
    /// Draws all conclusions anew from scores, tests, differences and captures.
    pub fn conclude(&mut self, confidence: Confidence) {
        let (agents, margin) = (&self.agents, self.settings.margin);
        self.rank_agreements = rank_agreements(agents, &self.rulesets, confidence);
        let rulesets = self.rulesets.len();
        for ruleset in &mut self.rulesets {
            ruleset.trends = trends(agents, &ruleset.cells, confidence, rulesets, margin);
            for agent in 0..ruleset.cells.len() {
                let doubts = doubts(agents, ruleset, agent, self.settings.min_contact, margin);
                let last_doubling = last_doubling(agents, &ruleset.cells, agent, confidence, margin);
                let rank_agreement = self.rank_agreements.iter().find(|pair| {
                    let family = |text: &String| agents.iter().find(|one| one.agent == *text).map(|one| &one.family);
                    pair.agents[1] == agents[agent].agent && family(&pair.agents[0]) == Some(&agents[agent].family)
                });
                let Some(verdict) = &mut ruleset.cells[agent].verdict else { continue };
                verdict.verdict = Conclusion::of_test(verdict.test, &doubts);
                verdict.doubts = doubts;
                verdict.last_doubling = last_doubling;
                verdict.rank_agreement = rank_agreement.cloned();
            }
        }
    }
}

impl Conclusion {
    /// Returns what a test comes to with these doubts.
    #[must_use]
    pub fn of_test(test: BalanceVerdict, doubts: &[Doubt]) -> Conclusion {
        match test {
            BalanceVerdict::Balanced if doubts.is_empty() => Conclusion::Balanced,
            BalanceVerdict::Balanced => Conclusion::EvenWithThisPlayer,
            BalanceVerdict::First => Conclusion::First,
            BalanceVerdict::Second => Conclusion::Second,
            BalanceVerdict::Unresolved => Conclusion::Unresolved,
        }
    }
}

/// Returns what speaks against calling a ruleset balanced because the score of `agent` is near one half.
fn doubts(
    agents: &[AgentSummary],
    ruleset: &RulesetSummary,
    agent: usize,
    min_contact: f64,
    margin: f64,
) -> Vec<Doubt> {
    let test = |agent: usize| ruleset.cells[agent].verdict.as_ref().map(|verdict| verdict.test);
    if test(agent) != Some(BalanceVerdict::Balanced) {
        return Vec::new();
    }
    let contact = |agent: usize| ruleset.cells[agent].contact.map(|contact| contact.rate >= min_contact);
    let mut doubts = Vec::new();
    match contact(agent) {
        Some(true) => {}
        Some(false) => doubts.push(Doubt::FewCaptures),
        None => doubts.push(Doubt::CapturesUnknown),
    }
    // What the score can be, whatever the results of the games that were cut off.
    let is_cut_off = |agent: usize| {
        ruleset.cells[agent].score.as_ref().is_some_and(|score| {
            let Interval { lower, upper } = score.truncation_bracket;
            !is_within(Interval { lower: lower - 0.5, upper: upper - 0.5 }, margin) && lower < upper
        })
    };
    if is_cut_off(agent) {
        doubts.push(Doubt::CutOff);
    }
    let own = kind(&agents[agent].family);
    if own.is_none() {
        doubts.push(Doubt::NoSearch);
    }
    let is_other = |&other: &usize| kind(&agents[other].family).is_some_and(|kind| Some(kind) != own);
    let others: Vec<usize> = tops(agents).into_iter().filter(is_other).filter(|&other| test(other).is_some()).collect();
    let differs = |other: usize| {
        let both = [agent, other].map(|one| &agents[one].agent);
        ruleset.agreements.iter().any(|pair| {
            pair.depends_on_agent && !pair.is_within_margin && both.iter().all(|one| pair.agents.contains(one))
        })
    };
    let disagrees =
        |other: usize| matches!(test(other), Some(BalanceVerdict::First | BalanceVerdict::Second)) || differs(other);
    let confirms = |other: usize| {
        test(other) == Some(BalanceVerdict::Balanced) && contact(other) == Some(true) && !is_cut_off(other)
    };
    if others.is_empty() {
        doubts.push(Doubt::OneKindOfPlayer);
    } else if others.iter().any(|&other| disagrees(other)) {
        doubts.push(Doubt::KindsDisagree);
    } else if !others.iter().any(|&other| confirms(other)) {
        doubts.push(Doubt::NotConfirmed);
    }
    doubts
}

/// Returns the kind of search of a family of agents; `None` for players that do not search.
fn kind(family: &str) -> Option<&str> {
    family.split(' ').next().filter(|kind| matches!(*kind, "alphabeta" | "mcts" | "net"))
}

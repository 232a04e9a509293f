//! Whether two players agree about a ruleset, and whether they put the rulesets into the same order by the first player's score.

use latrunculi_stats::rank::kendall_tau;
use latrunculi_stats::{Confidence, Interval};

use super::estimates::difference;
use super::summary::{AgentSummary, CellSummary, FamilyAgreement, RankAgreement, RulesetSummary, ScoreSummary};
use super::trend::{ladders, tops};

/// Compares the largest budgets of two families in one ruleset.
pub(super) fn family_agreements(
    agents: &[AgentSummary],
    cells: &[CellSummary],
    margin: f64,
    confidence: Confidence,
) -> Vec<FamilyAgreement> {
    let tops = tops(agents);
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

/// Compares neighbouring budgets of each family, and the largest budgets of two families, over the rulesets that were
/// asked for, not those derived from them.
///
/// Kendall's τ has no interval. Where many rulesets have nearly the same score, the noise of the games alone lowers it, and
/// intervals around it miss the τ of the true scores. The order of the pairs that both players tell apart does not depend
/// on that.
pub(super) fn rank_agreements(
    agents: &[AgentSummary],
    rulesets: &[RulesetSummary],
    confidence: Confidence,
) -> Vec<RankAgreement> {
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for ladder in ladders(agents) {
        pairs.extend(ladder.windows(2).map(|pair| [pair[0], pair[1]]));
    }
    let tops = tops(agents);
    for (position, &one) in tops.iter().enumerate() {
        pairs.extend(tops[position + 1..].iter().map(|&other| [one, other]));
    }
    let agreement = |pair: [usize; 2]| {
        let own = rulesets.iter().filter(|ruleset| ruleset.derived.is_none());
        let scores: Vec<[&ScoreSummary; 2]> = own
            .filter_map(|ruleset| {
                let [one, other] = pair.map(|agent| ruleset.cells[agent].score.as_ref());
                Some([one?, other?])
            })
            .collect();
        // A correlation of two rulesets is one or minus one whatever they do.
        (scores.len() >= 3).then(|| rank_agreement(pair.map(|agent| agents[agent].agent.clone()), &scores, confidence))
    };
    pairs.into_iter().filter_map(agreement).collect()
}

/// Compares the scores of each ruleset with two players.
fn rank_agreement(agents: [String; 2], scores: &[[&ScoreSummary; 2]], confidence: Confidence) -> RankAgreement {
    let [one, other] = [0, 1].map(|player| scores.iter().map(|pair| pair[player].score).collect::<Vec<f64>>());
    let (mut told_apart, mut alike) = (0, 0);
    for (index, first) in scores.iter().enumerate() {
        for second in &scores[..index] {
            let [by_one, by_other] = [0, 1].map(|player| difference(first[player], second[player], confidence));
            if [by_one, by_other].iter().any(|difference| difference.interval.contains(0.0)) {
                continue;
            }
            told_apart += 1;
            alike += u64::from((by_one.difference > 0.0) == (by_other.difference > 0.0));
        }
    }
    RankAgreement { agents, rulesets: scores.len(), tau: kendall_tau(&one, &other), told_apart, alike }
}

#[cfg(test)]
mod tests {
    use latrunculi_stats::score::EloEstimate;

    use super::*;

    fn score(score: f64, standard_error: f64) -> ScoreSummary {
        let interval = Interval { lower: score - 1.96 * standard_error, upper: score + 1.96 * standard_error };
        ScoreSummary {
            score,
            standard_error,
            interval,
            simultaneous: interval,
            half_width: interval.half_width(),
            truncation_bracket: interval,
            elo: EloEstimate::of_score(score, Some(interval)),
        }
    }

    #[test]
    fn only_pairs_that_both_players_tell_apart_are_counted() {
        let confidence = Confidence::new(0.95).unwrap();
        let one = [score(0.8, 0.02), score(0.6, 0.02), score(0.50, 0.02), score(0.51, 0.02)];
        let other = [score(0.6, 0.02), score(0.7, 0.02), score(0.51, 0.02), score(0.50, 0.02)];
        let pairs: Vec<[&ScoreSummary; 2]> = one.iter().zip(&other).map(|(one, other)| [one, other]).collect();
        let found = rank_agreement([String::new(), String::new()], &pairs, confidence);
        // The last two are not told apart; of the five other pairs the first two rulesets change places.
        assert_eq!((found.rulesets, found.told_apart, found.alike), (4, 5, 4));
        assert_eq!(found.tau, Some(2.0 / 6.0));
    }
}

//! Comparisons of budgets and families: agreement, and the order of the rulesets.

use super::Findings;
use super::estimates::difference;
use crate::study::summary::{CellSummary, FamilyAgreement, RankAgreement};
use crate::study::trend::{ladders, tops};
use latrunculi_stats::bootstrap::percentile_interval;
use latrunculi_stats::rank::kendall_tau;
use latrunculi_stats::{Bootstrap, BootstrapKey, Interval};

/// Replicates of the bootstrap of rank correlations.
const REPLICATIONS: usize = 2_000;

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

    /// Compares the order of the rulesets that were asked for, not of those derived from them.
    pub(super) fn rank_agreements(&self) -> Vec<RankAgreement> {
        let agents = &self.plan.agents;
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        for ladder in ladders(agents) {
            pairs.extend(ladder.windows(2).map(|pair| [pair[0], pair[1]]));
        }
        let tops = tops(agents);
        for (position, &one) in tops.iter().enumerate() {
            pairs.extend(tops[position + 1..].iter().map(|&other| [one, other]));
        }
        let own: Vec<usize> =
            (0..self.plan.entries.len()).filter(|&entry| self.plan.entries[entry].derived.is_none()).collect();
        // A correlation of two rulesets is one or minus one whatever they do.
        if pairs.is_empty() || own.len() < 3 {
            return Vec::new();
        }
        let resampled: Vec<Vec<Option<Resampled>>> =
            own.iter().map(|&entry| (0..agents.len()).map(|agent| self.resample(entry, agent)).collect()).collect();
        pairs.into_iter().filter_map(|pair| self.rank_agreement(pair, &resampled)).collect()
    }

    fn resample(&self, entry: usize, agent: usize) -> Option<Resampled> {
        let openings: Vec<(f64, f64)> =
            self.main(entry, agent)?.1.openings().iter().map(|one| (one.points(), one.games() as f64)).collect();
        let key = BootstrapKey {
            seed: self.plan.settings.seed,
            ruleset: &self.plan.entries[entry].rules.ruleset().id,
            statistic: &self.plan.agents[agent].agent,
        };
        let mean = |indices: &[usize]| {
            let (points, games) = indices
                .iter()
                .fold((0.0, 0.0), |(points, games), &index| (points + openings[index].0, games + openings[index].1));
            (games > 0.0).then(|| vec![points / games])
        };
        let bootstrap = Bootstrap { key, cluster_count: openings.len(), replications: REPLICATIONS };
        let band = bootstrap.run(mean).ok()?;
        Some(Resampled { score: band.estimates()[0], replicates: band.replicates().iter().map(|one| one[0]).collect() })
    }

    fn rank_agreement(&self, pair: [usize; 2], resampled: &[Vec<Option<Resampled>>]) -> Option<RankAgreement> {
        let both: Vec<[&Resampled; 2]> = resampled
            .iter()
            .filter_map(|of_agents| Some([of_agents[pair[0]].as_ref()?, of_agents[pair[1]].as_ref()?]))
            .collect();
        if both.len() < 3 {
            return None;
        }
        let tau = |score: &dyn Fn(&Resampled) -> f64| {
            let [one, other] = [0, 1].map(|side| both.iter().map(|pair| score(pair[side])).collect::<Vec<f64>>());
            kendall_tau(&one, &other)
        };
        let replicates: Vec<f64> = (0..REPLICATIONS)
            .filter_map(|replicate| tau(&|one: &Resampled| one.replicates.get(replicate).copied().unwrap_or(one.score)))
            .collect();
        Some(RankAgreement {
            agents: pair.map(|agent| self.plan.agents[agent].agent.clone()),
            rulesets: both.len(),
            tau: tau(&|one: &Resampled| one.score),
            interval: percentile_interval(replicates, self.plan.confidence),
        })
    }
}

/// A score and what it might have been with other openings.
struct Resampled {
    score: f64,
    replicates: Vec<f64>,
}

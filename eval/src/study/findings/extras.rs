//! Additional results: compensation, the pie rule, the phases, derived rulesets.

use super::Findings;
use crate::study::estimates::{as_difference, difference, effective_error};
use crate::study::plan::{Plan, fairest_turn};
use crate::study::series::{Series, SeriesKind};
use crate::study::summary::{
    CompensationSummary, DifferenceSummary, HandicapCell, PhaseSummary, PieSummary, PieTurn, RulesetSummary,
    ScoreSummary,
};
use crate::study::tally::SeriesTally;
use latrunculi_stats::compensation::{CompensationCell, CompensationFit};
use latrunculi_stats::multiplicity::holm;
use latrunculi_stats::{Confidence, Estimate};

impl Findings<'_> {
    pub(super) fn compensation(&self, entry: usize) -> Option<CompensationSummary> {
        let agent = self.plan.headline;
        let is_derived = self.plan.entries[entry].derived.is_some();
        let (_, main) = self.main(entry, agent)?;
        if self.plan.settings.compensation.is_empty() || is_derived {
            return None;
        }
        let mut tallies: Vec<(i32, &SeriesTally)> = vec![(0, main)];
        tallies.extend(self.played.iter().filter_map(|(series, tally)| match series.play.kind {
            SeriesKind::Handicap(men) if series.ruleset == entry => Some((men, tally)),
            _ => None,
        }));
        tallies.sort_by_key(|&(men, _)| men);
        let cells: Vec<HandicapCell> = tallies
            .iter()
            .map(|&(handicap, tally)| HandicapCell {
                handicap,
                games: tally.counts.outcomes.games(),
                outcomes: tally.counts.outcomes,
                score: self.score(tally),
            })
            .collect();
        let observed: Vec<CompensationCell> = cells
            .iter()
            .filter_map(|cell| {
                let score = cell.score?;
                Some(CompensationCell {
                    handicap: cell.handicap.into(),
                    games: cell.games as f64,
                    score: score.score,
                    standard_error: effective_error(&score, self.plan.confidence),
                })
            })
            .collect();
        let agent = self.plan.agents[agent].agent.clone();
        let fitted = CompensationFit::measured(&observed).and_then(|fit| Ok((fit.fair_handicap()?, fit)));
        let found = fitted.as_ref().ok();
        Some(CompensationSummary {
            agent,
            cells,
            coefficients: found.map(|(_, fit)| fit.coefficients()),
            fair_handicap: found.map(|(fair, _)| *fair),
            fair_handicap_set: found.map(|(_, fit)| fit.fair_handicap_set(self.plan.confidence)),
            whole_handicaps: found.and_then(|(_, fit)| fit.whole_handicaps().ok()),
            refused: fitted.err().map(|reason| reason.to_string()),
        })
    }

    pub(super) fn pie(&self, entry: usize) -> Option<PieSummary> {
        let plan = self.plan;
        let agent = plan.headline;
        let turns: Vec<&(Series, SeriesTally)> = self
            .played
            .iter()
            .filter(|(series, _)| series.ruleset == entry && matches!(series.play.kind, SeriesKind::PieTurn(..)))
            .collect();
        if turns.is_empty() {
            return None;
        }
        let chosen = fairest_turn(turns.iter().copied());
        let tried: Vec<PieTurn> = turns
            .iter()
            .map(|(series, tally)| PieTurn {
                actions: series.play.kind.first_turn().to_vec(),
                outcomes: tally.counts.outcomes,
                score: self.score(tally),
            })
            .collect();
        let held_out =
            self.find(entry, agent, |kind| matches!(kind, SeriesKind::PieHeldOut(_))).map(|(_, tally)| tally);
        let held_out_score = held_out.and_then(|tally| self.score(tally));
        let is_fair = |turn: &&PieTurn| {
            turn.outcomes.win_draw_loss().mean().is_some_and(|mean| (mean - 0.5).abs() <= plan.settings.margin)
        };
        Some(PieSummary {
            agent: plan.agents[agent].agent.clone(),
            first_turns: plan.first_turns(entry).count,
            chosen: chosen
                .and_then(|chosen| turns.iter().position(|(series, _)| series.first_turn == chosen.first_turn)),
            held_out: held_out_score,
            held_out_outcomes: held_out.map(|tally| tally.counts.outcomes).unwrap_or_default(),
            residual: held_out_score.map(|score| (score.score - 0.5).abs()),
            within_margin: tried.iter().filter(is_fair).count(),
            tried,
        })
    }

    pub(super) fn phases(&self, entry: usize) -> Option<PhaseSummary> {
        let plan = self.plan;
        let (_, random) = self.find(entry, plan.headline, |kind| *kind == SeriesKind::RandomPlacement)?;
        let (_, main) = self.main(entry, plan.headline)?;
        let (own, random_score) = (self.score(main), self.score(random));
        let (by_placement, by_movement) = by_phase(own, random_score, plan.confidence);
        Some(PhaseSummary {
            agent: plan.agents[plan.headline].agent.clone(),
            random_placement: random_score,
            outcomes: random.counts.outcomes,
            by_placement,
            by_movement,
        })
    }
}

/// Returns what placing and what moving is worth to the first player: his score, and the one after random placement.
fn by_phase(
    own: Option<ScoreSummary>,
    random: Option<ScoreSummary>,
    confidence: Confidence,
) -> (Option<DifferenceSummary>, Option<DifferenceSummary>) {
    let by_placement = own.zip(random).map(|(own, random)| difference(&own, &random, confidence));
    let by_movement = random.map(|random| {
        let standard_error = effective_error(&random, confidence);
        as_difference(Estimate { value: random.score - 0.5, standard_error }, confidence)
    });
    (by_placement, by_movement)
}

/// Compares each derived ruleset with its base.
pub(super) fn add_differences(plan: &Plan, rulesets: &mut [RulesetSummary]) {
    for entry in 0..rulesets.len() {
        let Some((base, ..)) = &plan.entries[entry].derived else { continue };
        let differences: Vec<Option<DifferenceSummary>> = (0..plan.specs.len())
            .map(|agent| {
                let [derived, base] = [entry, *base].map(|at| rulesets[at].cells[agent].score);
                Some(difference(&derived?, &base?, plan.confidence))
            })
            .collect();
        if let Some(derived) = &mut rulesets[entry].derived {
            derived.differences = differences;
        }
    }
}

/// Adjusts the p-values of differences by Holm over the whole study, each kind of question for itself, and says where
/// the balance depends on the agent: where that many rulesets and pairs of agents would not show it by chance.
pub(super) fn test_differences(rulesets: &mut [RulesetSummary], alpha: f64) {
    adjust(rulesets, |ruleset| {
        let derived = ruleset.derived.iter_mut();
        derived.flat_map(|derived| derived.differences.iter_mut().flatten()).collect()
    });
    adjust(rulesets, |ruleset| ruleset.agreements.iter_mut().map(|agreement| &mut agreement.difference).collect());
    adjust(rulesets, |ruleset| {
        let seconds = ruleset.cells.iter_mut().filter_map(|cell| cell.second_opening.as_mut());
        seconds.filter_map(|second| second.shift.as_mut()).collect()
    });
    adjust(rulesets, |ruleset| ruleset.phases.iter_mut().filter_map(|phases| phases.by_placement.as_mut()).collect());
    adjust(rulesets, |ruleset| ruleset.phases.iter_mut().filter_map(|phases| phases.by_movement.as_mut()).collect());
    for agreement in rulesets.iter_mut().flat_map(|ruleset| &mut ruleset.agreements) {
        agreement.depends_on_agent = agreement.difference.p_holm.is_some_and(|p| p <= alpha);
    }
}

fn adjust(rulesets: &mut [RulesetSummary], of: impl Fn(&mut RulesetSummary) -> Vec<&mut DifferenceSummary>) {
    let mut differences: Vec<&mut DifferenceSummary> = rulesets.iter_mut().flat_map(of).collect();
    let p_values: Vec<f64> = differences.iter().filter_map(|difference| difference.p).collect();
    let Ok(adjusted) = holm(&p_values) else { return };
    let mut adjusted = adjusted.into_iter();
    for difference in &mut differences {
        difference.p_holm = difference.p.and_then(|_| adjusted.next());
    }
}

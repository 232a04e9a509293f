//! The number of legal actions and their effective number.

use serde::{Deserialize, Serialize};

use super::GamePhase;
use super::estimates::{MetricEstimate, Rate, Sampling};
use super::trace::{ChoiceTrace, Trace};

/// How much there is to choose from, where an agent chose: random openings do not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branching {
    /// Of all choices, those with at least two legal actions.
    pub decision_share: Rate,
    /// The same and more by phase; phases without choices are left out.
    pub phases: Vec<PhaseBranching>,
}

/// How much there is to choose from in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseBranching {
    /// The phase.
    pub phase: GamePhase,
    /// Of its choices, those with at least two legal actions.
    pub decision_share: Rate,
    /// Over the whole phase.
    pub overall: LegalActions,
    /// By tenth of the game: decile `d` holds the actions whose number, from 0, is in `[d, d+1)` tenths of the
    /// game's length. Deciles without choices are left out.
    pub deciles: Vec<DecileBranching>,
}

/// How much there is to choose from in one tenth of the game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecileBranching {
    /// The tenth, 0 to 9.
    pub decile: u8,
    /// The number of legal actions.
    pub legal: LegalActions,
}

/// A distribution of the number of legal actions; the observations are choices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LegalActions {
    /// The mean.
    pub mean: MetricEstimate,
    /// The median.
    pub median: MetricEstimate,
    /// The number that 95 % of the choices do not exceed.
    pub p95: MetricEstimate,
    /// The smallest number met.
    pub min: u32,
    /// The largest number met.
    pub max: u32,
    /// `exp(E[ln n])` of the number `n` of legal actions: effective branching if all were equally good.
    pub geometric_mean: MetricEstimate,
    /// `exp(E[H])` with the entropy `H` of the visits, in nats: the options that matter. The observations are the
    /// choices whose visits are recorded, in a study the first 20 after the opening: where those are fewer than all, it
    /// does not compare with the other numbers. `None` where no visits are recorded.
    pub effective: Option<MetricEstimate>,
}

/// A choice with the index of its game.
type Choice<'a> = (usize, &'a ChoiceTrace);

impl Branching {
    pub(super) fn measure(traces: &[Trace], sampling: &Sampling<'_>) -> Option<Branching> {
        let choices: Vec<Choice<'_>> = traces
            .iter()
            .enumerate()
            .flat_map(|(game, trace)| trace.choices.iter().map(move |choice| (game, choice)))
            .collect();
        let in_phase = |phase| {
            let choices = choices.iter().copied().filter(|(_, choice)| choice.phase == phase).collect();
            PhaseBranching::measure(phase, choices, traces, sampling)
        };
        Some(Branching {
            decision_share: decision_share(&choices, sampling)?,
            phases: [GamePhase::Placement, GamePhase::Movement].into_iter().filter_map(in_phase).collect(),
        })
    }
}

fn decision_share(choices: &[Choice<'_>], sampling: &Sampling<'_>) -> Option<Rate> {
    sampling.rate(choices.iter().map(|&(game, choice)| (game, u64::from(choice.legal >= 2), 1)))
}

impl PhaseBranching {
    fn measure(
        phase: GamePhase,
        choices: Vec<Choice<'_>>,
        traces: &[Trace],
        sampling: &Sampling<'_>,
    ) -> Option<PhaseBranching> {
        let decile_of = |&(game, choice): &Choice<'_>| choice.number * 10 / traces[game].actions;
        let mut cells: Vec<(Option<u8>, Vec<Choice<'_>>)> = vec![(None, choices.clone())];
        for decile in 0..10 {
            let inside: Vec<_> =
                choices.iter().copied().filter(|choice| decile_of(choice) == u32::from(decile)).collect();
            if !inside.is_empty() {
                cells.push((Some(decile), inside));
            }
        }
        // For each cell: mean, mean logarithm, mean entropy of the visits.
        let mut sums = sampling.sums(3 * cells.len());
        for (cell, (_, choices)) in cells.iter().enumerate() {
            for &(game, choice) in choices {
                sampling.add(&mut sums, game, 3 * cell, choice.legal.into());
                sampling.add(&mut sums, game, 3 * cell + 1, f64::from(choice.legal).ln());
                if let Some(visits) = &choice.visits {
                    sampling.add(&mut sums, game, 3 * cell + 2, visits.entropy);
                }
            }
        }
        let name = format!("branching in {phase:?}");
        let means = sampling.functions_of_ratios(&name, &sums, |ratios| {
            ratios.iter().enumerate().map(|(column, &mean)| if column % 3 == 0 { mean } else { mean.exp() }).collect()
        });
        let mut legal = cells
            .iter()
            .zip(means.chunks_exact(3))
            .map(|((decile, choices), means)| Some((*decile, LegalActions::measure(choices, means, sampling)?)));
        let (_, overall) = legal.next()??;
        Some(PhaseBranching {
            phase,
            decision_share: decision_share(&choices, sampling)?,
            overall,
            deciles: legal
                .flatten()
                .filter_map(|(decile, legal)| Some(DecileBranching { decile: decile?, legal }))
                .collect(),
        })
    }
}

impl LegalActions {
    fn measure(
        choices: &[Choice<'_>],
        means: &[Option<MetricEstimate>],
        sampling: &Sampling<'_>,
    ) -> Option<LegalActions> {
        let counts: Vec<(usize, u32)> = choices.iter().map(|&(game, choice)| (game, choice.legal)).collect();
        Some(LegalActions {
            mean: means[0]?,
            median: sampling.quantile(&counts, 0.5)?,
            p95: sampling.quantile(&counts, 0.95)?,
            min: counts.iter().map(|&(_, count)| count).min()?,
            max: counts.iter().map(|&(_, count)| count).max()?,
            geometric_mean: means[1]?,
            effective: means[2],
        })
    }
}

//! From counted games to what a study says.

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::SetupMode;

use super::plan::{Plan, fairest_turn};
use super::series::{Series, SeriesKind, first_player, turn_text};
use super::summary::{
    AgentSummary, CellSummary, CompensationSummary, Derivation, DifferenceSummary, FamilyAgreement, HandicapCell,
    OpeningSummary, PhaseSummary, PieSummary, PieTurn, RankAgreement, RateSummary, RulesetSummary, SUMMARY_VERSION,
    ScoreSummary, SecondOpening, StopReason, StudySummary, TrendDirection, TrendSummary, VerdictSummary,
};
use super::tally::SeriesTally;
use crate::openings::PolicyOpenings;
use crate::statistics::bootstrap::percentile_interval;
use crate::statistics::compensation::{CompensationCell, CompensationFit};
use crate::statistics::multiplicity::{BalanceFinding, Equivalence, balance_verdicts, holm};
use crate::statistics::proportion::wilson;
use crate::statistics::rank::kendall_tau;
use crate::statistics::score::{ELO_SCORE_MARGIN, EloEstimate, elo_from_score};
use crate::statistics::trend::fit_line;
use crate::statistics::{Bootstrap, BootstrapKey, Confidence, Estimate, Interval, Score};

/// Replicates of the bootstrap of rank correlations.
const REPLICATIONS: usize = 2_000;

type Played = [(Series, SeriesTally)];

/// Says what the games of a study found.
pub(super) fn summary(plan: &Plan, played: &Played, command: &str, is_complete: bool) -> StudySummary {
    let findings = Findings { plan, played };
    let mut rulesets: Vec<RulesetSummary> = (0..plan.entries.len()).map(|entry| findings.ruleset(entry)).collect();
    findings.add_verdicts(&mut rulesets);
    add_differences(plan, &mut rulesets);
    let mut notes = plan.notes.clone();
    findings.note_what_is_missing(&rulesets, &mut notes);
    StudySummary {
        format: SUMMARY_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        settings: plan.settings.clone(),
        is_complete,
        agents: plan.agents.clone(),
        headline_agent: plan.headline,
        rank_agreements: findings.rank_agreements(),
        rulesets,
        notes,
    }
}

struct Findings<'a> {
    plan: &'a Plan,
    played: &'a Played,
}

impl Findings<'_> {
    fn find(
        &self,
        entry: usize,
        agent: usize,
        is_kind: impl Fn(&SeriesKind) -> bool,
    ) -> Option<&(Series, SeriesTally)> {
        self.played.iter().find(|(series, _)| series.ruleset == entry && series.agent == agent && is_kind(&series.kind))
    }

    fn main(&self, entry: usize, agent: usize) -> Option<&(Series, SeriesTally)> {
        self.find(entry, agent, |kind| *kind == SeriesKind::Main)
    }

    /// Returns a tally's score; simultaneous with those of all rulesets with the same agent.
    fn score(&self, tally: &SeriesTally) -> Option<ScoreSummary> {
        score_summary(tally, self.plan.confidence, self.plan.entries.len())
    }

    fn ruleset(&self, entry: usize) -> RulesetSummary {
        let plan = self.plan;
        let rules = &plan.entries[entry].rules;
        let ruleset = rules.ruleset();
        let cells: Vec<CellSummary> = (0..plan.specs.len()).map(|agent| self.cell(entry, agent)).collect();
        let derived = plan.entries[entry].derived.as_ref().map(|(base, parameter, base_value, value)| Derivation {
            base: plan.entries[*base].rules.ruleset().id.clone(),
            parameter: (*parameter).to_owned(),
            base_value: base_value.clone(),
            value: value.clone(),
            differences: Vec::new(),
        });
        RulesetSummary {
            name: ruleset.id.clone(),
            title: ruleset.name.clone(),
            fingerprint: ruleset_fingerprint(ruleset),
            files: rules.files(),
            ranks: rules.ranks(),
            men: rules.men_at_start(first_player(rules)),
            has_duces: rules.has_duces(),
            is_placement: ruleset.setup.mode == SetupMode::Placement,
            derived,
            trends: self.trends(&cells),
            agreements: self.family_agreements(&cells),
            compensation: self.compensation(entry),
            pie: self.pie(entry),
            phases: self.phases(entry),
            cells,
        }
    }

    fn cell(&self, entry: usize, agent: usize) -> CellSummary {
        let confidence = self.plan.confidence;
        let empty = SeriesTally::nothing();
        let main = self.main(entry, agent);
        let tally = main.map_or(&empty, |(_, tally)| tally);
        let counts = &tally.counts;
        let outcomes = counts.outcomes;
        let games = outcomes.games();
        let decisive = outcomes.first_wins + outcomes.second_wins;
        let score = self.score(tally);
        let second_opening =
            self.find(entry, agent, |kind| *kind == SeriesKind::SecondOpening).map(|(series, second)| {
                let second_score = self.score(second);
                SecondOpening {
                    opening: opening_summary(series),
                    games: second.counts.outcomes.games(),
                    outcomes: second.counts.outcomes,
                    score: second_score,
                    shift: score.zip(second_score).map(|(main, second)| difference(&second, &main, confidence)),
                }
            });
        CellSummary {
            agent: self.plan.agents[agent].agent.clone(),
            opening: main.map_or(OpeningSummary { actions: 0, policy: None }, |(series, _)| opening_summary(series)),
            games_played: counts.played,
            games,
            games_repeated: counts.repeated,
            openings_distinct: tally.openings().len() as u64,
            effective_games: tally.score().and_then(|score| score.effective_games),
            stop: tally.stop().unwrap_or(StopReason::Interrupted),
            outcomes,
            ends: counts.ends.clone(),
            score,
            decisive: rate(decisive, games, confidence),
            first_of_decisive: rate(outcomes.first_wins, decisive, confidence),
            verdict: None,
            actions_mean: if games > 0 { counts.actions as f64 / games as f64 } else { 0.0 },
            effort_mean: (counts.effort.1 > 0).then(|| counts.effort.0 as f64 / counts.effort.1 as f64),
            second_opening,
            metrics: None,
        }
    }

    /// Judges the balance, with each agent over all rulesets.
    fn add_verdicts(&self, rulesets: &mut [RulesetSummary]) {
        let settings = &self.plan.settings;
        for agent in 0..self.plan.specs.len() {
            let scored: Vec<usize> =
                (0..rulesets.len()).filter(|&at| rulesets[at].cells[agent].score.is_some()).collect();
            let scores: Vec<Score> = scored
                .iter()
                .filter_map(|&at| {
                    let cell = &rulesets[at].cells[agent];
                    let score = cell.score?;
                    Score::new(score.score, effective_error(&score, self.plan.confidence), cell.games).ok()
                })
                .collect();
            let Ok(findings) = balance_verdicts(&scores, settings.margin, self.plan.confidence.alpha()) else {
                continue;
            };
            for ((at, score), finding) in scored.into_iter().zip(scores).zip(findings) {
                rulesets[at].cells[agent].verdict = verdict(score, finding, settings.margin);
            }
        }
    }

    fn trends(&self, cells: &[CellSummary]) -> Vec<TrendSummary> {
        let mut trends = Vec::new();
        for ladder in ladders(&self.plan.agents) {
            let family = &self.plan.agents[ladder[0]].family;
            let points: Vec<(u64, Estimate)> = ladder
                .iter()
                .filter_map(|&agent| {
                    let score = cells[agent].score?;
                    let standard_error = effective_error(&score, self.plan.confidence);
                    Some((self.plan.agents[agent].budget?, Estimate { value: score.score, standard_error }))
                })
                .collect();
            let logarithms: Vec<(f64, Estimate)> =
                points.iter().map(|&(budget, score)| ((budget.max(1) as f64).log2(), score)).collect();
            let Ok(fit) = fit_line(&logarithms) else { continue };
            let interval = fit.slope.interval(self.plan.confidence);
            let length = logarithms[logarithms.len() - 1].0 - logarithms[0].0;
            trends.push(TrendSummary {
                family: family.clone(),
                budgets: points.iter().map(|&(budget, _)| budget).collect(),
                slope: fit.slope,
                interval,
                p: fit.slope.two_sided_p(0.0),
                p_straight: fit.p_straight,
                direction: direction(interval, fit.at_end - 0.5, length, self.plan.settings.margin),
            });
        }
        trends
    }

    fn family_agreements(&self, cells: &[CellSummary]) -> Vec<FamilyAgreement> {
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
                    depends_on_agent: lower > 0.0 || upper < 0.0,
                });
            }
        }
        agreements
    }

    fn compensation(&self, entry: usize) -> Option<CompensationSummary> {
        let agent = self.plan.headline;
        let is_derived = self.plan.entries[entry].derived.is_some();
        let (_, main) = self.main(entry, agent)?;
        if self.plan.settings.compensation.is_empty() || is_derived {
            return None;
        }
        let mut tallies: Vec<(i32, &SeriesTally)> = vec![(0, main)];
        tallies.extend(self.played.iter().filter_map(|(series, tally)| match series.kind {
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
        Some(match fitted {
            Ok((fair, fit)) => CompensationSummary {
                agent,
                cells,
                coefficients: Some(fit.coefficients()),
                fair_handicap: Some(fair),
                fair_handicap_set: Some(fit.fair_handicap_set(self.plan.confidence)),
                whole_handicaps: fit.whole_handicaps().ok(),
                refused: None,
            },
            Err(reason) => CompensationSummary {
                agent,
                cells,
                coefficients: None,
                fair_handicap: None,
                fair_handicap_set: None,
                whole_handicaps: None,
                refused: Some(reason.to_string()),
            },
        })
    }

    fn pie(&self, entry: usize) -> Option<PieSummary> {
        let plan = self.plan;
        let agent = plan.headline;
        let turns: Vec<&(Series, SeriesTally)> = self
            .played
            .iter()
            .filter(|(series, _)| series.ruleset == entry && matches!(series.kind, SeriesKind::PieTurn(..)))
            .collect();
        if turns.is_empty() {
            return None;
        }
        let rules = &plan.entries[entry].rules;
        let chosen = fairest_turn(turns.iter().copied());
        let tried: Vec<PieTurn> = turns
            .iter()
            .map(|(series, tally)| PieTurn {
                actions: turn_text(rules, series.first_turn()),
                outcomes: tally.counts.outcomes,
                score: self.score(tally),
            })
            .collect();
        let held_out =
            self.find(entry, agent, |kind| matches!(kind, SeriesKind::PieHeldOut(_))).map(|(_, tally)| tally);
        let held_out_score = held_out.and_then(|tally| self.score(tally));
        let is_fair = |turn: &&PieTurn| {
            turn.outcomes.trinomial().mean().is_some_and(|mean| (mean - 0.5).abs() <= plan.settings.margin)
        };
        Some(PieSummary {
            agent: plan.agents[agent].agent.clone(),
            first_turns: plan.first_turns(entry).count,
            chosen: chosen.and_then(|turn| turns.iter().position(|(series, _)| series.first_turn() == turn)),
            held_out: held_out_score,
            held_out_outcomes: held_out.map(|tally| tally.counts.outcomes).unwrap_or_default(),
            residual: held_out_score.map(|score| (score.score - 0.5).abs()),
            within_margin: tried.iter().filter(is_fair).count(),
            tried,
        })
    }

    fn phases(&self, entry: usize) -> Option<PhaseSummary> {
        let plan = self.plan;
        let (_, random) = self.find(entry, plan.headline, |kind| *kind == SeriesKind::RandomPlacement)?;
        let (_, main) = self.main(entry, plan.headline)?;
        let (own, random_score) = (self.score(main), self.score(random));
        let confidence = plan.confidence;
        let (sum, squares, count) = main.counts.placed;
        let value_after_placement = (count > 1).then(|| {
            let n = count as f64;
            let mean = sum / n;
            let variance = ((squares - n * mean * mean) / (n - 1.0)).max(0.0);
            Estimate { value: mean, standard_error: (variance / n).sqrt() }
        });
        Some(PhaseSummary {
            agent: plan.agents[plan.headline].agent.clone(),
            random_placement: random_score,
            outcomes: random.counts.outcomes,
            by_placement: own.zip(random_score).map(|(own, random)| difference(&own, &random, confidence)),
            by_movement: random_score.map(|random| {
                let standard_error = effective_error(&random, confidence);
                as_difference(Estimate { value: random.score - 0.5, standard_error }, confidence)
            }),
            value_after_placement,
        })
    }

    /// Compares the order of the rulesets that were asked for, not of those derived from them.
    fn rank_agreements(&self) -> Vec<RankAgreement> {
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
        let band = bootstrap.run_band(mean).ok()?;
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

    /// Says which results are not there although they were asked for.
    fn note_what_is_missing(&self, rulesets: &[RulesetSummary], notes: &mut Vec<String>) {
        let settings = &self.plan.settings;
        for (ruleset, entry) in rulesets.iter().zip(&self.plan.entries) {
            for cell in &ruleset.cells {
                let games = cell.games;
                if games > 0 && cell.outcomes.truncated as f64 > TRUNCATED_MAX * games as f64 {
                    notes.push(format!(
                        "{} with {}: {} of {games} games were ended by the program's own limit of turns; see the bracket.",
                        ruleset.name, cell.agent, cell.outcomes.truncated
                    ));
                }
                if cell.stop == StopReason::NoMoreOpenings {
                    notes.push(format!(
                        "{} with {}: there are only {} openings that differ.",
                        ruleset.name, cell.agent, cell.openings_distinct
                    ));
                }
            }
            let missing = settings.compensation.len().saturating_sub(
                ruleset.compensation.as_ref().map_or(settings.compensation.len(), |found| found.cells.len() - 1),
            );
            if missing > 0 && entry.derived.is_none() {
                notes.push(format!(
                    "{}: {missing} handicaps leave too few men for a game, or were not reached.",
                    ruleset.name
                ));
            }
        }
    }
}

/// A score and what it might have been with other openings.
struct Resampled {
    score: f64,
    replicates: Vec<f64>,
}

/// More games than this share ended by the program's own limit are worth a note.
const TRUNCATED_MAX: f64 = 0.01;

/// Returns the agents of each family that has at least two budgets, rising.
fn ladders(agents: &[AgentSummary]) -> Vec<Vec<usize>> {
    families(agents).into_iter().filter(|ladder| ladder.len() > 1).collect()
}

/// Returns the agent of the largest budget of each family.
fn tops(agents: &[AgentSummary]) -> Vec<usize> {
    families(agents).into_iter().filter_map(|ladder| ladder.last().copied()).collect()
}

fn families(agents: &[AgentSummary]) -> Vec<Vec<usize>> {
    let mut families: Vec<Vec<usize>> = Vec::new();
    for agent in 0..agents.len() {
        match families.iter_mut().find(|family| agents[family[0]].family == agents[agent].family) {
            Some(family) => family.push(agent),
            None => families.push(vec![agent]),
        }
    }
    for family in &mut families {
        family.sort_by_key(|&agent| agents[agent].budget);
    }
    families
}

/// Returns what a slope with this interval amounts to; `advantage` is that of the strongest agent, `length`
/// the length of the ladder in doublings.
fn direction(slope: Interval, advantage: f64, length: f64, margin: f64) -> TrendDirection {
    let rises = slope.lower > 0.0;
    let falls = slope.upper < 0.0;
    if rises || falls {
        return if rises == (advantage > 0.0) { TrendDirection::Growing } else { TrendDirection::Shrinking };
    }
    let widest = slope.lower.abs().max(slope.upper.abs()) * length;
    if widest < margin { TrendDirection::Stable } else { TrendDirection::Unclear }
}

fn opening_summary(series: &Series) -> OpeningSummary {
    let policy = |opener: &PolicyOpenings| format!("{} temperature={}", opener.agent, opener.temperature);
    OpeningSummary { actions: series.opening_length, policy: series.opener.as_ref().map(policy) }
}

fn rate(count: u64, of: u64, confidence: Confidence) -> Option<RateSummary> {
    let interval = wilson(count, of, confidence).ok()?;
    Some(RateSummary { count, of, rate: count as f64 / of as f64, interval })
}

/// Returns the score of counted games; `rulesets` intervals shall hold together.
pub(super) fn score_summary(tally: &SeriesTally, confidence: Confidence, rulesets: usize) -> Option<ScoreSummary> {
    let outcomes = tally.counts.outcomes;
    let score = tally.score()?.score;
    let (mean, standard_error) = (score.mean(), score.standard_error());
    let interval = |confidence: Confidence| {
        let normal = Estimate { value: mean, standard_error }.interval(confidence);
        if standard_error > 0.0 && normal.lower > 0.0 && normal.upper < 1.0 {
            return normal;
        }
        let credible = outcomes.trinomial().credible_interval(confidence);
        // An interval that leaves out what was seen would be absurd, though equal tails can give one.
        Interval { lower: credible.lower.min(mean), upper: credible.upper.max(mean) }
    };
    let own = interval(confidence);
    let games = outcomes.games() as f64;
    let hidden = outcomes.truncated as f64 / games / 2.0;
    Some(ScoreSummary {
        score: mean,
        standard_error,
        interval: own,
        simultaneous: interval(confidence.simultaneous(rulesets)),
        half_width: own.half_width(),
        truncation_bracket: Interval { lower: mean - hidden, upper: mean + hidden },
        elo: EloEstimate {
            value: elo_from_score(mean.clamp(ELO_SCORE_MARGIN, 1.0 - ELO_SCORE_MARGIN)).unwrap_or(0.0),
            lower: elo_from_score(own.lower),
            upper: elo_from_score(own.upper),
        },
    })
}

/// Returns the standard error; where all games ended alike, the one that the credible interval stands for.
fn effective_error(score: &ScoreSummary, confidence: Confidence) -> f64 {
    if score.standard_error > 0.0 { score.standard_error } else { score.interval.half_width() / confidence.z() }
}

/// Returns `one` less `other`, of independent games.
fn difference(one: &ScoreSummary, other: &ScoreSummary, confidence: Confidence) -> DifferenceSummary {
    let standard_error = effective_error(one, confidence).hypot(effective_error(other, confidence));
    as_difference(Estimate { value: one.score - other.score, standard_error }, confidence)
}

fn as_difference(estimate: Estimate, confidence: Confidence) -> DifferenceSummary {
    DifferenceSummary {
        difference: estimate.value,
        standard_error: estimate.standard_error,
        interval: estimate.interval(confidence),
        p: estimate.two_sided_p(0.0),
        p_holm: None,
    }
}

fn verdict(score: Score, finding: BalanceFinding, margin: f64) -> Option<VerdictSummary> {
    let equivalence = Equivalence::test(score, margin).ok()?;
    Some(VerdictSummary {
        verdict: finding.verdict,
        p_unbalanced: score.two_sided_p().ok()?,
        p_unbalanced_holm: finding.p_unbalanced,
        equivalence,
        p_balanced: equivalence.p(),
        p_balanced_holm: finding.p_balanced,
    })
}

/// Compares each derived ruleset with its base, with Holm over all such comparisons.
fn add_differences(plan: &Plan, rulesets: &mut [RulesetSummary]) {
    let mut p_values = Vec::new();
    for entry in 0..rulesets.len() {
        let Some((base, ..)) = &plan.entries[entry].derived else { continue };
        let differences: Vec<Option<DifferenceSummary>> = (0..plan.specs.len())
            .map(|agent| {
                let [derived, base] = [entry, *base].map(|at| rulesets[at].cells[agent].score);
                Some(difference(&derived?, &base?, plan.confidence))
            })
            .collect();
        p_values.extend(differences.iter().flatten().filter_map(|difference| difference.p));
        if let Some(derived) = &mut rulesets[entry].derived {
            derived.differences = differences;
        }
    }
    let Ok(adjusted) = holm(&p_values) else { return };
    let mut adjusted = adjusted.into_iter();
    let all = rulesets.iter_mut().filter_map(|ruleset| ruleset.derived.as_mut());
    for difference in all.flat_map(|derived| derived.differences.iter_mut().flatten()) {
        difference.p_holm = difference.p.and_then(|_| adjusted.next());
    }
}

//! Computes the results of a study from the counted games.

mod extras;

use latrunculi_engine::GameRecord;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::SetupMode;

use super::agreements::family_agreements;
use super::estimates::{balance_evidence, difference, rate};
use super::folder::Folder;
use super::plan::Plan;
use super::series::{Series, SeriesKind, first_player};
use super::summary::{
    CellSummary, Conclusion, LedgerPlace, OpeningSummary, RulesetSummary, SUMMARY_VERSION, ScoreSummary, SecondOpening,
    StopReason, StudySummary, VerdictSummary,
};
use super::tally::{SeriesTally, StopRule};
use crate::Error;
use crate::metrics::outcomes::TRUNCATED_MAX;
use crate::metrics::{MetricsConfig, measure};
use extras::{add_differences, test_differences};
use latrunculi_stats::multiplicity::{BalanceEvidence, BalanceFinding, decide_balance};

type Played = [(Series, SeriesTally)];

pub(super) fn summary(
    plan: &Plan,
    played: &Played,
    command: &str,
    folder: &Folder,
    is_complete: bool,
) -> Result<StudySummary, Error> {
    let findings = Findings { plan, played };
    let mut rulesets: Vec<RulesetSummary> = (0..plan.entries.len()).map(|entry| findings.ruleset(entry)).collect();
    add_verdicts(&mut rulesets, plan.settings.margin, plan.confidence.alpha());
    add_differences(plan, &mut rulesets);
    test_differences(&mut rulesets, plan.confidence.alpha());
    if plan.settings.metrics {
        findings.add_metrics(&mut rulesets, folder)?;
    }
    let mut notes = plan.notes.clone();
    findings.note_what_is_missing(&rulesets, &mut notes);
    let mut summary = StudySummary {
        format: SUMMARY_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        settings: plan.settings.clone(),
        is_complete,
        agents: plan.agents.clone(),
        headline_agent: plan.headline,
        rank_agreements: Vec::new(),
        rulesets,
        notes,
    };
    summary.conclude(plan.confidence);
    Ok(summary)
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
        self.played
            .iter()
            .find(|(series, _)| series.ruleset == entry && series.agent == agent && is_kind(&series.play.kind))
    }

    fn main(&self, entry: usize, agent: usize) -> Option<&(Series, SeriesTally)> {
        self.find(entry, agent, |kind| *kind == SeriesKind::Main)
    }

    /// Returns a tally's score; simultaneous with those of all rulesets with the same agent.
    fn score(&self, tally: &SeriesTally) -> Option<ScoreSummary> {
        tally.summary(self.plan.confidence, self.plan.entries.len())
    }

    fn ruleset(&self, entry: usize) -> RulesetSummary {
        let plan = self.plan;
        let rules = &plan.entries[entry].rules;
        let ruleset = rules.ruleset();
        let cells: Vec<CellSummary> = (0..plan.specs.len()).map(|agent| self.cell(entry, agent)).collect();
        RulesetSummary {
            name: ruleset.id.clone(),
            title: ruleset.name.clone(),
            fingerprint: ruleset_fingerprint(ruleset),
            files: rules.files(),
            ranks: rules.ranks(),
            men: rules.men_at_start(first_player(rules)),
            has_duces: rules.has_duces(),
            is_placement: ruleset.setup.mode == SetupMode::Placement,
            derived: plan.entries[entry].derived.as_ref().map(|(_, derivation)| derivation.clone()),
            trends: Vec::new(),
            agreements: family_agreements(&plan.agents, &cells, plan.settings.margin, plan.confidence),
            compensation: self.compensation(entry),
            pie: self.pie(entry),
            phases: self.phases(entry),
            cells,
        }
    }

    fn cell(&self, entry: usize, agent: usize) -> CellSummary {
        let confidence = self.plan.confidence;
        let empty = SeriesTally::new(StopRule::of_games(0));
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
            played_as: main.map_or(String::new(), |(series, _)| series.text.clone()),
            ledger: main.map(|(series, _)| LedgerPlace { file: series.ledger_file(), series: series.key.clone() }),
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
            contact: rate(counts.with_captures, games, confidence),
            verdict: None,
            actions_mean: if games > 0 { counts.actions as f64 / games as f64 } else { 0.0 },
            effort_mean: (counts.effort.1 > 0).then(|| counts.effort.0 as f64 / counts.effort.1 as f64),
            second_opening,
            metrics: None,
        }
    }

    /// Describes the counted games of each ruleset with each agent.
    fn add_metrics(&self, rulesets: &mut [RulesetSummary], folder: &Folder) -> Result<(), Error> {
        let config = MetricsConfig {
            confidence: self.plan.confidence,
            seed: self.plan.settings.seed,
            ..MetricsConfig::default()
        };
        for (entry, ruleset) in rulesets.iter_mut().enumerate() {
            for (agent, cell) in ruleset.cells.iter_mut().enumerate() {
                let Some((series, tally)) = self.main(entry, agent) else { continue };
                let records = folder.records(series, &tally.counts.indices)?;
                let games: Vec<&GameRecord> = records.iter().collect();
                let measured = measure(&series.rules, &games, &config);
                cell.metrics =
                    measured.map_err(|fault| Error::Refused(format!("{} {}: {fault}", ruleset.name, cell.agent)))?;
            }
        }
        Ok(())
    }

    /// Says which results are not there although they were asked for.
    fn note_what_is_missing(&self, rulesets: &[RulesetSummary], notes: &mut Vec<String>) {
        let settings = &self.plan.settings;
        for (ruleset, entry) in rulesets.iter().zip(&self.plan.entries) {
            for cell in &ruleset.cells {
                let games = cell.games;
                if games > 0 && cell.outcomes.truncated as f64 > TRUNCATED_MAX * games as f64 {
                    notes.push(format!(
                        "{} with {}: {} of {games} games were ended by the program's own limit of turns; truncated_lost and truncated_won in balance.csv are the score had all of them been lost or won.",
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

/// Judges the balance, with each agent over all rulesets.
fn add_verdicts(rulesets: &mut [RulesetSummary], margin: f64, alpha: f64) {
    for agent in 0..rulesets.first().map_or(0, |ruleset| ruleset.cells.len()) {
        let evidence: Vec<(usize, BalanceEvidence)> = (0..rulesets.len())
            .filter_map(|at| {
                let cell = &rulesets[at].cells[agent];
                let (games, openings) = (cell.outcomes.win_draw_loss(), cell.openings_distinct);
                let found = balance_evidence(cell.score.as_ref()?, games, openings, margin).ok()?;
                Some((at, found))
            })
            .collect();
        let (scored, evidence): (Vec<usize>, Vec<BalanceEvidence>) = evidence.into_iter().unzip();
        let Ok(findings) = decide_balance(&evidence, alpha) else {
            continue;
        };
        for ((at, found), finding) in scored.into_iter().zip(evidence).zip(findings) {
            rulesets[at].cells[agent].verdict = Some(verdict(found, finding));
        }
    }
}

fn opening_summary(series: &Series) -> OpeningSummary {
    let policy = series.play.opening_policy.as_ref().map(|policy| policy.text(""));
    OpeningSummary { actions: series.play.opening_length, policy }
}

fn verdict(found: BalanceEvidence, finding: BalanceFinding) -> VerdictSummary {
    VerdictSummary {
        // What speaks against it is added when all agents are judged.
        verdict: Conclusion::of_test(finding.verdict, &[]),
        test: finding.verdict,
        doubts: Vec::new(),
        last_doubling: None,
        rank_agreement: None,
        p_unbalanced: found.p_unbalanced,
        p_unbalanced_holm: finding.p_unbalanced,
        equivalence: found.equivalence,
        p_balanced: found.equivalence.p(),
        p_balanced_holm: finding.p_balanced,
    }
}

//! Training steps on the replay window.

use std::time::Instant;

use latrunculi_data::{ReplayWindows, StepReport};
use latrunculi_eval::learning::TrainingMetrics;
use latrunculi_model::Trainer;
use latrunculi_selfplay::{GameKey, Purpose};

use latrunculi_train::error::{Context, Error};
use latrunculi_train::metrics::ratio;

use crate::error::OfLibtorch;

/// Some training steps to make. What they learn depends on nothing else, in particular not on the clock.
pub struct StepPlan<'a> {
    /// The samples to draw from.
    pub windows: &'a ReplayWindows,
    /// Names the random stream that draws the samples.
    pub key: GameKey,
    /// Number of steps.
    pub steps: u64,
    /// Positions of a step.
    pub batch_size: usize,
    /// Batches in which it draws them, each of one ruleset; a divisor of `batch_size`.
    pub batches: usize,
    /// Fraction of the whole training, in `[0, 1]`, that is over before the first and after the last step; it sets the
    /// learning rate.
    pub progress: (f64, f64),
    /// Tells before each step how many threads are free for it. The weights do not depend on it.
    pub free_threads: &'a (dyn Fn() -> usize + Sync),
}

/// Makes the steps of a plan. `watch` receives the number of steps made and returns whether to go on.
/// Fails with [`Error::Stopped`] when `watch` returns false; the error of a step that fails.
pub fn train_steps(
    trainer: &mut Trainer,
    plan: &StepPlan<'_>,
    watch: &dyn Fn(u64) -> bool,
) -> Result<TrainingMetrics, Error> {
    let begun = Instant::now();
    if plan.steps == 0 {
        return Ok(TrainingMetrics::default());
    }
    let mut draws = plan.windows.draw(plan.key.stream(Purpose::Training));
    let mut reports = Vec::new();
    for step in 0..plan.steps {
        if !watch(step) {
            return Err(Error::Stopped);
        }
        let (from, to) = plan.progress;
        let progress = from + (to - from) * step as f64 / plan.steps as f64;
        trainer.set_free_threads((plan.free_threads)());
        let batches = draws.batches(plan.batch_size / plan.batches, plan.batches);
        reports.push(trainer.step(&batches, progress).of_libtorch().context("a training step")?);
    }
    watch(plan.steps);
    let train_secs = begun.elapsed().as_secs_f64();
    let samples = plan.steps * plan.batch_size as u64;
    let training_samples_per_sec = ratio(samples as f64, train_secs);
    Ok(TrainingMetrics { steps: plan.steps, training_samples_per_sec, losses: mean(&reports), train_secs })
}

/// Returns the mean of each number; zeros where there is no report.
fn mean(reports: &[StepReport]) -> StepReport {
    let count = reports.len().max(1) as f64;
    let of = |part: &dyn Fn(&StepReport) -> f64| reports.iter().map(part).sum::<f64>() / count;
    StepReport {
        loss: of(&|report| report.loss),
        heads: std::array::from_fn(|head| of(&|report| report.heads[head])),
        clipped: of(&|report| report.clipped),
        policy_entropy: of(&|report| report.policy_entropy),
        target_entropy: of(&|report| report.target_entropy),
        gradient_norm: of(&|report| report.gradient_norm),
        learning_rate: of(&|report| report.learning_rate),
    }
}

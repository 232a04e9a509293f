//! The learning half of a run: training steps on the replay window.

use std::time::Instant;

use anyhow::Context;
use latrunculi_model::{StepReport, Trainer};
use latrunculi_selfplay::{GameKey, Purpose, ReplayWindow, SelfPlayError};

/// What is learnt from, and how much of it. Nothing here looks at the clock.
#[derive(Debug)]
pub(crate) struct Lesson<'a> {
    pub(crate) window: &'a ReplayWindow,
    /// Names the stream by which samples are drawn.
    pub(crate) key: GameKey,
    pub(crate) steps: u64,
    pub(crate) batch_size: usize,
    /// The share of the whole training, in `[0, 1]`, that is over at its beginning and at its end; the learning
    /// rate falls by it.
    pub(crate) progress: (f64, f64),
}

/// What a lesson came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learnt {
    pub(crate) steps: u64,
    /// Positions learnt from, repetitions counted.
    pub(crate) samples: u64,
    /// Means over the steps.
    pub(crate) losses: StepReport,
    pub(crate) secs: f64,
}

/// Makes the steps of a lesson. `watch` is told how many are made and answers whether to go on.
///
/// # Errors
/// [`SelfPlayError::Stopped`] when `watch` answers no; what a step fails with.
pub(crate) fn learn(trainer: &mut Trainer, lesson: &Lesson<'_>, watch: &dyn Fn(u64) -> bool) -> anyhow::Result<Learnt> {
    let begun = Instant::now();
    let mut draw = lesson.window.draw(lesson.key.stream(Purpose::Training));
    let mut reports = Vec::new();
    for step in 0..lesson.steps {
        if !watch(step) {
            return Err(SelfPlayError::Stopped.into());
        }
        let (from, to) = lesson.progress;
        let progress = from + (to - from) * step as f64 / lesson.steps as f64;
        let batch = draw.batch(lesson.batch_size);
        reports.push(trainer.step(&batch, progress).context("a training step")?);
    }
    watch(lesson.steps);
    Ok(Learnt {
        steps: lesson.steps,
        samples: lesson.steps * lesson.batch_size as u64,
        losses: mean(&reports),
        secs: begun.elapsed().as_secs_f64(),
    })
}

/// Returns the mean of each number.
pub(crate) fn mean(reports: &[StepReport]) -> StepReport {
    let count = reports.len().max(1) as f64;
    let of = |part: fn(&StepReport) -> f64| reports.iter().map(part).sum::<f64>() / count;
    StepReport {
        loss: of(|report| report.loss),
        policy: of(|report| report.policy),
        value: of(|report| report.value),
        margin: of(|report| report.margin),
        survival: of(|report| report.survival),
        reply: of(|report| report.reply),
        turns_left: of(|report| report.turns_left),
        policy_entropy: of(|report| report.policy_entropy),
        target_entropy: of(|report| report.target_entropy),
        gradient_norm: of(|report| report.gradient_norm),
        learning_rate: of(|report| report.learning_rate),
    }
}

//! Made-up batches for tests.

use crate::inference::sample_inputs;
use latrunculi_data::{Shape, TrainingBatch, rule_inputs};

/// Returns the numbers of a made-up ruleset; another for each `number`.
#[must_use]
pub(crate) fn made_up_rules(number: usize) -> Vec<f32> {
    (0..rule_inputs::count()).map(|index| ((index * 7 + number * 13) % 11) as f32 / 10.0).collect()
}

/// Returns `count` made-up positions with about `actions` actions each and targets that depend on the planes, so that
/// they can be learnt. The same each time.
#[must_use]
pub(crate) fn made_up_batch(shape: &Shape, count: usize, actions: usize) -> TrainingBatch {
    let (planes, scalars) = sample_inputs(shape, count);
    let area = shape.area();
    let none = shape.policy_len() as u32;
    let mut batch = TrainingBatch { planes, scalars, rule_inputs: made_up_rules(0), ..TrainingBatch::new(*shape) };
    for position in 0..count {
        let board = &batch.planes[position * shape.planes * area..(position + 1) * shape.planes * area];
        let count_in = |plane: usize| board[(plane % shape.planes) * area..][..area].iter().sum::<f32>();
        let margin = ((count_in(0) - count_in(1)) / 4.0).clamp(-1.0, 1.0);
        let legal = 1 + (actions + position) % (actions + 3);
        let mut preferences = Vec::with_capacity(legal);
        for index in 0..legal {
            let mixed = (position * 31 + index * 97) % (area * area);
            let pair = match index % 7 {
                5 => [(area * area + mixed % (4 * area)) as u32, none],
                6 => [mixed as u32, (area * area + 3 * area + mixed % area) as u32],
                _ => [mixed as u32, none],
            };
            // Moves from a stone of plane 0 are preferred.
            preferences.push(0.05 + board[mixed / area]);
            batch.action_indices.push(pair);
        }
        let last = *batch.action_indices.last().unwrap_or(&[0, none]);
        if position % 5 == 0 && last[1] == none {
            batch.action_indices.pop();
            batch.action_indices.push([none - 1 - (position % 2) as u32, none]);
        }
        let total: f32 = preferences.iter().sum();
        batch.policy.extend(preferences.iter().map(|preference| preference / total));
        batch.action_offsets.push(batch.action_indices.len() as u32);
        let (win, loss) = if margin > 0.0 { (0.8, 0.1) } else { (0.1, 0.8) };
        batch.win_draw_loss.push([win, 0.1, loss]);
        batch.margin.push(margin);
        let at = |plane: usize, square: usize| board[(plane % shape.planes) * area + square] > 0.0;
        batch.survival.extend((0..area).map(|square| match (at(0, square), at(1, square)) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => -1.0,
        }));
        let with_reply = (0..area).find(|&square| at(2, square));
        batch.opponent_policy.push(with_reply.map(|square| ((square * area + (square + 1) % area) as u32, 1.0)));
        batch.moves_left.push(3.0 + margin);
    }
    batch
}

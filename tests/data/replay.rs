//! The replay window: what stays, what is drawn, and mirror images.

use std::sync::Arc;

use latrunculi_data::policy_index::{augmentations, mapped_indices};
use latrunculi_data::{Encoder, ReplaySettings, ReplayWindow, Samples, Shape, TrainingBatch};
use latrunculi_engine::Symmetry;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::{rules, samples};

fn stream(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

#[test]
fn a_window_that_is_filled_again_draws_the_same() {
    let rules = rules("bell");
    let samples = samples(&rules);
    let len = samples.len() as u64;
    let settings = ReplaySettings { window_base: len as f64 * 1.5, window_slope: 0.1, ..ReplaySettings::default() };
    let mut window = ReplayWindow::new(rules.clone(), settings, 0);
    for generation in 0..5 {
        window.add(generation, samples.clone());
    }
    assert_eq!(window.total(), 5 * len);
    assert!(window.len() < 3 * len, "the window forgets");
    let kept: Vec<u64> = window.generations().collect();
    let mut again = ReplayWindow::new(rules, settings, 5 * len - kept.len() as u64 * len);
    for generation in kept {
        again.add(generation, samples.clone());
    }
    assert_eq!(window.len(), again.len());
    let (mut one, mut other) = (window.draw(stream(1)), again.draw(stream(1)));
    for _ in 0..4 {
        assert_eq!(one.batch(16), other.batch(16));
    }
}

#[test]
fn every_sample_is_drawn_once_before_any_is_drawn_again() {
    let rules = rules("bell");
    let samples = samples(&rules);
    let settings = ReplaySettings { mirror: false, bootstrap_weight: 0.0, ..ReplaySettings::default() };
    let mut window = ReplayWindow::new(rules, settings, 0);
    let count = samples.len();
    let total: f64 = samples.margin.iter().map(|&margin| f64::from(margin)).sum();
    window.add(0, samples);
    let batch = window.draw(stream(2)).batch(count);
    let drawn: f64 = batch.margin.iter().map(|&margin| f64::from(margin)).sum();
    assert!((drawn - total).abs() < 1e-3);
}

#[test]
fn placed_stones_have_four_images_and_arrays_two() {
    for (name, images) in [("bell", 4), ("dutch-8x8-placement", 4), ("dutch", 2), ("savard", 2)] {
        let rules = rules(name);
        assert_eq!(augmentations(&rules).len(), images, "{name}");
        assert_eq!(augmentations(&rules)[0], Symmetry::IDENTITY);
        // All of them are drawn, and nothing else.
        let samples = samples(&rules);
        let encoder = Encoder::new(Arc::clone(&rules));
        let images: Vec<TrainingBatch> = augmentations(&rules)
            .into_iter()
            .map(|symmetry| {
                let mut batch = TrainingBatch::new(Shape::of(&rules));
                samples.write_into(9, &encoder, symmetry, &ReplaySettings::default(), &mut batch);
                batch
            })
            .collect();
        let mut window = ReplayWindow::new(rules.clone(), ReplaySettings::default(), 0);
        let mut one = Samples::new(Shape::of(&rules));
        one.append(&samples);
        window.add(0, one);
        let mut draw = window.draw(stream(3));
        let mut found = vec![false; images.len()];
        for _ in 0..30 * samples.len() {
            let batch = draw.batch(1);
            found.iter_mut().zip(&images).for_each(|(found, image)| *found |= batch == *image);
        }
        assert!(found.iter().all(|found| *found), "{name}: {found:?}");
    }
}

#[test]
fn a_mirror_image_of_a_mirror_image_is_the_sample() {
    for name in ["bell", "dutch", "falkener", "savard"] {
        let rules = rules(name);
        let samples = samples(&rules);
        let encoder = Encoder::new(Arc::clone(&rules));
        let shape = encoder.shape();
        let (files, area) = (shape.files, shape.area());
        for index in (0..samples.len()).step_by(7) {
            let (mut plain, mut mirrored) = (TrainingBatch::new(shape), TrainingBatch::new(shape));
            samples.write_into(index, &encoder, Symmetry::IDENTITY, &ReplaySettings::default(), &mut plain);
            samples.write_into(index, &encoder, Symmetry::MIRROR, &ReplaySettings::default(), &mut mirrored);
            for (one, other) in plain.planes.chunks(files).zip(mirrored.planes.chunks(files)) {
                assert!(one.iter().eq(other.iter().rev()), "{name}: every rank is mirrored");
            }
            for (one, other) in plain.survival.chunks(files).zip(mirrored.survival.chunks(files)) {
                assert!(one.iter().eq(other.iter().rev()), "{name}: survival is mirrored");
            }
            let turned = |&index: &u32| mapped_indices(&rules, Symmetry::MIRROR, [index, index])[0];
            assert!(mirrored.opponent_policy.indices.iter().map(turned).eq(plain.opponent_policy.indices), "{name}");
            assert_eq!(plain.scalars, mirrored.scalars);
            assert_eq!((plain.policy, plain.win_draw_loss), (mirrored.policy, mirrored.win_draw_loss));
            for (one, other) in plain.action_indices.iter().zip(&mirrored.action_indices) {
                assert_eq!(mapped_indices(&rules, Symmetry::MIRROR, *other), *one);
                if (one[0] as usize) < area * area {
                    let [from, to] = [one[0] as usize / area, one[0] as usize % area];
                    let turn = |square: usize| square / files * files + files - 1 - square % files;
                    assert_eq!(other[0] as usize, turn(from) * area + turn(to), "{name}");
                }
            }
        }
    }
}

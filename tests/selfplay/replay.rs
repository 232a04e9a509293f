//! The replay window: what stays, what is drawn, and mirror images.

use latrunculi_engine::Symmetry;
use latrunculi_engine::encoding::{Shape, TrainingBatch};
use latrunculi_selfplay::{GameKey, Purpose, ReplaySettings, ReplayWindow, Samples};

use crate::{rules, samples};

fn stream(game: u64) -> rand_chacha::ChaCha8Rng {
    GameKey { run_seed: 1, generation: 1, game }.stream(Purpose::Training)
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
    let settings = ReplaySettings { mirror: false, search_share: 0.0, ..ReplaySettings::default() };
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
        assert_eq!(rules.augmentations().len(), images, "{name}");
        assert_eq!(rules.augmentations()[0], Symmetry::IDENTITY);
        // All of them are drawn, and nothing else.
        let samples = samples(&rules);
        let images: Vec<TrainingBatch> = rules
            .augmentations()
            .into_iter()
            .map(|symmetry| {
                let mut batch = TrainingBatch::new(Shape::of(&rules));
                samples.write_into(9, &rules, symmetry, &ReplaySettings::default(), &mut batch);
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
        let shape = Shape::of(&rules);
        let (files, area) = (shape.files, shape.area());
        for index in (0..samples.len()).step_by(7) {
            let (mut plain, mut mirrored) = (TrainingBatch::new(shape), TrainingBatch::new(shape));
            samples.write_into(index, &rules, Symmetry::IDENTITY, &ReplaySettings::default(), &mut plain);
            samples.write_into(index, &rules, Symmetry::MIRROR, &ReplaySettings::default(), &mut mirrored);
            for (one, other) in plain.planes.chunks(files).zip(mirrored.planes.chunks(files)) {
                assert!(one.iter().eq(other.iter().rev()), "{name}: every rank is turned round");
            }
            for (one, other) in plain.survival.chunks(files).zip(mirrored.survival.chunks(files)) {
                assert!(one.iter().eq(other.iter().rev()), "{name}: who survives is turned round");
            }
            let turned = |&place: &u32| rules.mapped_indices(Symmetry::MIRROR, [place, place])[0];
            assert!(mirrored.reply_indices.iter().map(turned).eq(plain.reply_indices), "{name}");
            assert_eq!(plain.scalars, mirrored.scalars);
            assert_eq!((plain.policy, plain.win_draw_loss), (mirrored.policy, mirrored.win_draw_loss));
            for (one, other) in plain.action_indices.iter().zip(&mirrored.action_indices) {
                assert_eq!(rules.mapped_indices(Symmetry::MIRROR, *other), *one);
                if (one[0] as usize) < area * area {
                    let [from, to] = [one[0] as usize / area, one[0] as usize % area];
                    let turn = |square: usize| square / files * files + files - 1 - square % files;
                    assert_eq!(other[0] as usize, turn(from) * area + turn(to), "{name}");
                }
            }
        }
    }
}

//! The replay window: what stays, what is drawn, and mirror images.

use std::sync::Arc;

use latrunculi_data::policy_index::{augmentations, mapped_indices};
use latrunculi_data::{
    Encoder, ReplayPart, ReplaySettings, ReplayWindow, ReplayWindows, Samples, Shape, TrainingBatch,
};
use latrunculi_engine::{Rules, Ruleset, Symmetry};
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
    let settings = ReplaySettings { mirror: false, search_value_weight: 0.0, ..ReplaySettings::default() };
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

fn windows(names: &[(&str, f64)], mixes_share: f64, window_base: f64) -> ReplayWindows {
    let settings = ReplaySettings { window_base, window_slope: 0.0, ..ReplaySettings::default() };
    let parts = names.iter().map(|(name, share)| ReplayPart { rules: rules(name), share: *share, earlier: 0 });
    ReplayWindows::new(settings, parts, mixes_share, 0)
}

/// How many of the batches have the shape of a ruleset's board.
fn count(batches: &[TrainingBatch], name: &str) -> usize {
    let shape = Shape::of(&rules(name));
    batches.iter().filter(|batch| batch.shape == shape).count()
}

#[test]
fn a_mix_that_is_drawn_again_under_another_name_keeps_the_name_of_its_shards() {
    let mut windows = windows(&[("bell", 0.5)], 0.5, 1e6);
    let mut ruleset = rules("savard").ruleset().clone();
    let named = |ruleset: &mut Ruleset, name: &str| {
        ruleset.id = name.to_owned();
        Arc::new(Rules::new(ruleset).unwrap())
    };
    let [first, again] = ["savard-mix-1", "savard-mix-2"].map(|name| named(&mut ruleset, name));
    for (rules, generation) in [(&first, 3), (&again, 7), (&first, 4), (&again, 8)] {
        windows.add(rules, generation, samples(rules));
    }
    let held = windows.mixes().map(|mix| (mix.rules().ruleset().id.as_str(), mix.generations().collect::<Vec<_>>()));
    assert_eq!(held.collect::<Vec<_>>(), [("savard-mix-1", vec![3, 4]), ("savard-mix-2", vec![7, 8])]);
}

#[test]
fn rulesets_are_drawn_by_share_whatever_they_hold() {
    let mut windows = windows(&[("bell", 0.5), ("dutch", 0.125), ("falkener", 0.125)], 0.25, 1e6);
    for name in ["bell", "dutch", "dutch", "dutch"] {
        windows.add(&rules(name), 0, samples(&rules(name)));
    }
    windows.add(&rules("savard"), 0, samples(&rules("savard")));
    assert_eq!(windows.mixes().count(), 1, "a ruleset that has no share is a mix");
    let mut draws = windows.draw(stream(4));
    let batches: Vec<TrainingBatch> = (0..500).flat_map(|_| draws.batches(2, 4)).collect();
    // Nothing was played in falkener; the others keep their proportions, 4 to 1 to 2.
    for (name, share) in [("bell", 4.0 / 7.0), ("dutch", 1.0 / 7.0), ("falkener", 0.0), ("savard", 2.0 / 7.0)] {
        let found = count(&batches, name) as f64 / batches.len() as f64;
        assert!((found - share).abs() < 0.02, "{name}: {found}");
    }
    let mut again = windows.draw(stream(4));
    assert_eq!(again.batches(2, 4), batches[..4], "the same stream draws the same");
}

#[test]
fn every_ruleset_keeps_its_share_of_the_window_and_old_mixes_go() {
    let names = ["bell", "dutch"];
    let len = |name: &str| samples(&rules(name)).len() as u64;
    let base = 8.0 * len("bell") as f64;
    let mut windows = windows(&[("bell", 0.5), ("dutch", 0.25)], 0.25, base);
    for generation in 0..20 {
        for name in names {
            windows.add(&rules(name), generation, samples(&rules(name)));
        }
    }
    let held: Vec<u64> = windows.windows().map(ReplayWindow::len).collect();
    assert_eq!(held, [(base * 0.5) as u64, (base * 0.25) as u64]);
    for name in ["savard", "falkener", "bell-8x8", "beads", "mac-12x8"] {
        windows.add(&rules(name), 20, samples(&rules(name)));
    }
    let mixes: Vec<&str> = windows.mixes().map(|mix| mix.rules().ruleset().id.as_str()).collect();
    assert!(mixes.len() < 5 && mixes.last() == Some(&"mac-12x8"), "the oldest mixes went: {mixes:?}");
    let held: u64 = windows.mixes().map(ReplayWindow::held).sum();
    assert!(held as f64 >= base * 0.25, "no more went than had to: {held}");
}

#[test]
fn the_fraction_of_a_draw_that_follows_the_margin_may_follow_the_draws() {
    let rules = rules("dutch");
    let mut all_drawn = samples(&rules);
    all_drawn.win_draw_loss.fill([0.0, 1.0, 0.0]);
    // All the time to win in is left.
    all_drawn.scalars.fill(0.0);
    all_drawn.margin.fill(1.0);
    let mut none_drawn = all_drawn.clone();
    none_drawn.win_draw_loss.fill([1.0, 0.0, 0.0]);
    let settings = ReplaySettings {
        search_value_weight: 0.0,
        draw_margin_fraction: 0.5,
        draw_margin_by_draws: true,
        ..ReplaySettings::default()
    };
    let targets = |shards: &[&Samples]| {
        let mut window = ReplayWindow::new(rules.clone(), settings, 0);
        for (generation, shard) in (0..).zip(shards) {
            window.add(generation, (*shard).clone());
        }
        let mut found = window.draw(stream(5)).batch(window.len() as usize).win_draw_loss;
        found.sort_by(|one, other| one[0].total_cmp(&other[0]));
        found[0]
    };
    assert_eq!(targets(&[&all_drawn]), [0.5, 0.5, 0.0]);
    assert_eq!(targets(&[&all_drawn, &none_drawn]), [0.25, 0.75, 0.0]);
    // Alpha-beta expected its leads to win, whatever became of them; of noisy games only the expectation is kept.
    let mixed = |result: [f32; 3], share: f32| {
        let mut mixed = all_drawn.clone();
        let expected = [0.8, 0.2, 0.0];
        mixed.search_win_draw_loss.fill(expected);
        mixed.win_draw_loss.fill(std::array::from_fn(|part| share * result[part] + (1.0 - share) * expected[part]));
        mixed
    };
    let (drawn, won, unknown) = (mixed([0.0, 1.0, 0.0], 0.3), mixed([1.0, 0.0, 0.0], 0.3), mixed([0.0; 3], 0.0));
    // The least win is that of the drawn game: 0.56, and a part of its result, of weight 0.3; what was expected stays.
    let win = |shards: &[&Samples]| targets(shards)[0];
    assert!((win(&[&drawn, &unknown]) - (0.56 + 0.5 * 0.3)).abs() < 1e-5, "all known games are drawn");
    assert!((win(&[&drawn, &won]) - (0.56 + 0.25 * 0.3)).abs() < 1e-5, "half of them are");
}

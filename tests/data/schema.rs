//! The schema of samples: one declaration reaches the shard, the batch and the documentation.

use latrunculi_data::npz::ArrayWriter;
use latrunculi_data::{Samples, TrainingBatch};
use std::fs;

use crate::{rules, samples};

/// A column and a change that makes it wrong.
type Change<T> = (&'static str, fn(&mut T));

#[test]
fn the_table_of_the_documentation_is_that_of_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/FORMATS.md");
    let rows = Samples::markdown_rows();
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(&rows), "{path} must contain the rows\n{rows}");
}

#[test]
fn entries_out_of_range_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    // A board whose squares do not fill the bytes of a plane.
    let rules = rules("bell-9x10");
    let good = samples(&rules);
    let refusal = |change: fn(&mut Samples)| {
        let mut samples = good.clone();
        change(&mut samples);
        let path = folder.path().join("a.npz");
        let mut writer = ArrayWriter::new(fs::File::create(&path).unwrap(), false);
        samples.write(&mut writer).unwrap();
        writer.finish().unwrap();
        let mut reader = latrunculi_data::npz::ArrayReader::open(&path).unwrap();
        Samples::read(&mut reader, good.shape).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(refusal(|_| ()), Ok(()));
    let changes: [Change<Samples>; 8] = [
        ("planes", |samples| *samples.planes.last_mut().unwrap() = 0xff),
        ("scalars", |samples| samples.scalars[3] = f32::NAN),
        ("action_indices", |samples| samples.action_indices[0][0] = u32::MAX),
        ("policy", |samples| samples.policy[0] = 1.5),
        ("win_draw_loss", |samples| samples.win_draw_loss[0][2] = -1.0),
        ("margin", |samples| samples.margin[0] = 1.5),
        ("opponent_policy", |samples| samples.opponent_policy[0] = samples.margin.len() as i64),
        ("action_offsets", |samples| samples.action_offsets[1] = 0),
    ];
    for (name, change) in changes {
        let reason = refusal(change).unwrap_err();
        assert!(reason.contains(&format!("'{name}'")), "{name}: {reason}");
    }
}

#[test]
fn columns_of_a_batch_have_the_declared_lengths() {
    let rules = rules("savard");
    let samples = samples(&rules);
    let mut window = latrunculi_data::ReplayWindow::new(rules, latrunculi_data::ReplaySettings::default(), 0);
    window.add(0, samples);
    let batch = window.draw(rand::SeedableRng::seed_from_u64(1)).batch(12);
    assert_eq!(batch.len(), 12);
    batch.validate().unwrap();
    let changes: [Change<TrainingBatch>; 3] = [
        ("moves_left", |batch| _ = batch.moves_left.pop()),
        ("survival", |batch| _ = batch.survival.pop()),
        ("opponent_policy", |batch| _ = batch.opponent_policy.offsets.pop()),
    ];
    for (name, change) in changes {
        let mut changed = batch.clone();
        change(&mut changed);
        let reason = changed.validate().unwrap_err().to_string();
        assert!(reason.contains(&format!("'{name}'")), "{name}: {reason}");
    }
}

//! Shards: written, read back, and refused when something is wrong with them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use latrunculi_data::npz::ArrayWriter;
use latrunculi_data::{ENCODING_VERSION, SHARD_VERSION, Samples, ShardInfo, ShardSummary, read_shard, write_shard};
use latrunculi_engine::Rules;

use crate::{rules, samples};

#[test]
fn a_shard_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["bell", "dutch", "falkener", "beads"] {
        let rules = rules(name);
        let path = folder.path().join(format!("{name}.npz"));
        let (info, samples) = (ShardInfo::new(&rules, 7, 3, "somebody".to_owned()), samples(&rules));
        write_shard(&path, &info, &samples).unwrap();
        let (found_info, found) = read_shard(&path, &rules).unwrap();
        assert_eq!((found_info, found), (info.clone(), samples.clone()));
        let summary = ShardSummary::read(&path).unwrap();
        assert_eq!((summary.samples, summary.actions), (samples.len() as u64, samples.policy.len() as u64));
        let bytes = fs::read(&path).unwrap();
        write_shard(&path, &info, &samples).unwrap();
        assert_eq!(bytes, fs::read(&path).unwrap(), "equal content gives equal files");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left beside");
}

#[test]
fn errors_name_the_shard_and_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let bell = rules("bell");
    write_shard(&path, &ShardInfo::new(&bell, 7, 3, "somebody".to_owned()), &samples(&bell)).unwrap();
    let refusal = |path: &Path, rules: &Rules| read_shard(path, rules).unwrap_err().to_string();
    assert!(refusal(&path, &rules("bell-8x8")).contains("under the ruleset 'bell' and 'bell-8x8' is wanted"));
    assert!(refusal(Path::new("no/such/file"), &bell).starts_with("no/such/file: reading it: "));
    assert!(refusal(folder.path(), &bell).contains("not a file"));
    let whole = fs::read(&path).unwrap();
    for keep in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..keep]).unwrap();
        assert!(refusal(&path, &bell).contains("a.npz: not a whole npz file"), "cut off after {keep} bytes");
    }
    // Damage anywhere is found by a checksum or by a check, and never causes a panic.
    for place in (0..whole.len()).step_by(whole.len() / 97 + 1) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        if let Ok((_, found)) = read_shard(&path, &bell) {
            assert_eq!(found, samples(&bell), "a change at {place} that is not noticed changes nothing");
        }
    }
}

#[test]
fn an_array_that_unpacks_to_more_than_it_may_hold_is_not_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    let deflated = zip::CompressionMethod::Deflated;
    zip.start_file("version.npy", zip::write::FileOptions::default().compression_method(deflated)).unwrap();
    for _ in 0..64 {
        zip.write_all(&[0; 1 << 16]).unwrap();
    }
    zip.finish().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 1 << 14, "four megabytes in a few kilobytes");
    let error = read_shard(&path, &rules("bell")).unwrap_err().to_string();
    assert!(error.contains("a.npz") && error.contains("unpacks to more than"), "{error}");
}

#[test]
fn samples_of_another_encoding_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let mut writer = ArrayWriter::new(fs::File::create(&path).unwrap(), true);
    for (name, value) in [("version", SHARD_VERSION), ("encoding", ENCODING_VERSION - 1)] {
        writer.array(name, &[1], &[value]).unwrap();
    }
    writer.finish().unwrap();
    let error = read_shard(&path, &rules("bell")).unwrap_err().to_string();
    assert!(error.contains("a.npz") && error.contains("play anew"), "{error}");
}

#[test]
fn numpy_reads_a_shard() {
    const SCRIPT: &str = r#"
import sys, numpy
shard = numpy.load(sys.argv[1])
files, ranks, planes, scalars = (int(n) for n in shard["shape"])
n = len(shard["margin"])
bits = numpy.unpackbits(shard["planes"], axis=2, bitorder="little", count=files * ranks)
board = bits.reshape(n, planes, ranks, files)
assert shard["version"][0] == 5 and shard["encoding"][0] == 3 and bytes(shard["ruleset"]).decode() == "bell"
assert (board[:, 13] == 1).all(), "the last plane is the board"
assert board[:, 0].sum() > 0 and not (board[:, 0] & board[:, 2]).any()
offsets = shard["action_offsets"]
assert offsets.dtype == numpy.uint64 and len(offsets) == n + 1 and offsets[-1] == len(shard["policy"])
sums = numpy.add.reduceat(shard["policy"], offsets[:-1].astype(int))
assert numpy.allclose(sums, 1, atol=1e-4)
assert numpy.allclose(shard["win_draw_loss"].sum(1), 1)
assert shard["scalars"].shape == (n, scalars)
print(n)
"#;
    let has_numpy = Command::new("python3").args(["-c", "import numpy"]).output().is_ok_and(|out| out.status.success());
    if !has_numpy {
        println!("skipped: there is no python3 with numpy");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let rules = rules("bell");
    let samples = samples(&rules);
    write_shard(&path, &ShardInfo::new(&rules, 7, 3, "somebody".to_owned()), &samples).unwrap();
    let output = Command::new("python3").args(["-c", SCRIPT]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), samples.len().to_string());
}

#[test]
fn samples_that_no_game_gives_are_refused_by_array_and_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let bell = rules("bell");
    let (info, good) = (ShardInfo::new(&bell, 7, 3, "somebody".to_owned()), samples(&bell));
    let refusal = |info: &ShardInfo, samples: &Samples| {
        write_shard(&path, info, samples).unwrap();
        read_shard(&path, &bell).unwrap_err().to_string()
    };
    type Spoil = fn(&mut Samples);
    let spoils: [(&str, Spoil); 13] = [
        ("policy", |samples| samples.policy.fill(0.0)),
        ("policy", |samples| samples.policy.iter_mut().for_each(|part| *part *= 5.0)),
        ("policy", |samples| samples.policy.iter_mut().for_each(|part| *part = -*part)),
        ("win_draw_loss", |samples| samples.win_draw_loss[3] = [5.0, -3.0, 7.0]),
        ("win_draw_loss", |samples| samples.win_draw_loss[3] = [1.0, 1.0, 0.0]),
        ("search_win_draw_loss", |samples| samples.search_win_draw_loss[3] = [0.0, 0.0, 0.0]),
        ("margin", |samples| samples.margin[3] = 9.0),
        ("scalars", |samples| samples.scalars[3] = 100.0),
        ("scalars", |samples| samples.scalars[3] = f32::NAN),
        ("planes", |samples| samples.planes.fill(0)),
        ("planes", |samples| samples.planes.fill(0xFF)),
        ("opponent_policy", |samples| samples.opponent_policy[3] = 3),
        ("opponent_policy", |samples| samples.opponent_policy[3] = 1 << 40),
    ];
    for (array, spoil) in spoils {
        let mut samples = good.clone();
        spoil(&mut samples);
        let error = refusal(&info, &samples);
        assert!(error.contains("a.npz") && error.contains(&format!("array '{array}'")), "{array}: {error}");
    }
    for wrong in [f32::NAN, 0.123] {
        let mut info = info.clone();
        info.rule_inputs[0] = wrong;
        assert!(refusal(&info, &good).contains("array 'rule_inputs'"));
    }
}

#[test]
fn an_array_header_of_nested_brackets_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    for version in [1, 2] {
        let header = format!("{{'descr': {}", "{".repeat(40));
        let length: Vec<u8> = match version {
            1 => (header.len() as u16).to_le_bytes().to_vec(),
            _ => (header.len() as u32).to_le_bytes().to_vec(),
        };
        let array = [b"\x93NUMPY".as_slice(), &[version, 0], &length, header.as_bytes()].concat();
        let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        zip.start_file("version.npy", zip::write::FileOptions::default()).unwrap();
        zip.write_all(&array).unwrap();
        zip.finish().unwrap();
        let error = read_shard(&path, &rules("bell")).unwrap_err().to_string();
        assert!(error.contains("a.npz") && error.contains("not that of a plain array"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = read_shard(&path, &rules("bell")).unwrap_err().to_string();
    assert!(error.contains("not a whole npz file"), "{error}");
}

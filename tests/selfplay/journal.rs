//! The journal: games that were written are read back, whatever happened to the end of the file.

use std::fs;

use latrunculi_data::{Samples, ShardInfo};
use latrunculi_selfplay::Journal;

use crate::{GAMES, plan, play, rules};

#[test]
fn games_are_read_back_and_a_damaged_end_is_dropped() {
    let rules = rules("bell");
    let games = play(&plan(&rules, 6), GAMES);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000003.journal");
    let info = ShardInfo::new(&rules, 7, 3, "somebody".to_owned());
    let open = || Journal::open(&path, &rules, &info).unwrap();

    let (journal, found) = open();
    assert!(found.is_empty());
    games[..2].iter().for_each(|game| journal.add(game).unwrap());
    drop(journal);
    let two = fs::read(&path).unwrap();
    let (journal, found) = open();
    assert_eq!(found, games[..2], "what is added goes behind what was there");
    journal.add(&games[2]).unwrap();
    drop(journal);
    let three = fs::read(&path).unwrap();
    assert_eq!(three[..two.len()], two);

    let mut flipped = three.clone();
    flipped[two.len() + 100] ^= 1;
    let mut huge = two.clone();
    huge.extend_from_slice(&[0xff; 8]);
    for broken in [&three[..three.len() - 1], &three[..two.len() + 5], &flipped, &huge] {
        fs::write(&path, broken).unwrap();
        let (journal, found) = open();
        assert_eq!(found, games[..2]);
        journal.add(&games[2]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), three, "the broken end is overwritten");
    }

    let damages: [fn(&mut Samples); 6] = [
        |samples| _ = samples.policy.pop(),
        |samples| _ = samples.planes.pop(),
        |samples| samples.action_offsets.clear(),
        |samples| samples.action_offsets[1] = u64::MAX,
        |samples| samples.policy[0] = 7.0,
        |samples| samples.opponent_policy[0] = i64::MAX,
    ];
    for damage in damages {
        fs::write(&path, &two).unwrap();
        let mut broken = games[2].clone();
        damage(&mut broken.samples);
        open().0.add(&broken).unwrap();
        assert_eq!(open().1, games[..2], "a game whose columns do not agree ends the journal");
    }

    for (generation, players) in [(4, "somebody"), (3, "somebody else")] {
        fs::write(&path, &three).unwrap();
        let other = ShardInfo::new(&rules, 7, generation, players.to_owned());
        let (journal, found) = Journal::open(&path, &rules, &other).unwrap();
        assert!(found.is_empty(), "games of another generation or of another player are of no use");
        journal.remove().unwrap();
        assert!(!path.exists());
    }
    fs::write(&path, b"no journal").unwrap();
    assert!(open().1.is_empty());
    let nowhere = folder.path().join("nowhere/000003.journal");
    let error = Journal::open(&nowhere, &rules, &info).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
}

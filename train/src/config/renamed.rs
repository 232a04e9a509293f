//! Keys of the configuration that were renamed or removed, so that old files get an answer and old runs go on.

use crate::error::{Error, bail};

/// The old and the new dotted key of every renamed value.
const RENAMED: &[(&str, &str)] = &[
    ("ruleset", "rulesets"),
    ("games.lanes", "games.actors"),
    ("games.lanes_beside_training", "games.actors_beside_training"),
    ("teacher.opening_share", "teacher.opening_probability"),
    ("evaluation.pairs", "evaluation.opening_pairs"),
    ("evaluation.final_pairs", "evaluation.final_opening_pairs"),
    ("teacher.alphabeta.random_share", "teacher.alphabeta.random_probability"),
    ("teacher.alphabeta.weak_share", "teacher.alphabeta.noisy_player_probability"),
    ("teacher.alphabeta.weak_random_share", "teacher.alphabeta.noisy_player_random_probability"),
    ("teacher.alphabeta.judgement.scale", "teacher.alphabeta.value.scale"),
    ("teacher.alphabeta.judgement.draw_share", "teacher.alphabeta.value.draw_probability"),
    ("selfplay.opening_share", "selfplay.opening_probability"),
    ("selfplay.starts.fork_share", "selfplay.starts.fork_probability"),
    ("selfplay.playout_cap.full_share", "selfplay.playout_cap.full_probability"),
    ("selfplay.surprise.policy_share", "selfplay.surprise.policy_weight"),
    ("selfplay.surprise.value_share", "selfplay.surprise.value_weight"),
    ("selfplay.search.mode.gumbel.considered", "selfplay.search.mode.gumbel.max_considered_actions"),
    ("replay.search_share", "replay.bootstrap_weight"),
    ("replay.draw_margin_share", "replay.draw_margin_fraction"),
    ("training.average_decay", "training.ema_decay"),
    ("training.reply_weight", "training.opponent_policy_weight"),
    ("training.turns_left_weight", "training.moves_left_weight"),
];

/// The dotted key of every removed value, and why it is gone.
const REMOVED: &[(&str, &str)] = &[
    ("selfplay.cache_entries", "evaluations are not cached"),
    ("teacher.alphabeta.policy_smoothing", "teacher.alphabeta.policy_temperature spreads the policy by the scores"),
    ("teacher.alphabeta.policy_spread", "teacher.alphabeta.policy_temperature spreads the policy by the scores"),
];

/// Checks that a table uses no old key.
///
/// # Errors
/// Every old key with its new name, or why it is gone.
pub(super) fn check(table: &toml::Table) -> Result<(), Error> {
    let renamed = RENAMED.iter().map(|(old, new)| (old, format!("{old} is now called {new}")));
    let removed = REMOVED.iter().map(|(old, why)| (old, format!("{old} has been removed ({why}); delete it")));
    let found: Vec<String> =
        renamed.chain(removed).filter(|(old, _)| value(table, old).is_some()).map(|(_, answer)| answer).collect();
    if !found.is_empty() {
        bail!("{}", found.join("; "))
    }
    Ok(())
}

/// Moves the values of old keys to their new names and drops removed ones. A table that becomes empty is removed.
pub(super) fn translate(table: &mut toml::Table) {
    for (old, new) in RENAMED {
        if let Some(value) = take(table, old) {
            put(table, new, value);
        }
    }
    for (old, _) in REMOVED {
        take(table, old);
    }
}

fn value<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => value(table.get(first)?.as_table()?, rest),
    }
}

fn take(table: &mut toml::Table, key: &str) -> Option<toml::Value> {
    let Some((first, rest)) = key.split_once('.') else { return table.remove(key) };
    let inner = table.get_mut(first)?.as_table_mut()?;
    let taken = take(inner, rest);
    if inner.is_empty() {
        table.remove(first);
    }
    taken
}

fn put(table: &mut toml::Table, key: &str, value: toml::Value) {
    match key.split_once('.') {
        None => _ = table.entry(key).or_insert(value),
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if let Some(inner) = inner.as_table_mut() {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_old_key_is_answered_with_its_new_name_and_can_be_translated() {
        for (old, new) in RENAMED {
            let mut table = toml::Table::new();
            put(&mut table, old, toml::Value::Integer(7));
            let answer = check(&table).unwrap_err().to_string();
            assert_eq!(answer, format!("{old} is now called {new}"));
            translate(&mut table);
            check(&table).unwrap();
            assert_eq!(value(&table, new), Some(&toml::Value::Integer(7)));
            assert_eq!(value(&table, old), None);
        }
    }

    #[test]
    fn every_removed_key_is_answered_and_dropped_from_old_runs() {
        for (old, why) in REMOVED {
            let mut table = toml::Table::new();
            put(&mut table, old, toml::Value::Integer(7));
            let answer = check(&table).unwrap_err().to_string();
            assert_eq!(answer, format!("{old} has been removed ({why}); delete it"));
            translate(&mut table);
            assert!(table.is_empty());
        }
    }

    #[test]
    fn all_old_keys_of_a_file_are_named_at_once() {
        let table: toml::Table = toml::from_str("[games]\nlanes = 2\n[evaluation]\npairs = 3").unwrap();
        let answer = check(&table).unwrap_err().to_string();
        assert!(answer.contains("games.actors") && answer.contains("evaluation.opening_pairs"), "{answer}");
    }
}

//! Positions as commands take them: a text, or a place in a game record; and actions played from there.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use latrunculi_engine::{GameRecord, GameState, Player};
use latrunculi_train::rulesets;

use crate::game_files;

#[derive(Args)]
pub(crate) struct PositionArgs {
    /// A shipped ruleset, or the path of a ruleset file or of a model [default: that of the --record]
    #[arg(value_name = "RULESET", required_unless_present_any = ["ruleset_option", "record"])]
    ruleset: Option<String>,
    /// The same as an option
    #[arg(long = "ruleset", alias = "rulesets", value_name = "RULESET", conflicts_with = "ruleset")]
    ruleset_option: Option<String>,
    /// `initial`, a list of pieces (M:c2 D:a1 m:b3 d:h7), or the line of a position
    #[arg(long, default_value = "initial")]
    position: String,
    /// Who is to act in a list of pieces [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=2))]
    player: Option<u64>,
    /// A position of a recorded game: the file, with --game and --ply
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "player"])]
    record: Option<PathBuf>,
    /// Which game of the file, from 1 [default: the last]
    #[arg(long, value_name = "N", requires = "record", value_parser = clap::value_parser!(u64).range(1..))]
    game: Option<u64>,
    /// After how many actions of the game [default: all, without one that ended the game]
    #[arg(long, value_name = "N", requires = "record")]
    ply: Option<usize>,
    /// Actions to play from there, as "a1-a2 b7-b6"
    #[arg(long, value_name = "ACTIONS", default_value = "", hide_default_value = true)]
    actions: String,
}

impl PositionArgs {
    fn ruleset(&self) -> Option<&str> {
        self.ruleset.as_deref().or(self.ruleset_option.as_deref())
    }

    pub(crate) fn state(&self) -> anyhow::Result<GameState> {
        let mut state = match &self.record {
            Some(path) => self.recorded(path)?,
            None => {
                ensure!(
                    self.player.is_none() || is_list(&self.position),
                    "--player is for a list of pieces; the beginning and the line of a position say who is to act"
                );
                let rules = rulesets::load(self.ruleset().unwrap_or_default())?;
                let to_act = self.player.and_then(Player::from_number).unwrap_or(Player::First);
                GameState::parse(&rules, &self.position, to_act)?
            }
        };
        for (index, text) in self.actions.split([' ', ',']).filter(|text| !text.is_empty()).enumerate() {
            let action = state.parse_action(text).with_context(|| format!("action {} of --actions", index + 1))?;
            state.play(action);
        }
        Ok(state)
    }

    fn recorded(&self, path: &Path) -> anyhow::Result<GameState> {
        let shown = path.display();
        let (number, record) = self.recorded_game(path)?;
        let rules = match self.ruleset() {
            Some(name) => rulesets::load(name)?,
            None => game_files::rules_of(&record, path)?,
        };
        let played = record.actions.len();
        let ply = self.ply.unwrap_or(played);
        ensure!(ply <= played, "game {number} of {shown} has {played} actions, there is no ply {ply}");
        let mut states = Vec::new();
        let end = record
            .replay_with(&rules, |state, _| states.push(state.clone()))
            .map_err(game_files::with_way_out)
            .with_context(|| format!("game {number} of {shown}"))?;
        if self.ply.is_some() || end.outcome().is_none() || states.is_empty() {
            states.push(end);
        }
        let at = ply.min(states.len() - 1);
        Ok(states.swap_remove(at))
    }

    /// Returns the game that is wanted of a file, and its number.
    fn recorded_game(&self, path: &Path) -> anyhow::Result<(u64, GameRecord)> {
        let shown = path.display();
        let (mut count, mut wanted) = (0, None);
        for record in game_files::read(path)? {
            let record = record?;
            count += 1;
            if self.game.is_none_or(|number| number == count) {
                wanted = Some((count, record));
            }
        }
        ensure!(count > 0, "{shown} holds no game");
        wanted.with_context(|| format!("{shown} holds {count} games, there is no game {}", self.game.unwrap_or(count)))
    }
}

fn is_list(position: &str) -> bool {
    position.contains(':') && !position.contains('/')
}

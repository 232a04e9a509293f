//! Saving a game to a file and loading one.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, ensure};
use latrunculi_engine::GameRecord;
use latrunculi_train::error_chain;

use super::files;
use super::session::Session;
use crate::game::Game;
use crate::game_files;

pub(super) fn last_game(path: &Path) -> anyhow::Result<GameRecord> {
    let mut last = None;
    for record in game_files::read(path)? {
        last = Some(record?);
    }
    last.with_context(|| format!("{} holds no game", path.display()))
}

impl Session {
    pub(super) fn save(&mut self, path: &Path) -> anyhow::Result<()> {
        files::append(path, self.game.record())?;
        self.saved = Some((path.to_owned(), self.game.record().clone()));
        Ok(())
    }

    /// Returns the last game of a file, to be played by the agents of this one.
    pub(super) fn read(&self, path: &Path) -> anyhow::Result<Game> {
        let mut game = Game::from_record(last_game(path)?, self.rules())
            .with_context(|| format!("the last game in {}", path.display()))?;
        game.set_agents(self.game.record().agents.clone());
        Ok(game)
    }

    pub(super) fn go_on_from(&mut self, game: Game, path: &Path) {
        self.saved = Some((path.to_owned(), game.record().clone()));
        self.game = game;
    }

    /// Goes on from the last game of a file; nothing changes if that cannot be done. The game that is left is added to the file that
    /// was asked for at the start. Without one, a game that is not saved is only left when the command is given twice.
    pub(super) fn load_instead(&mut self, path: &Path, output: &mut dyn Write) -> anyhow::Result<()> {
        // Before the game that is left is added to a file, which may be this one.
        let game = self.read(path)?;
        let record = self.game.record();
        let is_kept = record.actions.is_empty() || self.saved.as_ref().is_some_and(|(_, saved)| saved == record);
        if let (false, Some(kept)) = (is_kept, self.record_path.clone()) {
            self.save(&kept)?;
            writeln!(output, "the game was added to {}", kept.display())?;
        } else if !is_kept {
            let record = record.clone();
            let is_asked_again = self.left.replace(record) == Some(self.game.record().clone());
            ensure!(is_asked_again, "this game is not saved: save FILE first, or write load again to leave it");
        }
        self.go_on_from(game, path);
        Ok(())
    }

    fn is_anybody_there(&self) -> bool {
        self.input.is_terminal() && !self.interrupt.was_told_to_end()
    }

    /// Adds the game to the file that was asked for at the start, or asks where to save it, unless it lies
    /// there as it stands.
    pub(super) fn keep(&mut self, output: &mut dyn Write) -> anyhow::Result<()> {
        if self.game.record().actions.is_empty() {
            return Ok(());
        }
        let saved = self.saved.as_ref().filter(|(_, saved)| saved == self.game.record()).map(|(path, _)| path.clone());
        if let Some(path) = self.record_path.take().filter(|path| Some(path) != saved.as_ref()) {
            match self.save(&path) {
                Ok(()) => return Ok(writeln!(output, "the game was added to {}", path.display())?),
                // Whoever sits there may name another file.
                Err(error) if self.is_anybody_there() => writeln!(output, "{}", error_chain(error.as_ref()))?,
                Err(error) => return Err(error),
            }
        }
        if saved.is_some() || !self.is_anybody_there() {
            return Ok(());
        }
        loop {
            let prompt = "this game is not saved; a file to save it to, or Enter to leave: ";
            let Some(line) = self.input.ask(prompt, Vec::new(), &self.interrupt, output)? else { return Ok(()) };
            if line.trim().is_empty() {
                return Ok(());
            }
            match self.save(Path::new(line.trim())) {
                Ok(()) => {
                    writeln!(output, "saved to {}", line.trim())?;
                    return Ok(());
                }
                Err(error) => writeln!(output, "{}", error_chain(error.as_ref()))?,
            }
        }
    }
}

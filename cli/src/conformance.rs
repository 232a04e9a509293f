//! `conformance`: rule cases and traces against the engine.

use std::path::PathBuf;

use clap::Args;
use latrunculi_engine::{GameRecord, conformance, presets};
use latrunculi_train::files::read_text;

const FILE_BYTES_MAX: u64 = 1 << 30;

#[derive(Args)]
pub(crate) struct ConformanceArgs {
    /// Files of rule cases (JSON) or of traces (JSON lines: games with what each position must be), as in
    /// tests/rules/cases; recorded games are played over by `inspect --verify`
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: ConformanceArgs) -> anyhow::Result<()> {
    let (mut passed, mut failed) = (0, 0);
    for path in &args.files {
        let text = read_text(path, FILE_BYTES_MAX)?;
        let shown = path.display();
        let reports = conformance::run_file(&text, &presets::ruleset).map_err(|fault| match is_of_games(&text) {
            true => anyhow::anyhow!(
                "{shown}: these are recorded games: latrunculi inspect --verify {shown} plays them over"
            ),
            false => anyhow::Error::msg(fault).context(shown.to_string()),
        })?;
        for report in reports {
            match report.failure {
                None => passed += 1,
                Some(failure) => {
                    failed += 1;
                    println!("{}: {failure}", report.id);
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed > 0 {
        anyhow::bail!("{failed} of {} cases failed", passed + failed);
    }
    Ok(())
}

/// Tells whether a file begins with the record of a game.
fn is_of_games(text: &str) -> bool {
    text.lines().next().is_some_and(|line| GameRecord::from_line(line).is_ok())
}

//! How the tests run the program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A folder in which command lines of the program run; a word of a line that has spaces stands in single quotes.
pub(crate) struct Shell {
    pub(crate) program: PathBuf,
    /// Whether the environment leads to no library.
    pub(crate) finds_no_library: bool,
    folder: PathBuf,
    /// Deleted with the shell.
    _temporary: Option<TempDir>,
}

impl Shell {
    /// In a temporary folder.
    pub(crate) fn new() -> Shell {
        Shell::within(&std::env::temp_dir())
    }

    /// In a temporary folder of that folder.
    pub(crate) fn within(parent: &Path) -> Shell {
        let temporary = tempfile::tempdir_in(parent).unwrap();
        Shell { folder: temporary.path().to_owned(), _temporary: Some(temporary), ..Shell::in_root() }
    }

    /// In a temporary folder with `run`, a finished run of two small generations.
    #[cfg(feature = "libtorch")]
    pub(crate) fn with_run() -> Shell {
        static MADE: OnceLock<Shell> = OnceLock::new();
        let made = MADE.get_or_init(|| {
            let few = "budget.generations=2 teacher.games=2 evaluation.every=0 evaluation.final_opening_pairs=1";
            let shell = Shell::new();
            shell.prints(&format!("train smoke --quiet --run run{}", set(few)));
            shell
        });
        let shell = Shell::new();
        copy(&made.path("run"), &shell.path("run"));
        shell
    }

    pub(crate) fn in_root() -> Shell {
        let program = env!("CARGO_BIN_EXE_latrunculi").into();
        Shell { program, finds_no_library: false, folder: root().to_owned(), _temporary: None }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Tells whether a file has more than so many bytes.
    pub(crate) fn is_longer(&self, name: &str, bytes: u64) -> bool {
        fs::metadata(self.path(name)).is_ok_and(|about| about.len() > bytes)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// Reads a file of a JSON value a line.
    pub(crate) fn lines(&self, name: &str) -> Vec<Value> {
        values(&self.text(name))
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn copy(&self, from: &str, to: &str) {
        copy(&self.path(from), &self.path(to));
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let words = line.split('\'').enumerate().flat_map(|(number, part)| {
            let is_quoted = number % 2 == 1;
            if is_quoted { vec![part] } else { part.split_whitespace().collect() }
        });
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.folder);
        if self.finds_no_library {
            command.env_remove("LD_LIBRARY_PATH");
        }
        command
    }

    /// Starts a line, whose output is kept.
    pub(crate) fn start(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a line with nothing to read.
    pub(crate) fn run(&self, line: &str) -> Output {
        self.run_reading(line, b"")
    }

    /// Runs a line with `input` to read.
    pub(crate) fn run_reading(&self, line: &str, input: &[u8]) -> Output {
        let mut child = self.start(line);
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // Who refuses its arguments reads nothing.
            scope.spawn(move || _ = stdin.write_all(input));
            child.wait_with_output().unwrap()
        })
    }

    /// Runs what must succeed, and returns what it prints.
    #[track_caller]
    pub(crate) fn prints(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}{}", printed(&output), complaint(&output));
        printed(&output)
    }

    /// Runs what must succeed with `--json`.
    #[track_caller]
    pub(crate) fn prints_json(&self, line: &str) -> Value {
        serde_json::from_str(&self.prints(&format!("{line} --json"))).unwrap()
    }

    /// Runs what must be refused with that exit status and these words, without a panic; returns all that is said.
    #[track_caller]
    pub(crate) fn refuses(&self, line: &str, status: i32, words: &[&str]) -> String {
        let output = self.run(line);
        let said = complaint(&output);
        assert_eq!(output.status.code(), Some(status), "{line}: {said}");
        assert!(said.contains("error: ") && !said.contains("panicked"), "{line}: {said}");
        assert!(said.matches("os error").count() <= 1, "{line}: a fault is told once: {said}");
        assert_contains(&said, words);
        said
    }

    /// Starts a line, sends it a signal as soon as `is_at_work`, and returns how it ended; `-KILL` works everywhere.
    pub(crate) fn stopped_by(&self, signal: &str, line: &str, is_at_work: impl Fn() -> bool) -> Output {
        let mut child = self.start(line);
        let begun = Instant::now();
        while !is_at_work() && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(300), "{line} does not come on");
            sleep(Duration::from_millis(2));
        }
        if signal == "-KILL" {
            child.kill().unwrap()
        } else {
            send(signal, &child)
        }
        child.wait_with_output().unwrap()
    }
}

pub(crate) fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        copy(&from.join(&name), &to.join(&name));
    }
}

/// Arguments that set these settings, between which are spaces.
pub(crate) fn set(settings: &str) -> String {
    settings.split_whitespace().flat_map(|setting| [" --set ", setting]).collect()
}

/// Reads a JSON value a line.
pub(crate) fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
pub(crate) fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing from\n{text}");
    }
}

/// Checks that no line is longer than a screen is wide.
#[track_caller]
pub(crate) fn assert_fits(text: &str) {
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

pub(crate) fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

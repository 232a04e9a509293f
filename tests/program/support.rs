//! How the tests start the program.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// The program, to be started in the root of the repository.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latrunculi"));
    command.args(arguments).current_dir(root());
    command
}

/// Runs the program with nothing to read.
pub(crate) fn latrunculi(arguments: &[&str]) -> Output {
    latrunculi_reading(arguments, b"")
}

/// Runs the program with `input` to read.
pub(crate) fn latrunculi_reading(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = program(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Who refuses its arguments reads nothing.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("the program ends")
    })
}

pub(crate) fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that the program has refused something: with that exit status and these words, and without a panic.
pub(crate) fn assert_refused(arguments: &[&str], status: i32, words: &[&str]) {
    let output = latrunculi(arguments);
    let complaint = complaint(&output);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {complaint}");
    assert!(complaint.contains("error: ") && !complaint.contains("panicked"), "{arguments:?}: {complaint}");
    for word in words {
        assert!(complaint.contains(word), "{arguments:?}: {word:?} is missing from {complaint}");
    }
}

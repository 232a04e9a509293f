//! The program without libtorch.

use std::process::ExitCode;

fn main() -> ExitCode {
    latrunculi_cli::main(None)
}

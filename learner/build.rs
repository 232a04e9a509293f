//! Tells the linker where this package's tests find libtorch when they start.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The package `model` has it from torch-sys.
    if let Some(libraries) = env::var_os("DEP_LATRUNCULI_LIBTORCH_LIBRARIES")
        && env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("unix")
    {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", libraries.to_string_lossy());
    }
}

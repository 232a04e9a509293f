//! Tells the linker where the program finds libtorch when it starts.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_FAMILY").as_deref() != Ok("unix") {
        return;
    }
    // First a folder `lib` beside the program or above it, so that a copied program can bring its own.
    let origin = match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => "@loader_path",
        _ => "$ORIGIN",
    };
    println!("cargo::rustc-link-arg=-Wl,-rpath,{origin}/lib");
    println!("cargo::rustc-link-arg=-Wl,-rpath,{origin}/../lib");
    // Then where it was linked, which the package `model` has from torch-sys.
    if let Some(libraries) = env::var_os("DEP_LATRUNCULI_LIBTORCH_LIBRARIES") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", libraries.to_string_lossy());
    }
}

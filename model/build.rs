//! Tells the linker where this package's own programs (its tests) find libtorch when they start, and
//! passes the place on to the packages above, which link programs too; and the program libtorch's version.

use std::env;
use std::fs;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // torch-sys knows where libtorch lies, whichever way it was named to it.
    let Some(libraries) = env::var_os("DEP_TCH_LIBTORCH_LIB") else { return };
    let libraries = libraries.to_string_lossy();
    println!("cargo::metadata=libraries={libraries}");
    let version = Path::new(&*libraries).join("../build-version");
    if let Ok(version) = fs::read_to_string(version) {
        println!("cargo::rustc-env=LATRUNCULI_LIBTORCH_VERSION={}", version.trim());
    }
    if env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("unix") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{libraries}");
    }
}

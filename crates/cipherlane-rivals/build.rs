//! Builds the newest OpenSSL where the feature `openssl` asks for it.

use std::error::Error;

#[cfg(feature = "openssl")]
#[path = "build/openssl.rs"]
mod openssl;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    #[cfg(feature = "openssl")]
    if !is_for_clippy() {
        println!("cargo:rustc-link-search=native={}", openssl::build()?.display());
        println!("cargo:rustc-link-lib=static=crypto");
    }
    Ok(())
}

/// Whether clippy runs this. It links nothing, and cargo keeps what its run makes apart from what others make: OpenSSL
/// would be built twice.
#[cfg(feature = "openssl")]
fn is_for_clippy() -> bool {
    let wrapper = std::env::var_os("RUSTC_WORKSPACE_WRAPPER").map(std::path::PathBuf::from);
    wrapper.is_some_and(|program| program.file_stem().is_some_and(|name| name == "clippy-driver"))
}

//! Builds the newest OpenSSL where the feature `openssl` asks for it.

#[cfg(feature = "openssl")]
mod openssl;

fn main() {
    println!("cargo:rerun-if-changed=build");
    #[cfg(feature = "openssl")]
    if !is_for_clippy() {
        openssl::build();
    }
}

/// Whether clippy runs this. It links nothing, and cargo keeps what its run makes apart from what others make: OpenSSL
/// would be built twice.
#[cfg(feature = "openssl")]
fn is_for_clippy() -> bool {
    let wrapper = std::env::var_os("RUSTC_WORKSPACE_WRAPPER").map(std::path::PathBuf::from);
    wrapper.is_some_and(|program| program.file_stem().is_some_and(|name| name == "clippy-driver"))
}

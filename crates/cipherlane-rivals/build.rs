//! Builds the newest OpenSSL where the feature `openssl` asks for it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "openssl")]
    openssl_src::Build::new().build().print_cargo_metadata();
}

//! Gives the library its name.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Without a name of its own, programs would look for it where it lay when they were linked.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcipherlane_c.so");
    }
}

//! The newest OpenSSL's libcrypto, as its authors build it, with no more than what is compared.
//!
//! `openssl-src` brings the sources. What it would build of them by itself is as much again, and has no Camellia.

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What `Configure` is told (OpenSSL's INSTALL.md tells of each).
const OPTIONS: &str = "
    no-shared no-module no-legacy no-apps no-tests no-docs no-makedepend
    no-tls no-dtls no-quic no-sock no-http no-cms no-cmp no-ct no-ts no-srp no-srtp no-psk no-comp no-ui-console
    no-ec no-dh no-dsa no-ml-dsa no-ml-kem no-slh-dsa no-lms
    no-argon2 no-aria no-bf no-blake2 no-cast no-chacha no-des no-idea no-md4 no-mdc2 no-ocb no-poly1305 no-rc2 no-rc4
    no-rmd160 no-scrypt no-seed no-siphash no-siv no-whirlpool";

/// Builds it below cargo's folder for this; where it lies then.
pub(crate) fn build() -> Result<PathBuf, Box<dyn Error>> {
    if env::var("TARGET")? != env::var("HOST")? || !cfg!(unix) {
        return Err(
            "OpenSSL is built on the machine that it is for, and on Unix alone: build without the feature \
                    `openssl` (one that the system has is opened at run time all the same)"
                .into(),
        );
    }
    let folder = PathBuf::from(env::var("OUT_DIR")?).join("openssl");
    if folder.exists() {
        // What an earlier version made.
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let compiler = cc::Build::new().try_get_compiler()?;
    let mut configure = Command::new(env::var("PERL").unwrap_or_else(|_| "perl".to_owned()));
    configure.arg(openssl_src::source_dir().join("Configure")).args(OPTIONS.split_whitespace());
    run(configure.env("CC", compiler.path()).current_dir(&folder))?;
    // Headers first: without `make depend`, which asks the compiler, none is known to be needed by a source.
    for made in ["build_generated", "libcrypto.a"] {
        let is_gnu = cfg!(any(target_os = "linux", target_os = "macos"));
        let mut make = Command::new(if is_gnu { "make" } else { "gmake" });
        make.arg(made).current_dir(&folder);
        // Cargo's own allowance of processes.
        run(make.env("MAKEFLAGS", env::var_os("CARGO_MAKEFLAGS").unwrap_or_default()))?;
    }
    Ok(folder)
}

fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} failed ({status}): what it said stands above").into()),
        Err(error) => Err(format!(
            "{command:?} cannot be run ({error}): install it, or build without the feature `openssl`"
        )
        .into()),
    }
}

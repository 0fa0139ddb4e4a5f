//! The committed header is the one that the sources make.

#![allow(clippy::unwrap_used)] // tests

use std::path::Path;
use std::{env, fs};

/// Writes the header instead, where it is asked to.
const UPDATE: &str = "CIPHERLANE_UPDATE_HEADER";

#[test]
fn the_header_is_what_the_sources_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = root.join("include/cipherlane.h");
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let comment = "// The version of this header; `cipherlane_version` tells that of the library.";
    let version = env!("CARGO_PKG_VERSION");
    config.after_includes = Some(format!("\n{comment}\n#define CIPHERLANE_VERSION \"{version}\""));
    let mut builder = cbindgen::Builder::new().with_config(config);
    // File by file: nothing need be asked of cargo, which may be busy with this very test.
    for file in [
        "../cipherlane-lent/src/status.rs",
        "../cipherlane-lent/src/lent.rs",
        "../cipherlane-lent/src/sizes.rs",
        "../cipherlane-lent/src/batch.rs",
        "../cipherlane-lent/src/engine.rs",
        "src/status.rs",
        "src/names.rs",
        "src/engine.rs",
    ] {
        builder = builder.with_src(root.join(file));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    if env::var_os(UPDATE).is_some() {
        fs::write(&header, &made).unwrap();
    }
    let committed = fs::read_to_string(&header).unwrap();
    assert!(committed == made, "{} is of other sources; run again with {UPDATE}=1", header.display());
}

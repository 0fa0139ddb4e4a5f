//! `keyset`: a new key for files.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use cipherlane_files::{Keyset, Params};

use super::target;
use crate::exit::{Exit, Usage};
use crate::render::{complain, sink};

const EXAMPLES: &str = "\
Examples:
  cipherlane keyset --output backup.keyset.json            256 bits, segments of 1 MiB
  cipherlane keyset --template AES128_GCM_HKDF_4KB --output reads.keyset.json

The file is one that Tink's libraries and tinkey read, in the clear: keep it as secret as what it opens.";

/// Options of `keyset`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// What key, by the name of Tink's template
    #[arg(long, default_value = "AES256_GCM_HKDF_1MB", env = "CIPHERLANE_TEMPLATE", ignore_case = true)]
    template: Template,
    /// The file, which must not be there yet; its owner alone may read it
    #[arg(long, short, value_name = "FILE", value_parser = sink::file())]
    output: PathBuf,
}

/// Templates of Tink for AES-GCM-HKDF streaming.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Template {
    /// 256-bit keys, segments of 1 MiB: for files that are read as a whole
    #[value(name = "AES256_GCM_HKDF_1MB")]
    Aes256Of1MiB,
    /// 128-bit keys, segments of 1 MiB
    #[value(name = "AES128_GCM_HKDF_1MB")]
    Aes128Of1MiB,
    /// 256-bit keys, segments of 4 KiB: for programs that read from the middle
    #[value(name = "AES256_GCM_HKDF_4KB")]
    Aes256Of4KiB,
    /// 128-bit keys, segments of 4 KiB
    #[value(name = "AES128_GCM_HKDF_4KB")]
    Aes128Of4KiB,
}

impl Template {
    const fn params(self) -> Params {
        match self {
            Self::Aes256Of1MiB => Params::AES256_GCM_HKDF_1MB,
            Self::Aes128Of1MiB => Params::AES128_GCM_HKDF_1MB,
            Self::Aes256Of4KiB => Params::AES256_GCM_HKDF_4KB,
            Self::Aes128Of4KiB => Params::AES128_GCM_HKDF_4KB,
        }
    }
}

/// Makes the key and writes it.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let keyset = Keyset::generate(options.template.params())?;
    let name = options.output.display();
    let mut create = OpenOptions::new();
    // Never over another key: what that one sealed would be lost.
    create.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut create, 0o600);
    let mut file = create.open(&options.output).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Usage(format!("{name} is there already; name another file")).into(),
        _ => anyhow::Error::from(error).context(sink::cannot_write(&options.output)),
    })?;
    let written = file.write_all(keyset.to_json().as_bytes()).and_then(|()| file.write_all(b"\n"));
    let kept = written.and_then(|()| file.sync_all()).and_then(|()| target::sync_folder(&options.output));
    if let Err(error) = kept {
        // Half a key is none.
        drop(fs::remove_file(&options.output));
        return Err(error).with_context(|| format!("{name} cannot be written to its end"));
    }
    complain("written", &format!("{name}; whoever has it can open what it seals, and without it nobody can"));
    Ok(Exit::Success)
}

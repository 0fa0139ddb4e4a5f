//! The verbs and what all of them share.

use std::sync::LazyLock;

use clap::{Parser, Subcommand};

use crate::command::{
    bench, compare, completions, dashboard, devices, files, lab, plan, report, tune, verify,
};

/// Version and commit, as `--version` prints them.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let tool = cipherlane_lab::host::tool();
    let changed = if tool.git_dirty == Some(true) { ", with changes" } else { "" };
    let hash = tool.git_hash.get(..12).unwrap_or(&tool.git_hash);
    format!("{} (commit {hash}{changed})", tool.version)
});

const EXAMPLES: &str = "\
Examples:
  cipherlane devices                         what is here and what it can do
  cipherlane bench --quick                   verified figures of seven workloads in 12 s
  cipherlane bench tls-16k --threads 1,phys  one workload, on one core and on all
  cipherlane bench --algorithm aes-256-gcm --size 64,1k,16k --json out.jsonl
  cipherlane lab list                        the experiments, and the questions that they answer
  cipherlane lab run rivals --quick          every algorithm beside the best libraries there are
  cipherlane report out.jsonl --open         the records as a page, in the browser
  cipherlane dashboard                       start and watch runs on a page
  cipherlane compare before.jsonl after.jsonl  what became faster, what slower
  cipherlane verify                          every known answer on every tier
  cipherlane tune --algorithm aes-128-ctr    the fastest launch of a GPU, kept for later runs
  cipherlane plan --algorithm aes-128-gcm --operation seal --size 128 --messages 1000000
  cipherlane keyset --output k.json          a key for files, which Tink reads as well
  cipherlane encrypt --keyset k.json disk.img --output disk.img.sealed

Exit codes: 0 ok, 1 failure, 2 usage, 3 verification mismatch, 4 regression (compare --fail-on), 5 reserved (thermal or \
power abort), 6 nothing to run, 130 interrupted by Ctrl-C, SIGTERM or SIGHUP, with \
finished rows kept and half-made files removed.

Each option may be given by the environment variable beside it; the command line wins. NO_COLOR and CLICOLOR_FORCE \
are obeyed. CIPHERLANE_NO_AVX512=1, CIPHERLANE_NO_AVX2=1 and CIPHERLANE_NO_SSE=1 switch a tier off; \
CIPHERLANE_NO_VAES=1 keeps the tier avx2 on AES-NI.";

/// Bulk cryptography on every lane of a machine, and the laboratory that measures it
#[derive(Debug, Parser)]
#[command(name = "cipherlane", version = VERSION.as_str(), after_help = EXAMPLES, propagate_version = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the devices of this machine, their tiers, and the rivals to measure against
    Devices(devices::Options),
    /// Measure, verified: the standard workloads or your own
    Bench(Box<bench::Options>),
    /// List and run the laboratory's experiments
    Lab(lab::Options),
    /// Find the launch geometry in which a GPU runs kernels fastest, and keep it
    Tune(tune::Options),
    /// Turn records into a page with pictures, Markdown or CSV
    Report(report::Options),
    /// Serve a page on which to start, pause and watch runs
    Dashboard(dashboard::Options),
    /// Compare records with others: what became faster, what slower
    Compare(compare::Options),
    /// Check known answers on every device and tier
    Verify(verify::Options),
    /// Show how a workload would be run
    Plan(plan::Options),
    /// Make a key for files
    Keyset(files::KeysetOptions),
    /// Encrypt and authenticate a file, in the format of Tink's streaming AEAD
    Encrypt(files::EncryptOptions),
    /// Decrypt such a file, if it is what was encrypted
    Decrypt(files::DecryptOptions),
    /// Print the completions of a shell
    Completions(completions::Options),
}

#[cfg(test)]
mod tests {
    use cipherlane_lab::workload::Named;

    use super::*;

    #[test]
    fn the_example_counts_the_workloads() {
        assert!(EXAMPLES.contains(" of seven workloads ") && Named::ALL.len() == 7);
    }
}

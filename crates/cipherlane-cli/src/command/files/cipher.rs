//! `encrypt` and `decrypt`: one file into another.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use cipherlane::{Engine, Wish};
use cipherlane_files::Keyset;
use clap::builder::{OsStringValueParser, TypedValueParser, ValueParserFactory};
use zeroize::Zeroizing;

use super::super::shared::{self, Threads};
use super::target::{self, IfTaken, Target};
use crate::exit::Exit;
use crate::render::sink::{self, Sink};
use crate::render::{complain, units};

const ENCRYPT_EXAMPLES: &str = "\
Examples:
  cipherlane encrypt --keyset backup.keyset.json disk.img --output disk.img.sealed
  tar c photos | cipherlane encrypt --keyset backup.keyset.json - --output photos.tar.sealed
  cipherlane encrypt --keyset k.json --aad 'invoice 12' in.pdf -o in.pdf.sealed --device cuda:0

The format is AES-GCM-HKDF streaming of Tink, whose libraries open it under the same keyset and associated data.";

const DECRYPT_EXAMPLES: &str = "\
Examples:
  cipherlane decrypt --keyset backup.keyset.json disk.img.sealed --output disk.img
  cipherlane decrypt -k backup.keyset.json photos.tar.sealed -o photos.tar && tar xf photos.tar
  cipherlane decrypt --keyset backup.keyset.json disk.img.sealed -o /dev/null  checks a backup

A file that was changed or cut leaves no output. On stdout, in a pipe or on a device, what was written before that showed is \
worth nothing: look at the exit code.";

/// Bytes of a keyset at most.
const MOST_OF_KEYSET: usize = 1 << 20;

/// What both take.
#[derive(Debug, clap::Args)]
struct Shared {
    /// The keyset: `cipherlane keyset` makes one, Tink's in JSON and in the clear serve as well
    #[arg(long, short, value_name = "FILE", env = "CIPHERLANE_KEYSET", value_parser = sink::file_to_read())]
    keyset: PathBuf,
    /// Associated data: not in the file, and needed to open it
    #[arg(long, value_name = "TEXT", default_value = "")]
    aad: String,
    /// A file whose bytes are the associated data, all of them and as they are: Tink takes any
    #[arg(long, value_name = "FILE", conflicts_with = "aad", value_parser = sink::file_to_read())]
    aad_file: Option<PathBuf>,
    /// The file to read, - for stdin
    #[arg(value_name = "INPUT")]
    input: Input,
    /// The file to write, - for stdout
    #[arg(long, short, value_name = "FILE")]
    output: Sink,
    /// Replace a file that is there, write to a pipe or a device of another user
    #[arg(long)]
    force: bool,
    /// The one device that computes, by the name that `cipherlane devices` shows
    #[arg(long, short, env = "CIPHERLANE_DEVICE", default_value = "cpu", value_parser = shared::one::<String>,
          help_heading = "Where")]
    device: String,
    /// Threads that compute: 1, phys or all [default: on the CPU all but two, which read and write]
    #[arg(long, short, env = "CIPHERLANE_THREADS", value_parser = shared::one::<Threads>, help_heading = "Where")]
    threads: Option<Threads>,
    /// Insist on a kernel by its full name, which `cipherlane plan` shows
    #[arg(long, value_name = "NAME", help_heading = "Where")]
    kernel: Option<String>,
}

/// Options of `encrypt`.
#[derive(Debug, clap::Args)]
#[command(after_help = ENCRYPT_EXAMPLES)]
pub(crate) struct EncryptOptions {
    #[command(flatten)]
    shared: Shared,
}

/// Options of `decrypt`.
#[derive(Debug, clap::Args)]
#[command(after_help = DECRYPT_EXAMPLES)]
pub(crate) struct DecryptOptions {
    #[command(flatten)]
    shared: Shared,
}

/// Encrypts and authenticates a file.
pub(crate) fn encrypt(options: &EncryptOptions) -> Result<Exit> {
    Target::check_no_terminal(&options.shared.output)?;
    options.shared.run("encrypted", IfTaken::Leave, |engine, keyset, aad, input, output| {
        cipherlane_files::seal(engine, keyset, aad, input, output)
    })
}

/// Undoes it.
pub(crate) fn decrypt(options: &DecryptOptions) -> Result<Exit> {
    options.shared.run("decrypted", IfTaken::Remove, |engine, keyset, aad, input, output| {
        cipherlane_files::open(engine, keyset, aad, input, output)
    })
}

/// A file's way from input to output.
type Way = fn(&Engine, &Keyset, &[u8], &mut Counted, &mut Target) -> Result<(), cipherlane_files::Error>;

impl Shared {
    fn run(&self, done: &str, if_taken: IfTaken, way: Way) -> Result<Exit> {
        Target::check_not_closed(&self.output)?;
        let keyset = self.keyset()?;
        let aad = self.associated_data()?;
        let engine = self.engine()?;
        let mut input = self.open_input()?;
        target::remove_on_signals()?;
        let mut output = Target::create(&self.output, self.force)?;
        let start = Instant::now();
        way(&engine, &keyset, &aad, &mut input, &mut output).map_err(|error| self.about(error))?;
        output.keep(if_taken)?;
        let seconds = start.elapsed().as_secs_f64();
        let rate = units::rate(input.bytes as f64 / seconds);
        let size = units::bytes(input.bytes);
        complain(done, &format!("{}: {size} in {seconds:.2} s, {rate}", self.input));
        Ok(Exit::Success)
    }

    /// An error with the name of the file that it is about, if it is about one.
    fn about(&self, error: cipherlane_files::Error) -> anyhow::Error {
        use cipherlane_files::Error::{Device, Random, Write};
        let name = match error {
            Device(_) | Random(_) => return error.into(),
            Write(_) => self.output.to_string(),
            _ => self.input.to_string(),
        };
        anyhow::Error::from(error).context(name)
    }

    fn keyset(&self) -> Result<Keyset> {
        let name = || self.keyset.display().to_string();
        // Room for all of it: where it grew, copies of keys would be left behind.
        let mut json = Zeroizing::new(Vec::with_capacity(MOST_OF_KEYSET + 1));
        let file = target::open(&self.keyset)?;
        file.take(MOST_OF_KEYSET as u64 + 1).read_to_end(&mut json).with_context(name)?;
        if json.len() > MOST_OF_KEYSET {
            let reason = anyhow!("it has more than 1 MiB, and is no keyset in JSON; name a file of one");
            return Err(reason.context(name()));
        }
        let json = std::str::from_utf8(&json).context("it is no keyset in JSON; tinkey converts binary ones");
        Keyset::from_json(json.with_context(name)?).with_context(name)
    }

    fn associated_data(&self) -> Result<Vec<u8>> {
        let Some(path) = &self.aad_file else { return Ok(self.aad.clone().into_bytes()) };
        let mut bytes = Vec::new();
        target::open(path)?.read_to_end(&mut bytes).with_context(|| path.display().to_string())?;
        Ok(bytes)
    }

    fn engine(&self) -> Result<Engine> {
        let engine = Engine::on(&self.device)?;
        let threads = match self.threads {
            Some(threads) => Some(threads.on(&cipherlane_lab::host::detect())),
            // Whoever computes on the CPUs of those that read and write is in their way.
            None if self.device == "cpu" => {
                Some(available_parallelism().map_or(1, usize::from).saturating_sub(2).max(1))
            }
            None => None,
        };
        Ok(engine.with_wish(Wish { threads, kernel: self.kernel.clone(), ..Wish::default() }))
    }

    fn open_input(&self) -> Result<Counted> {
        let source: Box<dyn Read + Send> = match &self.input {
            Input::Stdin => {
                target::check_stdin_not_closed()?;
                Box::new(io::stdin())
            }
            Input::File(path) => Box::new(target::open(path)?),
        };
        Ok(Counted { source, bytes: 0 })
    }
}

/// What is read.
#[derive(Clone, Debug)]
enum Input {
    Stdin,
    File(PathBuf),
}

impl TryFrom<OsString> for Input {
    type Error = &'static str;

    fn try_from(name: OsString) -> Result<Self, Self::Error> {
        if name.is_empty() {
            return Err("no file has an empty name; give its path, or - for stdin");
        }
        Ok(if name == "-" { Self::Stdin } else { Self::File(name.into()) })
    }
}

impl ValueParserFactory for Input {
    type Parser = sink::Parser<Self>;

    fn value_parser() -> Self::Parser {
        let parse: fn(OsString) -> Result<Self, &'static str> = Self::try_from;
        OsStringValueParser::new().try_map(parse)
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// An input, and how much of it was read.
struct Counted {
    source: Box<dyn Read + Send>,
    bytes: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

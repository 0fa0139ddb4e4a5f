//! Finding and reading files of test vectors.

use std::path::{Path, PathBuf};

use cipherlane_core::Mode;

use super::{Case, Set, VectorError, digests, ntt, rsp, wycheproof};

/// The environment variable that names the folder of fetched vectors.
pub const VARIABLE: &str = "CIPHERLANE_VECTORS";

/// Where the fetched vectors lie: the folder that [`VARIABLE`] names, or `vectors/fetched`, here or in the nearest
/// folder above that has it; where [`VARIABLE`] names none, `cipherlane/vectors` in the user's cache as a last place.
///
/// # Errors
/// If there is no such folder; says how to fetch the vectors.
pub fn directory() -> Result<PathBuf, VectorError> {
    let variable = std::env::var_os(VARIABLE).map(PathBuf::from);
    let cache = if variable.is_none() { user_cache() } else { None };
    let named = variable.unwrap_or_else(|| PathBuf::from("vectors/fetched"));
    let here = std::env::current_dir().map_err(|error| VectorError::in_file(Path::new("."), error))?;
    // Joining an absolute path yields that path.
    let mut places = here.ancestors().map(|folder| folder.join(&named)).chain(cache);
    places.find(|folder| folder.is_dir()).ok_or_else(|| {
        let remedy =
            format!("run `cargo xtask vectors` to fetch the vectors, or set {VARIABLE} to their folder");
        VectorError::in_file(&named, format!("no such folder; {remedy}"))
    })
}

/// `cipherlane/vectors` in the user's cache (XDG Base Directory Specification, `XDG_CACHE_HOME`).
fn user_cache() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("cipherlane/vectors"))
}

/// A file of test vectors that was recognised by its contents, or one that was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is.
    pub format: Format,
}

/// What a file of test vectors is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// Vectors, of that set.
    Vectors(Set),
    /// Something else; says what, or what is missing.
    Other(String),
}

impl Format {
    /// Recognises a file by its contents. Responses say what they are in their comments or in their `name`.
    #[must_use]
    pub fn of(name: &str, text: &str) -> Self {
        if text.trim_start().starts_with('{') {
            return Self::of_json(text);
        }
        if ntt::is_one(text) {
            return Self::Vectors(Set::cipher("NTT", "camellia", Mode::Ecb));
        }
        let set = match digests::Form::of(name, text) {
            Some(form) => form.map(|form| Set::hash(form.source, form.family())),
            None => rsp::Form::of(name, text).map(|form| Set::cipher(form.source, form.family, form.mode)),
        };
        set.map_or_else(Self::Other, Self::Vectors)
    }

    /// A file may be large and its tests of any form: its field `algorithm` is enough to know it.
    fn of_json(text: &str) -> Self {
        let value = text.split_once("\"algorithm\"").and_then(|(_, after)| after.split('"').nth(1));
        match value.and_then(|algorithm| wycheproof::SETS.iter().find(|(set, ..)| *set == algorithm)) {
            Some((_, family, mode)) => Self::Vectors(Set::cipher("Wycheproof", family, *mode)),
            None => {
                let what = value
                    .map_or_else(|| "JSON of no algorithm".to_owned(), |value| format!("JSON of {value}"));
                Self::Other(format!(
                    "{what}, and not of a Wycheproof set that is known: {}",
                    wycheproof::known_sets()
                ))
            }
        }
    }
}

/// Every `.rsp`, `.txt` and `.json` file under `folder`, sorted by path.
///
/// # Errors
/// If a folder or file cannot be read.
pub fn find(folder: &Path) -> Result<Vec<SourceFile>, VectorError> {
    let mut paths = Vec::new();
    walk(folder, &mut paths)?;
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let format = Format::of(&path.to_string_lossy(), &read(&path)?);
            Ok(SourceFile { path, format })
        })
        .collect()
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), VectorError> {
    let failed = |error: std::io::Error| VectorError::in_file(folder, error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        if path.is_dir() {
            walk(&path, paths)?;
        } else if extension.is_some_and(|found| ["rsp", "txt", "json"].iter().any(|known| found == *known)) {
            paths.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, VectorError> {
    // Not String: a stray Latin-1 character in a comment is no reason to lose a file.
    let bytes = std::fs::read(path).map_err(|error| VectorError::in_file(path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the cases of one file, whatever its format.
///
/// # Errors
/// If it cannot be read or is of no known format; names the line, and what helps.
pub fn parse_file(path: &Path) -> Result<Vec<Case>, VectorError> {
    let (name, text) = (path.to_string_lossy(), read(path)?);
    match Format::of(&name, &text) {
        Format::Vectors(_) => parse(&name, &text),
        Format::Other(problem) => Err(VectorError::in_file(
            path,
            format!(
                "{problem} (understood: CAVP .rsp of AES, SHA-2, SHA-3 and SHAKE, and other vectors in that form; \
                 Wycheproof JSON; Keccak's known answers; NTT's of Camellia)"
            ),
        )),
    }
}

/// Reads the cases of a text, whatever its format; `name` is for messages and for recognising it.
///
/// # Errors
/// If it is of no known format; names the line, and what helps.
pub fn parse(name: &str, text: &str) -> Result<Vec<Case>, VectorError> {
    if text.trim_start().starts_with('{') {
        return wycheproof::parse(name, text);
    }
    if ntt::is_one(text) {
        return ntt::parse(name, text);
    }
    match digests::Form::of(name, text) {
        Some(form) => {
            let form = form.map_err(|problem| VectorError::at_line(name, 1, problem))?;
            digests::parse(name, text, &form)
        }
        None => rsp::parse(name, text),
    }
}

/// The files of NIST's GCM set, `gcmtestvectors`, in the order in which their records are run.
const GCM_FILES: [&str; 6] = [
    "gcmEncryptExtIV128.rsp",
    "gcmEncryptExtIV192.rsp",
    "gcmEncryptExtIV256.rsp",
    "gcmDecrypt128.rsp",
    "gcmDecrypt192.rsp",
    "gcmDecrypt256.rsp",
];

/// The records of NIST's GCM set that have a text, in record order: the three files that seal, then the three that
/// open, each by key length.
///
/// # Errors
/// If one of the six files is missing under `folder`, or cannot be read.
pub fn gcm_records(folder: &Path) -> Result<Vec<Case>, VectorError> {
    let mut paths = Vec::new();
    walk(folder, &mut paths)?;
    paths.sort();
    let mut cases = Vec::new();
    for name in GCM_FILES {
        let path = paths.iter().find(|path| path.ends_with(name)).ok_or_else(|| {
            VectorError::in_file(folder, format!("no {name}; run `cargo xtask vectors` to fetch it"))
        })?;
        cases.extend(parse_file(path)?.into_iter().filter(|case| !case.input.is_empty()));
    }
    Ok(cases)
}

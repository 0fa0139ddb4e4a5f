//! The known answers: those of the standards, which are part of the program, and files of vectors.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cipherlane::verify::vectors::{
    Case, FETCHED, Format, Set, SourceFile, directory, find, known, parse_file,
};

use crate::render::sink;

/// Known answers, and what could not be had.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Every case.
    pub(super) cases: Vec<Case>,
    /// Sets that belong to a full run and are not there: its name, and what gets it.
    pub(super) not_run: Vec<(String, String)>,
    /// Files in a folder that are no vectors of ours, with the reason.
    pub(super) passed_over: Vec<String>,
}

impl Answers {
    /// The answers in `paths`; without any, all sets of a full run from where they were fetched to.
    pub(super) fn find(paths: &[PathBuf]) -> Result<Self> {
        let mut answers = Self { cases: known(), ..Self::default() };
        if paths.is_empty() {
            answers.read_fetched()?;
        }
        for path in paths {
            answers.read(path)?;
        }
        Ok(answers)
    }

    fn read_fetched(&mut self) -> Result<()> {
        let (sets, reason) = match directory() {
            Ok(folder) => {
                let reason = format!("not in {}; run `cargo xtask vectors` to fetch it", folder.display());
                (self.read_folder(&folder)?, reason)
            }
            Err(missing) => (Vec::new(), missing.to_string()),
        };
        for set in FETCHED.into_iter().filter(|set| !sets.contains(set)) {
            self.not_run.push((set.to_string(), reason.clone()));
        }
        Ok(())
    }

    fn read(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            let sets = self.read_folder(path)?;
            anyhow::ensure!(
                !sets.is_empty(),
                "no vectors in {}; give a folder with CAVP .rsp or Wycheproof JSON files",
                path.display()
            );
            return Ok(());
        }
        sink::protect(path);
        self.read_file(path).context("reading vectors")
    }

    /// Reads a file of vectors. One without any would pass whatever the device does.
    fn read_file(&mut self, path: &Path) -> Result<()> {
        let cases = parse_file(path)?;
        anyhow::ensure!(
            !cases.is_empty(),
            "{} has no cases; give a file that has some, or leave it out",
            path.display()
        );
        self.cases.extend(cases);
        Ok(())
    }

    /// Reads every file of vectors in `folder` and returns what they are.
    fn read_folder(&mut self, folder: &Path) -> Result<Vec<Set>> {
        let mut sets = Vec::new();
        for SourceFile { path, format } in find(folder)? {
            // One that is passed over was read as well.
            sink::protect(&path);
            match format {
                Format::Other(reason) => self.passed_over.push(format!("{}: {reason}", path.display())),
                Format::Vectors(set) => {
                    self.read_file(&path)?;
                    sets.push(set);
                }
            }
        }
        Ok(sets)
    }
}

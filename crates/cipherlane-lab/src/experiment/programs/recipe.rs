//! How a program is built, and the folder where that is done.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::tool::{Found, Tool};

/// How a program is built and started. In commands, `{tool}` is the name of its first tool and `{folder}` the path of
/// the folder of its files.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Recipe {
    /// The language or compiler.
    pub(in crate::experiment) name: &'static str,
    /// The build: `debug`, `-O2`.
    pub(in crate::experiment) build: &'static str,
    /// What it needs; the version of the first one is told.
    pub(in crate::experiment) tools: &'static [&'static Tool],
    /// File name and text.
    pub(in crate::experiment) files: &'static [(&'static str, &'static str)],
    /// The command that builds it, words apart by blanks; empty where there is nothing to build.
    pub(in crate::experiment) compile: &'static str,
    /// The command that starts it, before the arguments of the work.
    pub(in crate::experiment) run: &'static str,
}

/// Programs that are built, in a folder that goes away with this.
#[derive(Debug)]
pub(in crate::experiment) struct Workshop {
    /// Each recipe's program, or why there is none.
    programs: Vec<(Recipe, Result<Program, String>)>,
    _folder: TempDir,
}

/// A program that is built.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Program {
    /// Its words.
    command: Vec<String>,
    folder: PathBuf,
    /// By what it was built, in which version, and how.
    pub(in crate::experiment) made_by: String,
}

impl Workshop {
    /// Builds all `recipes` whose tools are here.
    ///
    /// # Errors
    /// If there is no room for them.
    pub(in crate::experiment) fn open(recipes: &[Recipe]) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("cipherlane-").tempdir()?;
        let mut found: BTreeMap<*const Tool, Result<Found, String>> = BTreeMap::new();
        let mut programs = Vec::new();
        for (place, recipe) in recipes.iter().enumerate() {
            let mut tools = Vec::new();
            for &tool in recipe.tools {
                let place = std::ptr::from_ref(tool);
                tools.push(found.entry(place).or_insert_with(|| tool.find()).clone());
            }
            let own = folder.path().join(place.to_string());
            fs::create_dir(&own)?;
            for (name, text) in recipe.files {
                fs::write(own.join(name), text)?;
            }
            let tools: Result<Vec<Found>, String> = tools.into_iter().collect();
            let program = tools.and_then(|tools| recipe.make(&tools[0], &own));
            programs.push((recipe.clone(), program));
        }
        Ok(Self { programs, _folder: folder })
    }

    /// The programs that there are, each with the place of its recipe.
    pub(in crate::experiment) fn ready(&self) -> impl Iterator<Item = (usize, &Recipe, &Program)> {
        let numbered = self.programs.iter().enumerate();
        numbered.filter_map(|(place, (recipe, program))| Some((place, recipe, program.as_ref().ok()?)))
    }

    /// Why programs are missing, each reason once with what it concerns.
    pub(in crate::experiment) fn missing(&self) -> Vec<String> {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for (recipe, program) in &self.programs {
            let Err(reason) = program else { continue };
            let what = format!("{} {}", recipe.name, recipe.build);
            match reasons.iter_mut().find(|(other, _)| other == reason) {
                Some((_, whats)) => whats.push(what),
                None => reasons.push((reason.clone(), vec![what])),
            }
        }
        reasons.into_iter().map(|(reason, whats)| format!("{}: {reason}", whats.join(", "))).collect()
    }
}

impl Recipe {
    fn make(&self, tool: &Found, folder: &Path) -> Result<Program, String> {
        let words = |command: &str| {
            let folder = folder.display().to_string();
            let filled = |word: &str| word.replace("{tool}", tool.name).replace("{folder}", &folder);
            command.split_whitespace().map(filled).collect::<Vec<_>>()
        };
        let compile = words(self.compile);
        if let Some((name, arguments)) = compile.split_first() {
            let built = Command::new(name).args(arguments).current_dir(folder).stdin(Stdio::null()).output();
            let built = built.map_err(|error| format!("{name} does not start: {error}"))?;
            if !built.status.success() {
                let said = [built.stderr, built.stdout].concat();
                let said = String::from_utf8_lossy(&said).into_owned();
                return Err(format!("{name} fails, {}: {}", built.status, said.trim()));
            }
        }
        let how = if self.compile.is_empty() { self.run } else { self.compile };
        let how = how.replace("{tool}", tool.name).replace("{folder}/", "");
        let made_by = format!("{} {}: {}, `{how}`", self.name, self.build, tool.version);
        Ok(Program { command: words(self.run), folder: folder.to_owned(), made_by })
    }
}

impl Program {
    /// The command that starts it with `arguments`.
    pub(super) fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

//! Experiments: each is one TOML file with the question that it answers and what it runs.

mod fields;
mod files;
mod kind;
mod programs;
mod sensors;
mod setting;
mod steady;
mod sweep;
mod switch;
mod thread_grid;
mod units;

use cipherlane::{Algorithm, Operation, UnknownName};
use serde::Deserialize;
use thiserror::Error;

use fields::Scaled;
use files::FILES;
use kind::breakdown::Breakdown;
use kind::ceilings::Measured;
use kind::ciphers::Ciphers;
use kind::compilers::Compilers;
use kind::cores::Cores;
use kind::datatypes::Datatypes;
use kind::disassembly::Disassembly;
use kind::energy::Power;
use kind::findings::Findings;
use kind::generations::Generations;
use kind::grid::Grid;
use kind::instructions::Instructions;
use kind::languages::Languages;
use kind::load::Loads;
use kind::mix::Mixes;
use kind::offload::Offload;
use kind::projection::Projection;
use kind::simd::Simd;
use kind::streams::Streams;
use kind::thermal::Thermal;
use kind::threads::Threads;
pub use setting::{Run, Scale, Setting};
pub use sweep::Narrow;
pub use switch::put_back;

use crate::suite::{Point, Suite};

/// An experiment, as its file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name, by which it is run and under which its records are kept: lower-case words with digits and hyphens.
    #[serde(deserialize_with = "fields::name")]
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// What it does.
    pub kind: Kind,
    /// The rows of the studies that it reproduces, as `docs/STUDIES.md` numbers them.
    #[serde(default)]
    pub studies: Vec<String>,
    /// Seconds for one row of a sweep, all contenders together.
    #[serde(default = "default_seconds_per_row", deserialize_with = "fields::seconds")]
    pub seconds_per_row: f64,
    /// Whether a sweep is of all CPUs and then of one, where nobody says how many threads; else of one alone.
    #[serde(default)]
    pub on_all_threads: bool,
    /// Whether it asks about GPUs: without one, what it says of the CPU is no answer.
    #[serde(default)]
    pub about_gpus: bool,
    /// The rows of a sweep.
    #[serde(default)]
    rows: Vec<sweep::Rows>,
    /// The rows of a quick look at a sweep.
    #[serde(default)]
    quick: Vec<sweep::Rows>,
    /// The row that shows whether a sweep runs at all.
    #[serde(default)]
    smoke: Vec<sweep::Rows>,
    thermal: Option<Scaled<Thermal>>,
    energy: Option<Scaled<Power>>,
    offload: Option<Scaled<Offload>>,
    load: Option<Scaled<Loads>>,
    languages: Option<Scaled<Languages>>,
    compilers: Option<Scaled<Compilers>>,
    datatypes: Option<Scaled<Datatypes>>,
    threads: Option<Scaled<Threads>>,
    simd: Option<Scaled<Simd>>,
    cores: Option<Scaled<Cores>>,
    ciphers: Option<Scaled<Ciphers>>,
    grid: Option<Scaled<Grid>>,
    streams: Option<Scaled<Streams>>,
    breakdown: Option<Scaled<Breakdown>>,
    projection: Option<Scaled<Projection>>,
    ceilings: Option<Scaled<Measured>>,
    instructions: Option<Scaled<Instructions>>,
    disassembly: Option<Scaled<Disassembly>>,
    mix: Option<Scaled<Mixes>>,
}

const fn default_seconds_per_row() -> f64 {
    1.0
}

/// What an experiment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Measures instructions and memory.
    Ceilings,
    /// Measures rows of a suite, like `bench`.
    Sweep,
    /// Looks at the sensors before, during and after a load.
    Thermal,
    /// Measures throughput by power.
    Energy,
    /// Times a device against the CPU, by size.
    Offload,
    /// Times a device while the machine has other work.
    Load,
    /// Times one job in many languages.
    Languages,
    /// Times one job by many compilers, on more and more threads.
    Compilers,
    /// Times the same sums in many types.
    Datatypes,
    /// Measures how throughput grows with threads.
    Threads,
    /// Measures tiers by threads, turbo and hyper-threading.
    Simd,
    /// Times one thread of the CPU against one of a GPU, and all against all.
    Cores,
    /// Times kernels of block ciphers.
    Ciphers,
    /// Times a kernel by the geometry of its launch.
    Grid,
    /// Times batches on several queues.
    Streams,
    /// Puts records of several machines side by side.
    Generations,
    /// Concludes from records.
    Findings,
    /// Times every copy and launch.
    Breakdown,
    /// Scales throughputs from GPU to GPU.
    Projection,
    /// Times single instructions.
    Instructions,
    /// Counts instructions in compiled kernels.
    Disassembly,
    /// Foretells throughput from instructions.
    Mix,
}

impl Kind {
    /// Whether it takes the records that are handed in into account.
    #[must_use]
    pub const fn reads_records(self) -> bool {
        matches!(self, Self::Generations | Self::Findings | Self::Projection)
    }
}

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The file is not one of an experiment.
    #[error("{name}: {error}")]
    File {
        /// The experiment, or the path of its file.
        name: String,
        /// What is wrong, and where.
        error: Box<toml::de::Error>,
    },
    /// The file has no parameters for its kind.
    #[error("{name}: give its parameters as [{table}.full], [{table}.quick] and [{table}.smoke]")]
    Table {
        /// The experiment.
        name: String,
        /// The table that is missing.
        table: String,
    },
    /// A name that nothing has.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// Nothing is left to run.
    #[error("{name} has no row of that algorithm, operation and size{}", remedy(*scale))]
    Nothing {
        /// The experiment.
        name: String,
        /// The scale that lacks them, where the full list of its rows has some.
        scale: Option<Scale>,
    },
}

/// What helps where a scale has no row of what was asked for.
const fn remedy(scale: Option<Scale>) -> &'static str {
    match scale {
        None | Some(Scale::Full) => "; ask for less",
        Some(Scale::Quick) => " among the rows of --quick; leave --quick out",
        Some(Scale::Smoke) => " among the rows of --smoke; leave --smoke out",
    }
}

impl Experiment {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(name: &str, text: &str) -> Result<Self, ExperimentError> {
        toml::from_str(text)
            .map_err(|error| ExperimentError::File { name: name.to_owned(), error: Box::new(error) })
    }

    /// The experiments that come along.
    ///
    /// # Panics
    /// Never: the files are part of the program, and a test reads them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        FILES.iter().map(|text| Self::parse("", text).expect("a test reads every file")).collect()
    }

    /// The experiment of this name.
    ///
    /// # Errors
    /// [`UnknownName`] lists the names that there are.
    pub fn named(name: &str) -> Result<Self, UnknownName> {
        let all = Self::all();
        let known: Vec<String> = all.iter().map(|experiment| experiment.name.clone()).collect();
        all.into_iter()
            .find(|experiment| experiment.name == name)
            .ok_or_else(|| UnknownName::new("experiment", name, known))
    }

    /// The numbers of the studies of which it reproduces something: `000`.
    pub fn study_numbers(&self) -> impl Iterator<Item = String> {
        self.studies.iter().filter_map(|row| Some(row.split_once('.')?.0.to_owned()))
    }

    /// Whether it reproduces something of `study`: its number, or that of a row.
    #[must_use]
    pub fn is_of(&self, study: &str) -> bool {
        self.studies.iter().any(|row| row == study) || self.study_numbers().any(|number| number == study)
    }

    /// What makes its observations at `scale`; `None` for the kinds that make none.
    ///
    /// # Errors
    /// If its file lacks the parameters of its kind.
    pub fn at(&self, scale: Scale) -> Result<Option<Box<dyn Run>>, ExperimentError> {
        let run: Option<Box<dyn Run>> = match self.kind {
            Kind::Sweep => return Ok(None),
            Kind::Thermal => self.thermal.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Energy => self.energy.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Offload => self.offload.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Load => self.load.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Languages => self.languages.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Compilers => self.compilers.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Datatypes => self.datatypes.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Threads => self.threads.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Simd => self.simd.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Ciphers => self.ciphers.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Grid => self.grid.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Streams => self.streams.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Cores => self.cores.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Generations => Some(Box::new(Generations)),
            Kind::Findings => Some(Box::new(Findings)),
            Kind::Breakdown => self.breakdown.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Projection => self.projection.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Ceilings => self.ceilings.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Instructions => self.instructions.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Disassembly => self.disassembly.as_ref().map(|scaled| scaled.at(scale)),
            Kind::Mix => self.mix.as_ref().map(|scaled| scaled.at(scale)),
        };
        let table = format!("{:?}", self.kind).to_lowercase();
        run.map(Some).ok_or(ExperimentError::Table { name: self.name.clone(), table })
    }

    /// The suite of a sweep at each number of `threads`: the rows of `scale`, as far as `narrow` lets them. Where the
    /// file has none for it, the next larger scale's stand in.
    ///
    /// # Errors
    /// A workload that there is not, or nothing to run.
    pub fn suite(&self, scale: Scale, narrow: &Narrow, threads: &[usize]) -> Result<Suite, ExperimentError> {
        let points = self.points(scale, narrow, threads)?;
        if points.is_empty() {
            let is_in_full = scale != Scale::Full && !self.points(Scale::Full, narrow, threads)?.is_empty();
            let scale = is_in_full.then_some(scale);
            return Err(ExperimentError::Nothing { name: self.name.clone(), scale });
        }
        Ok(Suite { experiment: self.name.clone(), points })
    }

    /// The points of the rows of `scale`, or of what stands in for them.
    fn points(
        &self,
        scale: Scale,
        narrow: &Narrow,
        threads: &[usize],
    ) -> Result<Vec<Point>, ExperimentError> {
        let quick = if self.quick.is_empty() { &self.rows } else { &self.quick };
        let rows = match scale {
            Scale::Full => &self.rows,
            Scale::Quick => quick,
            Scale::Smoke if self.smoke.is_empty() => quick,
            Scale::Smoke => &self.smoke,
        };
        let mut points = Vec::new();
        for row in rows {
            points.extend(row.points(narrow, threads)?);
        }
        Ok(points)
    }

    /// The algorithms and operations that its rows name, for people.
    #[must_use]
    pub fn covers(&self) -> Vec<(Algorithm, Operation)> {
        let all =
            self.suite(Scale::Full, &Narrow::default(), &[1]).map(|suite| suite.points).unwrap_or_default();
        let mut covered = Vec::new();
        for point in all {
            if let crate::workload::Job::Single(algorithm, operation) = point.choice.job()
                && !covered.contains(&(algorithm, operation))
            {
                covered.push((algorithm, operation));
            }
        }
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_reads_and_has_a_name_of_its_own() {
        let all = Experiment::all();
        let mut names: Vec<_> = all.iter().map(|experiment| experiment.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FILES.len());
        assert!(all.iter().all(|experiment| experiment.question.ends_with('?')));
    }

    /// The error of a file of these lines, under the usual head.
    fn refused(head: &str, lines: &str) -> String {
        let text = format!("{head}\nquestion = \"How fast?\"\n{lines}");
        Experiment::parse("mine.toml", &text).unwrap_err().to_string()
    }

    #[test]
    fn a_time_that_is_none_is_an_error_of_the_file() {
        for time in ["-1.0", "nan", "inf", "1e19", "1e300"] {
            let sweep = refused("name = \"mine\"", &format!("kind = \"sweep\"\nseconds_per_row = {time}"));
            let thermal = "algorithm = \"aes-128-ctr\"\nmessage_bytes = 1\nbatch_bytes = 1\nearly = 1.0";
            let thermal = format!("kind = \"thermal\"\n[thermal.full]\n{thermal}\nbefore = {time}");
            let thermal = refused("name = \"mine\"", &thermal);
            for (error, field) in [(sweep, "seconds_per_row"), (thermal, "before")] {
                assert!(error.starts_with("mine.toml: "), "{error}");
                assert!(error.contains(&format!("{field} = {time}")), "{error}");
                assert!(error.contains("from 0 to 1000000"), "{error}");
            }
        }
        // Its parameters are in a table of another kind, of which no line is shown.
        let load = "kind = \"load\"\n[load.full]\ncpu = [0.5]\ngpu = [0.5]\nvisits = 6\nseconds = -1.5";
        let error = refused("name = \"mine\"", load);
        assert!(error.contains("-1.5 is no time"), "{error}");
    }

    #[test]
    fn a_number_that_is_none_is_an_error_of_the_file() {
        let streams = |line: &str| {
            let known =
                ["operations = [\"encrypt\"]", "message_bytes = 16", "runs = 1", "seconds = 1.0"].join("\n");
            let head = "kind = \"streams\"\n[streams.full]\nalgorithm = \"aes-128-cbc\"";
            refused("name = \"mine\"", &format!("{head}\n{known}\n{line}"))
        };
        for line in ["streams = [1, 0]", "messages = [0]", "messages = [1_000_001]"] {
            let error = streams(line);
            assert!(error.contains("write one from 1 to 1000000") && error.contains(line), "{error}");
        }
        for launches in ["0", "9_000_000_000_000_000_000"] {
            let head = "kind = \"instructions\"\n[instructions.full]\noperations = [\"all\"]";
            let error = refused("name = \"mine\"", &format!("{head}\nlaunches = {launches}"));
            assert!(error.contains("write one from 1 to 1000000"), "{error}");
        }
    }

    #[test]
    fn a_name_is_no_path() {
        for name in ["../../evil", "/evil", "", "Mine", "my own", "a.b", "ä"] {
            let error = refused(&format!("name = \"{name}\""), "kind = \"sweep\"");
            assert!(error.contains("lower-case letters, digits and hyphens"), "{error}");
        }
    }

    #[test]
    fn every_experiment_has_its_parameters_at_every_scale() {
        for experiment in Experiment::all() {
            let observes = experiment.kind != Kind::Sweep;
            for scale in [Scale::Full, Scale::Quick, Scale::Smoke] {
                assert_eq!(experiment.at(scale).unwrap().is_some(), observes, "{}", experiment.name);
            }
        }
        let text = "name = \"mine\"\nquestion = \"How warm?\"\nkind = \"thermal\"";
        let error = Experiment::parse("mine", text).unwrap().at(Scale::Full).err().unwrap();
        assert!(error.to_string().contains("[thermal.full]"), "{error}");
    }

    #[test]
    fn every_experiment_stands_in_the_table_of_the_studies() {
        let table = include_str!("../../../../docs/STUDIES.md");
        for Experiment { name, studies, .. } in Experiment::all() {
            assert!(table.contains(&format!("lab run {name}")), "{name} is missing in docs/STUDIES.md");
            for row in studies {
                // Rows are written alone, as the ends of a range, or within one.
                let (study, number) = row.split_once('.').unwrap();
                assert!(
                    table.contains(&format!("## Study {study}")) && number.parse::<u8>().is_ok(),
                    "{row}"
                );
            }
        }
    }

    #[test]
    fn an_experiment_is_of_its_study_and_rows() {
        let threads = Experiment::named("cpu-threads").unwrap();
        assert!(threads.is_of("000") && threads.is_of("000.4"));
        assert!(!threads.is_of("00") && !threads.is_of("003") && !threads.is_of("000.5"));
        for study in ["000", "001", "002", "003", "004"] {
            assert!(Experiment::all().iter().any(|experiment| experiment.is_of(study)), "{study}");
        }
    }

    #[test]
    fn an_unknown_experiment_lists_the_known_ones() {
        let error = Experiment::named("rivalry").unwrap_err().to_string();
        assert!(error.contains("rivalry") && error.contains("cpu-ceilings"), "{error}");
    }

    #[test]
    fn the_rivals_meet_in_every_algorithm_and_operation() {
        let rivals = Experiment::named("rivals").unwrap();
        let wanted: usize = Algorithm::all().map(|algorithm| algorithm.operations().len()).sum();
        assert_eq!(rivals.covers().len(), wanted);
        let quick = rivals.suite(Scale::Quick, &Narrow::default(), &[1]).unwrap();
        assert!((15..40).contains(&quick.points.len()), "{} rows", quick.points.len());
    }

    #[test]
    fn a_sweep_can_be_narrowed_to_nothing() {
        let rivals = Experiment::named("rivals").unwrap();
        let narrow = Narrow {
            algorithms: vec!["sha-256".parse().unwrap()],
            operations: vec![Operation::Seal],
            sizes: Vec::new(),
        };
        assert!(matches!(rivals.suite(Scale::Full, &narrow, &[1]), Err(ExperimentError::Nothing { .. })));
        let narrow = Narrow { operations: Vec::new(), sizes: vec![64], ..narrow };
        assert_eq!(rivals.suite(Scale::Full, &narrow, &[1, 2]).unwrap().points.len(), 2);
    }

    #[test]
    fn what_the_full_list_alone_has_is_told_from_what_it_lacks() {
        let rivals = Experiment::named("rivals").unwrap();
        let error = |scale, algorithm: &str, operations| {
            let algorithms = vec![algorithm.parse().unwrap()];
            let narrow = Narrow { algorithms, operations, sizes: Vec::new() };
            rivals.suite(scale, &narrow, &[1]).unwrap_err().to_string()
        };
        let quick = error(Scale::Quick, "aes-256-ctr", Vec::new());
        assert!(quick.ends_with("among the rows of --quick; leave --quick out"), "{quick}");
        let smoke = error(Scale::Smoke, "aes-256-ctr", Vec::new());
        assert!(smoke.ends_with("among the rows of --smoke; leave --smoke out"), "{smoke}");
        for scale in [Scale::Full, Scale::Quick] {
            let none = error(scale, "sha-256", vec![Operation::Seal]);
            assert!(none.ends_with("operation and size; ask for less"), "{none}");
        }
    }
}

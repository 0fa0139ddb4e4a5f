//! One job of integers and floating point in many languages.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane_record::Axis;
use serde::Deserialize;

use crate::experiment::programs::{
    CPP, CSHARP, Entry, GO, JAVA, JAVAC, NODE, PYTHON, RUSTC, Race, Recipe, Tool, Workshop,
};
use crate::experiment::setting::{Run, Setting};
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Languages {
    /// Interpolations of one run.
    queries: u32,
    /// Runs of each program.
    rounds: usize,
    /// Seconds after which no round is begun.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

const STUDY: &str = "000.1";
const STUDY_MACHINE: &str = "the study's CPU and program";

/// A language with its builds.
struct Language {
    name: &'static str,
    tools: &'static [&'static Tool],
    files: &'static [(&'static str, &'static str)],
    run: &'static str,
    /// Name, command, and the milliseconds of the study's program.
    builds: &'static [(&'static str, &'static str, Option<f64>)],
}

macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../programs/interpolation/", $name)))
    };
}

/// What MSVC calls optimised for speed is taken for everything that this CPU has.
const LANGUAGES: [Language; 7] = [
    Language {
        name: "Python",
        tools: &[&PYTHON],
        files: &[source!("interpolation.py")],
        run: "{tool} interpolation.py",
        builds: &[("default", "", Some(309_666.0))],
    },
    Language {
        name: "Java",
        tools: &[&JAVA, &JAVAC],
        files: &[source!("Interpolation.java")],
        run: "{tool} Interpolation",
        builds: &[("default", "javac Interpolation.java", Some(7550.0))],
    },
    Language {
        name: "C#",
        tools: &[&CSHARP],
        files: &[source!("Interpolation.cs"), source!("interpolation.csproj")],
        run: "{tool} out/interpolation.dll",
        builds: &[
            ("debug", "{tool} build -c Debug -o out", Some(10_474.0)),
            ("release", "{tool} build -c Release -o out", Some(5392.0)),
        ],
    },
    Language {
        name: "C++",
        tools: &[&CPP],
        files: &[source!("interpolation.cpp")],
        run: "{folder}/program",
        builds: &[
            ("debug", "{tool} -O0 -g interpolation.cpp -o program", Some(8269.0)),
            ("release", "{tool} -O2 interpolation.cpp -o program", Some(4255.0)),
            ("optimised", "{tool} -O3 -march=native interpolation.cpp -o program", Some(4200.0)),
        ],
    },
    Language {
        name: "Rust",
        tools: &[&RUSTC],
        files: &[source!("interpolation.rs")],
        run: "{folder}/program",
        builds: &[
            ("debug", "{tool} --edition 2021 -g interpolation.rs -o program", None),
            ("release", "{tool} --edition 2021 -C opt-level=3 interpolation.rs -o program", None),
            (
                "optimised",
                "{tool} --edition 2021 -C opt-level=3 -C target-cpu=native interpolation.rs -o program",
                None,
            ),
        ],
    },
    Language {
        name: "Go",
        tools: &[&GO],
        files: &[source!("interpolation.go")],
        run: "{folder}/program",
        builds: &[
            ("debug", "{tool} build -gcflags=-N -o program interpolation.go", None),
            ("release", "{tool} build -o program interpolation.go", None),
        ],
    },
    Language {
        name: "JavaScript",
        tools: &[&NODE],
        files: &[source!("interpolation.js")],
        run: "{tool} interpolation.js",
        builds: &[("default", "", None)],
    },
];

/// Every build with the study's figure.
fn recipes() -> impl Iterator<Item = (Recipe, Option<f64>)> {
    LANGUAGES.iter().flat_map(|&Language { name, tools, files, run, builds }| {
        builds.iter().map(move |&(build, compile, published)| {
            (Recipe { name, build, tools, files, compile, run }, published)
        })
    })
}

impl Languages {
    fn axes(recipe: &Recipe) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("language".to_owned(), Axis::from(recipe.name)),
            ("build".to_owned(), Axis::from(recipe.build)),
        ])
    }

    fn race(&self) -> Race {
        Race {
            rounds: self.rounds,
            seconds: self.seconds,
            unit: ("ms", 1e3),
            study: STUDY,
            best_published: recipes().filter_map(|(_, figure)| figure).reduce(f64::min),
            cost_published: None,
            notes: vec![
                format!(
                    "{} interpolations a run; the study's program and its amount of work are not \
                         published, so times cannot be compared with the study's, normalised ones can",
                    self.queries
                ),
                "time: by the program's own clock, without start-up; normalised: the best time by this one"
                    .to_owned(),
            ],
        }
    }
}

impl Run for Languages {
    fn plan(&self, _: &Setting<'_>) -> Vec<(String, Duration)> {
        let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
        let what =
            format!("{} in {} builds, each where its tools are here", names.join(", "), recipes().count());
        vec![(what, Duration::from_secs_f64(self.seconds))]
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let (recipes, published): (Vec<Recipe>, Vec<Option<f64>>) = recipes().unzip();
        if recipes.iter().all(|recipe| setting.is_done(setting.cpu, &Self::axes(recipe))) {
            return Ok(());
        }
        let workshop = Workshop::open(&recipes)?;
        for reason in workshop.missing() {
            setting.skip(observer, setting.cpu, None, reason);
        }
        let entries = workshop.ready().map(|(place, recipe, program)| Entry {
            program,
            arguments: vec![self.queries.to_string()],
            axes: Self::axes(recipe),
            published: published[place].iter().map(|&figure| (figure, STUDY_MACHINE)).collect(),
            without: None,
            single: None,
        });
        self.race().run(setting, &entries.collect::<Vec<_>>(), observer).map(drop)
    }
}

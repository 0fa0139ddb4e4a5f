//! The same sums in integers and floating point of several widths.

mod gpu;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::Device;
use cipherlane_record::Axis;
use serde::Deserialize;

use crate::experiment::programs::{Entry, GCC, RUSTC, Race, Recipe, Workshop};
use crate::experiment::setting::{Run, Setting};
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Datatypes {
    /// Walks over 1024 values in one run.
    walks: u32,
    /// Runs of each type.
    rounds: usize,
    /// Seconds for each language, after which no round is begun.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
    /// On GPUs.
    gpu: gpu::OnGpu,
}

const STUDY: &str = "000.3";
/// The study's types, as the programs call them; its seventh is the first without optimisation.
const TYPES: [&str; 6] = ["int", "long", "long-long", "float", "double", "float-cast"];
const FLOAT: &str = "float";
const CAST: &str = "float-cast";
/// What the conversion cost at most, in percent, on the study's CPU.
const CAST_COST: (f64, &str) = (120.0, "the study's CPU, at most");

const C: &[(&str, &str)] = &[("datatypes.c", include_str!("../../../programs/datatypes/datatypes.c"))];
const RUST: &[(&str, &str)] = &[("datatypes.rs", include_str!("../../../programs/datatypes/datatypes.rs"))];

/// Languages with their builds. Optimised code of C keeps products and sums apart, as Rust does, so that a conversion
/// is all that differs.
fn languages() -> [[Recipe; 2]; 2] {
    let c = |build, compile| Recipe {
        name: "C",
        build,
        tools: &[&GCC],
        files: C,
        compile,
        run: "{folder}/program",
    };
    let rust = |build, compile| Recipe {
        name: "Rust",
        build,
        tools: &[&RUSTC],
        files: RUST,
        compile,
        run: "{folder}/program",
    };
    [
        [
            c("debug", "{tool} -O0 -g datatypes.c -o program"),
            c("optimised", "{tool} -O3 -ffp-contract=off datatypes.c -o program"),
        ],
        [
            rust("debug", "{tool} --edition 2021 -g datatypes.rs -o program"),
            rust("optimised", "{tool} --edition 2021 -C opt-level=3 datatypes.rs -o program"),
        ],
    ]
}

impl Datatypes {
    fn axes(recipe: &Recipe, kind: &str) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("language".to_owned(), Axis::from(recipe.name)),
            ("build".to_owned(), Axis::from(recipe.build)),
            ("type".to_owned(), Axis::from(kind)),
        ])
    }

    fn race(&self) -> Race {
        Race {
            rounds: self.rounds,
            seconds: self.seconds,
            unit: ("ms", 1e3),
            study: STUDY,
            best_published: None,
            cost_published: Some(CAST_COST),
            notes: vec![
                format!("x = x * a + b over 1024 values, {} times, one thread", self.walks),
                format!(
                    "long has {} bytes here and 4 in the study (Windows); float-cast: floats, with a and b double",
                    size_of::<std::ffi::c_long>()
                ),
                "cost: of float-cast beside float of the same build; normalised: the best time of the language by \
                 this one"
                    .to_owned(),
                format!(
                    "study {STUDY} draws bars of 100, 100, 100, 71, 40, 34 and 32 % whose labels cannot be read, so none \
                     stands beside a type"
                ),
            ],
        }
    }

    fn cpu(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for recipes in languages() {
            let done = |recipe: &Recipe| {
                TYPES.iter().all(|kind| setting.is_done(setting.cpu, &Self::axes(recipe, kind)))
            };
            if !setting.stopped() && !recipes.iter().all(done) {
                self.language(setting, &recipes, observer)?;
            }
        }
        Ok(())
    }

    /// One language: all types in both builds, in turn.
    fn language(
        &self,
        setting: &Setting<'_>,
        recipes: &[Recipe],
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let workshop = Workshop::open(recipes)?;
        for reason in workshop.missing() {
            setting.skip(observer, setting.cpu, None, reason);
        }
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (_, recipe, program) in workshop.ready() {
            let first = entries.len();
            let float = TYPES.iter().position(|kind| *kind == FLOAT).map(|place| first + place);
            entries.extend(TYPES.iter().map(|&kind| Entry {
                program,
                arguments: vec![kind.to_owned(), self.walks.to_string(), "-1".to_owned()],
                axes: Self::axes(recipe, kind),
                published: Vec::new(),
                without: float.filter(|_| kind == CAST),
                single: None,
            }));
        }
        self.race().run(setting, &entries, observer).map(drop)
    }
}

impl Run for Datatypes {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let language = |[recipe, _]: &[Recipe; 2]| {
            (format!("{}, {} types, debug and optimised", recipe.name, TYPES.len()), time)
        };
        let of = |device: &&dyn Device| match setting.is_cpu(*device) {
            true => languages().iter().map(language).collect(),
            false => vec![(format!("all types on {}", device.info().id), self.gpu.time())],
        };
        setting.devices.iter().flat_map(of).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &device in setting.devices {
            if setting.is_cpu(device) {
                self.cpu(setting, observer)?;
            } else if !setting.stopped() {
                self.gpu.run(setting, device, observer)?;
            }
        }
        Ok(())
    }
}

//! The numbers that decide claims, from the observations of one machine.

use cipherlane_record::Observation;

/// The observations of a machine that are not known to be wrong: of each subject at each place the last, the last one first.
pub(super) struct Look {
    rows: Vec<Observation>,
}

const NATIVE: [&str; 2] = ["C++", "Rust"];
const MANAGED: [&str; 4] = ["Java", "C#", "JavaScript", "Python"];

fn is_gpu(row: &Observation) -> bool {
    row.subject.starts_with("cuda:") || row.subject.starts_with("opencl:")
}

fn least(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    numbers.min_by(f64::total_cmp)
}

/// A ratio of what is there, and not of nothing.
fn ratio(above: Option<f64>, below: Option<f64>) -> Option<f64> {
    Some(above? / below.filter(|below| *below > 0.0)?)
}

impl Look {
    /// At `rows`, in the order of their runs. What a later run has anew is not looked for in an earlier one.
    pub(super) fn at(rows: &[&Observation]) -> Self {
        let mut last: Vec<Observation> = Vec::new();
        for &row in rows.iter().rev().filter(|row| row.verified != Some(false)) {
            let is_later = |other: &Observation| {
                other.experiment == row.experiment && other.subject == row.subject && other.axes == row.axes
            };
            if !last.iter().any(is_later) {
                last.push(row.clone());
            }
        }
        Self { rows: last }
    }

    /// Whether `experiment` was run there.
    pub(super) fn has(&self, experiment: &str) -> bool {
        self.rows.iter().any(|row| row.experiment == experiment)
    }

    /// Rows of `experiment`, the last one first.
    fn of(&self, experiment: &'static str) -> impl Iterator<Item = &Observation> {
        self.rows.iter().filter(move |row| row.experiment == experiment)
    }

    fn language(&self, names: &[&str]) -> Option<f64> {
        let of = |row: &&Observation| names.iter().any(|name| row.is_at("language", name));
        least(self.of("languages").filter(of).filter_map(|row| row.value("time")))
    }

    pub(super) fn managed_by_native(&self) -> Option<f64> {
        ratio(self.language(&MANAGED), self.language(&NATIVE))
    }

    pub(super) fn python_by_native(&self) -> Option<f64> {
        ratio(self.language(&["Python"]), self.language(&NATIVE))
    }

    /// The best time of a compiler on one thread, at `level` or at any.
    fn compiler(&self, name: &str, level: Option<&str>) -> Option<f64> {
        let of = |row: &&Observation| {
            let at_level = level.is_none_or(|level| row.is_at("level", level));
            row.is_at("compiler", name) && at_level && row.number("threads") == Some(1.0)
        };
        least(self.of("compilers").filter(of).filter_map(|row| row.value("time")))
    }

    pub(super) fn unoptimised_by_optimised(&self) -> Option<f64> {
        ratio(self.compiler("gcc", Some("-O0")), self.compiler("gcc", Some("-Ofast native")))
    }

    pub(super) fn compilers_apart(&self) -> Option<f64> {
        let (gcc, clang) = (self.compiler("gcc", None)?, self.compiler("clang", None)?);
        ratio(Some(gcc.max(clang)), Some(gcc.min(clang)))
    }

    /// The dearest conversion of optimised code.
    fn cast(&self, on_gpu: bool) -> Option<f64> {
        // The study asked one thread.
        let of = |row: &&Observation| {
            is_gpu(row) == on_gpu
                && (on_gpu || row.is_at("build", "optimised"))
                && !row.is_at("threads", "all")
        };
        let costs = self.of("datatypes").filter(of).filter_map(|row| row.value("cost"));
        costs.map(|percent| 1.0 + percent / 100.0).max_by(f64::total_cmp)
    }

    pub(super) fn cast_on_cpu(&self) -> Option<f64> {
        self.cast(false)
    }

    pub(super) fn cast_on_gpu(&self) -> Option<f64> {
        self.cast(true)
    }

    /// Rows of a kernel of `cpu-threads`, of the shortest messages that there are: the study's, or next to them.
    fn kernel(&self, name: &'static str) -> impl Iterator<Item = &Observation> {
        let shortest = least(self.of("cpu-threads").filter_map(|row| row.number("message bytes")));
        let of =
            move |row: &&Observation| row.is_at("kernel", name) && row.number("message bytes") == shortest;
        self.of("cpu-threads").filter(of)
    }

    /// The rate of plain code on `times` as many threads as there are logical CPUs.
    fn plain(&self, times: f64) -> Option<f64> {
        let of = |row: &&Observation| row.number("threads") == Some(times * row.host.logical_cores as f64);
        self.kernel("plain").find(of)?.value("throughput")
    }

    pub(super) fn gain_by_threads(&self) -> Option<f64> {
        let row = self.kernel("plain").find(|row| row.number("threads").is_none())?;
        ratio(row.value("gain, all CPUs"), row.value("logical CPUs"))
    }

    pub(super) fn beyond_the_cpus(&self) -> Option<f64> {
        ratio(self.plain(2.0), self.plain(1.0))
    }

    pub(super) fn special_by_plain(&self) -> Option<f64> {
        let all = |row: &&Observation| row.number("threads") == Some(row.host.logical_cores as f64);
        Some(self.kernel("special").find(all)?.value("of plain code")? / 100.0)
    }

    fn knee(&self, of: &str) -> Option<f64> {
        self.of("gpu-grid").find(|row| row.is_at("knee of", of))?.value("knee by these")
    }

    pub(super) fn knee_of_threads(&self) -> Option<f64> {
        self.knee("threads")
    }

    pub(super) fn knee_of_blocks(&self) -> Option<f64> {
        self.knee("blocks")
    }

    fn cores(&self, name: &str) -> Option<f64> {
        self.of("core-vs-core").find(|row| row.is_at("CPU kernel", "plain"))?.value(name)
    }

    pub(super) fn cpu_thread_by_gpu_thread(&self) -> Option<f64> {
        self.cores("CPU thread by GPU thread")
    }

    pub(super) fn gpu_by_cpu(&self) -> Option<f64> {
        self.cores("GPU by CPU")
    }

    /// A sensor's value at a moment of `thermal`.
    fn sensor(&self, on_gpu: bool, moment: &str, name: &str) -> Option<f64> {
        let of = |row: &&Observation| is_gpu(row) == on_gpu && row.is_at("moment", moment);
        self.of("thermal").find(of)?.value(name)
    }

    fn clock_rise(&self, on_gpu: bool) -> Option<f64> {
        ratio(self.sensor(on_gpu, "early", "frequency"), self.sensor(on_gpu, "before", "frequency"))
    }

    pub(super) fn cpu_clock_rise(&self) -> Option<f64> {
        self.clock_rise(false)
    }

    pub(super) fn gpu_clock_rise(&self) -> Option<f64> {
        self.clock_rise(true)
    }

    fn degrees(&self, on_gpu: bool) -> Option<f64> {
        let at = |moment| self.sensor(on_gpu, moment, "temperature");
        Some(at("early")? - at("before")?)
    }

    /// Beyond all numbers where the GPU gained nothing and the CPU did; none where neither did.
    pub(super) fn cpu_warms_by_gpu(&self) -> Option<f64> {
        Some(self.degrees(false)? / self.degrees(true)?.max(0.0))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use cipherlane_record::{Axis, Value};
    use std::collections::BTreeMap;

    /// A row of `experiment` on a machine of two CPUs.
    pub(in super::super) fn row(
        experiment: &str,
        subject: &str,
        axes: &[(&str, Axis)],
        values: &[(&str, f64)],
    ) -> Observation {
        let value = |&(name, value): &(&str, f64)| crate::experiment::setting::value(name, "1", value);
        Observation {
            schema_version: cipherlane_record::SCHEMA_VERSION,
            record: cipherlane_record::Kind::Observation,
            experiment: experiment.to_owned(),
            subject: subject.to_owned(),
            subject_name: subject.to_owned(),
            axes: axes
                .iter()
                .map(|(name, place)| ((*name).to_owned(), place.clone()))
                .collect::<BTreeMap<_, _>>(),
            values: values.iter().map(value).collect::<Vec<Value>>(),
            samples: Vec::new(),
            verified: None,
            timeline: None,
            notes: Vec::new(),
            unix_seconds: 0,
            argv: Vec::new(),
            host: cipherlane_record::Host { logical_cores: 2, ..crate::host::detect() },
        }
    }

    #[test]
    fn languages_are_compared_by_their_best_builds() {
        let of = |language: &str, build: &str, time| {
            row(
                "languages",
                "cpu",
                &[("language", language.into()), ("build", build.into())],
                &[("time", time)],
            )
        };
        let rows = [
            of("C++", "debug", 9.0),
            of("C++", "optimised", 4.0),
            of("Rust", "release", 5.0),
            of("Java", "default", 8.0),
            of("Python", "default", 200.0),
        ];
        let rows: Vec<&Observation> = rows.iter().collect();
        let look = Look::at(&rows);
        assert_eq!((look.managed_by_native(), look.python_by_native()), (Some(2.0), Some(50.0)));
        assert_eq!(look.unoptimised_by_optimised(), None);
    }

    #[test]
    fn threads_are_looked_up_on_the_shortest_messages() {
        let of = |kernel: &str, bytes: f64, threads: f64, rate: f64| {
            let axes = [
                ("kernel", kernel.into()),
                ("message bytes", Axis::Number(bytes)),
                ("threads", Axis::Number(threads)),
            ];
            row("cpu-threads", "cpu", &axes, &[("throughput", rate), ("of plain code", 300.0)])
        };
        let mut sum = of("plain", 128.0, 0.0, 0.0);
        sum.axes.remove("threads");
        sum.values = row("", "", &[], &[("gain, all CPUs", 1.2), ("logical CPUs", 2.0)]).values;
        let rows = [
            of("plain", 128.0, 2.0, 10.0),
            of("plain", 128.0, 4.0, 9.0),
            of("special", 128.0, 2.0, 30.0),
            of("plain", 16_384.0, 4.0, 100.0),
            sum,
        ];
        let rows: Vec<&Observation> = rows.iter().collect();
        let look = Look::at(&rows);
        assert_eq!(look.beyond_the_cpus(), Some(0.9));
        assert_eq!(look.gain_by_threads(), Some(0.6));
        assert_eq!(look.special_by_plain(), Some(3.0));
    }

    #[test]
    fn degrees_need_both_moments_of_both() {
        let of = |subject: &str, moment: &str, degrees| {
            row("thermal", subject, &[("moment", moment.into())], &[("temperature", degrees)])
        };
        let mut rows =
            vec![of("cpu", "before", 45.0), of("cpu", "early", 95.0), of("cuda:0", "before", 42.0)];
        let find = |rows: &[Observation]| {
            let rows: Vec<&Observation> = rows.iter().collect();
            Look::at(&rows).cpu_warms_by_gpu()
        };
        assert_eq!(find(&rows), None);
        rows.push(of("cuda:0", "early", 52.0));
        assert_eq!(find(&rows), Some(5.0));
        for degrees in [42.0, 41.0] {
            rows.push(of("cuda:0", "early", degrees));
            assert_eq!(find(&rows), Some(f64::INFINITY), "a GPU that stays cool was measured all the same");
        }
        rows.push(of("cpu", "early", 45.0));
        assert!(find(&rows).unwrap().is_nan());
    }

    #[test]
    fn of_runs_at_one_place_the_last_counts() {
        let language = |time| row("languages", "cpu", &[("language", "C++".into())], &[("time", time)]);
        let python = row("languages", "cpu", &[("language", "Python".into())], &[("time", 90.0)]);
        let level = |time| {
            let axes = [("compiler", "gcc".into()), ("level", "-O0".into()), ("threads", Axis::Number(1.0))];
            row("compilers", "cpu", &axes, &[("time", time)])
        };
        let best = row(
            "compilers",
            "cpu",
            &[("compiler", "gcc".into()), ("level", "-Ofast native".into()), ("threads", Axis::Number(1.0))],
            &[("time", 1.0)],
        );
        let cast = |cost| row("datatypes", "cuda:0", &[("type", "float-cast".into())], &[("cost", cost)]);
        let wrong = Observation { verified: Some(false), ..cast(1.0) };
        let of_all = &[("type", "float-cast".into()), ("threads", "all".into())];
        let of_all = row("datatypes", "cuda:0", of_all, &[("cost", 2000.0)]);
        // The earlier ones are the faster programs and the dearer conversion.
        let rows = [
            language(1.0),
            python,
            language(9.0),
            level(1.0),
            best,
            level(3.0),
            cast(900.0),
            cast(400.0),
            wrong,
            of_all,
        ];
        let look = Look::at(&rows.iter().collect::<Vec<_>>());
        assert_eq!(look.python_by_native(), Some(10.0));
        assert_eq!(look.unoptimised_by_optimised(), Some(3.0));
        assert_eq!(look.cast_on_gpu(), Some(5.0));
    }
}

//! What study 000 concludes, in our words, and which number decides each claim.

use std::fmt;

use super::look::Look;

/// A conclusion.
pub(super) struct Conclusion {
    /// The study's number.
    pub(super) number: &'static str,
    /// What it comes to.
    pub(super) says: &'static str,
    /// What must hold for it.
    pub(super) claims: &'static [Claim],
}

/// A claim that one number decides: a ratio.
pub(super) struct Claim {
    /// In a few words.
    pub(super) what: &'static str,
    /// What the number is.
    pub(super) number: &'static str,
    /// Where it holds.
    pub(super) holds: Bound,
    /// The study's row and its number.
    pub(super) study: &'static str,
    pub(super) figure: Option<f64>,
    /// What measures it.
    pub(super) experiment: &'static str,
    pub(super) find: fn(&Look) -> Option<f64>,
}

/// Numbers for which a claim holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Between(f64, f64),
}

impl Bound {
    pub(super) fn takes(self, found: f64) -> bool {
        match self {
            Self::AtLeast(least) => found >= least,
            Self::AtMost(most) => found <= most,
            Self::Between(least, most) => (least..=most).contains(&found),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "{least} or more"),
            Self::AtMost(most) => write!(f, "{most} or less"),
            Self::Between(least, most) => write!(f, "{least} to {most}"),
        }
    }
}

/// Bounds are ours: about half of the study's figure where a claim is about size, and a tenth beyond no difference, or
/// none, where it is about direction alone.
pub(super) const CONCLUSIONS: [Conclusion; 8] = [
    Conclusion {
        number: "I",
        says: "The language decides: optimised native code is the fastest, an interpreter slower by tens of times.",
        claims: &[
            Claim {
                what: "native code is the fastest",
                number: "time of the fastest of Java, C#, JavaScript and Python by that of the fastest of C++ and Rust",
                holds: Bound::AtLeast(1.0),
                study: "000.1",
                figure: Some(7550.0 / 4200.0),
                experiment: "languages",
                find: Look::managed_by_native,
            },
            Claim {
                what: "an interpreter is tens of times slower",
                number: "time of Python by that of the fastest of C++ and Rust",
                holds: Bound::AtLeast(10.0),
                study: "000.1",
                figure: Some(309_666.0 / 4200.0),
                experiment: "languages",
                find: Look::python_by_native,
            },
        ],
    },
    Conclusion {
        number: "II",
        says: "Optimising matters more than which compiler (in the study also: which system) it is done by.",
        claims: &[
            Claim {
                what: "optimising pays",
                number: "time of gcc -O0 by that of -O3 -ffast-math, one thread",
                holds: Bound::AtLeast(1.2),
                study: "000.2",
                figure: Some(240.0 / 176.0),
                experiment: "compilers",
                find: Look::unoptimised_by_optimised,
            },
            Claim {
                what: "compilers are about alike",
                number: "time of the slower of gcc and clang, each at its best, by the other's, one thread",
                holds: Bound::AtMost(1.25),
                study: "000.2",
                figure: Some(215.0 / 176.0),
                experiment: "compilers",
                find: Look::compilers_apart,
            },
        ],
    },
    Conclusion {
        number: "III",
        says: "Types must be chosen with care: a constant that makes floats doubles for a moment costs as much as the sum.",
        claims: &[
            Claim {
                what: "a conversion is dear on a CPU",
                number: "time with the conversion by that without, the dearest of optimised builds",
                holds: Bound::AtLeast(1.5),
                study: "000.3",
                figure: Some(2.2),
                experiment: "datatypes",
                find: Look::cast_on_cpu,
            },
            Claim {
                what: "a conversion is dearer on a GPU",
                number: "time with the conversion by that without",
                holds: Bound::AtLeast(4.0),
                study: "000.3",
                figure: Some(9.0),
                experiment: "datatypes",
                find: Look::cast_on_gpu,
            },
        ],
    },
    Conclusion {
        number: "IV",
        says: "Threads help up to the logical CPUs, each by about half of what the first does, and not beyond.",
        claims: &[
            Claim {
                what: "a thread adds about a half",
                number: "gain of a thread on each logical CPU by their number, plain code",
                holds: Bound::Between(0.35, 0.75),
                study: "000.4",
                figure: Some(0.5),
                experiment: "cpu-threads",
                find: Look::gain_by_threads,
            },
            Claim {
                what: "more threads than CPUs gain nothing",
                number: "rate of twice as many threads as logical CPUs by that of as many, plain code",
                holds: Bound::AtMost(1.1),
                study: "000.4",
                figure: None,
                experiment: "cpu-threads",
                find: Look::beyond_the_cpus,
            },
        ],
    },
    Conclusion {
        number: "V",
        says: "Special instructions multiply the throughput of plain code by up to four and a half.",
        claims: &[Claim {
            what: "special instructions",
            number: "rate with special instructions by that of plain code, a thread on each logical CPU",
            holds: Bound::AtLeast(2.25),
            study: "000.4",
            figure: Some(4.5),
            experiment: "cpu-threads",
            find: Look::special_by_plain,
        }],
    },
    Conclusion {
        number: "VI",
        says: "A GPU is at its best with as many threads in a block as a multiprocessor has cores, and as many blocks as \
               there are multiprocessors.",
        claims: &[
            Claim {
                what: "threads of a block",
                number: "threads from which on more gain less than 5 %, by the cores of a multiprocessor",
                holds: Bound::Between(0.5, 2.0),
                study: "000.5",
                figure: Some(1.0),
                experiment: "gpu-grid",
                find: Look::knee_of_threads,
            },
            Claim {
                what: "blocks",
                number: "blocks from which on more gain less than 5 %, by the multiprocessors",
                holds: Bound::Between(0.5, 2.0),
                study: "000.5",
                figure: Some(1.0),
                experiment: "gpu-grid",
                find: Look::knee_of_blocks,
            },
        ],
    },
    Conclusion {
        number: "VII",
        says: "One core of a CPU is worth tens of a GPU's, but the whole GPU several whole CPUs.",
        claims: &[
            Claim {
                what: "a CPU's thread beats a GPU's",
                number: "rate of one thread of the CPU, plain code, by that of one thread of the GPU",
                holds: Bound::AtLeast(15.0),
                study: "000.6",
                figure: Some(30.0),
                experiment: "core-vs-core",
                find: Look::cpu_thread_by_gpu_thread,
            },
            Claim {
                what: "the GPU beats the CPU",
                number: "rate of the GPU by that of all logical CPUs, plain code",
                holds: Bound::AtLeast(4.5),
                study: "000.6",
                figure: Some(9.0),
                experiment: "core-vs-core",
                find: Look::gpu_by_cpu,
            },
        ],
    },
    Conclusion {
        number: "VIII",
        says: "Under load clocks rise, and a CPU becomes hot within seconds where a GPU hardly warms.",
        claims: &[
            Claim {
                what: "a CPU's clock rises",
                number: "clock after ten seconds of load by that before",
                holds: Bound::AtLeast(1.1),
                study: "000.12",
                figure: Some(2.0),
                experiment: "thermal",
                find: Look::cpu_clock_rise,
            },
            Claim {
                what: "a GPU's clock rises",
                number: "clock after ten seconds of load by that before",
                holds: Bound::AtLeast(1.1),
                study: "000.12",
                figure: Some(2.4 / 0.21),
                experiment: "thermal",
                find: Look::gpu_clock_rise,
            },
            Claim {
                what: "a CPU warms more than a GPU",
                number: "degrees that the CPU gains in ten seconds of load by those that the GPU gains",
                holds: Bound::AtLeast(2.0),
                study: "000.12",
                figure: Some(50.0 / 9.0),
                experiment: "thermal",
                find: Look::cpu_warms_by_gpu,
            },
        ],
    },
];

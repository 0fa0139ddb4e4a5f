//! The pictures of each experiment: which quantities its study drew, against what. An experiment that is not here is
//! drawn by what was swept.

use super::seen::{SUBJECT, VALUE};
use super::view::{Form, Marks, Only, Picture, View};

const fn picture(title: &'static str, values: &'static [&'static str], form: Form) -> Picture {
    Picture { title, values, only: &[], each: &[], form }
}

impl Picture {
    const fn only(self, only: &'static [Only]) -> Self {
        Self { only, ..self }
    }

    const fn each(self, each: &'static [&'static str]) -> Self {
        Self { each, ..self }
    }
}

const fn curves(x: &'static str) -> Form {
    Form::Curves { x, marks: Marks::None }
}

const ALONE: Form = Form::Bars { by: "" };

/// The pictures of `experiment`.
pub(super) fn of(experiment: &str) -> Option<&'static [Picture]> {
    VIEWS.iter().find(|view| view.experiment == experiment).map(|view| view.pictures)
}

/// Where an experiment stands among those of the studies; behind them all, if it is none.
pub(in crate::section) fn rank(experiment: &str) -> usize {
    VIEWS.iter().position(|view| view.experiment == experiment).unwrap_or(VIEWS.len())
}

const VIEWS: &[View] = &[
    // Study 000.
    View { experiment: "languages", pictures: LANGUAGES },
    View { experiment: "compilers", pictures: COMPILERS },
    View { experiment: "datatypes", pictures: DATATYPES },
    View { experiment: "cpu-threads", pictures: CPU_THREADS },
    View { experiment: "gpu-grid", pictures: GPU_GRID },
    View { experiment: "core-vs-core", pictures: CORE_VS_CORE },
    View { experiment: "generations", pictures: GENERATIONS },
    View { experiment: "thermal", pictures: THERMAL },
    // Verdicts are words, which the table has.
    View { experiment: "findings", pictures: &[] },
    // Study 001.
    View { experiment: "block-ciphers", pictures: BLOCK_CIPHERS },
    View { experiment: "launch-geometry", pictures: LAUNCH_GEOMETRY },
    View { experiment: "energy", pictures: ENERGY },
    View { experiment: "instructions", pictures: INSTRUCTIONS },
    View { experiment: "cpu-ceilings", pictures: CPU_CEILINGS },
    View { experiment: "disassembly", pictures: DISASSEMBLY },
    View { experiment: "mix", pictures: MIX },
    // Study 002.
    View { experiment: "offload", pictures: OFFLOAD },
    View { experiment: "cpu-load", pictures: CPU_LOAD },
    View { experiment: "gpu-load", pictures: GPU_LOAD },
    View { experiment: "both-loads", pictures: BOTH_LOADS },
    // Study 003.
    View { experiment: "simd-grid", pictures: SIMD_GRID },
    // Study 004.
    View { experiment: "streams", pictures: STREAMS },
    View { experiment: "breakdown", pictures: BREAKDOWN },
    View { experiment: "projection", pictures: PROJECTION },
];

const LANGUAGES: &[Picture] = &[
    picture("Speed by language", &["normalised"], Form::Normalised { by: "", times: "time" }),
    picture("Time by language", &["time"], ALONE),
];

const COMPILERS: &[Picture] = &[
    picture(
        "Speed by compiler and level",
        &["normalised"],
        Form::Normalised { by: "threads", times: "time" },
    ),
    picture("Time by compiler and level", &["time"], Form::Bars { by: "threads" }),
];

const DATATYPES: &[Picture] = &[
    picture("Speed by data type", &["normalised"], Form::Bars { by: "build" }),
    picture("Operations by data type", &["per clock and unit"], ALONE),
    picture("What a conversion to double costs", &["cost"], ALONE),
];

const CPU_THREADS: &[Picture] = &[
    picture("Throughput by threads", &["throughput"], Form::Curves { x: "threads", marks: Marks::Cores })
        .only(&[Only::Has("threads")]),
    picture("Gain by threads", &["gain"], Form::Curves { x: "threads", marks: Marks::Cores })
        .only(&[Only::Has("threads")]),
    picture("Efficiency of a thread", &["efficiency"], curves("threads")).only(&[Only::Has("threads")]),
    picture("Beside plain code", &["of plain code"], curves("threads")).only(&[Only::Has("threads")]),
];

const GPU_GRID: &[Picture] = &[
    picture(
        "Threads of a block",
        &["throughput"],
        Form::Curves { x: "threads per block", marks: Marks::At("cores of a unit") },
    )
    .only(&[Only::Is("sweep", "threads")]),
    picture("Blocks", &["throughput"], Form::Curves { x: "blocks", marks: Marks::At("units") })
        .only(&[Only::Is("sweep", "blocks")]),
    picture("Blocks x threads", &["throughput"], Form::Field { x: "blocks", y: "threads per block" })
        .only(&[Only::Is("sweep", "pairs")])
        .each(&["keys"]),
    picture("The study's pairs", &["throughput"], ALONE).only(&[Only::Is("sweep", "pairs")]).each(&["keys"]),
];

const CORE_VS_CORE: &[Picture] = &[
    picture("One thread, and all", &["CPU thread", "GPU thread", "CPU", "GPU"], Form::Bars { by: VALUE }),
    picture("All of the GPU by all of the CPU", &["GPU by CPU"], ALONE),
    picture("A thread of the CPU by one of the GPU", &["CPU thread by GPU thread"], ALONE),
];

const GENERATIONS: &[Picture] = &[picture(
    "Generations side by side",
    &["one thread", "all CPUs", "one thread, special", "all CPUs, special", "all threads"],
    Form::Bars { by: VALUE },
)
.each(&[SUBJECT])];

const THERMAL: &[Picture] = &[
    picture("Temperature", &["temperature"], Form::Bars { by: "moment" }),
    picture("Clock", &["frequency", "core clock, measured"], Form::Bars { by: "moment" }),
    picture("Power", &["power"], Form::Bars { by: "moment" }),
    picture("Voltage", &["voltage"], Form::Bars { by: "moment" }),
    picture("Fans", &["fan"], Form::Bars { by: "moment" }),
    picture("Throughput", &["throughput"], Form::Bars { by: "moment" }),
];

const BLOCK_CIPHERS: &[Picture] = &[picture("Throughput", &["mean"], ALONE).each(&["algorithm"])];

const LAUNCH_GEOMETRY: &[Picture] = &[
    picture("Blocks x threads, chosen by hand", &["throughput"], ALONE)
        .only(&[Only::Is("sweep", "pairs")])
        .each(&["algorithm"]),
    picture("The best of them beside the plan's", &["throughput", "planned"], Form::Bars { by: VALUE })
        .only(&[Only::Has("best of")]),
];

const ENERGY: &[Picture] = &[
    picture("Throughput for the power beyond idle", &["net"], ALONE),
    picture("Throughput for all the power", &["gross"], ALONE),
    picture("Power", &["idle", "power beyond idle"], Form::Stacked { parts: VALUE }),
];

const INSTRUCTIONS: &[Picture] = &[
    picture("Operations of a unit in a clock", &["per clock and unit"], ALONE)
        .only(&[Only::Has("operation"), Only::Lacks("groups of 32 on a unit")]),
    picture("How many warps fill a unit", &["per clock and unit"], curves("groups of 32 on a unit"))
        .only(&[Only::Has("groups of 32 on a unit")]),
    picture("Where the operands are", &["per clock and unit"], ALONE).only(&[Only::Has("operands")]),
    picture("Latency", &["latency"], ALONE),
];

const CPU_CEILINGS: &[Picture] = &[
    picture("Instructions of a core in a clock", &["rate"], Form::Bars { by: "bits" }),
    picture("Latency", &["latency"], Form::Bars { by: "bits" }),
    picture("Memory", &["copy", "read"], Form::Bars { by: VALUE }),
];

const DISASSEMBLY: &[Picture] = &[picture(
    "What the source says, and what compilers made of it",
    &["source", "PTX", "machine code"],
    Form::Bars { by: VALUE },
)];

const MIX: &[Picture] = &[
    picture(
        "Measured below the roof of the instructions",
        &["measured", "foretold"],
        Form::Roof { ceiling: "foretold", by: "tier" },
    )
    .each(&[SUBJECT]),
    picture("Part of what the instructions allow", &["measured by foretold"], Form::Bars { by: "tier" })
        .each(&[SUBJECT]),
];

const OFFLOAD: &[Picture] = &[
    // Short messages take hundreds of times as long: on one axis with them nothing else could be read.
    picture(
        "Time saved by the device, where it is not more than doubled",
        &["t_saved"],
        Form::Curves { x: "bytes", marks: Marks::Faster },
    )
    .only(&[Only::Above(-100.0)]),
    picture("With the device and without", &["t_total", "t_no_gpu"], Form::Rates { x: "bytes" })
        .each(&["algorithm"]),
    picture("Kernels, and the rest of the time", &["t_gpu", "t_cpu"], Form::Stacked { parts: VALUE })
        .only(&[Only::Is("bytes", "1048576")]),
];

/// No load costs nothing by definition.
const CPU_LOADED: &[Only] = &[Only::Not("cpu load", "0")];
const DEVICE_LOADED: &[Only] = &[Only::Not("device load", "0")];
/// Without the lightest load of the device there are no more curves than can be told apart.
const BOTH_LOADED: &[Only] =
    &[Only::Not("cpu load", "0"), Only::Not("device load", "0"), Only::Not("device load", "25")];

/// Against the size, along which the study saw its breaks; a curve for each load.
const fn by_size(title: &'static str, values: &'static [&'static str], loaded: &'static [Only]) -> Picture {
    picture(title, values, curves("bytes")).only(loaded).each(&["algorithm"])
}

/// Of large data: the curves have all sizes.
const fn of_both_loads(title: &'static str, values: &'static [&'static str]) -> Picture {
    let field = Form::Field { x: "cpu load", y: "device load" };
    picture(title, values, field).only(&[Only::Is("bytes", "1048576")]).each(&["algorithm", "bytes"])
}

const CPU_LOAD: &[Picture] = &[
    by_size("All of it takes longer by", &["t_total longer by"], CPU_LOADED),
    by_size("Kernels take longer by", &["t_gpu longer by"], CPU_LOADED),
    by_size("The load that was reached", &["cpu load reached"], CPU_LOADED),
];

const GPU_LOAD: &[Picture] = &[
    by_size("All of it takes longer by", &["t_total longer by"], DEVICE_LOADED),
    by_size("Kernels take longer by", &["t_gpu longer by"], DEVICE_LOADED),
    by_size("The load that was reached", &["device load reached"], DEVICE_LOADED),
];

const BOTH_LOADS: &[Picture] = &[
    of_both_loads("All of it takes longer by", &["t_total longer by"]),
    by_size("All of it takes longer by", &["t_total longer by"], BOTH_LOADED),
    of_both_loads("The load of the device that was reached", &["device load reached"]),
];

/// What the machine is set to: the study has figures of several states.
const STATE: &[&str] = &["turbo", "hyper-threading"];

/// What becomes of a thread when others work beside it.
const fn beside_others(title: &'static str, values: &'static [&'static str]) -> Picture {
    picture(title, values, Form::Bars { by: "tier" }).only(&[Only::Not("threads", "1")]).each(STATE)
}

const SIMD_GRID: &[Picture] = &[
    beside_others("Efficiency of a thread", &["efficiency"]),
    beside_others("What a thread loses to the clock", &["lost to the clock"]),
    beside_others("What a thread loses to sharing", &["lost to sharing"]),
    beside_others("What a thread loses to a sibling on its core", &["a thread loses to its sibling"]),
    picture("Throughput by tier", &["throughput"], Form::Bars { by: "threads" }).each(&["algorithm"]),
    beside_others("How many threads to take", &["take threads"]),
    picture(
        "Clocks of idle and of busy cores",
        &["clock of idle cores", "clock of one busy core", "clock of all busy cores"],
        Form::Bars { by: VALUE },
    )
    .only(&[Only::Has("power plan")]),
];

const STREAMS: &[Picture] = &[
    picture("Throughput by messages and streams", &["throughput"], curves("messages")).each(&["operation"]),
    picture("Latency by messages and streams", &["latency"], curves("messages")).each(&["operation"]),
    picture(
        "What each stream does with the largest batch",
        &["to device", "kernels", "to host"],
        Form::Stacked { parts: VALUE },
    )
    .only(&[Only::Has("stream")])
    .each(&["operation"]),
];

const BREAKDOWN: &[Picture] = &[
    picture("Where the time goes", &["share"], Form::Stacked { parts: "activity" }),
    picture("A copy, a launch", &["average"], Form::Bars { by: "activity" }),
];

const PROJECTION: &[Picture] = &[
    picture("Foretold and measured", &["predicted", "measured"], Form::Bars { by: VALUE }),
    picture("Error of the projection", &["error"], ALONE),
];

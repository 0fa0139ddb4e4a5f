//! How a program is checked. The list of programs that were found right holds for the text of this file and of `build.rs`.

use cipherlane_core::{Operation, Source};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::Program;

use crate::build::{self, Compiler};
use crate::case::{Case, Results};
use crate::job::{Job, Layout};
use crate::known::Reader;

/// A name for the texts that the list holds for.
pub(crate) fn harness() -> String {
    flatten::key([include_str!("check.rs"), include_str!("build.rs")].concat())
}

/// The ways that a case is run, and whether in place.
fn ways(case: &Case) -> [(Layout, bool); 2] {
    let together = Layout { blocks: 1, cuts: 1, ordered: false };
    let apart = Layout { blocks: 3, cuts: 3, ordered: true };
    [(together, false), (apart, case.operation != Operation::Hash)]
}

/// The job of one way, and room for its results.
fn prepared(program: &Program, case: &Case, (layout, in_place): (Layout, bool)) -> (Results, Job) {
    let mut results = Results::room(case, if in_place { case.text.clone() } else { case.untouched() });
    let source = if in_place { Source::InPlace } else { Source::Apart(&case.text) };
    let job = Job::new(program, &case.batch(source), &results.output(), layout);
    (results, job)
}

/// A name for all that decides whether the check succeeds: the text that is compiled, all that it reads, and what is wanted.
pub(crate) fn key(program: &Program, case: &Case, wanted: &Results) -> String {
    let mut all = Reader::HOST.read(&build::text(program)).into_bytes();
    for way in ways(case) {
        all.extend(prepared(program, case, way).1.bytes());
    }
    all.extend(&wanted.text);
    all.extend(&wanted.tags);
    all.extend(wanted.accepted.iter().map(|&verdict| u8::from(verdict)));
    flatten::key(all)
}

/// Runs `case` on `program` and compares everything, bytes between and around messages included. Returns the first fault.
pub(crate) fn check(
    compiler: &Compiler,
    program: &Program,
    case: &Case,
    wanted: &Results,
) -> Result<(), String> {
    let what = format!("{} {}", program.kernel, case.operation);
    let built = compiler.build(program).map_err(|reason| format!("{what}: {reason}"))?;
    for way in ways(case) {
        let (mut results, job) = prepared(program, case, way);
        let compared = built.run(job.bytes()).and_then(|written| {
            let whole = job.finish(&written, &mut results.output());
            if whole {
                compare(case, wanted, &results, way.1)
            } else {
                Err("output of another length".to_owned())
            }
        });
        compared.map_err(|reason| format!("{what} {:?} in place: {}: {reason}", way.0, way.1))?;
    }
    Ok(())
}

fn compare(case: &Case, wanted: &Results, results: &Results, in_place: bool) -> Result<(), String> {
    same(&results.accepted, &wanted.accepted, "verdicts")?;
    for (index, (ours, theirs)) in results.tags.chunks(16).zip(wanted.tags.chunks(16)).enumerate() {
        same(ours, theirs, &format!("tag or digest at {}", 16 * index))?;
    }
    if case.operation == Operation::Hash {
        return Ok(());
    }
    for (index, pair) in case.offsets.windows(2).enumerate() {
        let range = usize::try_from(pair[0]).unwrap()..usize::try_from(pair[1]).unwrap();
        let (ours, theirs) = (&results.text[range.clone()], &wanted.text[range]);
        if let Some(first) = ours.iter().zip(theirs).position(|(a, b)| a != b) {
            return Err(format!("message {index} of {} bytes is wrong from byte {first}", theirs.len()));
        }
    }
    let start = usize::try_from(case.offsets[0]).unwrap();
    let end = usize::try_from(*case.offsets.last().unwrap()).unwrap();
    let around = if in_place { &case.text } else { &wanted.text };
    same(&results.text[..start], &around[..start], "bytes before")?;
    same(&results.text[end..], &around[end..], "bytes after")
}

fn same<T: PartialEq + std::fmt::Debug>(ours: &[T], theirs: &[T], what: &str) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: {ours:02x?} and not {theirs:02x?}")) }
}

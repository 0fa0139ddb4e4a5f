//! Records against each other and against themselves. The rows are measured ones, of `records/`.

#![allow(clippy::unwrap_used, clippy::panic)] // in helpers as well: a test that cannot be set up has failed

use std::path::Path;
use std::slice::from_ref;

use cipherlane_lab::compare::{Comparison, Options, compare};
use cipherlane_record::{Cache, Measurement, Verdict, measurements, read};

fn measured() -> Vec<Measurement> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/granite-rapids-vm/bench.jsonl");
    measurements(read(&path).unwrap())
}

/// One row of the engine with enough samples to tell.
fn one() -> Measurement {
    measured().into_iter().find(|row| row.device == "cpu" && row.samples.len() >= 20).unwrap()
}

fn of(base: &[Measurement], new: &[Measurement]) -> Comparison {
    compare(base, new, &Options { across_scopes: false, seed: 1 })
}

/// `row` as another run would have it, each sample `factor` times as long.
fn another_run(row: &Measurement, factor: f64) -> Measurement {
    let mut other = row.clone();
    other.unix_seconds += 600;
    for sample in &mut other.samples {
        sample.wall_seconds *= factor;
    }
    other
}

/// A number below `bound` from `state` (Knuth's MMIX generator).
fn below(state: &mut u64, bound: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % bound
}

#[test]
fn records_are_never_slower_than_themselves() {
    let rows = measured();
    for seed in 0..5 {
        let comparison = compare(&rows, &rows, &Options { across_scopes: false, seed });
        assert_eq!(comparison.compared.len(), rows.len());
        assert_eq!(comparison.count(Verdict::Slower), 0, "seed {seed}");
        assert!((comparison.geometric_mean.unwrap() - 1.0).abs() < 1e-12);
        assert!(comparison.compared.iter().all(|row| row.paired && row.differs.is_empty()));
    }
}

#[test]
fn a_resample_is_slower_in_at_most_a_twentieth_of_seeds() {
    const SEEDS: u64 = 200;
    let row = one();
    let slower = (0..SEEDS).filter(|&seed| {
        let mut state = seed;
        let mut resample = another_run(&row, 1.0);
        for sample in &mut resample.samples {
            *sample = row.samples[below(&mut state, row.samples.len())];
        }
        let comparison = compare(from_ref(&row), &[resample], &Options { across_scopes: false, seed });
        assert!(!comparison.compared[0].paired);
        comparison.count(Verdict::Slower) > 0
    });
    let slower = slower.count();
    assert!(slower <= 10, "{slower} of {SEEDS}");
}

#[test]
fn a_fifth_slower_is_seen_and_gated_by_the_part_that_is_allowed() {
    let row = one();
    let comparison = of(from_ref(&row), &[another_run(&row, 1.25)]);
    let compared = &comparison.compared[0];
    assert_eq!(compared.verdict, Verdict::Slower);
    assert!((compared.ratio - 0.8).abs() < 1e-9, "{}", compared.ratio);
    assert_eq!(comparison.slower(0.0).count(), 1);
    assert_eq!(comparison.slower(50.0).count(), 0);
    assert_eq!(of(&[another_run(&row, 1.25)], &[row]).count(Verdict::Faster), 1);
}

/// What the machine did to other libraries says nothing of ours.
#[test]
fn the_mean_is_of_our_own_rows() {
    let base = measured();
    let slower = |row: &Measurement| another_run(row, if row.is_of_a_rival() { 1.0 } else { 1.25 });
    let new: Vec<_> = base.iter().map(slower).collect();
    let comparison = of(&base, &new);
    assert!((comparison.geometric_mean.unwrap() - 0.8).abs() < 1e-9);
    assert!((comparison.rivals_geometric_mean.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn fewer_rounds_than_six_have_no_interval() {
    let mut row = measured().into_iter().find(|row| row.best_rival.is_some() && !row.is_short()).unwrap();
    let ends = |row: &Measurement| {
        let (mut csv, mut markdown) = (Vec::new(), Vec::new());
        cipherlane_record::csv::write(&mut csv, from_ref(row)).unwrap();
        cipherlane_record::markdown::write(&mut markdown, from_ref(row)).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        let low = csv.contains(&row.bytes_per_second_ci95.low.to_string());
        (
            row.interval().is_some(),
            row.ratio_interval().is_some(),
            low,
            markdown.windows(4).any(|w| w == b" to "),
        )
    };
    assert_eq!(ends(&row), (true, true, true, true));
    row.summary.n = 5;
    assert_eq!(ends(&row), (false, false, false, false));
    row.samples.truncate(5);
    let comparison = of(from_ref(&row), &[another_run(&row, 1.25)]);
    assert_eq!(
        (comparison.compared[0].interval(), comparison.compared[0].verdict),
        (None, Verdict::Ambiguous)
    );
}

#[test]
fn more_messages_in_a_pass_are_no_slowdown() {
    let row = one();
    let mut longer = another_run(&row, 2.0);
    longer.bytes *= 2;
    longer.messages *= 2;
    let comparison = of(&[row], &[longer]);
    assert!((comparison.compared[0].ratio - 1.0).abs() < 1e-9);
    assert!(comparison.compared[0].differs[0].starts_with("messages"));
}

#[test]
fn rows_of_different_scope_are_compared_only_on_demand() {
    let row = one();
    let mut cold = another_run(&row, 1.0);
    cold.scope.cache = if row.scope.cache == Cache::Hot { Cache::Cold } else { Cache::Hot };
    let comparison = of(from_ref(&row), &[cold.clone()]);
    assert!(comparison.compared.is_empty() && comparison.geometric_mean.is_none());
    assert!(comparison.refused[0].reason.contains("scopes differ: cache"), "{:?}", comparison.refused);
    let comparison = compare(&[row], &[cold], &Options { across_scopes: true, seed: 1 });
    assert!(comparison.compared[0].differs[0].starts_with("cache"));
}

#[test]
fn cpus_of_one_name_are_told_apart_by_their_signatures_where_both_are_known() {
    let mut row = one();
    row.host.cpu_model = Some("AMD EPYC".to_owned());
    row.host.cpu_signature = Some("family 25 model 1 stepping 1".to_owned());
    let mut other = another_run(&row, 1.0);
    other.host.cpu_signature = Some("family 25 model 17 stepping 1".to_owned());
    let differs = of(from_ref(&row), from_ref(&other)).compared.remove(0).differs;
    assert_eq!(
        differs,
        ["CPU AMD EPYC (family 25 model 1 stepping 1) and AMD EPYC (family 25 model 17 stepping 1)"]
    );
    other.host.cpu_signature = None;
    assert!(of(&[row], &[other]).compared[0].differs.is_empty());
}

#[test]
fn wrong_outputs_have_no_ratio() {
    let row = one();
    let mut wrong = another_run(&row, 0.5);
    wrong.verified = false;
    wrong.checks.unexpected = 3;
    let comparison = of(&[row], &[wrong]);
    assert!(comparison.compared.is_empty());
    assert!(comparison.refused[0].reason.starts_with("3 of "), "{:?}", comparison.refused);
}

#[test]
fn rows_without_partner_are_named() {
    let (row, mut threads) = (one(), one());
    threads.threads += 1;
    let comparison = of(from_ref(&row), &[threads]);
    assert!(comparison.compared.is_empty());
    assert_eq!(comparison.only_base[0].row.threads, row.threads);
    assert_eq!(comparison.only_new[0].row.threads, row.threads + 1);
}

#[test]
fn wrong_outputs_are_told_of_rows_without_partner() {
    let (row, mut wrong) = (one(), one());
    wrong.threads += 1;
    wrong.verified = false;
    wrong.checks.unexpected = 3;
    let both = [row.clone(), wrong];
    for comparison in [of(from_ref(&row), &both), of(&both, from_ref(&row))] {
        let alone: Vec<_> = comparison.only_base.iter().chain(&comparison.only_new).collect();
        assert_eq!((comparison.compared.len(), alone.len()), (1, 1));
        assert!(alone[0].fault.as_ref().unwrap().starts_with("WRONG: 3 of "), "{alone:?}");
    }
}

#[test]
fn kernels_tell_rows_apart_only_where_a_file_has_several() {
    let (row, mut other) = (one(), one());
    other.kernel = "another".to_owned();
    let comparison = of(from_ref(&row), &[other.clone()]);
    assert_eq!(comparison.compared.len(), 1, "a new kernel is what is compared");
    assert!(comparison.compared[0].differs[0].starts_with("kernel"));
    let comparison = of(&[row.clone(), other.clone()], &[other, row.clone()]);
    let kernels: Vec<_> = comparison.compared.iter().map(|row| row.row.kernel.clone().unwrap()).collect();
    assert_eq!(kernels, [row.kernel, "another".to_owned()]);
    assert!(comparison.compared.iter().all(|row| row.differs.is_empty()));
}

/// `row`, of data that did not lie where the clock started.
fn cold(row: &Measurement) -> Measurement {
    let mut cold = row.clone();
    cold.scope.cache = if row.scope.cache == Cache::Hot { Cache::Cold } else { Cache::Hot };
    cold
}

#[test]
fn a_row_that_a_file_has_twice_is_compared_twice() {
    let row = one();
    let (same, slow) = (another_run(&row, 1.0), another_run(&row, 1.25));
    let comparison = of(from_ref(&row), &[same.clone(), slow.clone()]);
    assert_eq!((comparison.compared.len(), comparison.only_new.len()), (2, 0));
    assert_eq!(comparison.slower(5.0).count(), 1);
    // The other way round as well: whichever of the two is the base, the row is slower than one of them.
    let comparison = of(&[same.clone(), another_run(&row, 0.75)], from_ref(&row));
    assert_eq!((comparison.slower(5.0).count(), comparison.only_base.len()), (1, 0));
    // As many on both sides are as many comparisons.
    let twice = of(&[row.clone(), same], &[row, slow]);
    assert_eq!((twice.compared.len(), twice.slower(5.0).count()), (2, 1));
}

#[test]
fn rows_of_one_scope_meet_wherever_they_stand() {
    let row = one();
    let (base, new) = ([row.clone(), cold(&row)], [another_run(&cold(&row), 1.25), another_run(&row, 1.0)]);
    let comparison = of(&base, &new);
    assert!(comparison.refused.is_empty(), "{:?}", comparison.refused);
    let slow: Vec<_> = comparison.slower(5.0).map(|row| row.row.scope.clone().unwrap()).collect();
    assert_eq!(slow, [format!("cache {}", cold(&row).scope.cache.name())]);
    // Across scopes, too, only those meet that have no other.
    let across = compare(&base, &new[..1], &Options { across_scopes: true, seed: 1 });
    assert_eq!((across.compared.len(), across.only_base.len()), (1, 1));
    assert!(across.compared[0].differs.is_empty());
}

#[test]
fn rows_of_as_many_messages_meet_first() {
    let row = one();
    let mut more = another_run(&row, 2.0);
    (more.messages, more.bytes) = (2 * row.messages, 2 * row.bytes);
    let comparison = of(&[row.clone(), more.clone()], &[more.clone(), another_run(&row, 1.0)]);
    assert!(comparison.compared.iter().all(|row| row.differs.is_empty()), "{:?}", comparison.compared);
    // More of them than the base has is something else, not the same row again.
    let comparison = of(from_ref(&row), &[row.clone(), more]);
    assert_eq!((comparison.compared.len(), comparison.only_new.len()), (1, 1));
}

#[test]
fn times_that_no_code_has_are_no_ratio() {
    let row = one();
    for factor in [0.0, -1.0] {
        let comparison = of(from_ref(&row), &[another_run(&row, factor)]);
        assert!(comparison.compared.is_empty());
        assert!(comparison.refused[0].reason.contains("new row has samples that took no time"));
    }
}

//! The laboratory on devices that are right, wrong, lazy and unable.

mod puppet;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cipherlane::verify::Reference;
use cipherlane::{Device, Operation};
use cipherlane_lab::load::CpuLoad;
use cipherlane_lab::resume::{Done, Missing};
use cipherlane_lab::workload::{Custom, Lengths, check};
use cipherlane_lab::{
    BenchError, Contender, JudgeError, Judges, Observer, Options, Outcome, Progress, Sampling, Skipped,
    Suite, Wanted, host, run_suite,
};
use cipherlane_record::{Host, Keys, Measurement, Tag, Transfer, Verdict};
use puppet::{BROKEN, Manner, Puppet};

#[derive(Default)]
struct Log {
    rows: usize,
    skipped: usize,
    progress: Vec<f64>,
    broken: bool,
}

impl Observer for Log {
    fn progress(&mut self, progress: &Progress<'_>) {
        assert!(!progress.current.is_empty());
        self.progress.push(progress.fraction);
    }

    fn finished(&mut self, _: &Measurement) -> io::Result<()> {
        self.rows += 1;
        if self.broken { Err(io::Error::other("disk full")) } else { Ok(()) }
    }

    fn skipped(&mut self, _: &Skipped) {
        self.skipped += 1;
    }
}

/// A host with small caches, so that workloads are small.
fn small_host() -> Host {
    Host { l2_bytes: Some(32 << 10), ..host::detect() }
}

fn options(stop: &AtomicBool) -> Options<'_> {
    Options {
        // Rounds end a run, however slow the machine.
        budget: Duration::from_secs(60),
        sampling: Sampling {
            min_rounds: 8,
            max_rounds: 12,
            min_sample: Duration::from_micros(200),
            ..Sampling::default()
        },
        cache: Wanted::Hot,
        seed: 7,
        stop,
        ceilings: None,
        sampler: None,
        argv: vec!["bench".to_owned()],
    }
}

fn measure(suite: &Suite, devices: &[&dyn Device], log: &mut Log) -> Result<Outcome, BenchError> {
    let stop = AtomicBool::new(false);
    let reference = Reference::new();
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let contenders: Vec<Contender<'_>> = devices.iter().map(|&device| Contender::new(device)).collect();
    run_suite(suite, &contenders, &judges, &small_host(), &options(&stop), log)
}

fn all(devices: &[Puppet]) -> Vec<&dyn Device> {
    devices.iter().map(|device| -> &dyn Device { device }).collect()
}

fn custom(algorithm: &str, operation: &str) -> Custom {
    Custom {
        algorithm: algorithm.parse().expect("a known algorithm"),
        operation: operation.parse().expect("a known operation"),
        lengths: 100.into(),
        messages: Some(40),
        keys: Keys::Distinct,
        input: None,
    }
}

#[test]
fn a_row_says_what_it_is() {
    let mut log = Log::default();
    let device = Puppet::new("cpu", Manner::Right);
    let outcome = measure(&Suite::of(&["meter-128"], &[1]).unwrap(), &[&device], &mut log).unwrap();
    let [row] = &outcome.rows[..] else { panic!("{outcome:?}") };
    assert_eq!((&*row.workload, &*row.algorithm, &*row.operation), ("meter-128", "aes-mixed-gcm", "mixed"));
    assert_eq!((&*row.device, &*row.kernel, row.threads), ("cpu", "aes-gcm/reference/x1", 1));
    assert_eq!((row.message_bytes, row.keys, row.scope.tag), (128, Keys::Distinct, Tag::Both));
    assert!(row.verified && row.bytes_per_second > 0.0 && row.best_rival.is_none());
    // Half are sealed; of the other half, half have a wrong tag.
    let planned: u64 = row.parts.iter().map(|part| part.planned_rejects).sum();
    assert_eq!(planned * 4, row.messages);
    let looked_at = row.checks.messages / row.messages;
    assert_eq!(row.checks.planned_rejects, looked_at * planned);
    assert!(looked_at as usize > row.summary.n, "every sample and the warm-up are looked at");
    assert_eq!(row.parts.len(), 6);
    // Medians of parts add up to that of the whole, but where stalls hit different ones.
    let is_close = |row: &Measurement| {
        let whole: f64 = row.parts.iter().map(|part| part.median_seconds).sum();
        (whole / row.summary.median_seconds - 1.0).abs() < 0.3
    };
    let again = || measure(&Suite::of(&["meter-128"], &[1]).unwrap(), &[&device], &mut Log::default());
    assert!(is_close(row) || (0..5).any(|_| is_close(&again().unwrap().rows[0])));
    assert_eq!((log.rows, log.skipped), (1, 0));
    assert!(log.progress.is_sorted() && log.progress.iter().all(|done| (0.0..=1.0).contains(done)));
}

#[test]
fn every_sample_is_kept_and_superseded_ones_are_not_summarised() {
    let device = Puppet::new("cpu", Manner::Right);
    let suite = Suite::custom(&custom("aes-128-gcm", "seal"), &[1]);
    let outcome = measure(&suite, &[&device], &mut Log::default()).unwrap();
    let row = &outcome.rows[0];
    let kept = row.samples.iter().filter(|sample| !sample.superseded).count();
    assert_eq!(kept, row.summary.n);
    let rounds: std::collections::BTreeSet<usize> = row.samples.iter().map(|sample| sample.round).collect();
    assert_eq!(rounds.len(), kept, "one sample a round counts");
    assert!(row.samples.iter().filter(|sample| sample.superseded).all(|sample| sample.preempted));
    assert!(row.samples.iter().all(|sample| sample.cpu_seconds.is_some()));
}

#[test]
fn the_best_rival_stands_beside_our_row() {
    let devices = [
        Puppet::new("cpu", Manner::Right),
        Puppet::new("rival:slow", Manner::Slow),
        Puppet::new("rival:wrong", Manner::WrongText),
    ];
    let devices = all(&devices);
    let suite = Suite::custom(&custom("aes-128-ctr", "encrypt"), &[1]);
    let outcome = measure(&suite, &devices, &mut Log::default()).unwrap();
    let [cpu, slow, wrong] = &outcome.rows[..] else { panic!("{outcome:?}") };
    let best = cpu.best_rival.as_ref().unwrap();
    // Not the wrong one, though it is faster.
    assert_eq!((&*best.rival, &*best.rival_name), ("rival:slow", "rival:slow 1.0"));
    assert!(best.ratio > 1.2 && best.verdict == Verdict::Faster, "{best:?}");
    assert!(slow.best_rival.is_none() && wrong.best_rival.is_none());
    assert!(cpu.verified && slow.verified && !wrong.verified);
}

/// The rows of `manner` as the CPU and of a rival that cuts no message, of `messages` messages on `threads` threads.
fn beside_whole_messages(manner: Manner, messages: usize, threads: usize) -> [Measurement; 2] {
    let devices = [Puppet::new("cpu", manner), Puppet::new("rival:whole", Manner::CutsNone)];
    let sizes =
        Custom { messages: Some(messages), lengths: 20_000.into(), ..custom("aes-128-ctr", "encrypt") };
    let suite = Suite::custom(&sizes, &[threads]);
    let outcome = measure(&suite, &all(&devices), &mut Log::default()).expect("judges that agree");
    outcome.rows.try_into().expect("a row each")
}

#[test]
fn a_row_says_where_its_rival_had_fewer_threads() {
    let said = |messages, threads| {
        let [cpu, rival] = beside_whole_messages(Manner::Cuts, messages, threads);
        let counts = (cpu.threads, rival.threads);
        let of_threads = |row: &Measurement| {
            row.warnings.iter().filter(|text| text.contains(" ran on ")).cloned().collect::<Vec<_>>()
        };
        assert!(of_threads(&rival).is_empty(), "{:?}", rival.warnings);
        (counts, of_threads(&cpu))
    };
    let one = "rival:whole ran on 1 thread, not on 2: it cannot split one message";
    assert_eq!(said(1, 2), ((2, 1), vec![one.to_owned()]));
    let three = "rival:whole ran on 3 threads, not on 4: it cannot split a message";
    assert_eq!(said(3, 4), ((4, 3), vec![three.to_owned()]));
    assert_eq!(said(2, 2), ((2, 2), Vec::new()));
    assert_eq!(said(1, 1), ((1, 1), Vec::new()));
}

#[test]
fn a_row_has_the_threads_that_found_work() {
    let [cpu, rival] = beside_whole_messages(Manner::CutsNone, 1, 2);
    assert_eq!((cpu.threads, rival.threads), (1, 1));
    let told = "1 thread of 2 had work: these messages are not cut, and there are too few for more";
    assert!(cpu.warnings.iter().any(|text| text == told), "{:?}", cpu.warnings);
    assert!(!rival.warnings.iter().any(|text| text.contains("had work")), "{:?}", rival.warnings);
    assert_eq!(cpu.cycles_per_byte, cpu.core_clock_hertz.map(|hertz| hertz / cpu.bytes_per_second));
    // Interruptions show where one thread does the work, however many were asked for.
    assert!(cpu.samples.iter().all(|sample| sample.cpu_seconds.is_some()));
    // The message fits two caches, and not one.
    let [split, _] = beside_whole_messages(Manner::Cuts, 1, 2);
    assert_eq!((cpu.scope.cache.name(), split.scope.cache.name()), ("cold", "hot"));
}

#[test]
fn wrong_outputs_are_counted_and_never_verified() {
    let all = 40;
    for (manner, operation, wrong) in
        [(Manner::WrongText, "seal", 1), (Manner::WrongText, "open", 1), (Manner::Lazy, "seal", all)]
    {
        let device = Puppet::new("cpu", manner);
        let suite = Suite::custom(&custom("aes-256-gcm", operation), &[1]);
        let outcome = measure(&suite, &[&device], &mut Log::default()).unwrap();
        let row = &outcome.rows[0];
        assert!(!row.verified && row.checks.unexpected >= wrong, "{operation}: {:?}", row.checks);
        assert!(row.warnings.iter().any(|warning| warning.contains("wrong")), "{:?}", row.warnings);
    }
    let gullible = Puppet::new("cpu", Manner::Gullible);
    let suite = Suite::of(&["meter-128"], &[1]).unwrap();
    let row = &measure(&suite, &[&gullible], &mut Log::default()).unwrap().rows[0];
    assert_eq!(row.checks.planned_rejects, 0);
    assert_eq!(row.checks.unexpected * 4, row.checks.messages, "each planned reject was accepted");
}

#[test]
fn what_cannot_be_measured_says_why() {
    let mut log = Log::default();
    let devices = [Puppet::new("cpu", Manner::Right), Puppet::new("rival:frail", Manner::Failing)];
    let devices = all(&devices);
    // The reference runs on one thread only.
    let suite = Suite::custom(&custom("aes-128-ecb", "encrypt"), &[1]);
    let outcome = measure(&suite, &devices, &mut log).unwrap();
    assert!(outcome.rows.is_empty(), "100 bytes are no whole blocks");
    assert!(outcome.skipped[0].reason.contains("whole blocks"), "{:?}", outcome.skipped);
    let outcome = measure(&Suite::custom(&custom("aes-128-ctr", "seal"), &[1]), &devices, &mut log).unwrap();
    assert!(outcome.skipped[0].reason.contains("cannot seal"), "{:?}", outcome.skipped);
    let outcome =
        measure(&Suite::custom(&custom("aes-128-ctr", "encrypt"), &[1, 2]), &devices, &mut log).unwrap();
    assert_eq!(outcome.rows.len(), 1);
    let reasons: Vec<&str> = outcome.skipped.iter().map(|skipped| &*skipped.reason).collect();
    assert!(reasons[0].contains("a string broke") && reasons[1].contains("threads"), "{reasons:?}");
    assert_eq!(outcome.skipped[0].device.as_deref(), Some("rival:frail"));
    assert_eq!(log.skipped, 5);
}

#[test]
fn judges_that_differ_stop_the_run() {
    let (reference, wrong) = (Reference::new(), Puppet::new("fast", Manner::WrongText));
    let judges = Judges { fast: Contender::new(&wrong), readable: Contender::new(&reference) };
    let stop = AtomicBool::new(false);
    let contenders = [Contender::new(&reference)];
    for operation in ["seal", "open"] {
        let suite = Suite::custom(&custom("aes-192-gcm", operation), &[1]);
        let mut log = Log::default();
        let error = run_suite(&suite, &contenders, &judges, &small_host(), &options(&stop), &mut log);
        match error {
            Err(BenchError::Judge { error: JudgeError::Disagree { fast, .. }, .. }) => {
                assert_eq!(fast, "fast");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(log.rows, 0);
    }
}

#[test]
fn a_stopped_run_keeps_finished_rows_and_drops_the_rest() {
    /// Stops after the first row.
    struct StopAfterOne<'a>(&'a AtomicBool);
    impl Observer for StopAfterOne<'_> {
        fn finished(&mut self, _: &Measurement) -> io::Result<()> {
            self.0.store(true, Ordering::Relaxed);
            Ok(())
        }
    }
    let stop = AtomicBool::new(false);
    let reference = Reference::new();
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let suite = Suite::of(&["tls-16k", "disk-4k"], &[1]).unwrap();
    assert_eq!(suite.points.len(), 4);
    let contenders = [Contender::new(&reference)];
    let observer = &mut StopAfterOne(&stop);
    let outcome = run_suite(&suite, &contenders, &judges, &small_host(), &options(&stop), observer).unwrap();
    assert!(outcome.stopped);
    assert_eq!(outcome.rows.len(), 1);
}

/// Wants to see what comes out of a device, which it breaks first.
#[derive(Default)]
struct Breaks {
    rows: usize,
    without: Vec<String>,
    skipped: usize,
}

impl Observer for Breaks {
    fn finished(&mut self, _: &Measurement) -> io::Result<()> {
        self.rows += 1;
        Ok(())
    }

    fn wants_outputs(&self, _: &Measurement) -> bool {
        BROKEN.store(true, Ordering::Relaxed);
        true
    }

    fn no_outputs(&mut self, row: &Measurement, reason: &str) {
        self.without.push(format!("{}: {reason}", row.algorithm));
    }

    fn skipped(&mut self, _: &Skipped) {
        self.skipped += 1;
    }
}

#[test]
fn a_row_without_outputs_to_show_was_measured_all_the_same() {
    let stop = AtomicBool::new(false);
    let (reference, device) = (Reference::new(), Puppet::new("cpu", Manner::Told));
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let suite = Suite::custom(&custom("aes-128-xts", "encrypt"), &[1]);
    let (mut breaks, done) = (Breaks::default(), Done::default());
    // As experiments run that go on with a file.
    let observer = &mut Missing::new(&done, &mut breaks);
    let contenders = [Contender::new(&device)];
    let outcome = run_suite(&suite, &contenders, &judges, &small_host(), &options(&stop), observer).unwrap();
    assert_eq!((outcome.rows.len(), outcome.skipped.len()), (1, 0));
    assert_eq!((breaks.rows, breaks.skipped), (1, 0));
    assert!(breaks.without[0].contains("aes-128-xts: ") && breaks.without[0].contains("a string broke"));
}

#[test]
fn a_row_that_cannot_be_kept_ends_the_run() {
    let device = Puppet::new("cpu", Manner::Right);
    let suite = Suite::custom(&custom("aes-128-xts", "encrypt"), &[1]);
    let mut log = Log { broken: true, ..Log::default() };
    let error = measure(&suite, &[&device], &mut log).unwrap_err();
    assert!(error.to_string().contains("disk full"), "{error}");
}

#[test]
fn an_input_file_is_cut_into_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    std::fs::write(&path, vec![9; 250]).unwrap();
    let device = Puppet::new("cpu", Manner::Right);
    let mut of_file = Custom { messages: None, input: Some(path), ..custom("aes-128-gcm", "open") };
    let outcome = measure(&Suite::custom(&of_file, &[1]), &[&device], &mut Log::default()).unwrap();
    assert_eq!((outcome.rows[0].messages, outcome.rows[0].bytes), (3, 250));
    of_file.messages = Some(2);
    let outcome = measure(&Suite::custom(&of_file, &[1]), &[&device], &mut Log::default()).unwrap();
    assert_eq!((outcome.rows[0].messages, outcome.rows[0].bytes), (2, 200));
    of_file.messages = Some(3);
    let outcome = measure(&Suite::custom(&of_file, &[1]), &[&device], &mut Log::default()).unwrap();
    assert!(outcome.skipped[0].reason.contains("too few"), "{:?}", outcome.skipped);
    of_file.lengths = 0.into();
    let outcome = measure(&Suite::custom(&of_file, &[1]), &[&device], &mut Log::default()).unwrap();
    assert!(outcome.skipped[0].reason.contains("at least 1 byte"), "{:?}", outcome.skipped);
}

/// Each length from the least to the most that the algorithm takes is there as often as any other, and the row's name tells.
#[test]
fn messages_have_all_lengths_of_a_range() {
    let device = Puppet::new("cpu", Manner::Right);
    for (algorithm, operation, workload, mean) in
        [("aes-128-cbc", "encrypt", "lengths-10-100", 56), ("aes-128-gcm", "seal", "lengths-0-79", 40)]
    {
        let (least, most) = workload["lengths-".len()..].split_once('-').unwrap();
        let lengths = Lengths::between(least.parse().unwrap(), most.parse().unwrap()).unwrap();
        let sizes = Custom { lengths, messages: Some(240), ..custom(algorithm, operation) };
        let outcome = measure(&Suite::custom(&sizes, &[1]), &[&device], &mut Log::default()).unwrap();
        let [row] = &outcome.rows[..] else { panic!("{outcome:?}") };
        assert_eq!((&*row.workload, row.message_bytes, row.messages), (workload, mean, 240));
        assert!(row.verified);
    }
    // No whole block is that long, and a file is cut into messages of one length.
    let (none, input) = (Lengths::between(17, 31).unwrap(), Some("/dev/null".into()));
    assert!(check("sm4-ecb".parse().unwrap(), Operation::Encrypt, none).is_err());
    let of_file = Custom { lengths: none, input, ..custom("aes-128-gcm", "seal") };
    let error = of_file.check().unwrap_err().to_string();
    assert!(error.contains("17 B to 31 B; give one size"), "{error}");
}

#[test]
fn empty_messages_and_impossible_sizes_are_no_panic() {
    let device = Puppet::new("cpu", Manner::Right);
    let mut sizes = Custom { lengths: 0.into(), ..custom("aes-128-gcm", "seal") };
    let row = measure(&Suite::custom(&sizes, &[1]), &[&device], &mut Log::default()).unwrap().rows.remove(0);
    assert_eq!((row.bytes_per_second, row.cycles_per_byte, row.verified), (0.0, None, true));
    assert!(row.messages_per_second > 0.0);
    sizes.lengths = (usize::MAX / 2).into();
    let outcome = measure(&Suite::custom(&sizes, &[1]), &[&device], &mut Log::default()).unwrap();
    assert!(outcome.skipped[0].reason.contains("memory"), "{:?}", outcome.skipped);
    sizes = Custom { lengths: 1.into(), messages: Some(0), ..sizes };
    let outcome = measure(&Suite::custom(&sizes, &[1]), &[&device], &mut Log::default()).unwrap();
    assert!(outcome.skipped[0].reason.contains("at least 1"), "{:?}", outcome.skipped);
}

/// What a GPU does with messages of no bytes: it launches nothing. A rate of its kernels would be no number.
#[test]
fn kernels_that_take_no_time_have_no_row() {
    let device = Puppet::new("cuda:0", Manner::Timeless);
    let suite = Suite::custom(&custom("aes-128-ctr", "encrypt"), &[1]);
    let outcome = measure(&suite, &[&device], &mut Log::default()).unwrap();
    let [row] = &outcome.rows[..] else { panic!("{outcome:?}") };
    assert_eq!(row.scope.transfer, Transfer::None, "what goes there and back takes time");
    let [skipped] = &outcome.skipped[..] else { panic!("{outcome:?}") };
    assert_eq!(skipped.device.as_deref(), Some("cuda:0"));
    assert!(skipped.reason.contains("take no time"), "{}", skipped.reason);
}

/// The run that is not timed makes all that is right, and those that are timed make nothing.
#[test]
fn what_is_looked_at_on_a_device_was_made_by_the_runs_that_were_timed() {
    let device = Puppet::new("cuda:0", Manner::Stale);
    let suite = Suite::custom(&custom("aes-128-ctr", "encrypt"), &[1]);
    let outcome = measure(&suite, &[&device], &mut Log::default()).unwrap();
    let of_kernels = outcome.rows.iter().find(|row| row.scope.transfer == Transfer::Excluded).unwrap();
    assert!(!of_kernels.verified);
}

/// A load of the same process gets CPU time of its own, which is no work of the sample.
#[test]
fn samples_that_are_interrupted_are_marked_under_a_load() {
    let load = CpuLoad::start(1.0).unwrap();
    // It sleeps in each pass, as a thread does that waits for its CPU.
    let device = Puppet::new("cpu", Manner::Slow);
    let suite = Suite::custom(&custom("aes-128-ctr", "encrypt"), &[1]);
    let outcome = measure(&suite, &[&device], &mut Log::default()).unwrap();
    drop(load);
    let row = &outcome.rows[0];
    assert!(row.samples.iter().all(|sample| sample.preempted), "{:?}", row.samples);
}

#[test]
fn the_budget_is_kept() {
    let stop = AtomicBool::new(false);
    let reference = Reference::new();
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let suite = Suite::of(&["meter-128", "tls-16k", "disk-4k"], &[1]).unwrap();
    // More rounds than any machine gets through in the time: it alone ends them.
    let sampling = Sampling {
        min_rounds: 20_000,
        max_rounds: 20_000,
        min_sample: Duration::from_micros(200),
        ..Sampling::default()
    };
    let options = Options { budget: Duration::from_millis(500), sampling, ..options(&stop) };
    let outcome = run_suite(
        &suite,
        &[Contender::new(&reference)],
        &judges,
        &small_host(),
        &options,
        &mut Log::default(),
    )
    .unwrap();
    assert_eq!(outcome.rows.len(), 5);
    let is_short = |row: &Measurement| row.warnings.iter().any(|text| text.contains("fit the time"));
    assert!(outcome.rows.iter().all(is_short), "{outcome:?}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn cold_rows_say_so() {
    let stop = AtomicBool::new(false);
    let reference = Reference::new();
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let suite = Suite::custom(&custom("aes-128-ctr", "decrypt"), &[1]);
    let options = Options { cache: Wanted::Cold, ..options(&stop) };
    let contenders = [Contender::new(&reference)];
    let outcome =
        run_suite(&suite, &contenders, &judges, &small_host(), &options, &mut Log::default()).unwrap();
    let row = &outcome.rows[0];
    assert_eq!((row.scope.cache.name(), row.passes_per_sample), ("cold", 1));
    assert!(row.verified);
}

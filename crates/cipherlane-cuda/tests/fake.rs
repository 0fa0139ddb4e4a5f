//! The whole way through CUDA without a GPU: a fake driver and compiler run the kernels as host C.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)] // as tests do

#[path = "../../cipherlane-offload/tests/exam/bound.rs"]
mod bound;
#[path = "fake/captured.rs"]
mod captured;
#[path = "fake/counted.rs"]
mod counted;
#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
#[allow(dead_code)] // the examples use all of it
mod exam;
#[path = "fake/fleet.rs"]
mod fleet;
#[path = "fake/foreign.rs"]
mod foreign;
#[path = "fake/logged.rs"]
mod logged;
#[path = "fake/pinned.rs"]
mod pinned;
#[path = "../../cipherlane-offload/tests/exam/streams.rs"]
mod streams;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cipherlane_core::{Algorithm, Batch, Column, Device, Messages, Operation, Output, Shape, Source, Wish};
use cipherlane_offload::Member;

/// Set in the processes that the tests start.
const ROLE: &str = "CIPHERLANE_TEST_ROLE";

/// The fake library, or `None` with a line that says so where no C compiler makes one.
fn library(folder: &Path) -> Option<PathBuf> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let path = folder.join("libfake.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake/cuda.c");
    let made = Command::new(&compiler)
        .args(["-std=gnu11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
        .args([&path, &source])
        .args(["-ldl", "-pthread"])
        .status();
    if made.as_ref().is_ok_and(std::process::ExitStatus::success) {
        return Some(path);
    }
    assert!(std::env::var_os("CIPHERLANE_CI").is_none(), "{compiler} makes no fake driver: {made:?}");
    eprintln!("NOT CHECKED: sessions through CUDA: {compiler}: {made:?}");
    None
}

/// Runs `role` in a process that has the fake library for driver and compiler. Returns what it said, and whether it
/// went well.
fn run(role: &str, variables: &[(&str, &str)]) -> Option<(String, bool)> {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path())?;
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", role, "--nocapture"])
        .env(ROLE, role)
        .env(cipherlane_cuda::driver::VARIABLE, &library)
        .env(cipherlane_cuda::compile::VARIABLE, &library)
        .env(cipherlane_offload::cache::VARIABLE, folder.path().join("cache"))
        .env("FAKE_FOLDER", folder.path())
        .env("RUST_BACKTRACE", "0")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    Some((said, output.status.success()))
}

/// How many programs were loaded by now.
fn loads() -> usize {
    let folder = std::env::var("FAKE_FOLDER").unwrap();
    std::fs::read_to_string(Path::new(&folder).join("loads")).unwrap_or_default().lines().count()
}

fn is_role(role: &str) -> bool {
    std::env::var(ROLE).is_ok_and(|set| set == role)
}

/// Not a test of its own: the exam on the fake GPU.
#[test]
fn sit_exam() {
    if !is_role("sit_exam") {
        return;
    }
    let devices = cipherlane_cuda::devices().unwrap();
    let names = ["aes-128-ctr".to_owned(), "aes-128-gcm".to_owned()];
    let outcomes = exam::sit(&devices[0], &names, "banked1", names.len(), |_| {});
    assert_eq!(outcomes.len(), names.len());
    for outcome in outcomes {
        let (checks, kernels) = outcome.result.unwrap().unwrap_or_else(|failure| panic!("{failure}"));
        println!("{}: {checks} batches by {kernels:?} in {:?}", outcome.algorithm, outcome.time);
        assert!(checks > 100 && !kernels.is_empty());
    }
}

#[test]
fn the_fake_gpu_passes_the_exam() {
    if let Some((said, passed)) = run("sit_exam", &[]) {
        assert!(passed, "{said}");
        println!("{said}");
    }
}

/// Not a test of its own: a GPU that fails in the middle of a message that is opened, and where it is stored.
#[test]
fn lose_the_gpu() {
    const BYTES: usize = 5 << 20;
    if !is_role("lose_the_gpu") {
        return;
    }
    let device = &cipherlane_cuda::devices().unwrap()[0];
    let algorithm: Algorithm = "aes-128-gcm".parse().unwrap();
    // By a kernel that asks for no tensor cores, which the fake lacks.
    let kernel = Some("aes-gcm/banked1/x1".to_owned());
    let wish = Wish { chunk: Some(1 << 20), kernel, ..Wish::default() };
    let plan =
        |operation| device.plan(&Shape::uniform(algorithm, operation, 1, BYTES as u64, true), &wish).unwrap();
    let open = |operation| device.open(&plan(operation)).unwrap();
    let (keys, nonces, aad) = (Column::Shared(&[7; 16]), Column::Shared(&[9; 12]), Column::Shared(&[]));
    let messages = |source| Messages { source, offsets: &[0, BYTES as u64] };
    let (mut sealed, mut tag) = (vec![0x5a; BYTES], [0; 16]);
    let batch = Batch::seal(algorithm, keys, nonces, aad, messages(Source::InPlace));
    open(Operation::Seal).run(&batch, &mut Output::sealed(&mut sealed, &mut tag)).unwrap();
    let mut session = open(Operation::Open);
    let mut resident = device.resident(&plan(Operation::Open)).unwrap().unwrap();
    let failing = Path::new(&std::env::var("FAKE_FOLDER").unwrap()).join("failing");
    for in_place in [true, false] {
        let (mut text, mut accepted) = (sealed.clone(), [true]);
        let source = if in_place { Source::InPlace } else { Source::Apart(&sealed) };
        let batch = Batch::open(algorithm, keys, nonces, aad, messages(source), &tag);
        std::fs::write(&failing, "2 ").unwrap();
        let error = session.run(&batch, &mut Output::opened(&mut text, &mut accepted)).unwrap_err();
        assert!(error.to_string().contains("719"), "{error}");
        assert!(text.iter().all(|&byte| byte == 0), "text that no tag vouches for, in place: {in_place}");
        assert_eq!(accepted, [false], "in place: {in_place}");
        std::fs::remove_file(&failing).unwrap();

        let (mut text, mut accepted) = (sealed.clone(), [true]);
        let mut output = Output::opened(&mut text, &mut accepted);
        resident.load(&batch, &mut output).unwrap();
        resident.execute().unwrap();
        std::fs::write(&failing, "2 ").unwrap();
        let error = resident.store(&batch, &mut output).unwrap_err();
        assert!(error.to_string().contains("719"), "{error}");
        assert!(text.iter().all(|&byte| byte == 0), "text that stayed there, in place: {in_place}");
        assert_eq!(accepted, [false], "of text that stayed there, in place: {in_place}");
        std::fs::remove_file(&failing).unwrap();
    }
}

#[test]
fn no_text_is_left_by_a_gpu_that_fails() {
    if let Some((said, passed)) = run("lose_the_gpu", &[]) {
        assert!(passed, "{said}");
    }
}

/// Not a test of its own: data that stays on the GPU, and pinned memory.
#[test]
fn keep_data() {
    if !is_role("keep_data") {
        return;
    }
    let device = &cipherlane_cuda::devices().unwrap()[0];
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    let plan = device
        .plan(&Shape::uniform(algorithm, Operation::Encrypt, 1, 70_000, true), &Wish::default())
        .unwrap();
    assert!(plan.constant_time, "{plan:?}");
    let (mut input, mut output) = (device.host_memory(70_000).unwrap(), device.host_memory(70_000).unwrap());
    input.iter_mut().enumerate().for_each(|(index, byte)| *byte = (index % 251) as u8);
    let batch = Batch::cipher(
        algorithm,
        Operation::Encrypt,
        Column::Shared(&[7; 16]),
        Column::Shared(&[9; 16]),
        Messages { source: Source::Apart(&input), offsets: &[0, 70_000] },
    );
    let mut expected = vec![0; 70_000];
    device.open(&plan).unwrap().run(&batch, &mut Output::text(&mut expected)).unwrap();
    device.open(&plan).unwrap().run(&batch, &mut Output::text(&mut output)).unwrap();
    assert!(output[..] == expected, "pinned memory came out different");
    output.fill(0);
    let mut resident = device.resident(&plan).unwrap().unwrap();
    assert!(resident.execute().unwrap_err().to_string().contains("call `load` first"));
    let before = loads();
    resident.load(&batch, &mut Output::text(&mut output)).unwrap();
    assert_eq!(loads(), before + 1, "the program is loaded once, and gives its known answer so");
    for _ in 0..2 {
        let spans = resident.execute().unwrap();
        assert!(spans.load.is_zero() && spans.store.is_zero() && !spans.execute.is_zero());
    }
    resident.store(&batch, &mut Output::text(&mut output)).unwrap();
    assert!(output[..] == expected, "data on the GPU came out different");
    let other = Batch { operation: Operation::Decrypt, ..batch };
    let error = resident.load(&other, &mut Output::text(&mut output)).unwrap_err().to_string();
    assert!(error.contains("aes-128-ctr decrypt"), "{error}");
    let [short, behind_it] = [&[0, 64], &[64, 128]]
        .map(|offsets: &[u64; 2]| Batch { messages: Messages { offsets, ..batch.messages }, ..batch });
    resident.load(&short, &mut Output::text(&mut output)).unwrap();
    resident.execute().unwrap();
    let error = resident.store(&behind_it, &mut Output::text(&mut output)).unwrap_err().to_string();
    assert!(error.contains("has not the sizes of the one that was loaded"), "{error}");
    let mut looked_at = 0;
    let mut is_right = |found: &Output<'_>| {
        looked_at += 1;
        found.bytes[..] == expected
    };
    let before = loads();
    let tuned = device.tune(&plan, &batch, &mut Output::text(&mut output), &mut is_right).unwrap().unwrap();
    assert_eq!(looked_at, tuned.tried.len(), "{tuned:?}");
    assert_eq!(loads(), before + looked_at, "{tuned:?}");
    let again = device.plan(&Shape { ..batch.check(&Output::text(&mut output)).unwrap() }, &Wish::default());
    assert_eq!(again.unwrap().geometry, Some(tuned.best.geometry), "{tuned:?}");
    let wrong = device.tune(&plan, &batch, &mut Output::text(&mut output), &mut |_| false).unwrap_err();
    assert!(wrong.to_string().contains("wrong output"), "{wrong}");
}

#[test]
fn data_stays_on_the_fake_gpu() {
    if let Some((said, passed)) = run("keep_data", &[]) {
        assert!(passed, "{said}");
    }
}

/// Not a test of its own: times stream by stream.
#[test]
fn tell_streams() {
    if is_role("tell_streams") {
        let device = Arc::new(cipherlane_cuda::devices().unwrap().swap_remove(0));
        let (text, mut made) = (device.host_memory(16 << 20).unwrap(), device.host_memory(16 << 20).unwrap());
        streams::check_reached(&*device, "banked1", &text, &mut made);
        let device: Arc<dyn Member> = device;
        streams::check(&device, "banked1");
    }
}

#[test]
fn streams_of_the_fake_gpu_agree_with_the_whole() {
    if let Some((said, passed)) = run("tell_streams", &[]) {
        assert!(passed, "{said}");
    }
}

/// Not a test of its own: says why there are no devices.
#[test]
fn say_reason() {
    if is_role("say_reason") {
        panic!("reason: {}", cipherlane_cuda::devices().unwrap_err());
    }
}

#[test]
fn a_code_that_nobody_knows_is_told() {
    if let Some((said, _)) = run("say_reason", &[("FAKE_INIT", "34567")]) {
        assert!(said.contains("reason: cuInit: error 34567, which this driver has no name for"), "{said}");
    }
    if let Some((said, _)) = run("say_reason", &[("FAKE_INIT", "803")]) {
        assert!(said.contains("restart the machine after a driver update"), "{said}");
    }
}

/// Not a test of its own: says why there is no session.
#[test]
fn open_session() {
    if is_role("open_session") {
        let device = &cipherlane_cuda::devices().unwrap()[0];
        let shape = Shape::uniform("aes-128-ctr".parse().unwrap(), Operation::Encrypt, 1, 70_000, true);
        let plan = device.plan(&shape, &Wish::default()).unwrap();
        panic!("reason: {}", device.open(&plan).err().unwrap());
    }
}

#[test]
fn a_driver_that_cannot_say_where_schedules_go_is_not_taken_for_one_without() {
    if let Some((said, _)) = run("open_session", &[("FAKE_GLOBAL", "2")]) {
        assert!(said.contains("cuModuleGetGlobal_v2: CUDA_ERROR_OUT_OF_MEMORY"), "{said}");
    }
}

/// Not a test of its own: says which GPUs there are.
#[test]
fn list_devices() {
    if is_role("list_devices") {
        let ids: Vec<_> =
            cipherlane_cuda::devices().unwrap().iter().map(|gpu| gpu.info().id.clone()).collect();
        println!("there are: {ids:?}");
    }
}

#[test]
fn a_gpu_that_cannot_say_what_it_is_hides_no_other() {
    if let Some((said, passed)) = run("list_devices", &[("FAKE_DEVICES", "3")]) {
        assert!(passed && said.contains("there are: [\"cuda:0\"]"), "{said}");
    }
}

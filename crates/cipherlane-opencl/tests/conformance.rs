//! Kernels through OpenCL sit the exam, on whatever devices the machine has: PoCL makes one of the CPU.
//!
//! Drivers take long to compile, PoCL minutes for kernels with tables and for GCM. So a few sit here: a hash, and a mode
//! with its default kernel. The example `check` puts all of them to it. Where there is no device, the test says `NOT CHECKED`; with `CIPHERLANE_REQUIRE_OPENCL` set it fails.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
#[allow(dead_code)] // the examples use all of it
mod exam;

use cipherlane_core::{Algorithm, Device, Geometry, Operation, Shape, Wish};
use cipherlane_kernels::probe::{Kernel, LANES, Steps};
use cipherlane_opencl::OpenClDevice;

/// The devices, or none with a line that says so.
fn devices() -> Vec<OpenClDevice> {
    match cipherlane_opencl::devices() {
        Ok(devices) => devices,
        Err(reason) if std::env::var_os("CIPHERLANE_REQUIRE_OPENCL").is_some() => panic!("{reason}"),
        Err(reason) => {
            eprintln!("NOT CHECKED: {reason}");
            Vec::new()
        }
    }
}

#[test]
fn every_device_passes_the_exam() {
    let sit = |device: &OpenClDevice, names: &[&str], kernel| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        exam::sit(device, &names, kernel, 2, |_| {})
    };
    for device in devices() {
        let mut outcomes = sit(&device, &["sha3-256"], "");
        outcomes.extend(sit(&device, &["aes-128-ctr"], "bitsliced"));
        for outcome in outcomes {
            let (checks, kernels) =
                outcome.result.unwrap_or_else(|| panic!("{} has no kernel", outcome.algorithm)).unwrap();
            assert!(
                checks > 20 && !kernels.is_empty(),
                "{}: {checks} of {kernels:?} in {:?}",
                outcome.algorithm,
                outcome.time
            );
        }
    }
}

#[test]
fn defaults_are_constant_time() {
    for device in devices() {
        for algorithm in Algorithm::all() {
            for &operation in algorithm.operations() {
                let shape = Shape::uniform(algorithm, operation, 1000, 1024, true);
                // What has no kernel yet is told by `check`.
                if device.kernels(&shape).is_empty() {
                    continue;
                }
                let plan = device.plan(&shape, &Wish::default()).unwrap();
                let any = device.kernels(&shape).iter().any(|kernel| kernel.constant_time);
                assert_eq!(plan.constant_time, any, "{plan:?}");
            }
        }
        let gcm = Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, 1000, 1024, true);
        let plan = device.plan(&gcm, &Wish::default()).unwrap();
        assert!(plan.constant_time, "{plan:?}");
        let error = device.plan(&gcm, &Wish { kernel: Some("x".to_owned()), ..Wish::default() }).unwrap_err();
        assert!(error.to_string().contains(&plan.kernel), "{error}");
        for (blocks, threads_per_block, streams) in
            [(0, 32, 3), (1 << 40, 32, 3), (1, 33, 3), (1, 1 << 20, 3), (1, 32, 0), (1, 32, 1 << 20)]
        {
            let edited = Geometry { blocks, threads_per_block, streams };
            let edited = cipherlane_core::Plan { geometry: Some(edited), ..plan.clone() };
            assert!(device.open(&edited).is_err(), "{edited:?}");
        }
    }
}

/// Probes give what they must, in several groups that start alike; with one chain or several in turns. A few of each kind,
/// for each takes a while to compile.
#[test]
fn probes_give_their_answers() {
    const FEW: [Steps; 10] = [
        Steps::Add,
        Steps::Wide,
        Steps::Lop3,
        Steps::Funnel,
        Steps::Prmt,
        Steps::F32Fma,
        Steps::F64Mul,
        Steps::LocalOneBank,
        Steps::ConstantApart,
        Steps::OperandsOdd,
    ];
    for device in devices() {
        let mut prober = device.prober().unwrap();
        for (index, steps) in FEW.into_iter().enumerate() {
            let kernel = Kernel::new(steps, index % 2 == 0, 64);
            assert!(prober.load(kernel).unwrap() > 0);
            for turns in [0, 3] {
                let launched = prober.launch(2, turns).unwrap();
                let answer = kernel.answer(turns);
                let wrong = launched.words.chunks(LANES).position(|group| group != answer);
                assert_eq!(wrong, None, "{steps:?}, {turns} turns: a group differs");
                assert_eq!((launched.words.len(), launched.clocks.len()), (128, 2));
            }
        }
        let refused = prober.load(Kernel::new(Steps::MatrixBits, false, 64)).unwrap_err();
        assert!(refused.to_string().contains("matrices"), "{refused}");
        assert!(prober.launch(1, 1).is_err(), "nothing is loaded");
    }
}

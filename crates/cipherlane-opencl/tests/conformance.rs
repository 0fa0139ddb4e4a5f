//! Kernels through OpenCL sit the exam, on whatever devices the machine has: PoCL makes one of the CPU.
//!
//! Drivers take long to compile, PoCL minutes for kernels with tables and for GCM. So a few sit here: a hash, and a mode
//! with its default kernel. The example `check` puts all of them to it. Where there is no device, the test says `NOT CHECKED`; with `CIPHERLANE_REQUIRE_OPENCL` set it fails.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
#[allow(dead_code)] // the examples use all of it
mod exam;

use cipherlane_core::{Algorithm, Device, Geometry, Operation, Shape, Wish};
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

//! The page beside a device that launches kernels: a GPU where there is one, else OpenCL on the CPU (PoCL).
//!
//! Where there is none, the test says `NOT TESTED`; with `CIPHERLANE_REQUIRE_OPENCL` set, as CI does, it fails.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "support/page.rs"]
mod page;
mod support;

use std::sync::Arc;

use cipherlane::Device;
use cipherlane_record::{Geometry, Transfer};
use page::chromium::Browser;
use page::{SUBMIT, choose, click, text};
use serde_json::json;
use support::Served;

/// The first device with kernels of its own.
fn launching() -> Option<Arc<dyn Device>> {
    let (devices, absent) = cipherlane::devices::find();
    let found = devices.into_iter().find(|device| device.info().id != "cpu");
    if found.is_none() {
        let reasons: Vec<&str> = absent.iter().map(|absent| absent.reason.as_str()).collect();
        let reasons = reasons.join("; ");
        assert!(std::env::var_os("CIPHERLANE_REQUIRE_OPENCL").is_none(), "{reasons}");
        eprintln!("NOT TESTED: that the dashboard chooses blocks and streams. {reasons}");
    }
    found
}

/// Whether all parts of the form that are for devices of this kind are shown.
fn offers(browser: &mut Browser, kind: &str) -> bool {
    let parts =
        format!("[...document.querySelectorAll('[data-for={kind}]')].every(part => part.checkVisibility())");
    browser.evaluate(&parts) == json!(true)
}

#[test]
fn blocks_and_streams_are_chosen_where_kernels_are_launched() {
    let Some(device) = launching() else { return };
    let id = device.info().id.clone();
    let serve = || Served::beside(device);
    let Some((served, mut browser)) = page::opened("blocks and streams on the dashboard", 1280, serve) else {
        return;
    };
    let browser = &mut browser;
    choose(browser, &[("device", "cpu")]);
    assert!(offers(browser, "threads") && !offers(browser, "launches"));
    choose(browser, &[("device", &id)]);
    assert!(offers(browser, "launches") && !offers(browser, "threads"));

    let job =
        [("workload", "custom"), ("algorithm", "sha3-256"), ("message_bytes", "128"), ("messages", "512")];
    choose(browser, &job);
    choose(browser, &[("blocks", "0")]);
    browser.wait("document.querySelector('#plan.bad') !== null");
    assert!(text(browser, "#plan").contains("blocks must be 1 to"));
    choose(browser, &[("blocks", "2"), ("threads_per_block", "64"), ("streams", "2"), ("seconds", "5")]);
    browser.wait("document.getElementById('plan').textContent.includes('2 blocks of 64 threads, 2 streams')");
    click(browser, SUBMIT);
    browser.wait("document.querySelectorAll('#run-rows tr').length === 1");
    // Its kernel is compiled first, which takes longer than any answer of the page.
    served.wait_for_state(1, "finished");
    choose(browser, &[("blocks", "4"), ("streams", ""), ("resident", "yes")]);
    browser.wait("document.getElementById('plan').textContent.includes('4 blocks of 64 threads')");
    click(browser, SUBMIT);
    browser.wait("document.querySelectorAll('#run-rows tr').length === 2");
    served.wait_for_state(2, "finished");

    let rows = served.rows();
    let launches: Vec<_> = rows.iter().map(|row| (row.geometry.unwrap(), row.scope.transfer)).collect();
    let launched = |blocks, streams| Geometry { blocks, threads_per_block: 64, streams };
    // What stays on the device needs one stream.
    assert_eq!(launches, [(launched(2, 2), Transfer::Included), (launched(4, 1), Transfer::Excluded)]);
    assert!(rows.iter().all(|row| row.device == id && row.verified && row.checks.messages > 0));
    browser.wait("document.querySelectorAll('#run-rows tr').length === 2");
    assert!(text(browser, "#run-rows").contains("2 blocks, 64 threads each, 2 streams"));
    let complaints = browser.complaints();
    assert!(complaints.len() == 1 && complaints[0].contains("422"), "not the refusal alone: {complaints:?}");
}

//! The stream of events, and what becomes of runs when pages close.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use std::time::Duration;

use serde_json::{Value, json};
use support::{Served, small};

/// The events of a stream.
fn events(lines: impl Iterator<Item = String>) -> impl Iterator<Item = Value> {
    lines.filter_map(|line| Some(serde_json::from_str(line.strip_prefix("data: ")?).unwrap()))
}

/// The numbers of the runs that an event tells of.
fn told(event: &Value) -> Vec<u64> {
    event["runs"].as_array().unwrap().iter().map(|run| run["id"].as_u64().unwrap()).collect()
}

/// A run that goes on until it is stopped, and pauses: it leaves the CPU to others while the test waits.
fn pausing(served: &Served) -> u64 {
    let id = served.run(&small(None));
    served.wait_for_samples(id);
    assert_eq!(served.command(id, "pause"), 204);
    served.wait_for_state(id, "paused");
    id
}

/// With many runs behind them, four events a second would be of what every page has.
#[test]
fn an_event_tells_of_the_runs_that_changed() {
    let served = Served::start();
    let finished = served.run(&small(Some(0.1)));
    served.wait_for_state(finished, "finished");
    let (measures, waits) = (served.run(&small(None)), served.run(&small(None)));
    served.wait_for_samples(measures);
    let mut page = events(served.listen());
    assert_eq!(told(&page.next().unwrap()), [finished, measures, waits]);
    // A busy machine may have no news of it for a while.
    for _ in 0..3 {
        let next = page.by_ref().map(|event| told(&event)).find(|runs| !runs.is_empty());
        assert_eq!(next, Some(vec![measures]));
    }
    served.command(waits, "stop");
    let of_waiting = |event: Value| event["runs"].as_array()?.iter().find(|run| run["id"] == waits).cloned();
    let view = page.by_ref().find_map(of_waiting).unwrap();
    assert_eq!(view["state"], json!("cancelled"));
    assert_eq!(told(&served.first_event()), [finished, measures, waits], "a page that comes later");
}

/// Browsers ask for another stream after up to 5 s, and sooner if they are told to.
#[test]
fn a_page_that_loses_its_stream_stops_no_run() {
    let served = Served::start();
    let id = pausing(&served);
    let mut page = served.listen();
    assert!(page.any(|line| line == "retry: 500"));
    assert_eq!(served.post("/api/stop-on-close", &json!({"stop": true})).status, 204);
    drop(page);
    std::thread::sleep(Duration::from_secs(6));
    let _page = served.listen();
    std::thread::sleep(ABSENCE.saturating_sub(Duration::from_secs(5)));
    assert_eq!(served.view(id)["state"], "paused");
}

/// Longer than a page may be away.
const ABSENCE: Duration = Duration::from_secs(12);

#[test]
fn runs_are_stopped_when_the_last_page_is_closed_if_one_asked_for_it() {
    let served = Served::start();
    let id = pausing(&served);
    let (first, second) = (served.listen(), served.listen());
    let is_asked = || served.first_event()["stop_on_close"] == json!(true);
    assert!(!is_asked());
    assert_eq!(served.post("/api/stop-on-close", &json!({"stop": true})).status, 204);
    drop(first);
    std::thread::sleep(ABSENCE);
    assert_eq!(served.view(id)["state"], "paused", "a page is open");
    assert!(is_asked(), "whichever page it was that asked");
    drop(second);
    served.wait_for_state(id, "finished");
    assert!(!is_asked(), "runs to come were not meant");
}

#[test]
fn what_is_taken_back_stops_no_run() {
    let served = Served::start();
    let id = pausing(&served);
    let page = served.listen();
    for stop in [true, false] {
        assert_eq!(served.post("/api/stop-on-close", &json!({"stop": stop})).status, 204);
    }
    drop(page);
    std::thread::sleep(ABSENCE);
    assert_eq!(served.view(id)["state"], "paused");
}

//! `dashboard`: its address, its door, and its end.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use support::Sandbox;

/// The answer to `GET /` or the like, with a body.
fn ask(host: &str, what: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn status(host: &str, path: &str) -> String {
    ask(host, &format!("GET {path}"), "").split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn the_address_is_printed_and_ctrl_c_ends_it() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.bare();
    command.args(["dashboard", "--no-open", "--no-rivals"]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.find_map(|line| line.strip_prefix("dashboard: http://").map(str::to_owned)).unwrap();
    let (host, page) = url.split_once('/').unwrap();
    assert!(host.starts_with("127.0.0.1:"), "{url}");
    assert_eq!(status(host, &format!("/{page}")), "200");
    assert_eq!(status(host, "/"), "403");
    let records = lines.find_map(|line| line.strip_prefix("records: ").map(str::to_owned)).unwrap();
    assert!(records.contains("cipherlane/records/dashboard-"), "{records}");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!PathBuf::from(records).exists(), "there was no run, and there is no file of its rows");
}

/// What a program is started with, every user of the machine can see.
#[test]
fn the_browser_is_shown_the_page_and_nobody_else_its_token() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.bare();
    command
        .args(["dashboard", "--no-rivals"])
        .env("HOME", sandbox.folder.path())
        .env("BROWSER", sandbox.browser());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.find_map(|line| line.strip_prefix("dashboard: ").map(str::to_owned)).unwrap();
    let (_, token) = url.split_once("token=").unwrap();
    let shown = sandbox.shown();
    assert!(!shown.contains(token), "{shown}");
    let way = PathBuf::from(shown.strip_prefix("file://").unwrap());
    assert!(fs::read_to_string(&way).unwrap().contains(&format!("0; url={url}\"")));
    assert_eq!(fs::metadata(&way).unwrap().permissions().mode() & 0o777, 0o600);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!way.exists());
}

fn interrupt(child: &Child) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
}

/// What a run computes before it measures may take minutes.
#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.bare();
    command.args(["dashboard", "--no-open", "--no-rivals"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.find_map(|line| line.strip_prefix("dashboard: http://").map(str::to_owned)).unwrap();
    let (host, page) = url.split_once('/').unwrap();
    let token = page.trim_start_matches('?');
    // A readable cipher on a text of this length is not done before the test is.
    let run = r#"{"workload": "custom", "algorithm": "camellia-256-ctr", "message_bytes": 134217728,
        "messages": 1, "keys": "same", "device": "cpu", "threads": 1, "seconds": 1}"#;
    let started = ask(host, &format!("POST /api/runs?{token}"), run);
    assert!(started.contains("201 Created"), "{started}");
    while !ask(host, &format!("GET /api/runs?{token}"), "").contains("computes the expected outputs") {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // Two at once, as `timeout` sends them, are one.
    interrupt(&child);
    interrupt(&child);
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waits = told.find(|line| line.starts_with("stopping: ")).unwrap();
    assert!(waits.contains("run 1, camellia-256-ctr encrypt of 134217728 B on cpu"), "{waits}");
    assert!(waits.contains("computes the expected outputs"), "{waits}");
    assert!(waits.contains("press Ctrl-C to end at once"), "{waits}");
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert!(child.try_wait().unwrap().is_none(), "it was ended by one request");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_port_that_is_taken_is_an_error_with_a_remedy() {
    let sandbox = Sandbox::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    sandbox
        .cipherlane(&["dashboard", "--no-open", "--no-rivals", "--port", &port])
        .assert()
        .code(1)
        .stderr(predicates::str::contains("leave the port out"));
}

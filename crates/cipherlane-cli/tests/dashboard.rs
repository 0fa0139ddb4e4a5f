//! `dashboard`: its address, its door, and its end.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use support::Sandbox;

fn status(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
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
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
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

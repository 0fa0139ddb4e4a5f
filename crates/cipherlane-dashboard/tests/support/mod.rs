//! A dashboard of its own for each test, and what speaks HTTP to it.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)] // in tests: what cannot be set up has failed

pub(crate) mod launcher;
pub(crate) mod liar;
mod renamed;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cipherlane::{Cpu, Device};
use cipherlane_dashboard::{Config, Dashboard, Handle};
use cipherlane_record::Measurement;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than a busy machine takes for anything here.
const PATIENCE: Duration = Duration::from_secs(120);

/// A dashboard that serves, and is ended when it is dropped.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) records: PathBuf,
    /// Breaks the device that is wrong.
    pub(crate) is_broken: Arc<AtomicBool>,
    handle: Handle,
    thread: Option<JoinHandle<io::Result<()>>>,
    _folder: TempDir,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Served {
    /// On this CPU, and a device that is wrong.
    pub(crate) fn start() -> Self {
        let is_broken = Arc::new(AtomicBool::new(false));
        let mut served = Self::beside(liar::liar(Arc::clone(&is_broken)));
        served.is_broken = is_broken;
        served
    }

    /// On this CPU and `device`.
    pub(crate) fn beside(device: Arc<dyn Device>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let records = folder.path().join("runs.jsonl");
        let devices: Vec<Arc<dyn Device>> = vec![Arc::new(Cpu::new()), device];
        let dashboard = Dashboard::start(Config {
            devices,
            absent: Vec::new(),
            host: cipherlane_lab::host::detect(),
            records: records.clone(),
            questions: BTreeMap::new(),
            port: 0,
            argv: vec!["test".to_owned()],
        })
        .unwrap();
        let (url, handle) = (dashboard.url(), dashboard.handle());
        let thread = Some(thread::spawn(move || dashboard.serve(|_| {})));
        let is_broken = Arc::default();
        Self { url, records, is_broken, handle, thread, _folder: folder }
    }

    /// `127.0.0.1:4711`.
    pub(crate) fn host(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    pub(crate) fn token(&self) -> &str {
        self.url.split_once("token=").unwrap().1
    }

    /// Sends a request with these headers and no others.
    pub(crate) fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut text = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (headers, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        Answer { status, headers: headers.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn target(&self, path: &str) -> String {
        format!("{path}?token={}", self.token())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", &self.target(path), &[("Host", self.host())], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [("Host", self.host()), ("Content-Type", "application/json")];
        self.send("POST", &self.target(path), &headers, &body.to_string())
    }

    /// Starts a run; its number.
    pub(crate) fn run(&self, request: &Value) -> u64 {
        let answer = self.post("/api/runs", request);
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["id"].as_u64().unwrap()
    }

    /// Gives a command to a run; the status.
    pub(crate) fn command(&self, id: u64, command: &str) -> u16 {
        self.post(&format!("/api/runs/{id}/{command}"), &json!({})).status
    }

    /// A run, as the page sees it.
    pub(crate) fn view(&self, id: u64) -> Value {
        let runs = self.get("/api/runs").json();
        runs.as_array().unwrap().iter().find(|run| run["id"] == json!(id)).unwrap().clone()
    }

    /// Waits until the run is so.
    pub(crate) fn wait(&self, id: u64, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let view = self.view(id);
            if is_so(&view) {
                return view;
            }
            assert!(start.elapsed() < PATIENCE, "never {what}: {view}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn wait_for_state(&self, id: u64, state: &str) -> Value {
        self.wait(id, state, |view| {
            let now = view["state"].as_str().unwrap();
            assert!(now != "failed" || state == "failed", "{view}");
            now == state
        })
    }

    /// Waits until a run that is stopped leaves a row.
    pub(crate) fn wait_for_samples(&self, id: u64) {
        let enough = cipherlane_lab::live::FEWEST_SAMPLES as u64;
        self.wait(id, "samples enough", |view| view["figures"]["samples"].as_u64() >= Some(enough));
    }

    /// The rows in the file of records.
    pub(crate) fn rows(&self) -> Vec<Measurement> {
        cipherlane_record::measurements(cipherlane_record::read(&self.records).unwrap())
    }

    /// The lines of the stream of events, which the server has begun.
    pub(crate) fn listen(&self) -> impl Iterator<Item = String> {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let target = self.target("/api/events");
        let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host());
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        assert_eq!(lines.next().as_deref(), Some("HTTP/1.1 200 OK"));
        lines
    }

    /// The first event of the stream.
    pub(crate) fn first_event(&self) -> Value {
        let data = self.listen().find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap();
        serde_json::from_str(&data).unwrap()
    }

    /// Ends the dashboard, as Ctrl-C does, and waits until it has.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.handle.quit();
        self.wait_for_end()
    }

    /// Waits until it has ended by itself.
    pub(crate) fn wait_for_end(&mut self) -> io::Result<()> {
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.handle.quit();
        if let Some(thread) = self.thread.take() {
            // A test that failed already shall not hide why.
            let _ = thread.join();
        }
    }
}

/// A run of small messages on one thread of this CPU.
pub(crate) fn small(seconds: Option<f64>) -> Value {
    json!({
        "workload": "custom", "algorithm": "aes-128-gcm", "operation": "seal", "message_bytes": 64,
        "messages": 50, "keys": "distinct", "device": "cpu", "threads": 1, "seconds": seconds,
    })
}

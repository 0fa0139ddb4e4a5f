//! Who does not get in: everything here goes over real HTTP to a dashboard on the loopback interface.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use support::{Served, small};

/// Every address that answers to somebody.
const PATHS: [(&str, &str); 20] = [
    ("GET", "/"),
    ("GET", "/page.js"),
    ("GET", "/chart.js"),
    ("GET", "/page.css"),
    ("GET", "/icon.svg"),
    ("GET", "/api/catalog"),
    ("GET", "/api/runs"),
    ("GET", "/api/events"),
    ("GET", "/runs/1/log"),
    ("GET", "/runs/1/records"),
    ("GET", "/runs/1/report"),
    ("GET", "/report"),
    ("POST", "/api/plan"),
    ("POST", "/api/runs"),
    ("POST", "/api/runs/1/pause"),
    ("POST", "/api/runs/1/resume"),
    ("POST", "/api/runs/1/stop"),
    ("POST", "/api/stop-on-close"),
    ("POST", "/api/quit"),
    ("GET", "/nowhere"),
];

#[test]
fn without_the_token_nothing_answers() {
    let served = Served::start();
    let wrong = "0".repeat(served.token().len());
    for (method, path) in PATHS {
        for query in [String::new(), "?token=".to_owned(), format!("?token={wrong}")] {
            let headers = [("Host", served.host()), ("Content-Type", "application/json")];
            let answer = served.send(method, &format!("{path}{query}"), &headers, "{}");
            assert_eq!(answer.status, 403, "{method} {path}{query}");
            assert!(!answer.body.contains(served.token()));
        }
    }
    assert_eq!(served.get("/api/runs").json(), json!([]), "and nothing was started or ended");
}

#[test]
fn another_host_name_is_refused() {
    let served = Served::start();
    let port = served.host().split(':').nth(1).unwrap();
    let target = format!("/?token={}", served.token());
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "127.0.0.1:1"] {
        assert_eq!(served.send("GET", &target, &[("Host", host)], "").status, 403, "{host}");
    }
    let localhost = format!("localhost:{port}");
    assert_eq!(served.send("GET", &target, &[("Host", &localhost)], "").status, 200);
}

#[test]
fn a_page_of_another_origin_is_refused() {
    let served = Served::start();
    let target = format!("/api/runs?token={}", served.token());
    let own = format!("http://{}", served.host());
    let send = |method, origin| {
        let headers = [("Host", served.host()), ("Origin", origin), ("Content-Type", "application/json")];
        served.send(method, &target, &headers, &small(Some(0.2)).to_string()).status
    };
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        assert_eq!((send("GET", origin), send("POST", origin)), (403, 403), "{origin}");
    }
    assert_eq!(served.get("/api/runs").json(), json!([]));
    assert_eq!(send("POST", &own), 201);
}

/// A form of another page can send text, but no JSON.
#[test]
fn a_body_that_a_form_could_send_is_no_request() {
    let served = Served::start();
    let target = format!("/api/runs?token={}", served.token());
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let headers = [("Host", served.host()), ("Content-Type", kind)];
        assert_eq!(served.send("POST", &target, &headers, &small(None).to_string()).status, 415, "{kind}");
    }
}

#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let served = Served::start();
    for answer in [
        served.get("/"),
        served.get("/api/catalog"),
        served.get("/nowhere"),
        served.send("GET", "/", &[], ""),
    ] {
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(answer.headers.contains(header), "{header} in {}", answer.headers);
        }
        assert!(!answer.headers.contains("access-control-allow"), "{}", answer.headers);
    }
}

/// Every program on the machine can connect: it must not take all files that the process may open, nor keep others out.
#[test]
fn connections_that_ask_for_nothing_are_few_and_closed() {
    let served = Served::start();
    let mut page = served.listen();
    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(served.host()).unwrap()).collect();
    for mut one in &crowd {
        one.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    }
    assert_eq!(served.get("/").status, 200);
    let is_closed = |mut one: &TcpStream| {
        one.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        // With what it sent unread, it may be reset.
        one.read(&mut [0]).map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |read| read == 0)
    };
    assert!(crowd.iter().any(is_closed), "there was room for all at once");
    served.post("/api/stop-on-close", &json!({"stop": true}));
    assert!(page.any(|line| line.contains("\"stop_on_close\":true")), "a page that was let in stays");
}

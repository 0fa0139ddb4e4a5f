//! The page as a browser shows it, with runs on this CPU behind it.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

#[path = "support/page.rs"]
mod page;
mod support;

use cipherlane_lab::Totals;
use page::chromium::Browser;
use page::{SUBMIT, choose, click, text};
use serde_json::{Value, json};
use support::liar::HONEST;
use support::{Served, small};

fn opened(test: &str, width: u32) -> Option<(Served, Browser)> {
    page::opened(test, width, Served::start)
}

fn state(browser: &mut Browser, begins: &str) {
    browser.wait(&format!("document.getElementById('now-state').textContent.startsWith('{begins}')"));
}

#[test]
fn a_run_is_started_paused_and_stopped_and_its_counters_are_the_records() {
    let Some((served, mut browser)) = opened("that the dashboard runs", 1280) else { return };
    choose(
        &mut browser,
        &[
            ("workload", "custom"),
            ("algorithm", "aes-256-gcm"),
            ("operation", "open"),
            ("message_bytes", "1k"),
            ("messages", "20"),
            ("threads", "1"),
            ("seconds", ""),
        ],
    );
    browser.wait("document.getElementById('plan').textContent.includes('aes-256-gcm open: aes-gcm/')");
    click(&mut browser, SUBMIT);
    state(&mut browser, "running");
    browser.wait("document.querySelector('#chart polyline') !== null");
    served.wait_for_samples(1);
    assert_eq!(text(&mut browser, SUBMIT), "Add to the queue");
    click(&mut browser, "#pause");
    state(&mut browser, "paused");
    assert_eq!(text(&mut browser, "#pause"), "Resume");
    click(&mut browser, "#pause");
    state(&mut browser, "running");
    click(&mut browser, "#stop");
    state(&mut browser, "finished");
    browser.wait("document.querySelectorAll('#run-rows a').length === 3");
    let row = served.rows().remove(0);
    assert_eq!((row.algorithm.as_str(), row.operation.as_str()), ("aes-256-gcm", "open"));
    assert_eq!((row.message_bytes, row.messages, row.threads), (1024, 20, 1));
    let totals = Totals::of_row(&row).unwrap();
    // The tips of the counters have them exactly.
    let counter = |browser: &mut Browser, id: &str| {
        let number = browser.evaluate(&format!("Number(document.getElementById('{id}').title)"));
        number.as_u64().unwrap()
    };
    assert_eq!(counter(&mut browser, "opened"), totals.opened);
    assert_eq!(counter(&mut browser, "sealed"), 0);
    assert_eq!(counter(&mut browser, "rejects"), totals.planned_rejects);
    assert_eq!(counter(&mut browser, "compared"), row.checks.messages);
    assert_eq!(counter(&mut browser, "unexpected"), 0);
    let cells = text(&mut browser, "#run-rows tr");
    assert!(cells.contains("yes") && cells.contains("paused once"), "{cells}");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_page_asks_nobody_else_and_runs_no_script_but_its_own() {
    let Some((served, mut browser)) = opened("that the dashboard stays on this machine", 1280) else {
        return;
    };
    browser.wait("document.querySelectorAll('#readings li, #missing dt').length > 0");
    let own = format!("http://{}/", served.host());
    let requests = browser.requests();
    assert!(requests.len() >= 5 && requests.iter().all(|url| url.starts_with(&own)), "{requests:?}");
    assert_eq!(browser.complaints(), [""; 0]);
    // What might ever get into the markup, the page's policy would stop: the test can see that it would.
    browser.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'})), 0",
    );
    assert_eq!(browser.evaluate("window.ran === undefined"), json!(true));
    let complaints = browser.complaints();
    assert!(complaints.iter().any(|text| text.contains("Content Security Policy")), "{complaints:?}");
}

#[test]
fn the_chart_has_a_top_for_every_rate() {
    let Some((_served, mut browser)) = opened("the chart's scale", 1280) else { return };
    // Half a hundredth from one to the next, over three powers of ten: just below each of these as well.
    let has_top = "most => { const top = roundUp(most); return most < top && top < 1.6 * most; }";
    let rates = "Array.from({ length: 1400 }, (_, place) => 0.9 * 1.005 ** place)";
    assert_eq!(browser.evaluate(&format!("{rates}.every({has_top})")), json!(true));
    assert_eq!(browser.evaluate("[9.995, 99.99].map(roundUp).join()"), json!("12,120"));
}

#[test]
fn closing_the_page_stops_no_run_unless_asked() {
    let Some((served, mut browser)) = opened("what closing the dashboard's page does", 1280) else { return };
    let id = served.run(&small(None));
    state(&mut browser, "running");
    browser.visit("about:blank", 1280, 900);
    let sealed = |view: &Value| view["figures"]["totals"]["sealed"].as_u64();
    let before = sealed(&served.view(id));
    served.wait(id, "going on without a page", |view| sealed(view) > before);
    browser.visit(&served.url, 1280, 900);
    state(&mut browser, "running");
    served.wait_for_samples(id);
    click(&mut browser, "#stop-on-close");
    // A page that is left before its request has gone out has asked for nothing.
    browser.wait("document.getElementById('stop-on-close').checked && telling === 0");
    // What another page chooses is shown.
    for stop in [false, true] {
        served.post("/api/stop-on-close", &json!({"stop": stop}));
        browser.wait(&format!("document.getElementById('stop-on-close').checked === {stop}"));
    }
    browser.visit("about:blank", 1280, 900);
    served.wait_for_state(id, "finished");
}

#[test]
fn what_is_refused_is_said_beside_the_form() {
    let Some((served, mut browser)) = opened("that the dashboard says what is wrong", 1280) else { return };
    choose(&mut browser, &[("workload", "custom"), ("algorithm", "aes-128-cbc"), ("message_bytes", "17")]);
    click(&mut browser, SUBMIT);
    browser.wait("document.getElementById('refusal').textContent.includes('16')");
    assert_eq!(served.get("/api/runs").json(), json!([]));
}

#[test]
fn sizes_are_those_of_the_command_line_and_others_are_refused_on_the_page() {
    let Some((served, mut browser)) = opened("which sizes the dashboard takes", 1280) else { return };
    let sizes = "['16', '1G', '1GiB', '16kib', '16KB', '2m', '1350 B', '2tb'].map(size).join()";
    let taken = "16,1073741824,1073741824,16384,16000,2097152,1350,2000000000000";
    assert_eq!(browser.evaluate(sizes), json!(taken));
    for (size, said) in [("1.5k", "`1.5k` is no size; write 16"), ("99999999999G", "more than a machine")] {
        choose(&mut browser, &[("workload", "custom"), ("message_bytes", size)]);
        browser.wait(&format!("document.getElementById('plan').textContent.includes('{said}')"));
        click(&mut browser, SUBMIT);
        browser.wait(&format!("document.getElementById('refusal').textContent.includes('{said}')"));
    }
    assert_eq!(served.get("/api/runs").json(), json!([]));
}

/// The report's tests have the same.
#[test]
fn numbers_have_three_digits() {
    let Some((_served, mut browser)) = opened("the dashboard's numbers", 1280) else { return };
    let numbers =
        "[0, 1234.4, 99.96, 16.34, 1, 0.0123, 0.5, 0.9999, 0.000012, 2.5e9, -3.456].map(significant)";
    let text = "0 1234 100 16.3 1.00 0.0123 0.500 1.00 1.20e-5 2.50e9 -3.46";
    assert_eq!(browser.evaluate(&format!("{numbers}.join(' ')")), json!(text));
    assert_eq!(browser.evaluate("gigabytes(4.6e6)"), json!("0.00460"));
}

/// The cells of the newest run.
fn cells(browser: &mut Browser) -> Vec<String> {
    let cells = "[...document.querySelector('#run-rows tr').cells].map(cell => cell.textContent)";
    serde_json::from_value(browser.evaluate(cells)).unwrap()
}

#[test]
fn wrong_outputs_are_shown_as_wrong_and_not_as_a_rate() {
    let Some((served, mut browser)) = opened("how the dashboard shows wrong outputs", 1280) else { return };
    let mut request = small(Some(0.3));
    (request["device"], request["messages"]) = (json!("liar"), json!(HONEST + 1));
    let id = served.run(&request);
    served.wait_for_state(id, "finished");
    state(&mut browser, "finished");
    browser.wait("document.querySelectorAll('#run-rows a').length === 3");
    let fault = served.rows()[0].fault().unwrap();
    let cells = cells(&mut browser);
    assert_eq!(cells[3..], [fault.as_str(), "", "NO"]);
    assert_eq!(text(&mut browser, "#rate"), fault);
    assert_eq!([text(&mut browser, "#rate-unit"), text(&mut browser, "#rate-beside")], ["", ""]);
    assert_eq!(text(&mut browser, "#messages"), "–");
    assert_eq!(browser.evaluate("byId('chart').getClientRects().length"), json!(0));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn few_samples_have_no_brackets_and_messages_without_bytes_no_bytes() {
    let Some((served, mut browser)) = opened("how the dashboard shows rates", 1280) else { return };
    let few = served.run(&small(Some(0.1)));
    served.wait_for_state(few, "finished");
    browser.wait("document.querySelectorAll('#run-rows a').length === 3");
    let rate = cells(&mut browser).swap_remove(3);
    assert!(rate.parse::<f64>().unwrap() > 0.0, "{rate}");
    assert_eq!(text(&mut browser, "#rate-unit").chars().last(), Some('s'));
    let mut request = small(Some(0.3));
    request["message_bytes"] = json!(0);
    let empty = served.run(&request);
    served.wait_for_state(empty, "finished");
    browser.wait("document.querySelectorAll('#run-rows a').length === 6");
    let cells = cells(&mut browser);
    assert!(cells[3].ends_with(" messages/s") && cells[4].is_empty(), "{cells:?}");
    assert!(text(&mut browser, "#rate-unit").ends_with("messages/s"));
    assert_eq!(text(&mut browser, "#rate-beside"), "median of the run");
    assert_eq!(browser.evaluate("byId('chart').getClientRects().length"), json!(0));
}

#[test]
fn the_page_fits_a_phone_and_can_be_read_in_light_and_dark() {
    let Some((served, mut browser)) = opened("the dashboard on a phone", 360) else { return };
    let id = served.run(&small(Some(0.6)));
    served.wait_for_state(id, "finished");
    browser.wait("document.querySelectorAll('#run-rows tr').length === 1");
    assert_eq!(browser.evaluate("innerWidth"), json!(360));
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth"), json!(360));
    for dark in [false, true] {
        browser.prefer_dark(dark);
        let worst = browser.worst_contrast();
        assert!(worst[0].as_f64().unwrap() >= 4.5, "dark {dark}: {worst}");
    }
}

/// A browser on the machine that is measured takes time from it, and whoever reads wants the text to stay.
#[test]
fn a_page_that_is_hidden_draws_nothing_and_one_that_is_seen_draws_what_is_new() {
    let Some((served, mut browser)) = opened("what the dashboard draws", 1280) else { return };
    browser.evaluate("document.querySelector('#chart-words + details').open = true");
    let id = served.run(&small(None));
    browser.wait("document.querySelectorAll('#chart-rows tr').length >= 2");
    browser.evaluate(
        "{ window.first = byId('chart-rows').firstChild; window.plan = byId('plans').firstChild; 0 }",
    );
    browser.wait("document.querySelectorAll('#chart-rows tr').length >= 4");
    assert_eq!(browser.evaluate("first.isConnected && plan.isConnected"), json!(true));
    let hide = |browser: &mut Browser, hidden: bool| {
        let set =
            format!("Object.defineProperty(document, 'hidden', {{ configurable: true, value: {hidden} }})");
        browser.evaluate(&format!("{set}, document.dispatchEvent(new Event('visibilitychange'))"));
    };
    let points = |browser: &mut Browser| browser.evaluate("chart.of.get(1).length").as_u64().unwrap();
    hide(&mut browser, true);
    let before = (text(&mut browser, "#now-state"), text(&mut browser, "#chart-rows"));
    let later = points(&mut browser) + 4;
    browser.wait(&format!("chart.of.get(1).length >= {later}"));
    assert_eq!((text(&mut browser, "#now-state"), text(&mut browser, "#chart-rows")), before);
    hide(&mut browser, false);
    assert_ne!(text(&mut browser, "#now-state"), before.0);
    assert_eq!(browser.evaluate("first.isConnected"), json!(true));
    served.command(id, "stop");
    state(&mut browser, "finished");
    assert_eq!(browser.evaluate("byId('chart-rows').childElementCount"), json!(points(&mut browser)));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn what_has_the_focus_keeps_it_while_others_change() {
    let Some((served, mut browser)) = opened("the focus on the dashboard", 1280) else { return };
    let id = served.run(&small(Some(0.3)));
    served.wait_for_state(id, "finished");
    browser.wait("document.querySelectorAll('#run-rows a').length === 3");
    browser.evaluate("document.querySelector('#run-rows a').focus()");
    let (measures, waits) = (served.run(&small(None)), served.run(&small(Some(0.3))));
    browser.wait("document.querySelectorAll('#run-rows tr').length === 3");
    served.wait_for_state(measures, "running");
    state(&mut browser, "running");
    assert_eq!(browser.evaluate("document.activeElement.textContent"), json!("report"));
    // The newest is the first. Its button is another one, once it is taken out.
    let of_waiting = "#run-rows tr:first-child button";
    browser.evaluate(&format!("document.querySelector('{of_waiting}').focus()"));
    click(&mut browser, of_waiting);
    served.wait_for_state(waits, "cancelled");
    browser.wait("document.activeElement.textContent === 'Again'");
}

/// What is said aloud says little, and nothing that changes four times a second.
#[test]
fn screen_readers_are_told_of_answers_alone() {
    let Some((_served, mut browser)) = opened("what a screen reader says", 1280) else { return };
    let spoken = "[...document.querySelectorAll('output, [aria-live], [role=status], [role=alert]')].map(one => one.id)";
    assert_eq!(browser.evaluate(spoken), json!(["status", "plan", "refusal"]));
}

/// WCAG 2.2, success criteria 2.1.1 and 4.1.2: all that can be used can be reached with the keyboard and has a name.
#[test]
fn controls_have_names_and_take_the_focus() {
    let Some((_served, mut browser)) = opened("the dashboard with keyboard and screen reader", 1280) else {
        return;
    };
    let nameless = browser.evaluate(
        "[...document.querySelectorAll('button, select, input, progress, [role=region]')].filter(one => {
            const name = one.getAttribute('aria-label') || one.textContent.trim() && one.tagName === 'BUTTON'
                || [...(one.labels ?? [])].some(label => label.textContent.trim())
                || document.getElementById(one.getAttribute('aria-labelledby'))?.textContent;
            return !name;
        }).map(one => one.outerHTML)",
    );
    assert_eq!(nameless, json!([]));
    let unreachable = browser.evaluate(
        "[...document.querySelectorAll('button, select, input, summary, .scroll')]
            .filter(one => !one.disabled && one.tabIndex < 0).map(one => one.outerHTML)",
    );
    assert_eq!(unreachable, json!([]));
}

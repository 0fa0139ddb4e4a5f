//! The page as a browser shows it.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

#[path = "support/chromium.rs"]
mod chromium;
mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;

use chromium::Browser;
use cipherlane_record::Record;
use cipherlane_report::Report;
use serde_json::json;
use support::{all_committed, committed, every_chart};
use tempfile::TempDir;

/// A page on disk.
struct Page {
    path: PathBuf,
    _folder: TempDir,
}

fn page(records: &[Record]) -> Page {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    std::fs::write(&path, Report::new(records, &BTreeMap::new()).html().unwrap()).unwrap();
    Page { path, _folder: folder }
}

#[test]
fn nothing_is_asked_of_the_network_and_nothing_goes_wrong() {
    let Some(mut browser) = Browser::start("that the report's page loads nothing") else { return };
    let page = page(&every_chart());
    browser.open(&page.path, 1280, 900);
    assert_eq!(browser.requests(), [format!("file://{}", page.path.display())]);
    assert_eq!(browser.complaints(), [""; 0]);
    assert_eq!(browser.evaluate("document.scripts.length + document.images.length"), json!(0));
    // What a record could smuggle in, the page's policy would still stop: the test can see that it would.
    browser
        .evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'})), 0");
    browser.evaluate("0");
    let complaints = browser.complaints();
    assert!(complaints.iter().any(|text| text.contains("Content Security Policy")), "{complaints:?}");
}

#[test]
fn every_chart_is_drawn_and_has_a_name_and_a_table() {
    let Some(mut browser) = Browser::start("that the report's charts are drawn") else { return };
    for records in [every_chart(), all_committed()] {
        let page = page(&records);
        browser.open(&page.path, 1280, 900);
        assert_eq!(browser.complaints(), [""; 0]);
        assert_eq!(browser.requests().len(), 1, "the page itself");
        check_charts(&mut browser);
    }
}

fn check_charts(browser: &mut Browser) {
    let charts = browser.evaluate(
        "[...document.querySelectorAll('figure')].map(figure => {
            // Those of the sensors are folded away.
            figure.parentElement.closest('details')?.setAttribute('open', '');
            const picture = figure.querySelector(':scope > svg'), box = picture.getBoundingClientRect();
            const name = picture.getAttribute('aria-labelledby').split(' ')
                .map(id => document.getElementById(id).textContent);
            return {name, width: box.width, height: box.height,
                shapes: picture.querySelectorAll('polyline, rect, circle, polygon').length,
                rows: figure.querySelectorAll('details tbody tr').length,
                unit: picture.textContent};
        })",
    );
    let charts = charts.as_array().unwrap();
    assert!(charts.len() > 15, "{} charts", charts.len());
    for chart in charts {
        let name = &chart["name"];
        assert!(name[0].as_str().is_some_and(|title| !title.is_empty()), "{chart}");
        assert!(name[1].as_str().is_some_and(|finding| finding.len() > 10), "{chart}");
        assert!(
            chart["width"].as_f64().unwrap() > 300.0 && chart["height"].as_f64().unwrap() > 50.0,
            "{chart}"
        );
        assert!(chart["shapes"].as_u64().unwrap() > 0 && chart["rows"].as_u64().unwrap() > 0, "{chart}");
    }
}

/// Titles on axes, colours from the style sheet: no shape may keep a colour that stands for a variable.
#[test]
fn every_colour_comes_from_the_style_sheet() {
    let Some(mut browser) = Browser::start("that the report's charts follow light and dark") else { return };
    let page = page(&every_chart());
    browser.open(&page.path, 1280, 900);
    let colours = "[...document.querySelectorAll('svg *')].flatMap(shape =>
        ['fill', 'stroke'].map(name => shape.getAttribute(name)).filter(Boolean))
        .filter(colour => colour !== 'none' && !colour.startsWith('var('))";
    assert_eq!(browser.evaluate(colours), json!([]));
    let line = "getComputedStyle(document.querySelector('figure polyline[stroke=\"var(--s0)\"]')).stroke";
    browser.prefer_dark(false);
    let light = browser.evaluate(line);
    browser.prefer_dark(true);
    let dark = browser.evaluate(line);
    assert!(light.as_str().unwrap().starts_with("rgb") && light != dark, "{light} {dark}");
}

/// WCAG 2.2, success criterion 1.4.3: 4.5 to 1 for texts.
#[test]
fn texts_can_be_read_in_light_and_dark() {
    let Some(mut browser) = Browser::start("the contrast of the report's page") else { return };
    let page = page(&every_chart());
    browser.open(&page.path, 1280, 900);
    for dark in [false, true] {
        browser.prefer_dark(dark);
        let worst = browser.worst_contrast();
        assert!(worst[0].as_f64().unwrap() >= 4.5, "dark {dark}: {worst}");
    }
}

#[test]
fn a_phone_scrolls_down_only() {
    let Some(mut browser) = Browser::start("the report's page on a phone") else { return };
    let records: Vec<Record> =
        committed("granite-rapids-vm/bench.jsonl").into_iter().chain(every_chart()).collect();
    let page = page(&records);
    browser.open(&page.path, 360, 740);
    assert_eq!(browser.evaluate("innerWidth"), json!(360));
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth"), json!(360));
    // Letters in a chart shrink with it.
    let letters = "Math.min(...[...document.querySelectorAll('figure text')].map(text =>
        parseFloat(text.getAttribute('font-size')) * text.getCTM().a))";
    let letters = browser.evaluate(letters).as_f64().unwrap();
    assert!(letters >= 8.0, "{letters} pixels");
}

/// A4 is the narrower, Letter the shorter paper; each with margins of a centimetre.
#[test]
fn paper_has_room_for_every_chart_and_table() {
    const WIDTH: u32 = 718;
    const HEIGHT: u32 = 979;
    let Some(mut browser) = Browser::start("the report's page on paper") else { return };
    let page = page(&all_committed());
    browser.open(&page.path, WIDTH, HEIGHT);
    browser.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    let tallest = "Math.max(...[...document.querySelectorAll('figure')].map(one => one.offsetHeight))";
    let tallest = browser.evaluate(tallest).as_u64().unwrap();
    assert!((300..u64::from(HEIGHT)).contains(&tallest), "a chart of {tallest} pixels");
    let wide = browser.evaluate("document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(wide <= u64::from(WIDTH), "{wide} pixels");
    assert_eq!(
        browser.evaluate("getComputedStyle(document.body).backgroundColor"),
        json!("rgba(0, 0, 0, 0)")
    );
}

#[test]
fn paper_has_the_tables_that_are_closed_on_the_screen() {
    let Some(mut browser) = Browser::start("the closed tables of the report on paper") else { return };
    let page = page(&committed("zen4-vm/rivals-quick.jsonl"));
    browser.open(&page.path, 718, 979);
    // The layout is made first, as what is folded away may be passed over by the next question.
    let shown = |browser: &mut Browser, tables: &str| {
        let layout = "document.body.offsetHeight, getComputedStyle(document.body).color";
        let script = format!(
            "{layout}, [...document.querySelectorAll('{tables}')].map(table =>
                getComputedStyle(table.closest('details'), '::details-content').contentVisibility === 'visible'
                    && table.checkVisibility() && table.getBoundingClientRect().height > 20)"
        );
        browser.evaluate(&script)
    };
    let closed = "details:not([open]).rows table, .advice details:not([open]) table";
    assert_eq!(shown(&mut browser, closed), json!([false, false]));
    browser.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    assert_eq!(shown(&mut browser, closed), json!([true, true]));
    // The numbers of charts are in these tables.
    let of_charts = shown(&mut browser, "figure details table");
    assert!(of_charts.as_array().unwrap().iter().all(|shown| *shown == json!(false)), "{of_charts}");
}

/// The rows of all tables of records, by the names of their columns.
fn rows(browser: &mut Browser) -> Vec<serde_json::Value> {
    let rows = browser.evaluate(
        "[...document.querySelectorAll('details.rows table')].map(table => {
            const names = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
            return [...table.tBodies[0].rows].map(row =>
                Object.fromEntries([...row.cells].map((cell, place) => [names[place], cell.textContent])));
        }).flat()",
    );
    rows.as_array().unwrap().clone()
}

#[test]
fn the_tables_say_what_was_observed() {
    let Some(mut browser) = Browser::start("the report's tables of observations") else { return };
    for file in ["h200/streams.jsonl", "h200/cpu-threads.jsonl", "zen4-vm/languages.jsonl"] {
        let records = committed(file);
        let page = page(&records);
        browser.open(&page.path, 1280, 900);
        let shown = rows(&mut browser);
        assert_eq!(shown.len(), records.len(), "{file}");
        for (record, cells) in records.iter().zip(&shown) {
            let Record::Observation(row) = record else { panic!("{file} has observations") };
            for (axis, place) in &row.axes {
                assert_eq!(cells[axis], json!(place.to_string()), "{file}");
            }
            for value in row.values.iter().filter_map(|value| Some((value, value.value?))) {
                let (value, number) = value;
                let title = if value.unit == "1" {
                    value.name.clone()
                } else {
                    format!("{} ({})", value.name, value.unit)
                };
                let text = cells[&title].as_str().unwrap();
                let found: f64 = text.split(' ').next().unwrap().parse().unwrap();
                assert!(
                    (found - number).abs() <= 0.006 * number.abs(),
                    "{file}: {title} {text}, not {number}"
                );
            }
        }
    }
}

#[test]
fn the_tables_say_what_the_records_say() {
    let Some(mut browser) = Browser::start("the report's tables") else { return };
    let records = committed("granite-rapids-vm/bench.jsonl");
    let page = page(&records);
    browser.open(&page.path, 1280, 900);
    let tables = rows(&mut browser);
    let mut shown: Vec<_> = tables.iter().collect();
    assert_eq!(shown.len(), records.len());
    for record in &records {
        let Record::Measurement(row) = record else { panic!("bench makes measurements") };
        let is = |cells: &serde_json::Value| {
            let text = |name: &str| cells[name].as_str().unwrap_or_default().to_owned();
            let number =
                |name: &str| text(name).split(' ').next().and_then(|first| first.parse::<f64>().ok());
            let close = |one: f64, other: f64| (one - other).abs() <= 0.006 * other.abs();
            let device =
                if row.device == "cpu" { format!("cpu {}", row.tier) } else { row.device_name.clone() };
            text("does").contains(&format!("{} {}", row.algorithm, row.operation))
                && text("device") == device
                && number("threads") == Some(row.threads as f64)
                && number("messages") == Some(row.messages as f64)
                && number("GB/s (95 %)").is_some_and(|rate| close(rate, row.bytes_per_second / 1e9))
                && row.best_rival.as_ref().is_none_or(|best| {
                    number("ratio (95 %)").is_some_and(|ratio| (ratio - best.ratio).abs() <= 0.006)
                        && text("best rival GB/s").ends_with(&best.rival_name)
                        && text("ratio (95 %)").ends_with(best.verdict.name())
                })
        };
        let place = shown.iter().position(|cells| is(cells));
        assert!(place.is_some(), "no row for {} {} on {}", row.workload, row.algorithm, row.device_name);
        shown.swap_remove(place.unwrap());
    }
}

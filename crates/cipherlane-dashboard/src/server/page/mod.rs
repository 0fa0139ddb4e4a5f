//! The page: markup without any value of a run in it; its script asks for these. Script and style are files of their
//! own, so that the policy can forbid everything inside the markup.

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{Html, IntoResponse};
use maud::{DOCTYPE, Markup, html};

use super::Shared;

mod form;

const SCRIPT: &str = include_str!("page.js");
const CHART: &str = include_str!("chart.js");
const STYLE: &str = include_str!("page.css");
/// The sign in the browser's tab: three lanes.
const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="#0072b2"><rect x="1" y="2" width="14" height="3"/><rect x="1" y="6.5" width="10" height="3"/><rect x="1" y="11" width="6" height="3"/></g></svg>"##;

const JAVASCRIPT: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];

pub(super) async fn script() -> impl IntoResponse {
    (JAVASCRIPT, SCRIPT)
}

pub(super) async fn chart() -> impl IntoResponse {
    (JAVASCRIPT, CHART)
}

/// The report's style sheet, and what the dashboard has beside it.
pub(super) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], [cipherlane_report::STYLE, STYLE].concat())
}

pub(super) async fn icon() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "image/svg+xml")], ICON)
}

pub(super) async fn page(State(shared): State<Shared>) -> Html<String> {
    Html(markup(&shared).into_string())
}

fn markup(shared: &Shared) -> Markup {
    let (machine, token) = (&shared.machine, shared.guard.token());
    let own = |file: &str| format!("{file}?token={token}");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "cipherlane dashboard: " (machine.name()) }
                link rel="icon" href=(own("icon.svg"));
                link rel="stylesheet" href=(own("page.css"));
                script src=(own("chart.js")) defer {}
                script src=(own("page.js")) defer {}
            }
            body.dashboard {
                header {
                    div {
                        p.brand { "cipherlane dashboard" }
                        h1 { (machine.name()) }
                        p.sub {
                            (cores(machine.host())) " · records: " code { (machine.records().display().to_string()) }
                        }
                    }
                    button #quit type="button" title="Stops the run, keeps what it measured, and ends the program" {
                        "Quit"
                    }
                }
                p #status role="status" {}
                noscript { p.warn { "This page needs its script: it shows what happens while it happens." } }
                main {
                    (form::new_run())
                    (now())
                    (sensors())
                    (runs())
                }
                (reading())
            }
        }
    }
}

fn cores(host: &cipherlane_record::Host) -> String {
    let logical = format!("{} logical CPUs", host.logical_cores);
    match host.physical_cores {
        Some(physical) => format!("{physical} cores, {logical}"),
        None => logical,
    }
}

/// The run that measures, or the last that did.
fn now() -> Markup {
    html! {
        section #now aria-labelledby="now-title" {
            h2 #now-title { "No run yet" }
            p #now-state.sub { "Choose what to run, and start it." }
            div.controls {
                button #pause type="button" disabled { "Pause" }
                button #stop type="button" disabled { "Stop" }
                label.check { input #stop-on-close type="checkbox"; " Stop all runs when the last page is closed" }
            }
            div.live {
                p.value { span #rate { "–" } " " small #rate-unit {} }
                p #rate-beside.sub {}
            }
            progress #progress max="1" value="0" aria-label="Time of the run" {}
            figure {
                svg #chart viewBox="0 0 760 260" role="img" aria-labelledby="chart-name chart-words" {
                    title #chart-name { "Throughput while it runs" }
                }
                figcaption #chart-words { "Throughput appears here." }
                details {
                    summary { "These numbers as a table" }
                    div.scroll.long tabindex="0" role="region" aria-label="Throughput while it runs" {
                        table.n1.n2 {
                            thead { tr { th scope="col" { "s" } th scope="col" { "GB/s" } } }
                            tbody #chart-rows {}
                        }
                    }
                }
            }
            dl.counters {
                @for (id, name) in COUNTERS { div { dt { (name) } dd id=(id) { "0" } } }
            }
            ul #plans.sub {}
        }
    }
}

/// The counters of study 000, and what stands behind them.
const COUNTERS: [(&str, &str); 8] = [
    ("sealed", "Sealed or encrypted"),
    ("opened", "Opened or decrypted"),
    ("rejects", "Planned rejects"),
    ("unexpected", "Unexpected"),
    ("compared", "Compared with the reference"),
    ("volume", "Volume"),
    ("messages", "Messages a second"),
    ("clock", "Core clock, measured"),
];

fn sensors() -> Markup {
    html! {
        section #sensors aria-labelledby="sensors-title" {
            h2 #sensors-title { "Sensors" }
            ul #readings {}
            details #not-read open hidden {
                summary { "What cannot be read here, and why" }
                dl #missing.facts {}
            }
        }
    }
}

fn runs() -> Markup {
    html! {
        section #runs aria-labelledby="runs-title" {
            h2 #runs-title { "Runs" }
            p #no-runs.sub { "None yet. Runs that are started while one measures wait for their turn." }
            div.scroll tabindex="0" role="region" aria-labelledby="runs-title" {
                table #run-table hidden {
                    thead {
                        tr {
                            @for name in ["#", "run", "state", "GB/s (95 %)", "of ceiling", "verified"] {
                                th scope="col" { (name) }
                            }
                        }
                    }
                    tbody #run-rows {}
                }
            }
            p { a #report-of-all hidden target="_blank" rel="noopener" { "Report of all finished runs" } }
        }
    }
}

fn reading() -> Markup {
    html! {
        footer {
            h2 { "How to read this" }
            p {
                "Throughput counts bytes of message text in the time of the device alone; 1 GB is 1e9 bytes. After each \
                 sample all outputs of its last pass are compared with expected ones, which two independent \
                 implementations computed before; the counters beside count every message that went through. Loads are \
                 parts of CPU time, and rest while a run is paused. A browser on the machine that is measured takes \
                 time from it: for figures to publish, use " code { "cipherlane bench" } " or look from another machine \
                 through a forwarded port."
            }
        }
    }
}

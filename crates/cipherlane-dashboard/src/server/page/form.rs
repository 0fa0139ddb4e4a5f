//! The form of a new run. Its choices come from the catalog, and fit each other.

use maud::{Markup, html};

/// Times to choose from, in seconds; none is until somebody stops it.
const TIMES: [(&str, &str); 7] = [
    ("5", "5 s"),
    ("10", "10 s"),
    ("30", "30 s"),
    ("60", "1 min"),
    ("600", "10 min"),
    ("3600", "1 h"),
    ("", "until I stop it (at most 1 h)"),
];
/// Sizes of messages that are proposed.
const SIZES: [&str; 7] = ["16", "64", "128", "1k", "4k", "16k", "1M"];

pub(super) fn new_run() -> Markup {
    html! {
        section #new aria-labelledby="new-title" {
            h2 #new-title { "New run" }
            form #form {
                (what())
                (place())
                fieldset {
                    legend { "Under which load, how long" }
                    (slider("cpu_load", "CPU load by others"))
                    div data-for="launches" { (slider("device_load", "Device load by others")) }
                    (select("seconds", "Time", &TIMES))
                }
                p #plan.sub role="status" {}
                button type="submit" { "Start" }
                p #refusal.bad role="alert" {}
            }
        }
    }
}

fn what() -> Markup {
    html! {
        fieldset {
            legend { "What" }
            (select("workload", "Workload", &[]))
            p #question.sub {}
            div data-for="jobs" { (select("job", "Does", &[])) }
            div data-for="custom" {
                (select("algorithm", "Algorithm", &[]))
                (select("operation", "Operation", &[]))
                div.pair {
                    (field("message_bytes", &html! {
                        "Message" small { " 16, 1k, 1M" }
                        input name="message_bytes" value="16k" list="sizes" autocomplete="off" spellcheck="false";
                    }))
                    (number("messages", "Messages", "fit the cache"))
                }
                datalist #sizes { @for size in SIZES { option value=(size) {} } }
                (select("keys", "Keys", &[("same", "one for all"), ("distinct", "one each")]))
            }
        }
    }
}

fn place() -> Markup {
    html! {
        fieldset {
            legend { "Where" }
            (select("device", "Device", &[]))
            details #absences hidden { summary { "Kinds of devices that are not here, and why" } dl #absent.facts {} }
            (select("way", "Tier or kernel", &[("", "best for this machine")]))
            div data-for="threads" { (number("threads", "Threads", "cores")) }
            div data-for="launches" {
                div.pair {
                    (number("blocks", "Blocks", "planned"))
                    (number("threads_per_block", "Threads of a block", "planned"))
                    (number("streams", "Streams", "planned"))
                }
                (select("resident", "Data", &[
                    ("", "brought there and back with each pass"),
                    ("yes", "lies in the device's memory"),
                ]))
            }
        }
    }
}

fn field(name: &str, inside: &Markup) -> Markup {
    html! { label.field data-field=(name) { (inside) } }
}

fn select(name: &str, title: &str, options: &[(&str, &str)]) -> Markup {
    field(
        name,
        &html! {
            (title)
            select name=(name) {
                @for (value, text) in options {
                    option value=(value) selected[name == "seconds" && *value == "10"] { (text) }
                }
            }
        },
    )
}

fn number(name: &str, title: &str, otherwise: &str) -> Markup {
    field(name, &html! { (title) input type="number" name=(name) min="1" step="1" placeholder=(otherwise); })
}

fn slider(name: &str, title: &str) -> Markup {
    field(
        name,
        &html! {
            span { (title) " " b.amount { "0 %" } }
            input type="range" name=(name) min="0" max="100" step="5" value="0";
        },
    )
}

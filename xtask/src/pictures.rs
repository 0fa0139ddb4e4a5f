//! The pictures of the documentation: the program's own pages, as a browser shows them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::shell::{self, Workspace};

#[path = "../../crates/cipherlane-report/tests/support/chromium.rs"]
mod chromium;

use chromium::Browser;

/// A part of a report that is shown.
struct Part {
    /// The folder of records.
    records: &'static str,
    /// The one file of it that is shown; all of them without. Rows of several days have one line of time, on which none is seen.
    file: Option<&'static str>,
    /// The experiment at which it begins; the page's own begin without.
    experiment: Option<&'static str>,
    height: u32,
    /// The picture's name in `docs/`.
    name: &'static str,
}

const PARTS: [Part; 3] = [
    Part { records: "h200", file: None, experiment: None, height: 1440, name: "report-h200" },
    Part {
        records: "h200",
        file: Some("energy.jsonl"),
        experiment: Some("energy"),
        height: 2050,
        name: "throttled-h200",
    },
    Part { records: "zen4-vm", file: None, experiment: None, height: 1180, name: "report-zen4-vm" },
];
/// Width of all pictures, in pixels.
const WIDTH: u32 = 1180;
const DASHBOARD_HEIGHT: u32 = 1340;
/// Where the runs of the dashboard go.
const RECORDS: &str = "runs.jsonl";
/// More than this is a burden to whoever clones the repository.
const MOST_BYTES: usize = 400_000;

/// Runs of the dashboard's picture: one that ends, one that is watched, one that waits.
const RUNS: [&str; 3] = [
    r#"{"workload": "tls-16k", "algorithm": "aes-128-gcm", "operation": "seal", "device": "cpu", "seconds": 5}"#,
    r#"{"workload": "meter-128", "device": "cpu", "cpu_load": 0.2, "seconds": 30}"#,
    r#"{"workload": "disk-4k", "algorithm": "aes-256-xts", "operation": "encrypt", "device": "cpu", "seconds": 10}"#,
];

/// Takes all pictures of `program` again, into `docs/`.
pub(crate) fn take(workspace: &Workspace, program: &Path) -> Result<()> {
    let program = &std::path::absolute(program)?;
    ensure!(program.is_file(), "{} is not there: cargo build --release", program.display());
    let folder = workspace.target.join("pictures");
    std::fs::create_dir_all(&folder).context("a folder for the pages")?;
    let mut browser = Browser::start("pictures of pages").context("pictures need a browser")?;
    browser.call("Emulation.setScrollbarsHidden", &json!({"hidden": true}));
    for part in PARTS {
        let page = report(workspace, program, &part, &folder)?;
        browser.open(&page, WIDTH, part.height);
        if let Some(experiment) = part.experiment {
            browser.evaluate(&format!(
                "[...document.querySelectorAll('h2')].find(one => one.textContent === '{experiment}')
                    .parentElement.scrollIntoView(), 0"
            ));
        }
        save(&mut browser, &workspace.root.join(format!("docs/{}.png", part.name)))?;
    }
    let records = folder.join(RECORDS);
    // Runs are added to a file that is there.
    if records.exists() {
        std::fs::remove_file(&records).context("the runs of the last time")?;
    }
    let served = Served::start(program, &folder)?;
    watch(&mut browser, &served.url);
    save(&mut browser, &workspace.root.join("docs/dashboard.png"))
}

/// Makes the page of a folder of records, or of one file of it.
fn report(workspace: &Workspace, program: &Path, part: &Part, folder: &Path) -> Result<PathBuf> {
    let page = folder.join(format!("{}.html", part.name));
    let entries = std::fs::read_dir(workspace.root.join("records").join(part.records)).context("records")?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let is_shown = |file: &PathBuf| part.file.is_none_or(|name| file.ends_with(name));
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl") && is_shown(file));
    files.sort();
    shell::run(Command::new(program).arg("report").args(files).arg("--output").arg(&page))?;
    Ok(page)
}

/// A dashboard that is ended when it is dropped.
struct Served {
    process: Child,
    url: String,
}

impl Served {
    fn start(program: &Path, folder: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        // The page names the file as it was given.
        command
            .current_dir(folder)
            .args(["dashboard", "--no-open", "--json", RECORDS])
            .stdout(Stdio::piped());
        let mut process = command.spawn().context("the dashboard")?;
        let lines = process.stdout.take().map(|out| BufReader::new(out).lines());
        let mut lines = lines.into_iter().flatten().map_while(std::io::Result::ok);
        let Some(url) = lines.find_map(|line| line.strip_prefix("dashboard: ").map(str::to_owned)) else {
            let _ = process.kill();
            bail!("the dashboard printed no address");
        };
        Ok(Self { process, url })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the runs, pauses the one that is watched and lets it go on.
fn watch(browser: &mut Browser, url: &str) {
    browser.visit(url, WIDTH, DASHBOARD_HEIGHT);
    browser.wait("document.querySelectorAll('#form select[name=algorithm] option').length > 10");
    for (before, run) in RUNS.into_iter().enumerate() {
        browser.evaluate(&format!("ask('api/runs', {run}), 0"));
        browser.wait(&format!("document.querySelectorAll('#run-rows tr').length > {before}"));
    }
    let state = |number: usize, state: &str| {
        format!(
            "[...document.querySelectorAll('#run-rows tr')]
                .some(({{cells}}) => cells[0].textContent === '{number}' && cells[2].textContent.includes('{state}'))"
        )
    };
    browser.wait(&state(1, "finished"));
    browser.wait(&state(2, "running"));
    let seconds =
        |seconds: u32| format!("byId('now-state').textContent.match(/([0-9.]+) s of/)?.[1] > {seconds}");
    browser.wait(&seconds(5));
    browser.evaluate("byId('pause').click()");
    browser.wait(&state(2, "paused"));
    std::thread::sleep(Duration::from_secs(2));
    browser.evaluate("byId('pause').click()");
    browser.wait(&seconds(14));
}

/// Writes what the browser shows, if it is not too heavy.
fn save(browser: &mut Browser, path: &Path) -> Result<()> {
    let picture: Value = browser.call("Page.captureScreenshot", &json!({"format": "png"}));
    let text = picture["data"].as_str().context("no picture came back")?;
    let bytes = data_encoding::BASE64.decode(text.as_bytes()).context("the picture's text")?;
    ensure!(bytes.len() < MOST_BYTES, "{} would have {} bytes", path.display(), bytes.len());
    std::fs::write(path, &bytes).with_context(|| path.display().to_string())?;
    println!("{}: {} KB", path.display(), bytes.len() / 1000);
    Ok(())
}

//! A headless Chromium that is told what to do by the Chrome DevTools Protocol
//! (<https://chromedevtools.github.io/devtools-protocol/>).

#![allow(dead_code, clippy::unwrap_used, clippy::panic)] // in tests: what cannot be set up has failed

use std::env;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// What Chromium is called by those who package it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Longer than a busy machine takes for any answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Over all elements with a text of their own.
const CONTRASTS: &str = "(() => {
    const parts = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => parts(colour).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = node => { for (let at = node; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (parts(colour)[3] !== 0) return colour; } return 'rgb(255,255,255)'; };
    const own = node => [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
    return [...document.querySelectorAll('body *:not(title, desc)')].filter(own).map(node => {
        const style = getComputedStyle(node), svg = node.namespaceURI.endsWith('svg');
        const [a, b] = [light(svg ? style.fill : style.color), light(ground(node))].sort((x, y) => y - x);
        return [(a + 0.05) / (b + 0.05), node.tagName + '.' + (node.getAttribute('class') || '')];
    }).reduce((worst, one) => one[0] < worst[0] ? one : worst);
})()";

/// The browser, with one page.
pub(crate) struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    sent: u64,
    /// What the page reported meanwhile: requests, messages on the console.
    events: Vec<Value>,
    /// Its profile, which goes with it.
    _profile: TempDir,
}

impl Browser {
    /// Starts Chromium, or says loudly that what needs it is not tested. Where `CIPHERLANE_REQUIRE_CHROMIUM` is set, as
    /// CI does, it must be there.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let Some(program) = program() else {
            assert!(
                env::var_os("CIPHERLANE_REQUIRE_CHROMIUM").is_none(),
                "no Chromium on the PATH; install the package chromium, or name one in CIPHERLANE_CHROMIUM"
            );
            // Past the harness, which would swallow it.
            let _ = writeln!(
                std::io::stderr(),
                "NOT TESTED: {test}. There is no Chromium; install the package chromium and rerun."
            );
            return None;
        };
        Some(Self::launch(&program))
    }

    fn launch(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        // Tests run as root in containers, where the sandbox cannot be set up; the pages are our own.
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
        command.args(["--remote-debugging-port=0", "--no-first-run", "--disable-background-networking"]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ").map(str::to_owned))
            .unwrap();
        // Nobody may fill the pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let host = address.strip_prefix("ws://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(&address, stream).unwrap();
        let session = String::new();
        let mut browser = Self { process, socket, session, sent: 0, events: Vec::new(), _profile: profile };
        let page = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        browser.session =
            browser.call("Target.attachToTarget", &attach)["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.call("Page.setLifecycleEventsEnabled", &json!({"enabled": true}));
        browser
    }

    /// Asks for `method`, and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        let mut request = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(request.to_string())).unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == json!(id) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn next(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Opens the file `page` in a window of this size, and forgets what was reported before.
    pub(crate) fn open(&mut self, page: &Path, width: u32, height: u32) {
        self.visit(&format!("file://{}", page.display()), width, height);
    }

    /// The same with an address.
    pub(crate) fn visit(&mut self, address: &str, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        self.events.clear();
        let loader = self.call("Page.navigate", &json!({"url": address}))["loaderId"].clone();
        // Of this document: the one before may have its last events still to come.
        let is_loaded = |event: &Value| {
            let event = (&event["method"], &event["params"]["name"], &event["params"]["loaderId"]);
            event == (&json!("Page.lifecycleEvent"), &json!("load"), &loader)
        };
        while !self.events.iter().any(is_loaded) {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// Whether the page is to be dark.
    pub(crate) fn prefer_dark(&mut self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", &json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression in the page is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        while self.evaluate(expression) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The worst contrast of a text to its ground, and whose it is (WCAG 2.2, definition of contrast ratio).
    pub(crate) fn worst_contrast(&mut self) -> Value {
        self.evaluate(CONTRASTS)
    }

    /// What the page asked for since it was opened, itself included.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.of("Network.requestWillBeSent", "/params/request/url")
    }

    /// What it complained of: on the console, in the log, by exceptions.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let console = self.of("Runtime.consoleAPICalled", "/params/args");
        let thrown = self.of("Runtime.exceptionThrown", "/params/exceptionDetails");
        [console, thrown, self.of("Log.entryAdded", "/params/entry/text")].concat()
    }

    fn of(&self, method: &str, pointer: &str) -> Vec<String> {
        let events = self.events.iter().filter(|event| event["method"] == method);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        events.filter_map(|event| event.pointer(pointer)).map(text).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The browser that the environment names, or the first on the PATH.
fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CIPHERLANE_CHROMIUM") {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let all = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}

//! The page in a browser, and how it is used.

#![allow(clippy::unwrap_used)] // in tests: what cannot be set up has failed

#[path = "../../../cipherlane-report/tests/support/chromium.rs"]
pub(crate) mod chromium;

use chromium::Browser;
use serde_json::json;

use crate::support::Served;

/// The page, once it has its catalog and its first event.
pub(crate) fn opened(test: &str, width: u32, serve: impl FnOnce() -> Served) -> Option<(Served, Browser)> {
    let mut browser = Browser::start(test)?;
    let served = serve();
    browser.visit(&served.url, width, 900);
    browser.wait("document.querySelectorAll('#form select[name=algorithm] option').length > 10");
    Some((served, browser))
}

/// Chooses and fills in, as a user does: each change is told to the page.
pub(crate) fn choose(browser: &mut Browser, fields: &[(&str, &str)]) {
    for (name, value) in fields {
        let set = format!(
            "(field => {{ field.value = '{value}'; field.dispatchEvent(new Event('change', {{bubbles: true}}));
                return field.value; }})(document.getElementById('form').elements['{name}'])"
        );
        assert_eq!(browser.evaluate(&set), json!(value), "{name}");
    }
}

pub(crate) fn click(browser: &mut Browser, selector: &str) {
    browser.evaluate(&format!("document.querySelector('{selector}').click()"));
}

pub(crate) const SUBMIT: &str = "#form button[type=submit]";

pub(crate) fn text(browser: &mut Browser, selector: &str) -> String {
    let text = browser.evaluate(&format!("document.querySelector('{selector}').textContent"));
    text.as_str().unwrap().to_owned()
}

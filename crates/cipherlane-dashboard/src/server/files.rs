//! What a finished run leaves: its record, its log and its report.

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use cipherlane_record::{Measurement, Record, Writer};
use cipherlane_report::Report;

use super::Shared;
use super::api::Problem;

/// The report has its style inside and runs no script; its own policy, in its head, says the same.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The log, to be saved.
pub(super) async fn log(State(shared): State<Shared>, Path(id): Path<u64>) -> Result<Response, Problem> {
    let (_, path) = shared.board.finished(id).ok_or_else(Problem::unknown)?;
    let path = path.ok_or_else(Problem::unknown)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A log of long messages is long: see `page`.
    let read = move || std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
    let text =
        tokio::task::spawn_blocking(read).await.map_err(Problem::internal)?.map_err(Problem::internal)?;
    saved(&name, "text/plain; charset=utf-8", text)
}

/// The record, one line of JSON.
pub(super) async fn records(State(shared): State<Shared>, Path(id): Path<u64>) -> Result<Response, Problem> {
    let (row, _) = shared.board.finished(id).ok_or_else(Problem::unknown)?;
    let mut text = Vec::new();
    Writer::new(&mut text).append(&row).map_err(Problem::internal)?;
    saved(&format!("run-{id}.jsonl"), "application/x-ndjson", text)
}

/// The report of one run.
pub(super) async fn report(State(shared): State<Shared>, Path(id): Path<u64>) -> Result<Response, Problem> {
    let (row, _) = shared.board.finished(id).ok_or_else(Problem::unknown)?;
    page(shared, vec![(*row).clone()]).await
}

/// The report of all finished runs.
pub(super) async fn report_of_all(State(shared): State<Shared>) -> Result<Response, Problem> {
    let rows: Vec<Measurement> = shared.board.rows().iter().map(|row| (**row).clone()).collect();
    if rows.is_empty() {
        return Err(Problem::unknown());
    }
    page(shared, rows).await
}

async fn page(shared: Shared, rows: Vec<Measurement>) -> Result<Response, Problem> {
    let draw = move || {
        let records: Vec<Record> = rows.into_iter().map(|row| Record::Measurement(Box::new(row))).collect();
        Report::new(&records, shared.machine.questions()).html()
    };
    // Drawing takes longer than the thread of the server has between two events.
    let html =
        tokio::task::spawn_blocking(draw).await.map_err(Problem::internal)?.map_err(Problem::internal)?;
    let policy = [(header::CONTENT_SECURITY_POLICY, REPORT_POLICY)];
    Ok((policy, Html(html)).into_response())
}

/// A file that the browser saves and does not show.
fn saved(name: &str, kind: &'static str, text: Vec<u8>) -> Result<Response, Problem> {
    let plain: String = name.chars().filter(|c| c.is_ascii_graphic() && *c != '"').collect();
    let disposition: HeaderValue =
        format!("attachment; filename=\"{plain}\"").parse().map_err(Problem::internal)?;
    let headers: [(HeaderName, HeaderValue); 2] =
        [(header::CONTENT_TYPE, HeaderValue::from_static(kind)), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, text).into_response())
}

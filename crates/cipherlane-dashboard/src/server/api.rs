//! What the page asks for: the catalog, plans, runs and commands.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Shared;
use super::events::RunView;
use crate::board::Untaken;
use crate::request::{Refusal, Request};
use crate::run::Command;

/// An error as the page shows it.
pub(super) struct Problem(StatusCode, String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

impl Problem {
    pub(super) fn unknown() -> Self {
        Self(StatusCode::NOT_FOUND, "there is no such run, or it has nothing of the kind yet".to_owned())
    }

    pub(super) fn internal(reason: impl std::fmt::Display) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, reason.to_string())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self(StatusCode::UNPROCESSABLE_ENTITY, refusal.to_string())
    }
}

impl From<Untaken> for Problem {
    fn from(untaken: Untaken) -> Self {
        match untaken {
            Untaken::Unknown => Self::unknown(),
            Untaken::Conflict(reason) => Self(StatusCode::CONFLICT, reason),
        }
    }
}

/// Everything that can be chosen.
pub(super) async fn catalog(State(shared): State<Shared>) -> Json<Value> {
    Json(shared.machine.catalog())
}

/// A kernel that can be asked for.
#[derive(Serialize)]
struct KernelView {
    name: String,
    constant_time: bool,
}

/// How a request would be run, and by which kernels it could be. Starts nothing.
pub(super) async fn plan(
    State(shared): State<Shared>,
    Json(request): Json<Request>,
) -> Result<Json<Value>, Problem> {
    // The kernels that could be asked for do not depend on the one that is.
    let any = Request { kernel: None, tier: None, ..request.clone() }.order(&shared.machine)?;
    let kernels: Vec<KernelView> = any
        .kernels()
        .into_iter()
        .map(|kernel| KernelView { name: kernel.name, constant_time: kernel.constant_time })
        .collect();
    let words = match request.order(&shared.machine).and_then(|order| order.plans()) {
        Ok(plans) => {
            let plans: Vec<String> = plans.iter().map(crate::engine::described).collect();
            json!({"plan": plans.join("; ")})
        }
        Err(refusal) => json!({"error": refusal.to_string()}),
    };
    Ok(Json(json!({"kernels": kernels, "would": words})))
}

/// Puts a run into the queue.
pub(super) async fn start(
    State(shared): State<Shared>,
    Json(request): Json<Request>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let order = request.order(&shared.machine)?;
    let id = shared.board.add(request, order);
    Ok((StatusCode::CREATED, Json(json!({"id": id}))))
}

/// All runs.
pub(super) async fn runs(State(shared): State<Shared>) -> Json<Vec<RunView>> {
    Json(shared.board.read(|runs| runs.iter().map(RunView::of).collect()))
}

pub(super) async fn pause(shared: State<Shared>, id: Path<u64>) -> Result<StatusCode, Problem> {
    command(&shared, *id, Command::Pause)
}

pub(super) async fn resume(shared: State<Shared>, id: Path<u64>) -> Result<StatusCode, Problem> {
    command(&shared, *id, Command::Resume)
}

pub(super) async fn stop(shared: State<Shared>, id: Path<u64>) -> Result<StatusCode, Problem> {
    command(&shared, *id, Command::Stop)
}

fn command(shared: &Shared, id: u64, command: Command) -> Result<StatusCode, Problem> {
    shared.board.command(id, command)?;
    Ok(StatusCode::NO_CONTENT)
}

/// What is to become of the runs when the last page is closed.
#[derive(Deserialize)]
pub(super) struct Closing {
    stop: bool,
}

/// Has all runs be stopped when the last page is closed, or not.
pub(super) async fn stop_on_close(State(shared): State<Shared>, Json(closing): Json<Closing>) -> StatusCode {
    shared.readers.set_stop_on_close(closing.stop);
    StatusCode::NO_CONTENT
}

/// Ends the dashboard.
pub(super) async fn quit(State(shared): State<Shared>) -> StatusCode {
    shared.board.quit();
    StatusCode::NO_CONTENT
}

//! The server: one thread, the loopback interface, and nobody in without the token.

mod api;
mod door;
mod events;
mod files;
mod page;
mod readers;
mod visitors;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use tokio::runtime;

pub(crate) use door::Door;

use crate::board::Board;
use crate::machine::Machine;
use door::Guard;
use readers::Readers;
use visitors::{Pass, Visitors};

/// Connections that are still open so long after the end are left to the system.
const PATIENCE: Duration = Duration::from_secs(2);

/// What every handler sees.
#[derive(Clone)]
pub(crate) struct Shared {
    machine: Arc<Machine>,
    board: Arc<Board>,
    guard: Arc<Guard>,
    readers: Readers,
}

/// Serves until the board says that it is over.
pub(crate) fn serve(door: Door, machine: Arc<Machine>, board: &Arc<Board>) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let (listener, guard) = door.into_parts();
    let (guard, readers) = (Arc::new(guard), Readers::default());
    let shared = Shared { machine, board: Arc::clone(board), guard, readers };
    runtime.block_on(async {
        let visitors = Visitors::new(tokio::net::TcpListener::from_std(listener)?);
        let service = router(shared).into_make_service_with_connect_info::<Pass>();
        let ending = Arc::clone(board);
        let server =
            axum::serve(visitors, service).with_graceful_shutdown(async move { ending.ended().await });
        tokio::select! {
            served = async { server.await } => served,
            () = async { board.ended().await; tokio::time::sleep(PATIENCE).await } => Ok(()),
        }
    })
}

fn router(shared: Shared) -> Router {
    let guard = axum::middleware::from_fn_with_state(shared.clone(), door::guard);
    Router::new()
        .route("/", get(page::page))
        .route("/page.js", get(page::script))
        .route("/chart.js", get(page::chart))
        .route("/page.css", get(page::style))
        .route("/icon.svg", get(page::icon))
        .route("/api/catalog", get(api::catalog))
        .route("/api/plan", post(api::plan))
        .route("/api/runs", get(api::runs).post(api::start))
        .route("/api/runs/{id}/pause", post(api::pause))
        .route("/api/runs/{id}/resume", post(api::resume))
        .route("/api/runs/{id}/stop", post(api::stop))
        .route("/api/stop-on-close", post(api::stop_on_close))
        .route("/api/quit", post(api::quit))
        .route("/api/events", get(events::stream))
        .route("/runs/{id}/log", get(files::log))
        .route("/runs/{id}/records", get(files::records))
        .route("/runs/{id}/report", get(files::report))
        .route("/report", get(files::report_of_all))
        .layer(guard)
        .with_state(shared)
}

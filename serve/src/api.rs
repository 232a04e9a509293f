//! The addresses of the server, and what stands in front of all of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::access::{Access, Entry};
use crate::games::{PositionRequest, RecordRequest, StatesRequest};
use crate::levels::levels;
use crate::library::Library;
use crate::refusal::{Refusal, as_page};
use crate::rulesets::{Asked, Edit};
use crate::searches::{NODES_MAX, SECONDS_MAX, SIMULATIONS_MAX, SearchRequest, Searches};
use crate::{assets, rulesets, runs, studies};

/// The longest body of a request, in bytes: a game of ten thousand actions with all its values.
const BODY_BYTES_MAX: usize = 1 << 20;
const REQUEST_MAX: Duration = Duration::from_secs(60);

/// The page loads its own files only, and runs no script but them.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                           frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A report may run the script that stands in it, but reaches neither the page nor the server.
const REPORT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                             sandbox allow-scripts; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

pub(crate) struct App {
    access: Access,
    library: Library,
    searches: Searches,
}

impl App {
    pub(crate) fn new(access: Access, library: Library, searches: Searches) -> App {
        App { access, library, searches }
    }

    pub(crate) fn searches(&self) -> Searches {
        self.searches.clone()
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.searches.end();
    }
}

type Shared = State<Arc<App>>;
type Answer = Result<Response, Refusal>;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/app/{file}", get(asset))
        .route("/api/start", get(start))
        .route("/api/rules", post_json(|request: Asked, app| request.describe(&app.library)))
        .route("/api/rules/captures", post_json(|request: Asked, app| request.captures(&app.library)))
        .route("/api/rules/edit", post_json(|request: Edit, app| request.answer(&app.library)))
        .route("/api/parameters", get(|| async { found(&rulesets::parameters()) }))
        .route("/api/game", post_json(|request: StatesRequest, app| request.answer(&app.library)))
        .route("/api/position", post_json(|request: PositionRequest, app| request.answer(&app.library)))
        .route(
            "/api/record",
            post_json(|request: RecordRequest, app| request.line(&app.library).map(|line| json!({ "line": line }))),
        )
        .route(
            "/api/searches",
            post_json(|request: SearchRequest, app| {
                app.searches.begin(&request, &app.library).map(|id| json!({ "id": id }))
            }),
        )
        .route("/api/searches/{id}", get(search_news).delete(stop_search))
        .route("/api/runs", get(run_list))
        .route("/api/runs/{name}", get(run))
        .route("/api/runs/{name}/metrics", get(run_metrics))
        .route("/runs/{name}/{file}", get(run_file))
        .route("/api/studies", get(study_list))
        .route("/api/studies/{name}", get(study))
        .route("/api/studies/{name}/games/{ruleset}/{file}", get(study_games))
        .route("/studies/{name}/report.html", get(study_report))
        .fallback(|| async { Refusal::unknown("there is nothing at this address") })
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Stands in front of every address: who may ask, how long it may take, what browsers may do with the answer.
async fn guard(State(app): Shared, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let method = parts.method.clone();
    // What a browser goes to, as opposed to what the page asks for.
    let accepted = parts.headers.get(header::ACCEPT).and_then(|kinds| kinds.to_str().ok()).unwrap_or_default();
    let is_for_person = accepted.contains("text/html");
    let mut response = match app.access.check(&parts) {
        Err(refusal) => refusal.into_response(),
        Ok(Entry::SetCookie(cookie)) => {
            (StatusCode::SEE_OTHER, [(header::LOCATION, "/"), (header::SET_COOKIE, cookie.as_str())]).into_response()
        }
        Ok(Entry::Open) => {
            let answered = tokio::time::timeout(REQUEST_MAX, next.run(Request::from_parts(parts, body))).await;
            match answered {
                Ok(response) => in_our_words(response, &method).await,
                Err(_) => Refusal::busy("the request took too long").into_response(),
            }
        }
    };
    if is_for_person {
        response = as_page(response);
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Gives an error that the HTTP library has made, such as an unknown method or a body that is too long, the form of a refusal.
async fn in_our_words(response: Response, method: &Method) -> Response {
    let status = response.status();
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let message = match status {
        StatusCode::METHOD_NOT_ALLOWED => format!("{method} is not answered at this address"),
        _ => match axum::body::to_bytes(response.into_body(), BODY_BYTES_MAX).await {
            Ok(text) if !text.is_empty() => String::from_utf8_lossy(&text).into_owned(),
            _ => status.to_string(),
        },
    };
    Refusal::with(status, message).into_response()
}

fn found(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// Reads the body of a request. Its type must be that of JSON: pages of other sites cannot send that without asking.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Refusal> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Refusal::wrong("the body must be application/json"));
    }
    serde_json::from_slice(body).map_err(|error| Refusal::wrong(format!("the body is not understood: {error}")))
}

/// Returns a number of the query; 0 where it is missing.
fn number(query: &HashMap<String, String>, name: &str) -> Result<u64, Refusal> {
    let Some(text) = query.get(name) else { return Ok(0) };
    text.parse().map_err(|_| Refusal::wrong(format!("{name}={text}: write a whole number")))
}

/// Does work that reads files or plays games over, beside the threads that answer.
async fn beside(app: &Arc<App>, work: impl FnOnce(&App) -> Answer + Send + 'static) -> Answer {
    let app = Arc::clone(app);
    match tokio::task::spawn_blocking(move || work(&app)).await {
        Ok(answer) => answer,
        Err(_) => Err(Refusal::failed("the request failed; this is a fault of the program")),
    }
}

/// Answers what the body of a request asks for.
fn post_json<T: DeserializeOwned + Send + 'static>(
    answer: fn(T, &App) -> Result<Value, Refusal>,
) -> MethodRouter<Arc<App>> {
    post(async move |State(app): Shared, headers: HeaderMap, body: Bytes| -> Answer {
        let request = read(&headers, &body)?;
        beside(&app, move |app| answer(request, app).map(|value| found(&value))).await
    })
}

async fn page() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], assets::PAGE).into_response()
}

async fn asset(Path(file): Path<String>) -> Answer {
    let asset = assets::find(&file).ok_or_else(|| Refusal::unknown(format!("the page has no file {file:?}")))?;
    Ok(([(header::CONTENT_TYPE, asset.kind)], asset.text).into_response())
}

async fn start(State(app): Shared) -> Answer {
    let about = |app: &App| -> Answer {
        Ok(found(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "rulesets": app.library.list()?,
            "levels": levels(app.library.default_model()),
            "models": app.library.models(),
            "limits": { "simulations": SIMULATIONS_MAX, "nodes": NODES_MAX, "seconds": SECONDS_MAX },
        })))
    };
    beside(&app, about).await
}

async fn search_news(
    State(app): Shared,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Answer {
    let seen = if query.contains_key("seen") { Some(number(&query, "seen")?) } else { None };
    let news = app.searches.news(&id, seen).await?;
    Ok(found(&json!(news)))
}

async fn stop_search(State(app): Shared, Path(id): Path<String>) -> Answer {
    app.searches.stop(&id)?;
    Ok(found(&json!({})))
}

async fn run_list(State(app): Shared) -> Answer {
    beside(&app, |app| Ok(found(&runs::list(&app.library.runs)))).await
}

async fn run(State(app): Shared, Path(name): Path<String>) -> Answer {
    beside(&app, move |app| {
        let mut about = runs::describe(&app.library.runs, &name)?;
        about["model"] = app.library.model_of(&name).into();
        Ok(found(&about))
    })
    .await
}

async fn run_metrics(
    State(app): Shared,
    Path(name): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Answer {
    let from = number(&query, "from")?;
    beside(&app, move |app| runs::metrics(&app.library.runs, &name, from).map(|rounds| found(&rounds))).await
}

async fn run_file(State(app): Shared, Path((name, file)): Path<(String, String)>) -> Answer {
    beside(&app, move |app| {
        let (file, bytes) = runs::file(&app.library.runs, &name, &file)?;
        let use_of = if file.is_page() { "inline" } else { "attachment" };
        let headers = [
            (header::CONTENT_TYPE, file.kind),
            (header::CONTENT_DISPOSITION, use_of),
            (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
        ];
        Ok((headers, bytes).into_response())
    })
    .await
}

async fn study_list(State(app): Shared) -> Answer {
    beside(&app, |app| Ok(found(&studies::list(&app.library.studies)))).await
}

async fn study(State(app): Shared, Path(name): Path<String>) -> Answer {
    beside(&app, move |app| studies::describe(&app.library.studies, &name).map(|about| found(&about))).await
}

async fn study_games(
    State(app): Shared,
    Path((name, ruleset, file)): Path<(String, String, String)>,
    wanted: Result<Query<studies::Wanted>, QueryRejection>,
) -> Answer {
    let Query(wanted) = wanted.map_err(|error| Refusal::wrong(error.body_text()))?;
    beside(&app, move |app| {
        studies::games(&app.library.studies, &name, &ruleset, &file, &wanted).map(|games| found(&games))
    })
    .await
}

async fn study_report(State(app): Shared, Path(name): Path<String>) -> Answer {
    beside(&app, move |app| {
        let page = studies::report(&app.library.studies, &name)?;
        let headers =
            [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, REPORT_POLICY)];
        Ok((headers, page).into_response())
    })
    .await
}

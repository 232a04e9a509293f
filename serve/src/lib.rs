//! The board in a browser: one page with everything that it needs, served by the program itself.
//! The page plays, analyses and replays games, and shows training runs and studies. The server keeps no games: a request
//! carries a game as ruleset, start and actions, and the server plays it over (`games`), so browsers cannot disturb one
//! another. Searches run on their own threads, bounded in number, time and memory (`searches`). `access` decides who is
//! answered, `folders` keeps every path inside the folders that were named.

mod access;
mod api;
mod assets;
mod folders;
mod games;
mod levels;
mod library;
mod refusal;
mod rulesets;
mod runs;
mod searches;
mod studies;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use latrunculi_engine::RulesetFile;
use latrunculi_train::Error;
use latrunculi_train::models::{self, NetworkOpener};

use access::Access;
use api::App;
use folders::Folder;
use library::Library;
use searches::Searches;

/// What is served, and where.
pub struct Settings {
    /// The address; every one that is not a loopback address needs a token, which is part of [`Server::url`].
    pub address: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The model that plays first, a file or the folder of a run; `None` is the one in the program.
    pub model: Option<String>,
    /// Opens networks.
    pub networks: NetworkOpener,
    /// Rulesets that are offered beside the shipped ones, under their ids.
    pub rulesets: Vec<RulesetFile>,
    /// The folder of training runs; it need not exist yet.
    pub runs: PathBuf,
    /// The folder of studies; it need not exist yet.
    pub studies: PathBuf,
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    url: String,
    app: App,
}

/// How often the server looks whether it should end.
const STOP_INTERVAL: Duration = Duration::from_millis(50);
/// How long the end of the server waits for file reads and replays that are under way.
const END_MAX: Duration = Duration::from_millis(500);
/// How many requests read files or play games over at the same time.
const BLOCKING_THREADS: usize = 8;

impl Server {
    /// Listens at the address and starts the threads of the searches.
    /// Fails when the port is taken, the model cannot be read, two rulesets have one id, or the system refuses.
    pub fn bind(settings: Settings) -> Result<Server, Error> {
        if let Some(model) = &settings.model {
            models::read(model.as_ref())?;
        }
        let Settings { address, port, .. } = settings;
        let asked = SocketAddr::new(address, port);
        let listener = TcpListener::bind(asked).map_err(|refusal| match refusal.kind() {
            ErrorKind::AddrInUse => Error::Refused(format!(
                "port {port} of {address} is in use by another program; choose another one with --port, or any free one with --port 0"
            )),
            _ => Error::Refused(format!("cannot listen at {asked}: {refusal}")),
        })?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let access =
            Access::new(address).map_err(|refusal| Error::Refused(format!("cannot draw a token: {refusal}")))?;
        let url = access.url();
        let (runs, studies) = (Folder::of_runs(settings.runs), Folder::of_studies(settings.studies));
        let library = Library::new(runs, studies, settings.model, settings.rulesets)?;
        let app =
            App::new(access, library, Searches::start(&settings.networks.for_single_positions()).map_err(refused)?);
        Ok(Server { listener, url, app })
    }

    /// Returns the address to open in a browser, with the token if one is needed.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Answers until `stop` becomes true; ends within a second of that, searches included.
    /// Fails when the system refuses connections altogether.
    pub fn run(self, stop: &AtomicBool) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(BLOCKING_THREADS)
            .build()
            .map_err(refused)?;
        let app = Arc::new(self.app);
        let searches = app.searches();
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            tokio::select! {
                served = axum::serve(listener, api::router(app)).into_future() => served,
                () = raised(stop) => Ok(()),
            }
        });
        searches.end();
        runtime.shutdown_timeout(END_MAX);
        served.map_err(refused)
    }
}

fn refused(refusal: std::io::Error) -> Error {
    Error::Refused(format!("cannot serve: {refusal}"))
}

/// Waits until the flag is true.
async fn raised(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

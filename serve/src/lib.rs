//! The board in a browser: one page with everything that it needs, served by the program itself.
//!
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
mod runs;
mod searches;
mod studies;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use latrunculi_engine::Rules;
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
    pub rulesets: Vec<Arc<Rules>>,
    /// The folder of training runs; it need not exist yet.
    pub runs: PathBuf,
    /// The folder of studies; it need not exist yet.
    pub studies: PathBuf,
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program listens there.
    #[error(
        "port {port} of {address} is in use by another program; choose another one with --port, or any free one with --port 0"
    )]
    PortInUse {
        /// The address.
        address: IpAddr,
        /// The port.
        port: u16,
    },
    /// The system refuses the address.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address with its port.
        address: SocketAddr,
        /// The reason.
        source: std::io::Error,
    },
    /// A ruleset has the id of another one.
    #[error("two rulesets are called {0:?}: give yours an id of its own (id = \"...\" at the top of its file)")]
    SameId(String),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] latrunculi_train::Error),
    /// The system gives no random numbers for the token.
    #[error("cannot draw a token: {0}")]
    Random(getrandom::Error),
    /// The system refuses threads or connections.
    #[error("cannot serve: {0}")]
    System(#[from] std::io::Error),
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
    /// Fails with [`ServeError`] when the port is taken, the model cannot be read, two rulesets have one id, or the system
    /// refuses.
    pub fn bind(settings: Settings) -> Result<Server, ServeError> {
        if let Some(model) = &settings.model {
            models::read(model.as_ref())?;
        }
        let asked = SocketAddr::new(settings.address, settings.port);
        let listener = TcpListener::bind(asked).map_err(|source| match source.kind() {
            ErrorKind::AddrInUse => ServeError::PortInUse { address: settings.address, port: settings.port },
            _ => ServeError::Listen { address: asked, source },
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let access = Access::new(address).map_err(ServeError::Random)?;
        let url = access.url();
        let (runs, studies) = (Folder::of_runs(settings.runs), Folder::of_studies(settings.studies));
        let library = Library::new(runs, studies, settings.model, settings.rulesets).map_err(ServeError::SameId)?;
        let app = App::new(access, library, Searches::start(&settings.networks.for_single_positions())?);
        Ok(Server { listener, url, app })
    }

    /// Returns the address to open in a browser, with the token if one is needed.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Answers until `stop` becomes true; ends within a second of that, searches included.
    /// Fails with [`ServeError::System`] when the system refuses connections altogether.
    pub fn run(self, stop: &AtomicBool) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(BLOCKING_THREADS)
            .build()?;
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
        Ok(served?)
    }
}

/// Waits until the flag is true.
async fn raised(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

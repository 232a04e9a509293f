//! A store: reading, listing, and writing once.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use crate::errors::{Kind, StoreError, shown};
use crate::worker::model_name;

/// Set from another thread or a signal handler, it ends what a store is doing.
pub type StopFlag = Arc<AtomicBool>;

const STOP_CHECK: Duration = Duration::from_millis(100);
/// The waits between attempts: the first, and the longest.
const WAITS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];
/// More objects than any folder of a run or study has.
const OBJECTS_MAX: usize = 2_000_000;

/// How long is waited for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For one request.
    pub request: Duration,
    /// For an object, all attempts together.
    pub total: Duration,
}

impl Patience {
    /// At the beginning, when somebody waits in front of the screen.
    pub const FIRST: Patience = Patience { request: Duration::from_secs(15), total: Duration::from_secs(20) };
    /// In the middle of work: a link that is down for some minutes ends nothing.
    pub const WORK: Patience = Patience { request: Duration::from_secs(120), total: Duration::from_secs(600) };
}

/// What came of [`Store::create`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// The object holds these bytes: they were written now, or by an attempt whose reply was lost, or were there already.
    Mine,
    /// Another object has the name, and keeps it.
    Theirs,
}

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name in the store, from the store's root, with slashes.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// When it was written, in seconds since 1970 by the clock of the store.
    pub written: i64,
}

/// A store. Threads may use it at once.
pub struct Store {
    inner: Arc<dyn ObjectStore>,
    root: Path,
    /// The URL.
    shown: String,
    patience: Patience,
    stop: StopFlag,
    /// Whether a worker has delivered a unit, or the user was told that none has.
    pub(crate) knows_of_workers: AtomicBool,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.shown)
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // A call of the system that hangs, as on a network file system that is gone, must not keep the program.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns the SHA-256 of `bytes` as 64 hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Store {
    /// Makes a store of an implementation; `shown` is how messages name it, and all names are below `root`.
    /// Fails when the system gives no threads.
    pub fn of(inner: Arc<dyn ObjectStore>, root: Path, shown: &str, stop: StopFlag) -> Result<Store, StoreError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("store")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Unusable(format!("the store's threads cannot be started: {error}")))?;
        Ok(Store {
            inner,
            root,
            shown: shown.to_owned(),
            patience: Patience::WORK,
            stop,
            knows_of_workers: AtomicBool::new(false),
            runtime: Some(runtime),
        })
    }

    /// Returns the store with another patience.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Store {
        self.patience = patience;
        self
    }

    /// Changes how long is waited from now on.
    pub fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Writes an object under a name that nothing has. Whoever comes second is told [`Created::Theirs`].
    /// A store's "there is one already" is not believed: it may be this program's own object whose reply was lost, or an
    /// answer to a conflict that left nothing. What is there is read and compared.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<Created, StoreError> {
        let path = self.path(name);
        let payload = PutPayload::from(bytes.to_vec());
        let mut retry = self.retry("writing", name);
        loop {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            match self.wait(self.inner.put_opts(&path, payload.clone(), options))? {
                Ok(_) => return Ok(Created::Mine),
                Err(error) => match Kind::of(&error) {
                    Kind::Exists => match self.read(name, bytes.len() as u64) {
                        Ok(Some(there)) if there == bytes => return Ok(Created::Mine),
                        Ok(Some(_)) | Err(StoreError::TooLarge { .. }) => return Ok(Created::Theirs),
                        // A conflict of two writers of whom none has written yet.
                        Ok(None) => retry.again(&error)?,
                        Err(error) => return Err(error),
                    },
                    Kind::NotFound => return Err(self.missing(&error)),
                    _ => retry.again(&error)?,
                },
            }
        }
    }

    /// Reads an object of at most `bytes_max` bytes; `None` where there is none.
    pub fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(name);
        let mut retry = self.retry("reading", name);
        loop {
            let attempt = async {
                let found = self.inner.get(&path).await?;
                let bytes = found.meta.size;
                if bytes > bytes_max {
                    return Ok(Err(bytes));
                }
                let mut content = Vec::new();
                let mut parts = found.into_stream();
                while let Some(part) = parts.try_next().await? {
                    if (content.len() + part.len()) as u64 > bytes_max {
                        return Ok(Err((content.len() + part.len()) as u64));
                    }
                    content.extend_from_slice(&part);
                }
                Ok(Ok(content))
            };
            match self.wait(attempt)? {
                Ok(Ok(content)) => return Ok(Some(content)),
                Ok(Err(bytes)) => return Err(StoreError::TooLarge { name: name.to_owned(), bytes, bytes_max }),
                Err(error) => match Kind::of(&error) {
                    Kind::NotFound => return Ok(None),
                    _ => retry.again(&error)?,
                },
            }
        }
    }

    /// Reads the first `bytes` bytes of an object, or all where it has fewer; `None` where there is none.
    pub fn read_beginning(&self, name: &str, bytes: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(name);
        let mut retry = self.retry("reading", name);
        loop {
            match self.wait(self.inner.get_range(&path, 0..bytes))? {
                Ok(content) => return Ok(Some(content.to_vec())),
                Err(error) => match Kind::of(&error) {
                    Kind::NotFound => return Ok(None),
                    // An object of no bytes has no range.
                    _ if self.wait(self.inner.head(&path))?.is_ok_and(|found| found.size == 0) => {
                        return Ok(Some(Vec::new()));
                    }
                    _ => retry.again(&error)?,
                },
            }
        }
    }

    /// Writes a network under the name of its SHA-256, which is returned. An object of this name that holds something else is found
    /// by who reads it.
    pub fn write_model(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let name = sha256(bytes);
        self.create(&model_name(&name), bytes)?;
        Ok(name)
    }

    /// Reads an object whose name ends with its SHA-256, before the extension; `None` where there is none.
    /// Fails with [`StoreError::Damaged`] where it holds something else, and what reading gives.
    pub fn read_verified(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(content) = self.read(name, bytes_max)? else { return Ok(None) };
        let found = sha256(&content);
        let stem = name.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
        match stem == found {
            true => Ok(Some(content)),
            false => Err(StoreError::Damaged(format!(
                "{name} is damaged: its SHA-256 is {found}; remove it, and the program that wrote it writes it again"
            ))),
        }
    }

    /// Lists the objects below a folder, by name; none where there is no such folder.
    pub fn list(&self, folder: &str) -> Result<Vec<Object>, StoreError> {
        let path = self.path(folder);
        let own = self.root.as_ref().len() + usize::from(!self.root.as_ref().is_empty());
        let mut retry = self.retry("listing", folder);
        loop {
            let attempt = async {
                let mut found = Vec::new();
                let mut objects = self.inner.list(Some(&path));
                while let Some(object) = objects.try_next().await? {
                    let name = object.location.as_ref().get(own..).unwrap_or_default().to_owned();
                    found.push(Object { name, bytes: object.size, written: object.last_modified.timestamp() });
                    if found.len() > OBJECTS_MAX {
                        break;
                    }
                }
                Ok(found)
            };
            match self.wait(attempt)? {
                Ok(found) if found.len() > OBJECTS_MAX => {
                    let reason = format!("it has more than {OBJECTS_MAX} objects; use another --store");
                    return Err(self.failed("listing", folder, &reason));
                }
                Ok(mut found) => {
                    found.sort_by(|one, other| one.name.cmp(&other.name));
                    return Ok(found);
                }
                Err(error) => match Kind::of(&error) {
                    // A folder of a disk may go while it is listed; a bucket that is not there never comes.
                    Kind::NotFound => return Err(self.missing(&error)),
                    _ => retry.again(&error)?,
                },
            }
        }
    }

    /// Removes an object, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name);
        let mut retry = self.retry("removing", name);
        loop {
            match self.wait(self.inner.delete(&path))? {
                Ok(()) => return Ok(()),
                Err(error) => match Kind::of(&error) {
                    Kind::NotFound => return Ok(()),
                    _ => retry.again(&error)?,
                },
            }
        }
    }

    /// Waits, but not beyond the setting of the stop flag.
    /// Fails with [`StoreError::Stopped`] when it is set.
    pub fn sleep(&self, time: Duration) -> Result<(), StoreError> {
        let end = Instant::now() + time;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(StoreError::Stopped);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(STOP_CHECK));
        }
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').filter(|part| !part.is_empty()).fold(self.root.clone(), |path, part| path.join(part))
    }

    /// Waits for an attempt; the time that it may take is that of an error.
    fn wait<T>(
        &self,
        attempt: impl Future<Output = object_store::Result<T>>,
    ) -> Result<object_store::Result<T>, StoreError> {
        let Some(runtime) = &self.runtime else { return Err(StoreError::Stopped) };
        let stop = async {
            while !self.stop.load(Ordering::Relaxed) {
                tokio::time::sleep(STOP_CHECK).await;
            }
        };
        let request = self.patience.request;
        runtime.block_on(async {
            let bounded = std::pin::pin!(tokio::time::timeout(request, attempt));
            let stop = std::pin::pin!(stop);
            match futures_util::future::select(bounded, stop).await {
                futures_util::future::Either::Left((Ok(answer), _)) => Ok(answer),
                futures_util::future::Either::Left((Err(_), _)) => {
                    let source = format!("no answer in {} s", request.as_secs_f64()).into();
                    Ok(Err(object_store::Error::Generic { store: "store", source }))
                }
                futures_util::future::Either::Right(_) => Err(StoreError::Stopped),
            }
        })
    }

    fn retry<'a>(&'a self, attempt: &'static str, name: &'a str) -> Retry<'a> {
        Retry { store: self, attempt, name, begun: Instant::now(), attempts: 0, pause: WAITS[0] }
    }

    fn missing(&self, error: &object_store::Error) -> StoreError {
        StoreError::missing(&self.shown, shown(error))
    }

    /// Says that an attempt at an object failed for a reason that will not pass by itself.
    #[must_use]
    pub fn failed(&self, attempt: &str, name: &str, reason: &str) -> StoreError {
        StoreError::Unusable(format!("{self}: {attempt} {name}: {reason}"))
    }
}

struct Retry<'a> {
    store: &'a Store,
    attempt: &'static str,
    name: &'a str,
    begun: Instant,
    attempts: u32,
    pause: Duration,
}

impl Retry<'_> {
    /// Waits before the next attempt, twice as long each time, or gives up.
    fn again(&mut self, error: &object_store::Error) -> Result<(), StoreError> {
        let Retry { store, attempt, name, .. } = *self;
        self.attempts += 1;
        let reason = shown(error);
        match Kind::of(error) {
            Kind::Denied => {
                return Err(StoreError::Unusable(format!(
                    "{store}: {attempt} {name} is refused ({reason}); credentials come from the environment (docs/workers.md has \
                     the variables and the rights that are needed), and may have expired"
                )));
            }
            Kind::Lasting => return Err(store.failed(attempt, name, &reason)),
            _ => {}
        }
        if self.begun.elapsed() + self.pause > self.store.patience.total {
            return Err(StoreError::Unreachable(format!(
                "{store}: {attempt} {name} failed {} times in {} s, last with: {reason}; look at the network, the address and the \
                 credentials, then run the same command again: nothing is lost",
                self.attempts,
                self.begun.elapsed().as_secs()
            )));
        }
        self.store.sleep(self.pause)?;
        self.pause = (self.pause * 2).min(WAITS[1]);
        Ok(())
    }
}

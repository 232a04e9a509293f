//! A store that fails as real ones do, for tests: conflicts, lost replies, repeated deliveries, writers that are not refused.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use crate::worker::mixed;

/// What goes wrong, each as the share of the requests in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A write is answered with 409, and nothing is written.
    pub conflict: u64,
    /// A write is answered with 412, and nothing is written.
    pub precondition: u64,
    /// A write takes place, and its reply is lost.
    pub lost_reply: u64,
    /// A request is lost.
    pub lost_request: u64,
    /// A write is never answered.
    pub hang: u64,
    /// A write that took place is delivered a second time, some writes later.
    pub repeated: u64,
}

/// A store that fails.
pub struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    faults: Faults,
    /// Whether the second of two writers replaces what is there.
    overwrites: bool,
    /// Counts the requests, so that what fails is the same each time.
    requests: AtomicU64,
    seed: u64,
    is_down: Arc<AtomicBool>,
    later: Mutex<VecDeque<(Path, PutPayload)>>,
    /// Faults that took place.
    injected: AtomicU64,
}

impl FaultyStore {
    /// Makes a store that fails at `faults`, which of its requests being a function of `seed` and their order.
    #[must_use]
    pub fn new(inner: Arc<dyn ObjectStore>, faults: Faults, seed: u64) -> FaultyStore {
        FaultyStore {
            inner,
            faults,
            overwrites: false,
            requests: AtomicU64::new(0),
            seed,
            is_down: Arc::default(),
            later: Mutex::default(),
            injected: AtomicU64::new(0),
        }
    }

    /// Makes a store in which the second of two writers replaces what is there.
    #[must_use]
    pub fn overwriting(inner: Arc<dyn ObjectStore>) -> FaultyStore {
        FaultyStore { overwrites: true, ..FaultyStore::new(inner, Faults::default(), 0) }
    }

    /// Returns what breaks the link while it is set.
    #[must_use]
    pub fn link_is_down(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_down)
    }

    /// Returns how many faults took place.
    #[must_use]
    pub fn injected(&self) -> u64 {
        self.injected.load(Ordering::Relaxed)
    }

    /// Returns a number below 1000 for the next request.
    fn draw(&self) -> u64 {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        mixed(self.seed ^ request) % 1000
    }

    fn note(&self) {
        self.injected.fetch_add(1, Ordering::Relaxed);
    }

    /// Fails while the link is down, and for the share of requests that are lost.
    fn reach(&self) -> Result<()> {
        let is_lost = self.draw() < self.faults.lost_request;
        if is_lost || self.is_down.load(Ordering::Relaxed) {
            self.note();
            return Err(broken("connection reset"));
        }
        Ok(())
    }
}

fn broken(reason: &str) -> Error {
    Error::Generic { store: "faulty", source: reason.into() }
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyStore")
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, mut options: PutOptions) -> Result<PutResult> {
        self.reach()?;
        if self.overwrites {
            options.mode = PutMode::Overwrite;
        }
        let drawn = self.draw();
        let Faults { conflict, precondition, lost_reply, hang, repeated, .. } = self.faults;
        let path = location.to_string();
        if drawn < conflict {
            self.note();
            return Err(Error::AlreadyExists { path, source: "409 Conflict".into() });
        }
        if drawn < conflict + precondition {
            self.note();
            return Err(Error::Precondition { path, source: "412 Precondition Failed".into() });
        }
        if drawn < conflict + precondition + hang {
            self.note();
            return std::future::pending().await;
        }
        let due = {
            let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
            if later.len() > 2 { later.pop_front() } else { None }
        };
        if let Some((path, payload)) = due {
            self.note();
            // Whoever repeats a delivery hears nothing of it.
            _ = self.inner.put_opts(&path, payload, options.clone()).await;
        }
        let written = self.inner.put_opts(location, payload.clone(), options).await?;
        if self.draw() < repeated {
            self.later.lock().unwrap_or_else(PoisonError::into_inner).push_back((location.clone(), payload));
        }
        if self.draw() < lost_reply {
            self.note();
            return Err(broken("the reply was lost"));
        }
        Ok(written)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.reach()?;
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.reach() {
            Ok(()) => self.inner.list(prefix),
            Err(error) => Box::pin(futures_util::stream::once(async { Err(error) })),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

//! What goes wrong with a store, and which of it may pass.

use std::error::Error;
use std::fmt::Write;
use std::io;
use std::path::PathBuf;

/// The reasons why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The URL names no store.
    #[error(
        "--store {url}: {reason}; it is a folder, file:///FOLDER, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH"
    )]
    Url {
        /// The URL as given, without what may be a password.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// This program cannot use such a store.
    #[error("--store {url}: this program was built for folders only; build it with --features cloud for buckets")]
    NotBuilt {
        /// The URL.
        url: String,
    },
    /// There is no such folder, bucket or container.
    #[error("{store}: there is no such folder or bucket ({reason}); make it, or mend --store")]
    Missing {
        /// The store.
        store: String,
        /// What the store says.
        reason: String,
    },
    /// The credentials do not allow it.
    #[error(
        "{store}: {attempt} {name} is refused ({reason}); credentials come from the environment (docs/workers.md has the \
         variables and the rights that are needed), and may have expired"
    )]
    Denied {
        /// The store.
        store: String,
        /// What was attempted.
        attempt: &'static str,
        /// The object.
        name: String,
        /// What the store says.
        reason: String,
    },
    /// It does not answer, or answers with errors, for as long as was waited.
    #[error(
        "{store}: {attempt} {name} failed {attempts} times in {secs} s, last with: {reason}; look at the network, the address \
         and the credentials, then run the same command again: nothing is lost"
    )]
    Unreachable {
        /// The store.
        store: String,
        /// What was attempted.
        attempt: &'static str,
        /// The object.
        name: String,
        /// How often.
        attempts: u32,
        /// For how long, in seconds.
        secs: u64,
        /// The last error.
        reason: String,
    },
    /// The system refuses: the disk is full, or a folder cannot be written.
    #[error("{store}: {attempt} {name}: {reason}")]
    Failed {
        /// The store.
        store: String,
        /// What was attempted.
        attempt: &'static str,
        /// The object.
        name: String,
        /// What the system says.
        reason: String,
    },
    /// An object is larger than any that belongs here.
    #[error("{name} has {bytes} bytes, more than the {bytes_max} that such an object can have")]
    TooLarge {
        /// The object.
        name: String,
        /// Its size.
        bytes: u64,
        /// The most that is read.
        bytes_max: u64,
    },
    /// An object is not what its name says.
    #[error("{name} is damaged: its SHA-256 is {found}; remove it, and the program that wrote it writes it again")]
    Damaged {
        /// The object, named after its hash.
        name: String,
        /// The hash of what is there.
        found: String,
    },
    /// What was fetched cannot be kept.
    #[error("{}: {source}; --cache names another folder", path.display())]
    Cache {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The store does not do what the program needs.
    #[error("{store} cannot be used:\n  {}", faults.join("\n  "))]
    Unfit {
        /// The store.
        store: String,
        /// What it fails at.
        faults: Vec<String>,
    },
    /// The system gives no threads.
    #[error("the store's threads cannot be started: {0}")]
    Threads(#[source] io::Error),
    /// The stop flag was set.
    #[error("stopped")]
    Stopped,
}

/// How an error of an attempt is taken.
#[derive(Debug)]
pub(crate) enum Kind {
    /// There is no such object; of a write or a list, no such store.
    NotFound,
    /// An object is there already, or the store says so.
    Exists,
    /// The credentials do not allow it.
    Denied,
    /// It will not pass by itself.
    Lasting,
    /// It may pass.
    Passing,
}

impl Kind {
    /// Returns the kind of an error.
    pub(crate) fn of(error: &object_store::Error) -> Kind {
        use object_store::Error as E;
        match error {
            E::NotFound { .. } => Kind::NotFound,
            E::AlreadyExists { .. } | E::Precondition { .. } => Kind::Exists,
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Kind::Denied,
            E::InvalidPath { .. } | E::NotSupported { .. } | E::NotImplemented { .. } => Kind::Lasting,
            _ => match system_error(error).map(io::Error::kind) {
                Some(io::ErrorKind::PermissionDenied) => Kind::Denied,
                Some(
                    io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::IsADirectory
                    | io::ErrorKind::FileTooLarge
                    | io::ErrorKind::Unsupported,
                ) => Kind::Lasting,
                _ => Kind::Passing,
            },
        }
    }
}

/// Returns the system's error behind an error of a folder; connections have system errors too, which may pass.
fn system_error(error: &object_store::Error) -> Option<&io::Error> {
    let object_store::Error::Generic { store: "LocalFileSystem", .. } = error else { return None };
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<io::Error>() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// Returns what an error says, in one line of bounded length; answers of servers may be long pages.
pub(crate) fn shown(error: &object_store::Error) -> String {
    const LENGTH_MAX: usize = 400;
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            _ = write!(text, ": {more}");
        }
        cause = error.source();
    }
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

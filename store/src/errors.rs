//! What goes wrong with a store, and which of it may pass.

use std::error::Error;
use std::fmt::{Display, Write};
use std::io;

/// Why a store cannot be used, with the way out.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is none, is refused, or does not do what is needed; or a machine's own disk or program is at fault.
    #[error("{0}")]
    Unusable(String),
    /// It does not answer, or answers with errors, for as long as was waited.
    #[error("{0}")]
    Unreachable(String),
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
    #[error("{0}")]
    Damaged(String),
    /// The stop flag was set.
    #[error("stopped")]
    Stopped,
}

impl StoreError {
    /// Says what is wrong with the URL of a store, as it was given but without what may be a password.
    pub(crate) fn url(url: &str, reason: impl Display) -> StoreError {
        StoreError::Unusable(format!(
            "--store {url}: {reason}; it is a folder, file:///FOLDER, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH"
        ))
    }

    /// Says that there is no such folder, bucket or container.
    pub(crate) fn missing(store: &str, reason: impl Display) -> StoreError {
        StoreError::Unusable(format!("{store}: there is no such folder or bucket ({reason}); make it, or mend --store"))
    }
}

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
                // A text of a folder may have any name in it.
                _ if matches!(error, E::Generic { store: FOLDER, .. }) => Kind::Passing,
                _ => Kind::of_answer(&whole(error)),
            },
        }
    }

    /// Returns the kind of an answer of a server for which `object_store` has none of its own: to every list, to the removal
    /// of an object among several, and from where credentials come.
    fn of_answer(text: &str) -> Kind {
        let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        match text.split_once("status code: ").and_then(|(_, answer)| answer.get(..3)) {
            Some("401" | "403") => Kind::Denied,
            Some("404") if has(&["list request"]) => Kind::NotFound,
            // Not of an object: where credentials come from there are none.
            Some("404") => Kind::Denied,
            Some("400") if has(&["RequestTimeout"]) => Kind::Passing,
            Some("400") if has(&["ExpiredToken", "InvalidToken", "InvalidIdentityToken", "invalid_grant"]) => {
                Kind::Denied
            }
            Some("301" | "400") => Kind::Lasting,
            None if has(&["code: AccessDenied", "code: 401", "code: 403"]) => Kind::Denied,
            None if has(&WRONG_REGION) => Kind::Lasting,
            _ => Kind::Passing,
        }
    }
}

/// How `object_store` names a folder in its errors.
const FOLDER: &str = "LocalFileSystem";
/// What S3 answers where the bucket lies in another region, one of these.
const WRONG_REGION: [&str; 3] = ["status code: 301", "incorrectly configured region", "AuthorizationHeaderMalformed"];

/// Returns the system's error behind an error of a folder; connections have system errors too, which may pass.
fn system_error(error: &object_store::Error) -> Option<&io::Error> {
    let object_store::Error::Generic { store: FOLDER, .. } = error else { return None };
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
    let mut text = whole(error);
    let is_elsewhere = WRONG_REGION.iter().any(|part| text.contains(part));
    if let Some((end, _)) = text.char_indices().nth(LENGTH_MAX) {
        text.truncate(end);
        text.push('…');
    }
    if is_elsewhere && matches!(error, object_store::Error::Generic { store: "S3", .. }) {
        text.push_str("; set AWS_REGION to the region of the bucket");
    }
    text
}

/// Returns all that an error says, in one line.
fn whole(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            _ = write!(text, ": {more}");
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_servers_that_will_not_pass_are_not_tried_again() {
        let of = |store, text: &str| object_store::Error::Generic { store, source: text.into() };
        let status = "in 1.2ms - Server returned non-2xx status code:";
        let list =
            format!("Error performing list request: Error performing GET https://host/bucket?prefix=units {status}");
        let put = format!("Error performing PUT https://host/bucket/units/1 {status}");
        let body = |code: &str| format!("400 Bad Request: <Error><Code>{code}</Code><Message>text</Message></Error>");
        let cases = [
            (format!("{list} 404 Not Found: <Error><Code>NoSuchBucket</Code></Error>"), "NotFound"),
            (format!("{list} 403 Forbidden: <Error><Code>AccessDenied</Code></Error>"), "Denied"),
            (format!("{list} 401 Unauthorized: "), "Denied"),
            (format!("{list} {}", body("ExpiredToken")), "Denied"),
            (format!("{put} {}", body("InvalidToken")), "Denied"),
            (format!("{put} {}", body("RequestTimeout")), "Passing"),
            (format!("{put} {}", body("InvalidRequest")), "Lasting"),
            (format!("{put} {}", body("AuthorizationHeaderMalformed")), "Lasting"),
            (format!("{list} 301 Moved Permanently: "), "Lasting"),
            (format!("{list} 503 Service Unavailable: <Error><Code>SlowDown</Code></Error>"), "Passing"),
            (
                "Error performing GET https://host/bucket/a in 1ms - Received redirect without LOCATION, this normally \
                 indicates an incorrectly configured region"
                    .to_owned(),
                "Lasting",
            ),
            ("DeleteObjects request failed for key units/1: Access Denied (code: AccessDenied)".to_owned(), "Denied"),
            ("DeleteObjects request failed for key units/1: Try again (code: InternalError)".to_owned(), "Passing"),
            // The service that gives an instance its credentials has none: no object is missing.
            (format!("Error performing GET http://host/latest/meta-data/iam {status} 404 Not Found: "), "Denied"),
            ("error sending request".to_owned(), "Passing"),
        ];
        for (text, kind) in cases {
            assert_eq!(format!("{:?}", Kind::of(&of("S3", &text))), kind, "{text}");
            assert!(matches!(Kind::of(&of(FOLDER, &text)), Kind::Passing), "a folder has no answers: {text}");
            let is_elsewhere = ["301", "region", "Malformed"].iter().any(|part| text.contains(part));
            assert_eq!(shown(&of("S3", &text)).contains("set AWS_REGION"), is_elsewhere, "{text}");
        }
        let long = shown(&of("S3", &format!("{list} 301 Moved Permanently: {}", "page ".repeat(1000))));
        assert!(long.chars().count() < 500 && long.contains('…') && long.contains("AWS_REGION"), "{long}");
    }
}

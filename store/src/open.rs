//! A store by its URL.

use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::path::Path;
use url::Url;

use crate::errors::StoreError;
use crate::store::{StopFlag, Store};

impl Store {
    /// Opens a store: a folder, `file://`, `s3://`, `gs://` or `az://`. A folder must be there, or is made if `make` says so.
    /// Nothing is asked of a bucket yet.
    /// Credentials come from the environment as `object_store` takes them, never from the URL.
    pub fn open(url: &str, make: bool, stop: StopFlag) -> Result<Store, StoreError> {
        let refuse = |reason: &str| StoreError::url(&without_secrets(url), reason);
        if url.is_empty() {
            return Err(refuse("it is empty"));
        }
        if !url.contains("://") {
            return folder(std::path::Path::new(url), url, make, stop);
        }
        let parsed = Url::parse(url).map_err(|error| refuse(&error.to_string()))?;
        if parsed.password().is_some() || parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(refuse("credentials and options come from the environment, not from the URL"));
        }
        match parsed.scheme() {
            "file" => {
                let path = parsed.to_file_path().map_err(|()| refuse("it names no folder of this machine"))?;
                folder(&path, url, make, stop)
            }
            "s3" | "gs" | "az" if parsed.host_str().is_none_or(str::is_empty) => Err(refuse("the bucket is missing")),
            "s3" | "gs" | "az" => bucket(&parsed, stop),
            scheme => Err(refuse(&format!("there are no stores of {scheme}://"))),
        }
    }
}

fn without_secrets(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    match (plain.split_once("://"), plain.rsplit_once('@')) {
        (Some((scheme, _)), Some((user, rest))) if user.matches(':').count() > 1 => format!("{scheme}://…@{rest}"),
        _ => plain.to_owned(),
    }
}

fn folder(path: &std::path::Path, shown: &str, make: bool, stop: StopFlag) -> Result<Store, StoreError> {
    let missing = |error: &dyn std::fmt::Display| StoreError::missing(shown, error);
    if make {
        std::fs::create_dir_all(path).map_err(|error| missing(&error))?;
    }
    let folder = LocalFileSystem::new_with_prefix(path).map_err(|error| missing(&error))?;
    if !path.is_dir() {
        return Err(missing(&"it is a file"));
    }
    // What was created is on the disk before the next step relies on it.
    Store::of(Arc::new(folder.with_fsync(true)), Path::default(), shown, stop)
}

#[cfg(not(feature = "cloud"))]
fn bucket(url: &Url, _: StopFlag) -> Result<Store, StoreError> {
    let reason = "this program was built for folders only; build it with --features cloud for buckets";
    Err(StoreError::Unusable(format!("--store {url}: {reason}")))
}

#[cfg(feature = "cloud")]
fn bucket(url: &Url, stop: StopFlag) -> Result<Store, StoreError> {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
    use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
    use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
    use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

    use crate::store::Patience;

    // Another crate may have chosen one already; any does.
    _ = rustls::crypto::ring::default_provider().install_default();
    // Attempts are repeated by `Store`, which can be stopped. Credentials that are asked for over the network are asked for
    // once more.
    let retry = RetryConfig { max_retries: 1, retry_timeout: Patience::FIRST.request, ..RetryConfig::default() };
    let client = [
        (ClientConfigKey::ConnectTimeout, "10 seconds".to_owned()),
        (ClientConfigKey::Timeout, format!("{} seconds", Patience::WORK.request.as_secs())),
    ];
    let text = url.to_string();
    let refuse = |error: object_store::Error| StoreError::url(&text, crate::errors::shown(&error));
    let inner: Arc<dyn ObjectStore> = match url.scheme() {
        "s3" => {
            let builder = AmazonS3Builder::from_env().with_url(&text).with_retry(retry);
            let builder = client
                .into_iter()
                .fold(builder, |builder, (key, value)| builder.with_config(AmazonS3ConfigKey::Client(key), value));
            Arc::new(builder.build().map_err(refuse)?)
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(&text).with_retry(retry);
            let builder = client
                .into_iter()
                .fold(builder, |builder, (key, value)| builder.with_config(GoogleConfigKey::Client(key), value));
            Arc::new(builder.build().map_err(refuse)?)
        }
        _ => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(&text).with_retry(retry);
            let builder = client
                .into_iter()
                .fold(builder, |builder, (key, value)| builder.with_config(AzureConfigKey::Client(key), value));
            Arc::new(builder.build().map_err(refuse)?)
        }
    };
    let root = Path::from_url_path(url.path()).map_err(|error| StoreError::url(&text, error))?;
    Store::of(inner, root, &text, stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_names_no_store_is_refused_with_the_way_out() {
        for (url, part) in [
            ("", "it is empty"),
            ("http://example.org/a", "no stores of http://"),
            ("s3:///path", "bucket is missing"),
            ("s3://key:secret@bucket/path", "come from the environment"),
            ("az://container/path?sig=secret", "come from the environment"),
            ("/no/such/folder", "make it, or mend --store"),
        ] {
            let error = Store::open(url, false, StopFlag::default()).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{url}: {error}");
        }
    }

    #[cfg(not(feature = "cloud"))]
    #[test]
    fn without_the_feature_a_bucket_is_refused_with_its_name() {
        let error = Store::open("s3://bucket/path", false, StopFlag::default()).unwrap_err().to_string();
        assert!(error.contains("--features cloud"), "{error}");
    }
}

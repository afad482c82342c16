//! HTTP clients of the agent: made where they are needed, since the roots of trust take time and memory.

use std::time::Duration;

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A client for `url`.
///
/// # Errors
/// When there are no roots of trust to be had.
pub fn client(url: &str) -> reqwest::Result<reqwest::Client> {
    // The first call of the process counts; a later one finds the same provider in place.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().connect_timeout(CONNECT).redirect(reqwest::redirect::Policy::none());
    if url.starts_with("https:") { builder.build() } else { builder.tls_certs_only([]).build() }
}

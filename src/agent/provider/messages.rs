//! The Messages API over HTTP, streaming. A thin client of our own, because the exact bytes of a request are our business.

use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use eventsource_stream::Eventsource;
use futures::StreamExt;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::{BoxFuture, Call, Events, Failure, Provider, StreamEvent};
use crate::agent::http;

/// The version of the API whose shapes stand in `wire`.
const VERSION: &str = "2023-06-01";
/// Longest error answer that is read, in bytes.
const MOST_ERROR: usize = 64 << 10;

/// How the key travels.
#[derive(Clone, PartialEq, Eq)]
pub enum Auth {
    /// `x-api-key`
    Key(String),
    /// `Authorization: Bearer`
    Bearer(String),
    /// A header of this name.
    Header(String, String),
    /// None, as local servers like it.
    None,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A key must not get into a log.
        f.write_str(match self {
            Self::Key(_) => "Key(…)",
            Self::Bearer(_) => "Bearer(…)",
            Self::Header(..) => "Header(…)",
            Self::None => "None",
        })
    }
}

/// Which server is asked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub base_url: String,
    pub auth: Auth,
    /// More headers, such as `anthropic-beta`.
    pub headers: Vec<(String, String)>,
    /// An answer that is silent for this long counts as cut off.
    pub silence: Duration,
}

impl Endpoint {
    fn url(&self) -> String {
        let base = self.base_url.trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base);
        format!("{base}/v1/messages")
    }

    fn headers(&self) -> Result<HeaderMap, Failure> {
        let mut map = HeaderMap::new();
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        map.insert("anthropic-version", HeaderValue::from_static(VERSION));
        for (name, value) in &self.headers {
            map.insert(name_of(name)?, value_of(name, value)?);
        }
        match &self.auth {
            Auth::Key(key) => map.insert("x-api-key", secret("the API key", key)?),
            Auth::Bearer(token) => map.insert(AUTHORIZATION, secret("the token", &format!("Bearer {token}"))?),
            Auth::Header(name, key) => map.insert(name_of(name)?, secret("the API key", key)?),
            Auth::None => None,
        };
        Ok(map)
    }
}

fn name_of(name: &str) -> Result<HeaderName, Failure> {
    name.parse().map_err(|_| Failure::Settings(format!("`{name}` is no name of a header")))
}

fn value_of(what: &str, value: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(value).map_err(|_| Failure::Settings(format!("{what} has characters that no header takes")))
}

fn secret(what: &str, value: &str) -> Result<HeaderValue, Failure> {
    let mut value = value_of(what, value)?;
    value.set_sensitive(true);
    Ok(value)
}

/// A server that speaks the Messages API.
pub struct Messages {
    endpoint: Endpoint,
    /// Made with the first request: reading the roots of trust takes longer than all else at the start.
    client: OnceLock<reqwest::Client>,
}

impl Messages {
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, client: OnceLock::new() }
    }

    fn client(&self) -> Result<&reqwest::Client, Failure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let url = self.endpoint.url();
        let client = http::client(&url)
            .map_err(|e| Failure::Settings(format!("no HTTP client can be made for {url}: {}", chain(&e))))?;
        Ok(self.client.get_or_init(|| client))
    }

    async fn ask(&self, call: &Call) -> Result<Events, Failure> {
        let url = self.endpoint.url();
        let request = self.client()?.post(&url).headers(self.endpoint.headers()?).body(call.body.clone());
        let sent = tokio::time::timeout(self.endpoint.silence, request.send()).await;
        let answer = match sent {
            Err(_) => return Err(Failure::Cut(format!("no answer within {:?}", self.endpoint.silence))),
            Ok(Err(e)) if e.is_builder() => return Err(Failure::Settings(format!("{url}: {}", chain(&e)))),
            Ok(Err(e)) => return Err(Failure::Unreachable { url, why: chain(&e.without_url()) }),
            Ok(Ok(answer)) => answer,
        };
        let status = answer.status();
        if !status.is_success() {
            let wait = answer.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()).and_then(retry_after);
            let body = tokio::time::timeout(self.endpoint.silence, head_of(answer)).await.unwrap_or_default();
            return Err(Failure::refused(status.as_u16(), wait, &body));
        }
        let silence = self.endpoint.silence;
        let events = answer.bytes_stream().eventsource();
        let stream = futures::stream::unfold(Some(Box::pin(events)), move |events| async move {
            let mut events = events?;
            let failure = match tokio::time::timeout(silence, events.next()).await {
                Err(_) => Failure::Cut(format!("nothing came for {silence:?}")),
                // The end of the body; whether it came too early knows who counts the events.
                Ok(None) => return None,
                Ok(Some(Err(e))) => Failure::Cut(e.to_string()),
                Ok(Some(Ok(event))) => match StreamEvent::parse(&event.data) {
                    Ok(event) => return Some((Ok(event), Some(events))),
                    Err(e) => Failure::Cut(format!("an event is not readable: {e}")),
                },
            };
            Some((Err(failure), None))
        });
        Ok(Box::pin(stream))
    }
}

impl Provider for Messages {
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Events, Failure>> {
        Box::pin(self.ask(call))
    }
}

/// The beginning of an error answer.
async fn head_of(answer: reqwest::Response) -> Vec<u8> {
    let mut body = Vec::new();
    let mut stream = answer.bytes_stream();
    while let Some(Ok(part)) = stream.next().await {
        body.extend_from_slice(&part);
        if body.len() >= MOST_ERROR {
            break;
        }
    }
    body
}

/// Seconds, as servers of models write it; a date would say what the clock of another machine means.
fn retry_after(text: &str) -> Option<Duration> {
    text.trim().parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0).map(Duration::from_secs_f64)
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base_url: &str, auth: Auth) -> Endpoint {
        Endpoint { base_url: base_url.to_owned(), auth, headers: Vec::new(), silence: Duration::from_secs(5) }
    }

    #[test]
    fn a_base_url_may_or_may_not_name_the_version() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"] {
            assert_eq!(endpoint(base, Auth::None).url(), "http://h:1/v1/messages");
        }
        assert_eq!(endpoint("http://h/api/anthropic", Auth::None).url(), "http://h/api/anthropic/v1/messages");
    }

    #[test]
    fn the_key_goes_into_the_header_that_was_said_and_into_no_log() {
        let key = endpoint("http://h", Auth::Key("sk-1".to_owned())).headers().unwrap();
        assert_eq!(key["x-api-key"], "sk-1");
        let bearer = endpoint("http://h", Auth::Bearer("tok".to_owned()));
        assert_eq!(bearer.headers().unwrap()["authorization"], "Bearer tok");
        assert!(!format!("{bearer:?}").contains("tok"));
        assert!(!format!("{:?}", bearer.headers().unwrap()).contains("tok"));
        let bad = endpoint("http://h", Auth::Key("a\nb".to_owned())).headers().unwrap_err();
        assert!(!bad.to_string().contains("a\nb"));
    }

    #[test]
    fn waiting_times_are_read() {
        assert_eq!(retry_after("2"), Some(Duration::from_secs(2)));
        assert_eq!(retry_after(" 0.5 "), Some(Duration::from_millis(500)));
        for bad in ["", "-1", "NaN", "inf", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(retry_after(bad), None, "{bad}");
        }
    }
}

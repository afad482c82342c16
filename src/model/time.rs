//! Points in time and lengths of time, as they stand in files. Reading the clock is `os::clock`'s.
//!
//! chrono (which carries an unmaintained notice) is used in this file alone.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// Microseconds since the Unix epoch, written as RFC 3339 UTC with six digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The time `later` after this one.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(later.as_micros()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero when the clock went back.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The clock minute that this lies in.
    #[must_use]
    pub fn start_of_minute(self) -> Self {
        Self(self.0 - self.0.rem_euclid(60_000_000))
    }

    /// `HH:MM:SS`, for feeds on a screen.
    #[must_use]
    pub fn clock(self) -> String {
        self.chrono().map_or_else(String::new, |t| t.format("%H:%M:%S").to_string())
    }

    fn chrono(self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_micros(self.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.chrono() {
            Some(t) => f.write_str(&t.to_rfc3339_opts(SecondsFormat::Micros, true)),
            None => write!(f, "{}us", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = chrono::ParseError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DateTime::parse_from_rfc3339(text).map(|t| Self(t.timestamp_micros()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'_, str>>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A length of time in a spec or on a command line: `250ms`, `5s`, `2m`, `1h`, `1m30s`, or plain seconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(pub Duration);

impl Span {
    #[must_use]
    pub const fn secs(n: u64) -> Self {
        Self(Duration::from_secs(n))
    }
}

impl std::str::FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("`{text}` is not a length of time; write it like 250ms, 5s, 2m or 1h30m");
        let mut total = Duration::ZERO;
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(fail());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let value: f64 = rest[..digits].parse().map_err(|_| fail())?;
            rest = &rest[digits..];
            let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let scale = match &rest[..letters] {
                "ms" => 0.001,
                "s" | "" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return Err(fail()),
            };
            rest = &rest[letters..];
            let part = Duration::try_from_secs_f64(value * scale).map_err(|_| fail())?;
            total = total.checked_add(part).ok_or_else(fail)?;
        }
        Ok(Self(total))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis();
        match ms {
            0..1000 => write!(f, "{ms}ms"),
            _ if !ms.is_multiple_of(1000) => write!(f, "{:.1}s", self.0.as_secs_f64()),
            _ => {
                let s = ms / 1000;
                let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
                for (n, unit) in [(h, "h"), (m, "m"), (s, "s")] {
                    if n > 0 {
                        write!(f, "{n}{unit}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visit;
        impl serde::de::Visitor<'_> for Visit {
            type Value = Span;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a length of time like \"5s\", or seconds as a number")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Span, E> {
                Ok(Span::secs(n))
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Span, E> {
                u64::try_from(n).map(Span::secs).map_err(|_| E::custom("a length of time cannot be negative"))
            }
        }
        d.deserialize_any(Visit)
    }
}

//! Words of command lines and records.

use std::str::FromStr;

use crate::cli::condition::{Condition, Since};
use crate::model::address::Address;
use crate::model::id::{MessageId, TaskId};
use crate::model::name::Name;
use crate::model::task::TaskStatus;
use crate::model::time::{Span, Timestamp};

/// Longest name, in bytes.
const NAME_BYTES: usize = 64;

/// What is taken is written as something that is taken as the same.
fn comes_back<T: FromStr + ToString + PartialEq + std::fmt::Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        assert_eq!(value.to_string().parse::<T>().ok(), Some(value), "{text:?}");
    }
}

pub fn name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(name) = Name::parse_any(text) {
        assert!((1..=NAME_BYTES).contains(&name.as_str().len()), "{text:?}");
        let component = name.component();
        assert!(component.bytes().all(|b| b.is_ascii_alphanumeric() || b"%_-".contains(&b)), "{component}");
        assert_eq!(Name::from_component(&component), Some(name), "{component}");
    }
    if let Some(name) = Name::from_component(text) {
        assert_eq!(name.component(), text);
    }
    comes_back::<Name>(text);
}

pub fn address(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    comes_back::<Address>(text);
}

pub fn times(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    comes_back::<Timestamp>(text);
    comes_back::<MessageId>(text);
    comes_back::<TaskId>(text);
    comes_back::<Condition>(text);
    if let Ok(status) = text.parse::<TaskStatus>() {
        assert_eq!(status.as_str(), text);
    }
    if let Ok(Span(length)) = text.parse::<Span>() {
        let again = Span(length).to_string().parse::<Span>().expect("as it was written").0;
        // Nobody asks for less than a millisecond.
        assert_eq!(again.as_millis(), length.as_millis(), "{text:?}");
    }
    if let Ok(since) = text.parse::<Since>() {
        let _ = since.includes(7, Timestamp(7), Timestamp(i64::MAX));
        let _ = since.includes(u64::MAX, Timestamp(i64::MIN), Timestamp(0));
    }
}

//! Where a message goes, parsed once.

use std::fmt;

use super::name::{LEAD, LEAD_ALIAS, Name, NameError, OPERATOR};

/// A parsed address. Whether someone is there is the roster's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// One member, the lead or the operator of this team.
    One(Name),
    /// Someone of a named team.
    At(Name, Name),
    /// Everyone alive and the lead, save the sender.
    Everyone,
}

/// Why a text is not an address. Each reads after "cannot send to …: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("not a name: {0}")]
    Name(#[from] NameError),
    #[error("`{0}:` addresses are not supported yet")]
    Scheme(&'static str),
    #[error("`all` is not a name; everyone is written `*`")]
    All,
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        for scheme in ["uds", "bridge"] {
            if text.strip_prefix(scheme).is_some_and(|rest| rest.starts_with(':')) {
                return Err(AddressError::Scheme(scheme));
            }
        }
        if text == "*" {
            return Ok(Self::Everyone);
        }
        match text.split_once('@') {
            Some((name, team)) => Ok(Self::At(one(name)?, Name::parse(team)?)),
            None => Ok(Self::One(one(text)?)),
        }
    }
}

fn one(text: &str) -> Result<Name, AddressError> {
    match text {
        LEAD | LEAD_ALIAS => Ok(Name::lead()),
        OPERATOR => Ok(Name::operator()),
        "all" => Err(AddressError::All),
        _ => Ok(Name::parse(text)?),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(name) => name.fmt(f),
            Self::At(name, team) => write!(f, "{name}@{team}"),
            Self::Everyone => f.write_str("*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn addresses_that_are_good() {
        let table = [
            ("scan", Address::One(name("scan"))),
            ("lead", Address::One(Name::lead())),
            ("team-lead", Address::One(Name::lead())),
            ("operator", Address::One(Name::operator())),
            ("*", Address::Everyone),
            ("scan@audit", Address::At(name("scan"), name("audit"))),
            ("lead@audit", Address::At(Name::lead(), name("audit"))),
            ("команда@チーム", Address::At(name("команда"), name("チーム"))),
            ("uds", Address::One(name("uds"))),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse::<Address>(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn f26_addresses_that_are_refused() {
        let long = "x".repeat(300);
        let table = [
            ("", "empty"),
            ("@", "empty"),
            ("scan@", "empty"),
            ("@audit", "empty"),
            ("a@b@c", "contains '@'"),
            ("*@audit", "contains '*'"),
            ("scan@operator", "reserved"),
            ("all", "written `*`"),
            ("all@audit", "written `*`"),
            ("../x", "contains '/'"),
            ("a/b", "contains '/'"),
            ("a@../b", "contains '/'"),
            ("a\u{202e}b", "contains"),
            ("a\u{200b}@b", "contains"),
            ("cafe\u{301}", "normal form C"),
            ("uds:/tmp/x", "`uds:` addresses"),
            ("bridge:x", "`bridge:` addresses"),
            (&long, "300 bytes"),
        ];
        for (text, why) in table {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn an_address_reads_back(text in prop_oneof![any::<String>(), "[a-zé.*@_-]{0,10}"]) {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse::<Address>(), Ok(address));
            }
        }
    }
}

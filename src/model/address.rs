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

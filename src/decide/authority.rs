//! With what right someone speaks, and how a decision says no.

/// With what right a verb is spoken. Who has which is found out by the caller (by descent, by the lease).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Authority {
    /// A person at a shell.
    Operator,
    /// The lead process, or the agent that leads.
    Lead,
    Member,
}

impl Authority {
    /// Whether this one may act on what others hold.
    #[must_use]
    pub fn commands(self) -> bool {
        matches!(self, Self::Operator | Self::Lead)
    }
}

/// The kind of a refusal, which is what its exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    Usage,
    NotFound,
    Forbidden,
    Conflict,
}

impl Refusal {
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Forbidden => 4,
            Self::Conflict => 7,
        }
    }
}

//! What may be spent, and what has been: turns, tokens and money. Children spend from the same purse as their parent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::wire::Usage;

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_write: f64,
    pub cache_read: f64,
}

impl Price {
    /// What one request costs, in dollars.
    #[must_use]
    pub fn of(&self, usage: Usage) -> f64 {
        // Token counts are far below what an f64 holds exactly.
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
        part(usage.input_tokens, self.input)
            + part(usage.output_tokens, self.output)
            + part(usage.cache_creation_input_tokens, self.cache_write)
            + part(usage.cache_read_input_tokens, self.cache_read)
    }
}

/// What all loops of a session may spend together. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allowance {
    /// Input (cache included) and output.
    pub tokens: Option<u64>,
    pub dollars: Option<f64>,
}

/// What has been spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub requests: u64,
    pub tool_calls: u64,
    pub usage: Usage,
    /// Of models whose price is known.
    pub dollars: f64,
}

impl Spent {
    /// Input and output together.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.usage.context() + self.usage.output_tokens
    }
}

/// The purse of a session. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Purse {
    allowance: Allowance,
    prices: Arc<BTreeMap<String, Price>>,
    spent: Arc<Mutex<Spent>>,
}

impl Purse {
    #[must_use]
    pub fn new(allowance: Allowance, prices: BTreeMap<String, Price>) -> Self {
        Self { allowance, prices: Arc::new(prices), spent: Arc::default() }
    }

    fn locked(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn pay(&self, model: &str, usage: Usage) {
        let price = self.prices.get(model).copied().unwrap_or_default();
        let mut spent = self.locked();
        spent.requests += 1;
        spent.usage.add(usage);
        spent.dollars += price.of(usage);
    }

    pub fn called(&self, tools: usize) {
        self.locked().tool_calls += tools as u64;
    }

    #[must_use]
    pub fn spent(&self) -> Spent {
        *self.locked()
    }

    /// Goes on from what an earlier process of the session has spent.
    pub fn restore(&self, spent: Spent) {
        *self.locked() = spent;
    }

    /// Why nothing more may be asked, if that is so.
    #[must_use]
    pub fn is_empty(&self) -> Option<String> {
        let spent = self.spent();
        if let Some(most) = self.allowance.tokens.filter(|most| spent.tokens() >= *most) {
            return Some(format!("{} of {most} tokens are spent", spent.tokens()));
        }
        let most = self.allowance.dollars.filter(|most| spent.dollars >= *most)?;
        Some(format!("${:.2} of ${most:.2} are spent", spent.dollars))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purse_is_shared_and_ends() {
        let price = Price { input: 3.0, output: 15.0, cache_write: 3.75, cache_read: 0.3 };
        let allowance = Allowance { tokens: Some(5_000_000), dollars: Some(20.0) };
        let purse = Purse::new(allowance, BTreeMap::from([("m".to_owned(), price)]));
        let child = purse.clone();
        let million = Usage { input_tokens: 1_000_000, output_tokens: 1_000_000, ..Usage::default() };
        child.pay("m", million);
        assert!((purse.spent().dollars - 18.0).abs() < 1e-9);
        assert_eq!(purse.is_empty(), None);
        child.pay("unknown", million);
        assert!((purse.spent().dollars - 18.0).abs() < 1e-9, "an unknown price is no price");
        child.pay("m", Usage { cache_read_input_tokens: 1_000_000, ..Usage::default() });
        assert!(purse.is_empty().unwrap().contains("tokens"));
        let poor =
            Purse::new(Allowance { tokens: None, dollars: Some(1.0) }, BTreeMap::from([("m".to_owned(), price)]));
        poor.pay("m", million);
        assert!(poor.is_empty().unwrap().contains('$'));
    }
}

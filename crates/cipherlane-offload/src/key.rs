//! Which shared key a session runs under, and what there is of shared keys in its memories.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use cipherlane_core::agree;
use zeroize::Zeroizing;

/// The number of a shared key, which no other key of this process has: programs go from session to session. Memories are
/// not told that another key comes: beside what they have of one they note its number, and what has another number than
/// the session's is old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyNumber(u64);

impl KeyNumber {
    /// One that no memory has anything of.
    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What a program makes of a shared key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expansion {
    /// The program's number in its session.
    pub(crate) program: usize,
    pub(crate) key: KeyNumber,
}

/// The shared key that a session runs under.
pub(crate) struct SharedKey {
    /// `None` before the first, and where nobody knows what memories have of the last.
    bytes: Option<Zeroizing<Vec<u8>>>,
    number: KeyNumber,
}

impl SharedKey {
    pub(crate) fn none() -> Self {
        Self { bytes: None, number: KeyNumber::fresh() }
    }

    pub(crate) const fn number(&self) -> KeyNumber {
        self.number
    }

    /// Goes on with `key`, and says whether it is another one.
    pub(crate) fn take(&mut self, key: &[u8]) -> bool {
        if self.bytes.as_ref().is_some_and(|known| agree(known, key)) {
            return false;
        }
        *self = Self { bytes: Some(Zeroizing::new(key.to_vec())), ..Self::none() };
        true
    }

    /// Has whichever key comes next be another one, and all that memories have be old.
    pub(crate) fn forget(&mut self) {
        *self = Self::none();
    }
}

// Secrets never reach a log.
impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedKey({:?})", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_number_until_another_comes_or_it_is_forgotten() {
        let mut key = SharedKey::none();
        assert!(key.take(&[1; 16]));
        let first = key.number();
        assert!(!key.take(&[1; 16]) && key.number() == first);
        assert!(key.take(&[1; 32]) && key.number() != first, "no prefix will do");
        key.forget();
        let forgotten = key.number();
        assert!(key.take(&[1; 32]) && key.number() != forgotten && key.number() != first);
    }

    #[test]
    fn a_key_is_not_told() {
        let mut key = SharedKey::none();
        key.take(&[0xab; 16]);
        assert_eq!(format!("{key:?}"), format!("SharedKey({:?})", key.number()));
    }
}

//! One key for a batch, or a key for each message.

use crate::cipher::{Permutation, Source};
use crate::worker::Worker;

/// A worker for batches with a key each.
pub(crate) trait KeyEachWorker<P: Permutation>: Worker + Sized + 'static {
    /// The worker of `source`.
    fn new(source: P::Source) -> Self;
}

/// The block cipher under the key that all messages share, or what it takes to key it for each.
pub(crate) struct Keys<P: Permutation> {
    source: P::Source,
    shared: Option<P>,
}

impl<P: Permutation> Keys<P> {
    /// Expands `key` for all messages; without one, each message has its own.
    pub(crate) fn new(source: P::Source, key: Option<&[u8]>) -> Self {
        Self { source, shared: key.map(|key| P::new(source, key)) }
    }

    /// What ciphers are made of, beside a key.
    #[inline(always)]
    pub(crate) fn source(&self) -> P::Source {
        self.source
    }

    /// The instruction set.
    #[inline(always)]
    pub(crate) fn isa(&self) -> P::Isa {
        self.source.isa()
    }

    /// The cipher of all messages, where they share a key.
    #[inline(always)]
    pub(crate) fn shared(&self) -> Option<&P> {
        self.shared.as_ref()
    }

    /// The cipher of a message with `key`. A key of its own is expanded into `own`, over that of the message
    /// before, and wiped with it.
    #[inline(always)]
    pub(crate) fn of<'a>(&'a self, key: &[u8], own: &'a mut Option<P>) -> &'a P {
        if let Some(cipher) = &self.shared {
            return cipher;
        }
        match own {
            Some(cipher) => {
                cipher.rekey(key);
                cipher
            }
            None => own.insert(P::new(self.source, key)),
        }
    }
}

//! Slices of messages in, owned results out: the short way to use an [`Engine`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, DeviceError, Hash, Messages, Mode, Operation, Output, Ragged, Source,
    UnknownName, limits,
};

use crate::devices::NoDevice;
use crate::engine::Engine;

/// Why a call of the short way failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The parts do not fit together, or the device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No algorithm has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// No device here has this name.
    #[error(transparent)]
    NoDevice(#[from] NoDevice),
    /// Two messages would be encrypted under one key and one nonce, which gives both away (SP 800-38D appendix A).
    /// Only whole calls are seen: nonces of earlier calls are the caller's to remember.
    #[error("messages {first} and {second} have the same nonce under one key; give each message its own")]
    RepeatedNonce {
        /// The first of them.
        first: usize,
        /// The second of them.
        second: usize,
    },
}

/// Texts, one after the other in one buffer.
#[derive(Clone, PartialEq, Eq)]
pub struct Texts {
    bytes: Vec<u8>,
    /// One more than there are texts.
    offsets: Vec<u64>,
}

/// No texts.
impl Default for Texts {
    fn default() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0] }
    }
}

impl Texts {
    /// Copies `items` into one buffer.
    pub fn gather<T: AsRef<[u8]>>(items: &[T]) -> Self {
        let mut texts = Self {
            bytes: Vec::with_capacity(items.iter().map(|item| item.as_ref().len()).sum()),
            offsets: Vec::with_capacity(items.len() + 1),
        };
        texts.offsets.push(0);
        for item in items {
            texts.bytes.extend_from_slice(item.as_ref());
            texts.offsets.push(texts.bytes.len() as u64);
        }
        texts
    }

    /// Number of texts.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Text `index`, or `None` where there are not so many.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        (index < self.len()).then(|| self.ragged().item(index))
    }

    /// The texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.ragged().item(index))
    }

    /// All texts as one buffer.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn ragged(&self) -> Ragged<'_> {
        Ragged { bytes: &self.bytes, offsets: &self.offsets }
    }
}

// Texts are secrets: their contents never reach a log.
impl std::fmt::Debug for Texts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Texts({} texts, {} bytes)", self.len(), self.bytes.len())
    }
}

/// Ciphertexts with a tag of 16 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// The ciphertexts.
    pub texts: Texts,
    /// Tag `i` belongs to text `i`.
    pub tags: Vec<[u8; BLOCK]>,
}

impl Sealed {
    /// What came over a wire: ciphertexts and their tags.
    pub fn new<T: AsRef<[u8]>>(texts: &[T], tags: &[[u8; BLOCK]]) -> Self {
        Self { texts: Texts::gather(texts), tags: tags.to_vec() }
    }

    /// Ciphertext and tag of each message, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8; BLOCK])> {
        self.texts.iter().zip(&self.tags)
    }
}

/// What became of messages that were opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    texts: Texts,
    accepted: Vec<bool>,
}

impl Opened {
    /// The plaintext of message `index`, or `None` where its tag was wrong or there are not so many.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<&[u8]> {
        if *self.accepted.get(index)? { self.texts.get(index) } else { None }
    }

    /// Each message in order: its plaintext, or `None` where its tag was wrong.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        (0..self.accepted.len()).map(|index| self.text(index))
    }

    /// The plaintexts, if every tag was right.
    #[must_use]
    pub fn all(self) -> Option<Texts> {
        self.accepted.iter().all(|&accepted| accepted).then_some(self.texts)
    }

    /// How many tags were wrong.
    #[must_use]
    pub fn rejected(&self) -> usize {
        self.accepted.iter().filter(|&&accepted| !accepted).count()
    }
}

/// Digests of one length, one after the other in one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digests {
    bytes: Vec<u8>,
    width: usize,
}

impl Digests {
    /// Number of digests.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Whether there is no digest.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The digest of message `index`, or `None` where there are not so many.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.bytes.chunks_exact(self.width).nth(index)
    }

    /// The digests in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.width)
    }

    /// All digests as one buffer.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Engine {
    /// Hashes each of `messages`; SHAKE gives digests of the length that matches its strength.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// ```
    /// # use cipherlane::{Engine, Hash};
    /// let digests = Engine::new().hash(Hash::Sha256, &["", "abc"])?;
    /// assert_eq!(digests.get(1).unwrap()[..4], [0xba, 0x78, 0x16, 0xbf]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hash<M: AsRef<[u8]>>(&self, hash: Hash, messages: &[M]) -> Result<Digests, Error> {
        self.hash_to(hash, messages, hash.usual_digest_bytes())
    }

    /// Hashes each of `messages` into a digest of `digest_bytes` bytes, of which SHAKE alone gives a choice.
    ///
    /// # Errors
    /// A length that the function has not, or more digests than there is memory for.
    pub fn hash_to<M: AsRef<[u8]>>(
        &self,
        hash: Hash,
        messages: &[M],
        digest_bytes: usize,
    ) -> Result<Digests, Error> {
        let texts = Texts::gather(messages);
        let input = Messages { source: Source::Apart(&texts.bytes), offsets: &texts.offsets };
        let batch = Batch::hash(hash, input, digest_bytes);
        // The check refuses a length that is not the function's before anything is computed, or memory asked for.
        let has_length = limits::digest_bytes(hash).contains(&digest_bytes);
        let total = if has_length { texts.len().saturating_mul(digest_bytes) } else { 0 };
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(total).map_err(|error| DeviceError::Failed {
            device: self.devices()[0].info().id.clone(),
            reason: format!("{total} bytes of digests: {error}; hash fewer messages at a time"),
        })?;
        bytes.resize(total, 0);
        self.run_untimed(&batch, &mut Output::digests(&mut bytes))?;
        Ok(Digests { bytes, width: digest_bytes })
    }

    /// Encrypts and authenticates `messages` under one key (SP 800-38D section 7.1), with tags of 16 bytes, in their order.
    /// `key` has [`Algorithm::key_bytes`] bytes, `nonces` one for each message, of 12 bytes best; `aad`, which may be empty,
    /// is authenticated with each.
    ///
    /// # Errors
    /// [`Error::RepeatedNonce`] if two nonces are equal. [`Error::Device`] if the algorithm is not GCM, the key or a nonce has
    /// a length that it does not take, there are not as many nonces as messages, or the device fails.
    pub fn seal<N: AsRef<[u8]>, M: AsRef<[u8]>>(
        &self,
        algorithm: Algorithm,
        key: &[u8],
        nonces: &[N],
        aad: &[u8],
        messages: &[M],
    ) -> Result<Sealed, Error> {
        check_nonces_differ(nonces)?;
        let (nonces, mut texts) = (Texts::gather(nonces), Texts::gather(messages));
        let mut tags = vec![[0; BLOCK]; texts.len()];
        let batch = Batch::seal(
            algorithm,
            Column::Shared(key),
            Column::Ragged(nonces.ragged()),
            Column::Shared(aad),
            Messages { source: Source::InPlace, offsets: &texts.offsets },
        );
        self.run_untimed(&batch, &mut Output::sealed(&mut texts.bytes, tags.as_flattened_mut()))?;
        Ok(Sealed { texts, tags })
    }

    /// Checks the tags of `sealed`, of 16 bytes each, and decrypts the messages whose tag is right (SP 800-38D section 7.2);
    /// `key`, `nonces` and `aad` are those of [`Engine::seal`].
    ///
    /// # Errors
    /// [`Error::Device`] if the algorithm is not GCM, the key or a nonce has a length that it does not take, there are not as
    /// many nonces as messages, or the device fails. A wrong tag is no error: [`Opened::text`] then has no text.
    ///
    /// ```
    /// # use cipherlane::Engine;
    /// let engine = Engine::new();
    /// let algorithm = "aes-256-gcm".parse()?;
    /// let (key, nonces) = ([1; 32], [[1; 12], [2; 12]]);
    /// let mut sealed = engine.seal(algorithm, &key, &nonces, b"", &["pay 10", "pay 20"])?;
    /// sealed.tags[1][0] ^= 1;
    /// let opened = engine.open(algorithm, &key, &nonces, b"", &sealed)?;
    /// assert_eq!((opened.text(0), opened.text(1)), (Some(&b"pay 10"[..]), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open<N: AsRef<[u8]>>(
        &self,
        algorithm: Algorithm,
        key: &[u8],
        nonces: &[N],
        aad: &[u8],
        sealed: &Sealed,
    ) -> Result<Opened, Error> {
        let (nonces, mut texts) = (Texts::gather(nonces), sealed.texts.clone());
        let mut accepted = vec![false; texts.len()];
        let batch = Batch::open(
            algorithm,
            Column::Shared(key),
            Column::Ragged(nonces.ragged()),
            Column::Shared(aad),
            Messages { source: Source::InPlace, offsets: &texts.offsets },
            sealed.tags.as_flattened(),
        );
        self.run_untimed(&batch, &mut Output::opened(&mut texts.bytes, &mut accepted))?;
        Ok(Opened { texts, accepted })
    }

    /// Encrypts `messages` under one key, each with its own nonce: the IV of CBC, which nobody may foretell (SP 800-38A
    /// appendix C: random, and no counter), the initial counter block of CTR, the tweak of XTS, which is the sector's own.
    /// ECB takes none: give it empty ones.
    ///
    /// In CTR each block of a message counts on from its initial counter block; that the stretches of two messages
    /// do not meet is the caller's to see to, beyond their starts.
    ///
    /// # Errors
    /// [`Error::RepeatedNonce`] if in CTR two nonces are equal. [`Error::Device`] if the algorithm is GCM or a hash, the key,
    /// a nonce or a message has a length that it does not take, there are not as many nonces as messages, or the device fails.
    ///
    /// ```
    /// # use cipherlane::Engine;
    /// let engine = Engine::new();
    /// let algorithm = "aes-256-xts".parse()?;
    /// let key: [u8; 64] = std::array::from_fn(|i| i as u8);
    /// let sectors = [[0; 4096], [1; 4096]];
    /// let tweaks = [0_u128.to_le_bytes(), 1_u128.to_le_bytes()];
    /// let disk = engine.encrypt(algorithm, &key, &tweaks, &sectors)?;
    /// let back = engine.decrypt(algorithm, &key, &tweaks, &disk.iter().collect::<Vec<_>>())?;
    /// assert_eq!(back.get(1), Some(&sectors[1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encrypt<N: AsRef<[u8]>, M: AsRef<[u8]>>(
        &self,
        algorithm: Algorithm,
        key: &[u8],
        nonces: &[N],
        messages: &[M],
    ) -> Result<Texts, Error> {
        if algorithm.mode() == Some(Mode::Ctr) {
            check_nonces_differ(nonces)?;
        }
        self.cipher(algorithm, Operation::Encrypt, key, nonces, messages)
    }

    /// Undoes [`Engine::encrypt`].
    ///
    /// # Errors
    /// [`Error::Device`], as of [`Engine::encrypt`].
    pub fn decrypt<N: AsRef<[u8]>, M: AsRef<[u8]>>(
        &self,
        algorithm: Algorithm,
        key: &[u8],
        nonces: &[N],
        messages: &[M],
    ) -> Result<Texts, Error> {
        self.cipher(algorithm, Operation::Decrypt, key, nonces, messages)
    }

    fn cipher<N: AsRef<[u8]>, M: AsRef<[u8]>>(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        key: &[u8],
        nonces: &[N],
        messages: &[M],
    ) -> Result<Texts, Error> {
        let (nonces, mut texts) = (Texts::gather(nonces), Texts::gather(messages));
        let batch = Batch::cipher(
            algorithm,
            operation,
            Column::Shared(key),
            Column::Ragged(nonces.ragged()),
            Messages { source: Source::InPlace, offsets: &texts.offsets },
        );
        self.run_untimed(&batch, &mut Output::text(&mut texts.bytes))?;
        Ok(texts)
    }
}

fn check_nonces_differ<N: AsRef<[u8]>>(nonces: &[N]) -> Result<(), Error> {
    let mut seen = HashMap::with_capacity(nonces.len());
    for (second, nonce) in nonces.iter().enumerate() {
        match seen.entry(nonce.as_ref()) {
            Entry::Occupied(first) => return Err(Error::RepeatedNonce { first: *first.get(), second }),
            Entry::Vacant(vacant) => {
                vacant.insert(second);
            }
        }
    }
    Ok(())
}

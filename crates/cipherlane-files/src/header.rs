//! The header of a file, and what follows from it: the file's key, its nonces, and where its segments end.

use zeroize::Zeroizing;

use crate::error::Error;
use crate::keyset::{Key, Params, random};

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;
/// Bytes that all nonces of a file begin with.
pub(crate) const PREFIX: usize = 7;

/// What all segments of a file have in common.
pub(crate) struct Stream {
    params: Params,
    /// As in the file: a byte with its length, the salt, the front of the nonces.
    header: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
}

impl Stream {
    /// A new one under `key`.
    pub(crate) fn new(key: &Key, aad: &[u8]) -> Result<Self, Error> {
        let mut header = vec![0; key.params().header_bytes()];
        random(&mut header[1..])?;
        // A header has 40 bytes at the most.
        header[0] = u8::try_from(header.len()).unwrap_or(u8::MAX);
        Self::of(key, aad, header)
    }

    /// The one of a file that begins with `head`, if it has a header as keys like `key` give it.
    pub(crate) fn read(key: &Key, aad: &[u8], head: &[u8]) -> Result<Option<Self>, Error> {
        let length = key.params().header_bytes();
        match head.get(..length) {
            Some(header) if usize::from(header[0]) == length => Self::of(key, aad, header.to_vec()).map(Some),
            _ => Ok(None),
        }
    }

    fn of(key: &Key, aad: &[u8], header: Vec<u8>) -> Result<Self, Error> {
        let params = *key.params();
        let key = key.derive(&header[1..=params.key_bytes], aad)?;
        Ok(Self { params, header, key })
    }

    pub(crate) fn header(&self) -> &[u8] {
        &self.header
    }

    /// The file's AES key.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The algorithm of its segments.
    pub(crate) fn algorithm(&self) -> cipherlane::Algorithm {
        let cipher =
            if self.params.key_bytes == 16 { cipherlane::Cipher::Aes128 } else { cipherlane::Cipher::Aes256 };
        cipherlane::Algorithm::new(cipher, cipherlane::Mode::Gcm)
    }

    /// Bytes of a whole segment.
    pub(crate) const fn segment_bytes(&self) -> usize {
        self.params.segment_bytes
    }

    /// Most bytes of text in segment `number`: the first one shares its place with the header.
    pub(crate) fn text_bytes(&self, number: u64) -> usize {
        let header = if number == 0 { self.header.len() } else { 0 };
        self.params.segment_bytes - header - TAG
    }

    /// The nonce of segment `number`: the file's front, the number, and whether it is the last.
    ///
    /// # Errors
    /// There are more segments than numbers.
    pub(crate) fn nonce(&self, number: u64, is_last: bool) -> Result<[u8; NONCE], Error> {
        let mut nonce = [0; NONCE];
        nonce[..PREFIX].copy_from_slice(&self.header[self.header.len() - PREFIX..]);
        let number = u32::try_from(number).map_err(|_| Error::TooLong)?;
        nonce[PREFIX..NONCE - 1].copy_from_slice(&number.to_be_bytes());
        nonce[NONCE - 1] = u8::from(is_last);
        Ok(nonce)
    }
}

//! Keysets of Tink, as its JSON has them in the clear: keys for AES-GCM-HKDF streaming.

use prost::Message;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::error::Error;
use crate::header::TAG;

/// What Tink calls the type of these keys.
const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey";

/// Keys of which the primary one seals and each may open.
#[derive(Debug)]
pub struct Keyset {
    /// In the order of the file; those that are not enabled, or of another format, are left out.
    keys: Vec<Key>,
    primary: u32,
}

/// A key from which those of files are derived.
pub struct Key {
    /// Its number in the keyset.
    id: u32,
    params: Params,
    /// The input keying material of HKDF.
    secret: Zeroizing<Vec<u8>>,
}

/// How files are cut, and how their keys are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Bytes of a segment in the ciphertext: header, where it is the first, text and tag. The last one may be shorter.
    pub segment_bytes: usize,
    /// Bytes of a file's AES key: 16 or 32.
    pub key_bytes: usize,
    /// The hash function of HKDF.
    pub hkdf: Hkdf,
}

/// Hash functions of HKDF (RFC 5869) that Tink allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hkdf {
    /// HKDF-SHA-1.
    Sha1,
    /// HKDF-SHA-256.
    Sha256,
    /// HKDF-SHA-512.
    Sha512,
}

impl Params {
    /// Tink's template of this name: 256-bit keys, segments of 1 MiB, for files that are read as a whole.
    pub const AES256_GCM_HKDF_1MB: Self = Self::sha256(32, 1 << 20);
    /// 128-bit keys, segments of 1 MiB.
    pub const AES128_GCM_HKDF_1MB: Self = Self::sha256(16, 1 << 20);
    /// 256-bit keys, segments of 4 KiB.
    pub const AES256_GCM_HKDF_4KB: Self = Self::sha256(32, 4096);
    /// 128-bit keys, segments of 4 KiB.
    pub const AES128_GCM_HKDF_4KB: Self = Self::sha256(16, 4096);

    const fn sha256(key_bytes: usize, segment_bytes: usize) -> Self {
        Self { segment_bytes, key_bytes, hkdf: Hkdf::Sha256 }
    }

    /// Bytes of the header: its own length, the salt and the front of the nonces.
    pub(crate) const fn header_bytes(&self) -> usize {
        1 + self.key_bytes + crate::header::PREFIX
    }

    /// Says why not, unless Tink takes them as well.
    fn check(&self) -> Result<(), String> {
        let least = self.header_bytes() + TAG + 1;
        let reason = if ![16, 32].contains(&self.key_bytes) {
            format!("it derives keys of {} bytes; those of AES have 16 or 32", self.key_bytes)
        } else if self.segment_bytes < least {
            format!(
                "its segments have {} bytes; they need {least}, for header, text and tag",
                self.segment_bytes
            )
        } else if self.segment_bytes > MOST_SEGMENT_BYTES {
            format!("its segments have {} bytes; {MOST_SEGMENT_BYTES} are the most", self.segment_bytes)
        } else {
            return Ok(());
        };
        Err(reason)
    }
}

/// Tink keeps the number in 31 bits.
const MOST_SEGMENT_BYTES: usize = (1 << 31) - 1;

impl Keyset {
    /// One new key, from the operating system's random bytes.
    ///
    /// # Errors
    /// Parameters that Tink does not take, or a system without random bytes.
    pub fn generate(params: Params) -> Result<Self, Error> {
        params.check().map_err(Error::Keyset)?;
        let mut secret = Zeroizing::new(vec![0; params.key_bytes]);
        random(&mut secret)?;
        let mut id = [0; 4];
        random(&mut id)?;
        // Tink has no key numbered 0.
        let id = u32::from_ne_bytes(id).max(1);
        Ok(Self { keys: vec![Key { id, params, secret }], primary: id })
    }

    /// Reads what `tinkey` and Tink's libraries write as a keyset in the clear.
    ///
    /// # Errors
    /// [`Error::Keyset`] where it is none, is encrypted, has a key that is broken, or a primary one that is of another type,
    /// not enabled, not there or there twice.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        let read: json::Keyset = serde_json::from_str(json).map_err(|error| {
            let encrypted = json.contains("\"encryptedKeyset\"");
            let hint =
                if encrypted { "it is encrypted; export it in the clear" } else { "it is not one in JSON" };
            Error::Keyset(format!("{hint} ({})", json::fault(&error)))
        })?;
        let primary = json::number(read.primary_key_id);
        one_primary(&read, primary).map_err(Error::Keyset)?;
        let mut keys = Vec::new();
        for key in read.key.iter().filter(|key| key.status == json::ENABLED) {
            // Tink opens files of other formats by the same keyset. That hinders nobody here, unless it is to seal.
            let is_other = key.key_data.as_ref().is_some_and(|data| data.type_url != TYPE_URL);
            if !is_other || json::number(key.key_id) == primary {
                keys.push(Key::read(key)?);
            }
        }
        Ok(Self { keys, primary })
    }

    /// The keyset in the clear, as Tink's libraries read it. Keys that [`Keyset::from_json`] left out, because they are not
    /// enabled or of another type, are not in it.
    #[must_use]
    pub fn to_json(&self) -> Zeroizing<String> {
        let keyset = json::Keyset {
            primary_key_id: self.primary.into(),
            key: self.keys.iter().map(Key::written).collect(),
        };
        // Room for all of it: what is moved leaves a copy behind.
        let mut json = Vec::with_capacity(256 + 1024 * self.keys.len());
        // Strings and numbers have no errors, nor has memory.
        serde_json::to_writer_pretty(&mut json, &keyset).unwrap_or_default();
        Zeroizing::new(String::from_utf8(json).unwrap_or_default())
    }

    /// The key that seals.
    pub(crate) fn primary(&self) -> &Key {
        // Both constructors have seen to it that it is there.
        self.keys.iter().find(|key| key.id == self.primary).unwrap_or(&self.keys[0])
    }

    /// The keys that may open, the primary one first.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        let others = self.keys.iter().filter(|key| key.id != self.primary);
        std::iter::once(self.primary()).chain(others)
    }
}

/// Says why not, unless one enabled key has the number `primary`. Where two have, nothing tells which of them is to seal:
/// Tink refuses such a keyset as well.
fn one_primary(keyset: &json::Keyset, primary: u32) -> Result<(), String> {
    let enabled = keyset.key.iter().filter(|key| key.status == json::ENABLED);
    match enabled.filter(|key| json::number(key.key_id) == primary).count() {
        0 => Err(format!(
            "its primary key {primary} is not there, or not enabled; make an enabled key the primary one (`tinkey promote-key`)"
        )),
        1 => Ok(()),
        several => Err(format!(
            "{several} enabled keys have the number {primary} of the primary one; give all but one of them another"
        )),
    }
}

impl Key {
    pub(crate) const fn params(&self) -> &Params {
        &self.params
    }

    /// The key of the file with this salt and these associated data (RFC 5869, with the latter as `info`).
    pub(crate) fn derive(&self, salt: &[u8], aad: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut key = Zeroizing::new(vec![0; self.params.key_bytes]);
        let salt = Some(salt);
        let expanded = match self.params.hkdf {
            Hkdf::Sha1 => hkdf::Hkdf::<sha1::Sha1>::new(salt, &self.secret).expand(aad, &mut key),
            Hkdf::Sha256 => hkdf::Hkdf::<sha2::Sha256>::new(salt, &self.secret).expand(aad, &mut key),
            Hkdf::Sha512 => hkdf::Hkdf::<sha2::Sha512>::new(salt, &self.secret).expand(aad, &mut key),
        };
        expanded.map_err(|_| Error::Keyset("HKDF gives no key of that length".to_owned()))?;
        Ok(key)
    }

    fn read(key: &json::Key) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Keyset(format!("key {}: {reason}", key.key_id));
        let data = key.key_data.as_ref().ok_or_else(|| wrong("it has no data".to_owned()))?;
        if data.type_url != TYPE_URL {
            // What is no type may be a key: fields get mixed up.
            let is_type = data.type_url.starts_with("type.googleapis.com/");
            let found = if is_type { &data.type_url } else { "another" };
            return Err(wrong(format!("its type is {found}; keys of {TYPE_URL} serve here")));
        }
        let value = data_encoding::BASE64.decode(data.value.as_bytes()).map(Zeroizing::new);
        let value = value.map_err(|error| wrong(format!("it is not in Base64 ({error})")))?;
        // The decoder's own words have numbers in them that it read in the key.
        let mut stored =
            proto::StreamingKey::decode(&value[..]).map_err(|_| wrong("it is not of its type".to_owned()))?;
        let secret = Zeroizing::new(std::mem::take(&mut stored.key_value));
        let params = stored.params.unwrap_or_default();
        let hkdf = match params.hkdf_hash_type {
            1 => Hkdf::Sha1,
            3 => Hkdf::Sha256,
            4 => Hkdf::Sha512,
            _ => {
                return Err(wrong(
                    "its hash function is another than 1, 3 and 4, which serve HKDF".to_owned(),
                ));
            }
        };
        if stored.version != 0 {
            return Err(wrong("it is of another version than 0, the one there is".to_owned()));
        }
        let params = Params {
            segment_bytes: params.ciphertext_segment_size as usize,
            key_bytes: params.derived_key_size as usize,
            hkdf,
        };
        params.check().map_err(wrong)?;
        if secret.len() < params.key_bytes.max(16) {
            return Err(wrong(format!(
                "it has {} bytes; it needs {}",
                secret.len(),
                params.key_bytes.max(16)
            )));
        }
        Ok(Self { id: json::number(key.key_id), params, secret })
    }

    fn written(&self) -> json::Key {
        let params = proto::Params {
            ciphertext_segment_size: u32::try_from(self.params.segment_bytes).unwrap_or(u32::MAX),
            derived_key_size: u32::try_from(self.params.key_bytes).unwrap_or(u32::MAX),
            hkdf_hash_type: match self.params.hkdf {
                Hkdf::Sha1 => 1,
                Hkdf::Sha256 => 3,
                Hkdf::Sha512 => 4,
            },
        };
        let mut stored =
            proto::StreamingKey { version: 0, params: Some(params), key_value: self.secret.to_vec() };
        let value = Zeroizing::new(stored.encode_to_vec());
        drop(Zeroizing::new(std::mem::take(&mut stored.key_value)));
        json::Key {
            key_data: Some(json::KeyData {
                type_url: TYPE_URL.to_owned(),
                value: data_encoding::BASE64.encode(&value),
                key_material_type: "SYMMETRIC".to_owned(),
            }),
            status: json::ENABLED.to_owned(),
            key_id: self.id.into(),
            output_prefix_type: "RAW".to_owned(),
        }
    }
}

// Its secret never reaches a log.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("id", &self.id).field("params", &self.params).finish_non_exhaustive()
    }
}

/// Random bytes of the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Random(error.to_string()))
}

/// What is in `value` (aes_gcm_hkdf_streaming.proto of Tink).
mod proto {
    #[derive(prost::Message)]
    pub(super) struct StreamingKey {
        #[prost(uint32, tag = "1")]
        pub(super) version: u32,
        #[prost(message, optional, tag = "2")]
        pub(super) params: Option<Params>,
        #[prost(bytes = "vec", tag = "3")]
        pub(super) key_value: Vec<u8>,
    }

    #[derive(Clone, Copy, prost::Message)]
    pub(super) struct Params {
        #[prost(uint32, tag = "1")]
        pub(super) ciphertext_segment_size: u32,
        #[prost(uint32, tag = "2")]
        pub(super) derived_key_size: u32,
        /// `HashType` of common.proto.
        #[prost(int32, tag = "3")]
        pub(super) hkdf_hash_type: i32,
    }
}

/// What is around it (tink.proto, as JSON).
mod json {
    use super::{Category, Deserialize, Serialize, ZeroizeOnDrop};

    pub(super) const ENABLED: &str = "ENABLED";

    /// What is wrong and where, without the parser's own words: they quote what stands there, which may be a key.
    pub(super) fn fault(error: &serde_json::Error) -> String {
        let what = match error.classify() {
            Category::Data => "a value is missing, or of another kind",
            Category::Syntax => "a syntax error",
            Category::Eof | Category::Io => "the end is missing",
        };
        format!("line {}, column {}: {what}", error.line(), error.column())
    }

    /// The number of a key: Tink for Java takes negative ones for those of the same 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as it does
    pub(super) const fn number(id: i64) -> u32 {
        id as u32
    }

    #[derive(Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Keyset {
        pub(super) primary_key_id: i64,
        pub(super) key: Vec<Key>,
    }

    #[derive(Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Key {
        /// None of a key that was destroyed.
        #[serde(default)]
        pub(super) key_data: Option<KeyData>,
        #[serde(default)]
        pub(super) status: String,
        #[serde(default)]
        pub(super) key_id: i64,
        #[serde(default)]
        pub(super) output_prefix_type: String,
    }

    /// Wiped, since it has the key.
    #[derive(Deserialize, Serialize, ZeroizeOnDrop)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct KeyData {
        #[serde(default)]
        pub(super) type_url: String,
        #[serde(default)]
        pub(super) value: String,
        #[serde(default)]
        pub(super) key_material_type: String,
    }
}

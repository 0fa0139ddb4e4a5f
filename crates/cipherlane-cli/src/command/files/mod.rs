//! `keyset`, `encrypt` and `decrypt`: files in the format of Tink's streaming AEAD.

mod access_list;
mod cipher;
mod keyset;
mod target;

pub(crate) use cipher::{DecryptOptions, EncryptOptions, decrypt, encrypt};
pub(crate) use keyset::{Options as KeysetOptions, run as keyset};

//! RustCrypto: aes, camellia and sm4, with aes-gcm, ctr, cbc and xts-mode over them; sha2, sha3 and shake.
//!
//! The modes borrow an expanded key, so that messages under one key share it. Keys are expanded for the direction
//! that is used (`Aes128Enc`, `Aes128Dec`), but for XTS, which needs both to decrypt.

mod hashes;

use std::marker::PhantomData;

use aes::cipher::common::InnerIvInit;
use aes::cipher::consts::{U12, U16};
use aes::cipher::inout::InOutBuf;
use aes::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser,
    KeyInit, StreamCipherCore,
};
use aes::{Aes128, Aes128Dec, Aes128Enc, Aes192, Aes192Dec, Aes192Enc, Aes256, Aes256Dec, Aes256Enc};
use aes_gcm::{AeadInOut, AesGcm};
use camellia::{Camellia128, Camellia192, Camellia256};
use cipherlane_core::{Algorithm, Cipher, Device, Mode, Operation, Shape};
use ctr::{CtrCore, flavors};
use sm4::Sm4;
use xts_mode::Xts128;

use crate::each::{Each, Library, aes_or_hash};
use crate::limits::Limits;
use crate::message::{Context, Fault, Message, PerMessage, Tag};

/// The only way there is.
const WAY: &str = "traits";

/// The library as a device.
pub(crate) fn open() -> Box<dyn Device> {
    let details = vec![
        ("version".to_owned(), "aes 0.9, aes-gcm 0.11, camellia 0.2, cbc 0.2, ctr 0.10, sha2 0.11, sha3 0.12, shake 0.1, sm4 0.6, xts-mode 0.6".to_owned()),
        ("way".to_owned(), "buffers in and out; XTS copies the text where it lies apart".to_owned()),
    ];
    Box::new(Each::new("rival:rustcrypto", "RustCrypto".to_owned(), details, RustCrypto))
}

struct RustCrypto;

impl Library for RustCrypto {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        match shape.algorithm {
            // Other lengths of nonces and tags are types of their own.
            Algorithm::Cipher(Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256, _) => Vec::new(),
            Algorithm::Cipher(..) => vec![(WAY, Limits::USUAL_GCM)],
            Algorithm::Hash(_) => vec![(WAY, Limits::NONE)],
        }
    }

    fn context(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        _: &str,
    ) -> Result<Box<dyn Context>, Fault> {
        let (cipher, mode) = match algorithm {
            Algorithm::Cipher(cipher, mode) => (cipher, mode),
            Algorithm::Hash(hash) => return Ok(hashes::context(hash)),
        };
        Ok(match cipher {
            Cipher::Aes128 => context::<Aes128, Aes128Enc, Aes128Dec>(mode, operation),
            Cipher::Aes192 => context::<Aes192, Aes192Enc, Aes192Dec>(mode, operation),
            Cipher::Aes256 => context::<Aes256, Aes256Enc, Aes256Dec>(mode, operation),
            Cipher::Camellia128 => context::<Camellia128, Camellia128, Camellia128>(mode, operation),
            Cipher::Camellia192 => context::<Camellia192, Camellia192, Camellia192>(mode, operation),
            Cipher::Camellia256 => context::<Camellia256, Camellia256, Camellia256>(mode, operation),
            Cipher::Sm4 => context::<Sm4, Sm4, Sm4>(mode, operation),
            Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
                return Err("the search for the cipher");
            }
        })
    }

    // Fixsliced AES and a GHASH without tables where the CPU has no instructions for them; Camellia and SM4 from
    // tables.
    fn constant_time(&self, algorithm: Algorithm) -> bool {
        aes_or_hash(algorithm)
    }
}

/// What every context here asks of an expanded key.
trait Key: BlockSizeUser<BlockSize = U16> + KeyInit + Send + 'static {}
impl<C: BlockSizeUser<BlockSize = U16> + KeyInit + Send + 'static> Key for C {}

fn context<Both, Enc, Dec>(mode: Mode, operation: Operation) -> Box<dyn Context>
where
    Both: Key + BlockCipherEncrypt + BlockCipherDecrypt,
    Enc: Key + BlockCipherEncrypt,
    Dec: Key + BlockCipherDecrypt,
{
    fn boxed<K: KeyInit + Send + 'static, R: Run<K>>(_: PhantomData<R>) -> Box<dyn Context> {
        Box::new(Keyed::<K, R> { key: None, run: PhantomData })
    }
    match (mode, operation.is_forward()) {
        (Mode::Ecb, true) => boxed::<Enc, _>(PhantomData::<EcbEncrypt>),
        (Mode::Ecb, false) => boxed::<Dec, _>(PhantomData::<EcbDecrypt>),
        (Mode::Cbc, true) => boxed::<Enc, _>(PhantomData::<CbcEncrypt>),
        (Mode::Cbc, false) => boxed::<Dec, _>(PhantomData::<CbcDecrypt>),
        (Mode::Ctr, _) => boxed::<Enc, _>(PhantomData::<Ctr>),
        (Mode::Gcm, _) => boxed::<AesGcm<Enc, U12>, _>(PhantomData::<Gcm>),
        (Mode::Xts, true) => Box::new(Xts::<Enc> { keys: None, run: Xts128::encrypt_sector }),
        (Mode::Xts, false) => Box::new(Xts::<Both> { keys: None, run: Xts128::decrypt_sector }),
    }
}

/// One message under an expanded key.
trait Run<K>: Send + 'static {
    fn run(key: &K, message: &mut Message<'_>) -> Result<bool, Fault>;
}

/// A key that is expanded by itself.
struct Keyed<K, R> {
    key: Option<K>,
    run: PhantomData<R>,
}

fn expand<K: KeyInit>(key: &[u8]) -> Result<K, Fault> {
    K::new_from_slice(key).map_err(|_| "KeyInit::new_from_slice")
}

impl<K: KeyInit + Send, R: Run<K>> PerMessage for Keyed<K, R> {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            self.key = Some(expand(key)?);
        }
        R::run(self.key.as_ref().ok_or("the search for a key")?, message)
    }
}

/// Input and output of a message.
fn buffers<'m>(message: &'m mut Message<'_>) -> Result<InOutBuf<'m, 'm, u8>, Fault> {
    match message.source {
        Some(source) => InOutBuf::new(source, message.out).map_err(|_| "InOutBuf::new"),
        None => Ok(InOutBuf::from(&mut *message.out)),
    }
}

/// Input and output of a message of whole blocks.
fn blocks<'m>(message: &'m mut Message<'_>) -> Result<InOutBuf<'m, 'm, Array<u8, U16>>, Fault> {
    let (blocks, rest) = buffers(message)?.into_chunks();
    if rest.is_empty() { Ok(blocks) } else { Err("the split into blocks") }
}

fn iv<'m>(message: &Message<'m>) -> Result<&'m Array<u8, U16>, Fault> {
    message.nonce.try_into().map_err(|_| "an IV of 16 bytes")
}

struct EcbEncrypt;
impl<K: Key + BlockCipherEncrypt> Run<K> for EcbEncrypt {
    fn run(key: &K, message: &mut Message<'_>) -> Result<bool, Fault> {
        key.encrypt_blocks_inout(blocks(message)?);
        Ok(true)
    }
}

struct EcbDecrypt;
impl<K: Key + BlockCipherDecrypt> Run<K> for EcbDecrypt {
    fn run(key: &K, message: &mut Message<'_>) -> Result<bool, Fault> {
        key.decrypt_blocks_inout(blocks(message)?);
        Ok(true)
    }
}

struct CbcEncrypt;
impl<K: Key + BlockCipherEncrypt> Run<K> for CbcEncrypt {
    fn run(key: &K, message: &mut Message<'_>) -> Result<bool, Fault> {
        cbc::Encryptor::inner_iv_init(key, iv(message)?).encrypt_blocks_inout(blocks(message)?);
        Ok(true)
    }
}

struct CbcDecrypt;
impl<K: Key + BlockCipherDecrypt> Run<K> for CbcDecrypt {
    fn run(key: &K, message: &mut Message<'_>) -> Result<bool, Fault> {
        cbc::Decryptor::inner_iv_init(key, iv(message)?).decrypt_blocks_inout(blocks(message)?);
        Ok(true)
    }
}

struct Ctr;
impl<K: Key + BlockCipherEncrypt> Run<K> for Ctr {
    fn run(key: &K, message: &mut Message<'_>) -> Result<bool, Fault> {
        let core = CtrCore::<&K, flavors::Ctr128BE>::inner_iv_init(key, iv(message)?);
        core.apply_keystream_partial(buffers(message)?);
        Ok(true)
    }
}

struct Gcm;
impl<K: Key + BlockCipherEncrypt> Run<AesGcm<K, U12>> for Gcm {
    fn run(key: &AesGcm<K, U12>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let nonce = message.nonce.try_into().map_err(|_| "a nonce of 12 bytes")?;
        let aad = message.aad;
        if let Tag::Check(tag) = message.tag {
            let tag = tag.try_into().map_err(|_| "a tag of 16 bytes")?;
            return Ok(key.decrypt_inout_detached(nonce, aad, buffers(message)?, tag).is_ok());
        }
        let made = key.encrypt_inout_detached(nonce, aad, buffers(message)?);
        let made = made.map_err(|_| "encrypt_inout_detached")?;
        if let Tag::Make(tag) = &mut message.tag {
            tag.copy_from_slice(&made);
        }
        Ok(true)
    }
}

/// Two expanded keys, the data's and the tweak's (IEEE 1619 section 5.1).
struct Xts<C> {
    keys: Option<Xts128<C>>,
    run: fn(&Xts128<C>, &mut [u8], Array<u8, U16>),
}

impl<C: Key> PerMessage for Xts<C> {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            let (data, tweak) = key.split_at(key.len() / 2);
            self.keys = Some(Xts128::new(expand(data)?, expand(tweak)?));
        }
        let tweak = *iv(message)?;
        message.bring_in_place();
        (self.run)(self.keys.as_ref().ok_or("the search for a key")?, message.out, tweak);
        Ok(true)
    }
}

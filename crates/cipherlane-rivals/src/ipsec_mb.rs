//! Intel's Multi-Buffer Crypto for IPsec, opened at run time: GCM with nonces of 12 bytes.
//!
//! Its one-call functions are exported by name, one for each instruction set; the library's own dispatch, which
//! chooses the same, lies behind a structure whose layout changes from version to version. Its batch calls are loops
//! over these functions.
#![allow(unsafe_code)] // the library is C

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use cipherlane_core::{Algorithm, Cipher, Device, Mode, Operation, Shape};
use libloading::Library as Shared;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::each::{Each, Library, Limits};
use crate::message::{Context, Fault, Message, Tag};
use crate::shared::{self, symbol};

/// The device.
pub(crate) const ID: &str = "rival:ipsec-mb";
/// The only way there is.
const WAY: &str = "direct";
/// Where it lies: major version 1 since 2018, 2 since 2024.
const NAMES: &[&str] = &["libIPSec_MB.so.2", "libIPSec_MB.so.1"];

/// `struct gcm_key_data`, opaque. In version 1.3 it has 15 round keys and 48 powers of H; this is eight times that.
#[repr(C, align(64))]
struct KeyData([u8; 8192]);

/// `struct gcm_context_data`, opaque: below 128 bytes in every version so far.
#[repr(C, align(64))]
struct ContextData([u8; 1024]);

/// `aes_gcm_pre_*`.
type Pre = unsafe extern "C" fn(*const u8, *mut KeyData);
/// `aes_gcm_enc_*` and `aes_gcm_dec_*`: key, context, out, in, bytes, IV of 12 bytes, AAD, its bytes, tag, its bytes.
type Run = unsafe extern "C" fn(
    *const KeyData,
    *mut ContextData,
    *mut u8,
    *const u8,
    u64,
    *const u8,
    *const u8,
    u64,
    *mut u8,
    u64,
);

/// The functions for one key length.
#[derive(Clone, Copy)]
struct Functions {
    pre: Pre,
    seal: Run,
    open: Run,
}

struct IpsecMb {
    /// By the order of [`Cipher::AES`].
    functions: [Functions; 3],
    version: String,
}

/// The suffix of the functions for the best instructions of this CPU, as the library's own dispatch chooses.
#[cfg(target_arch = "x86_64")]
fn suffix() -> Option<&'static str> {
    use std::is_x86_feature_detected as has;
    let wide = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
    if wide && has!("vaes") && has!("vpclmulqdq") && has!("gfni") {
        return Some("vaes_avx512");
    }
    let aes = has!("aes") && has!("pclmulqdq");
    match () {
        () if wide && aes => Some("avx512"),
        () if has!("avx2") && aes => Some("avx_gen4"),
        () if has!("avx") && aes => Some("avx_gen2"),
        () if has!("sse4.2") && aes => Some("sse"),
        () => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn suffix() -> Option<&'static str> {
    None
}

fn resolve(library: &'static Shared) -> Result<IpsecMb, &'static str> {
    let suffix = suffix().ok_or("code for this CPU")?;
    let functions = |bits: usize| -> Result<Functions, &'static str> {
        let name = |what: &str| format!("aes_gcm_{what}_{bits}_{suffix}");
        let missing = |_: &str| "aes_gcm functions by name";
        // SAFETY: these are the types of intel-ipsec-mb.h since version 0.50.
        unsafe {
            Ok(Functions {
                pre: symbol(library, &name("pre")).map_err(missing)?,
                seal: symbol(library, &name("enc")).map_err(missing)?,
                open: symbol(library, &name("dec")).map_err(missing)?,
            })
        }
    };
    // SAFETY: takes nothing and returns a static C string.
    let version = unsafe {
        let get: unsafe extern "C" fn() -> *const c_char = symbol(library, "imb_get_version_str")?;
        CStr::from_ptr(get()).to_string_lossy().into_owned()
    };
    Ok(IpsecMb { functions: [functions(128)?, functions(192)?, functions(256)?], version })
}

/// The library as a device, or why there is none.
pub(crate) fn open() -> Result<Box<dyn Device>, String> {
    static OPENED: OnceLock<Result<(IpsecMb, &'static str), String>> = OnceLock::new();
    let (library, file) =
        OPENED.get_or_init(|| shared::open(NAMES, resolve)).as_ref().map_err(Clone::clone)?;
    let details = vec![
        ("version".to_owned(), library.version.clone()),
        ("file".to_owned(), (*file).to_owned()),
        ("way".to_owned(), format!("aes_gcm_enc_*_{}", suffix().unwrap_or_default())),
    ];
    Ok(Box::new(Each::new(ID, format!("ipsec-mb {}", library.version), details, Opened(library))))
}

struct Opened(&'static IpsecMb);

impl Opened {
    fn functions(&self, algorithm: Algorithm) -> Option<Functions> {
        let Algorithm::Cipher(cipher, Mode::Gcm) = algorithm else { return None };
        Cipher::AES.iter().position(|aes| *aes == cipher).map(|index| self.0.functions[index])
    }
}

impl Library for Opened {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        let limits = Limits { nonce: 12..=12, ..Limits::NONE };
        self.functions(shape.algorithm).map(|_| (WAY, limits)).into_iter().collect()
    }

    fn context(&self, algorithm: Algorithm, _: Operation, _: &str) -> Result<Box<dyn Context>, Fault> {
        let functions = self.functions(algorithm).ok_or("the search for the algorithm")?;
        let (key, context) = (Box::new(KeyData([0; 8192])), Box::new(ContextData([0; 1024])));
        Ok(Box::new(Gcm { functions, key, context }))
    }

    fn constant_time(&self, _: Algorithm) -> bool {
        true
    }
}

struct Gcm {
    functions: Functions,
    key: Box<KeyData>,
    context: Box<ContextData>,
}

impl Drop for Gcm {
    fn drop(&mut self) {
        self.key.0.zeroize();
        self.context.0.zeroize();
    }
}

impl Context for Gcm {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            // SAFETY: the key has the length of the function; the structure has room for what it writes.
            unsafe { (self.functions.pre)(key.as_ptr(), &raw mut *self.key) }
        }
        let mut computed = [0; 16];
        let (run, tag): (Run, &mut [u8]) = match &mut message.tag {
            Tag::Make(tag) => (self.functions.seal, tag),
            Tag::Check(tag) => (self.functions.open, &mut computed[..tag.len()]),
            Tag::Absent => return Err("the search for a tag"),
        };
        let out = message.out.as_mut_ptr();
        let input = message.source.map_or(out.cast_const(), <[u8]>::as_ptr);
        // SAFETY: input and output are of one length, the same or apart; the nonce has 12 bytes, the tag at most 16.
        unsafe {
            run(
                &raw const *self.key,
                &raw mut *self.context,
                out,
                input,
                message.out.len() as u64,
                message.nonce.as_ptr(),
                message.aad.as_ptr(),
                message.aad.len() as u64,
                tag.as_mut_ptr(),
                tag.len() as u64,
            );
        }
        match &message.tag {
            Tag::Check(expected) => Ok(expected.ct_eq(&computed[..expected.len()]).into()),
            Tag::Make(_) | Tag::Absent => Ok(true),
        }
    }
}

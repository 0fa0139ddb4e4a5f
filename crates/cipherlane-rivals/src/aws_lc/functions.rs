//! AWS-LC's functions under the opaque types of [`crate::evp`]: each casts pointers and jumps on.
#![allow(unsafe_code)] // the library is C

use std::ffi::{c_int, c_uint, c_void};

use aws_lc_sys as aws;

use crate::digest::{MdCtx, MdFunctions, MdPointer};
use crate::evp::{CipherPointer, Ctx, Functions};

pub(super) const FUNCTIONS: Functions = Functions {
    version: aws::OpenSSL_version,
    ctx_new,
    ctx_free,
    init,
    update,
    finish,
    ctrl,
    set_padding,
    params: None,
};

unsafe extern "C" fn ctx_new() -> Ctx {
    // SAFETY: takes nothing.
    unsafe { aws::EVP_CIPHER_CTX_new() }.cast()
}

unsafe extern "C" fn ctx_free(ctx: Ctx) {
    // SAFETY: the caller's promise is that of the function; so below.
    unsafe { aws::EVP_CIPHER_CTX_free(ctx.cast()) }
}

unsafe extern "C" fn init(
    ctx: Ctx,
    cipher: CipherPointer,
    engine: *mut c_void,
    key: *const u8,
    iv: *const u8,
    direction: c_int,
) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_CipherInit_ex(ctx.cast(), cipher.cast(), engine.cast(), key, iv, direction) }
}

unsafe extern "C" fn update(
    ctx: Ctx,
    out: *mut u8,
    written: *mut c_int,
    input: *const u8,
    length: c_int,
) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_CipherUpdate(ctx.cast(), out, written, input, length) }
}

unsafe extern "C" fn finish(ctx: Ctx, out: *mut u8, written: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_CipherFinal_ex(ctx.cast(), out, written) }
}

unsafe extern "C" fn ctrl(ctx: Ctx, command: c_int, length: c_int, pointer: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_CIPHER_CTX_ctrl(ctx.cast(), command, length, pointer) }
}

unsafe extern "C" fn set_padding(ctx: Ctx, padding: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_CIPHER_CTX_set_padding(ctx.cast(), padding) }
}

pub(super) const MD_FUNCTIONS: MdFunctions = MdFunctions {
    ctx_new: md_ctx_new,
    ctx_free: md_ctx_free,
    init: digest_init,
    update: digest_update,
    finish: digest_finish,
    finish_xof: digest_finish_xof,
};

unsafe extern "C" fn md_ctx_new() -> MdCtx {
    // SAFETY: takes nothing.
    unsafe { aws::EVP_MD_CTX_new() }.cast()
}

unsafe extern "C" fn md_ctx_free(ctx: MdCtx) {
    // SAFETY: the caller's promise is that of the function; so below.
    unsafe { aws::EVP_MD_CTX_free(ctx.cast()) }
}

unsafe extern "C" fn digest_init(ctx: MdCtx, digest: MdPointer, engine: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_DigestInit_ex(ctx.cast(), digest.cast(), engine.cast()) }
}

unsafe extern "C" fn digest_update(ctx: MdCtx, text: *const c_void, length: usize) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_DigestUpdate(ctx.cast(), text, length) }
}

unsafe extern "C" fn digest_finish(ctx: MdCtx, out: *mut u8, written: *mut c_uint) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_DigestFinal_ex(ctx.cast(), out, written) }
}

unsafe extern "C" fn digest_finish_xof(ctx: MdCtx, out: *mut u8, length: usize) -> c_int {
    // SAFETY: as above.
    unsafe { aws::EVP_DigestFinalXOF(ctx.cast(), out, length) }
}

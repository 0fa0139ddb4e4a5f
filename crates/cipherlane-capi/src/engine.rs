//! Engines: opened, run, closed.

#![allow(unsafe_code)] // functions of C take pointers

use std::ffi::c_char;
use std::ptr;

use cipherlane_lent::{Batch, Engine, Failure, Output, Plan, Spans, Status, Wish, name, some_name};

use crate::status::report;

/// Opens an engine on a device: "cpu" or NULL, "cuda:0", "cuda:all", "opencl:0". Close it with `cipherlane_engine_close`.
///
/// `wish` may be NULL. What it insists on is looked at when something is planned or run: `cipherlane_plan_of` tells at once
/// whether it can be had. `*engine` is NULL where it fails.
///
/// # Safety
/// Strings end with a zero. What is not NULL points to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_engine_open(
    device: *const c_char,
    wish: *const Wish,
    engine: *mut *mut Engine,
) -> Status {
    report(|| {
        if engine.is_null() {
            return Err(Failure::pointer("`engine` is NULL; pass the address of a `cipherlane_engine *`"));
        }
        // SAFETY: not NULL, and else promised by the caller, as below.
        unsafe { engine.write(ptr::null_mut()) };
        // SAFETY: as above.
        let (device, wish) = unsafe { (some_name(device, "the device")?, wish.as_ref()) };
        // SAFETY: as above.
        let wish = wish.map(|wish| unsafe { wish.wish() }).transpose()?.unwrap_or_default();
        let opened = Engine::open(device.unwrap_or("cpu"), wish)?;
        // SAFETY: as above.
        unsafe { engine.write(Box::into_raw(Box::new(opened))) };
        Ok(())
    })
}

/// Closes an engine at once, without waiting for calls: keys that it kept are wiped. NULL is no engine.
///
/// # Safety
/// `engine` is NULL, or was opened and not yet closed. No other call with it is under way, on any thread, and none follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_engine_close(engine: *mut Engine) {
    report(|| {
        if !engine.is_null() {
            // SAFETY: `cipherlane_engine_open` made it of a box, and nobody has it any more.
            drop(unsafe { Box::from_raw(engine) });
        }
        Ok(())
    });
}

/// Gives back what an engine keeps for batches to come: keys, as they are and expanded, and memory of a GPU. The next batch is slower.
///
/// # Safety
/// `engine` is NULL, or was opened and not yet closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_engine_release(engine: *const Engine) {
    report(|| {
        // SAFETY: promised by the caller.
        if let Some(engine) = unsafe { engine.as_ref() } {
            engine.inner().release();
        }
        Ok(())
    });
}

/// Tells how an engine runs `messages` messages of `bytes` bytes each, under one key or with a key each: by which kernel, and
/// on how many threads.
///
/// # Safety
/// `engine` was opened and not yet closed. Strings end with a zero. `plan` points to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_plan_of(
    engine: *const Engine,
    algorithm: *const c_char,
    operation: *const c_char,
    messages: usize,
    bytes: usize,
    key_each: bool,
    plan: *mut Plan,
) -> Status {
    report(|| {
        // SAFETY: promised by the caller, as below.
        let engine = unsafe { engine.as_ref() }.ok_or_else(no_engine)?;
        if plan.is_null() {
            return Err(Failure::pointer("`plan` is NULL; pass the address of a `cipherlane_plan`"));
        }
        // SAFETY: as above.
        let (algorithm, operation) =
            unsafe { (name(algorithm, "the algorithm")?, name(operation, "the operation")?) };
        let found = engine.plan((algorithm.parse()?, operation.parse()?), (messages, bytes), !key_each)?;
        // SAFETY: as above, and not NULL.
        unsafe { plan.write(found) };
        Ok(())
    })
}

/// Runs a batch, and returns when its results are there. `spans` may be NULL, which saves nearly half of the time of a short
/// message by itself on a CPU. The calling thread needs 128 KiB of stack.
///
/// # Safety
/// `engine` was opened and not yet closed. What `batch` and `output` point to is there; until the call returns nobody
/// writes it, and nobody reads what `output` points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_run(
    engine: *const Engine,
    batch: *const Batch,
    output: *const Output,
    spans: *mut Spans,
) -> Status {
    report(|| {
        // SAFETY: promised by the caller, as below.
        let (engine, batch, output) = unsafe { (engine.as_ref(), batch.as_ref(), output.as_ref()) };
        let engine = engine.ok_or_else(no_engine)?;
        let batch = batch.ok_or_else(|| Failure::pointer("the batch is NULL; give one"))?;
        let output = output.ok_or_else(|| Failure::pointer("the output is NULL; give one"))?;
        // SAFETY: as above.
        unsafe {
            if spans.is_null() {
                return engine.run_untimed(batch, output);
            }
            spans.write(Spans::from(engine.run(batch, output)?));
        }
        Ok(())
    })
}

fn no_engine() -> Failure {
    Failure::pointer("the engine is NULL; open one")
}

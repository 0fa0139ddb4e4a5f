//! Runs a function one instruction at a time, by the processor's trap flag, and notes where it passes.
//!
//! Counters of the processor would count as much, but virtual machines have none as a rule; the trap flag needs neither
//! a privilege nor a second process. Each step is a signal: 2 microseconds, or 100 where a hypervisor takes part.

#![allow(unsafe_code)] // a signal handler, and the flags of the processor

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Registers of an address: the sixteen integer registers, in the order of their encoding.
pub(super) const REGISTERS: usize = 16;

/// Where a step begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// The address of the instruction.
    pub(super) address: u64,
    /// The registers before it.
    pub(super) registers: [u64; REGISTERS],
}

/// Steps of a run under way.
#[derive(Default)]
struct Notes {
    /// Never more than it has room for from the start, so that a step allocates nothing.
    steps: Vec<Step>,
    /// Whether there were more.
    too_many: bool,
}

thread_local! {
    /// The notes of this thread's run; null outside of one. Nothing is to be dropped, so that the handler may look here.
    static NOTES: Cell<*mut Notes> = const { Cell::new(ptr::null_mut()) };
}

/// The handler that there was before, and how many threads run by single steps. The handler is the process's.
static BEFORE: Mutex<Option<(libc::sigaction, usize)>> = Mutex::new(None);

/// The trap flag of the processor.
const TRAP: i64 = 1 << 8;

/// Where the kernel's context has each register, in the order of their encoding.
const CONTEXT: [libc::c_int; REGISTERS] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// Notes the step and goes on; ends the stepping when the notes are full.
extern "C" fn note(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel hands a context of this type to handlers with SA_SIGINFO; the notes are those of the run that this
    // thread is in, which outside of the handler are touched before and after it only.
    unsafe {
        let general = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let notes = NOTES.get();
        if !notes.is_null() && (*notes).steps.len() < (*notes).steps.capacity() {
            let of = |register: libc::c_int| general[register as usize].cast_unsigned();
            (*notes).steps.push(Step { address: of(libc::REG_RIP), registers: CONTEXT.map(of) });
        } else {
            if !notes.is_null() {
                (*notes).too_many = true;
            }
            general[libc::REG_EFL as usize] &= !TRAP;
        }
    }
}

/// Steps of `run` on this thread, at most `most`; the first and last few are of the switch itself.
///
/// # Errors
/// If there are more, this thread steps already, or the system does not let a handler be set.
pub(super) fn steps(most: usize, run: impl FnOnce()) -> Result<Vec<Step>, String> {
    if !NOTES.get().is_null() {
        return Err("this thread runs by single steps already".to_owned());
    }
    let mut notes = Notes::default();
    notes.steps.try_reserve_exact(most).map_err(|error| {
        format!("no memory for the notes of {most} instructions: {error}; follow fewer (most_steps)")
    })?;
    let stepping = Stepping::begin(&mut notes)?;
    run();
    drop(stepping);
    if notes.too_many {
        return Err(format!("it takes more than {most} instructions"));
    }
    Ok(notes.steps)
}

/// This thread runs by single steps. Ends with the scope, by a panic as well.
struct Stepping<'a>(PhantomData<&'a mut Notes>);

impl<'a> Stepping<'a> {
    fn begin(notes: &'a mut Notes) -> Result<Self, String> {
        enter()?;
        NOTES.set(notes);
        // SAFETY: the flags are changed by way of the stack, which the statement may use; with the trap flag set, each
        // instruction ends in the handler, which is in place and changes nothing else.
        unsafe { std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
        Ok(Self(PhantomData))
    }
}

impl Drop for Stepping<'_> {
    fn drop(&mut self) {
        // SAFETY: the same way back.
        unsafe { std::arch::asm!("pushfq", "and qword ptr [rsp], ~0x100", "popfq") };
        NOTES.set(ptr::null_mut());
        leave();
    }
}

/// Sets the handler, unless another thread has.
fn enter() -> Result<(), String> {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, threads)) = &mut *before {
        *threads += 1;
        return Ok(());
    }
    // SAFETY: both are plain data, of which zeros are values; the handler is of the kind that SA_SIGINFO asks for.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        new.sa_sigaction = note as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigemptyset(&raw mut new.sa_mask);
        if libc::sigaction(libc::SIGTRAP, &raw const new, &raw mut old) != 0 {
            return Err(format!("no handler for single steps: {}", std::io::Error::last_os_error()));
        }
        *before = Some((old, 1));
    }
    Ok(())
}

/// Sets the handler that there was before, unless another thread still steps.
fn leave() {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, threads)) = &mut *before
        && *threads > 1
    {
        *threads -= 1;
    } else if let Some((old, _)) = before.take() {
        // SAFETY: `old` is what the system gave for the handler.
        unsafe { libc::sigaction(libc::SIGTRAP, &raw const old, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    /// A loop of two instructions, so many turns.
    fn turns(turns: u64) {
        // SAFETY: one register, which is declared.
        unsafe { std::arch::asm!("2:", "sub {turns}, 1", "jnz 2b", turns = inout(reg) turns => _) };
    }

    #[test]
    fn every_instruction_is_a_step() {
        let of = |count| steps(10_000, || turns(count)).unwrap();
        let (less, more) = (of(100), of(350));
        assert_eq!(more.len() - less.len(), 2 * 250);
        // The counter is in some register: its last values differ from the first.
        let (first, last) = (&more[more.len() / 2], &more[more.len() / 2 + 2]);
        assert_eq!(first.address, last.address);
        assert_eq!(
            first.registers.iter().zip(last.registers).filter(|(one, other)| *one != other).count(),
            1
        );
    }

    #[test]
    fn threads_step_side_by_side() {
        let both = Barrier::new(2);
        let of = |count| {
            both.wait();
            steps(20_000, || turns(count)).unwrap().len()
        };
        let (less, more) = thread::scope(|scope| {
            let less = scope.spawn(|| of(2000));
            let more = of(3000);
            (less.join().unwrap(), more)
        });
        assert_eq!(more - less, 2 * 1000);
    }

    #[test]
    fn too_many_steps_are_an_error_and_the_work_is_done() {
        let mut done = false;
        let found = steps(50, || {
            turns(1000);
            done = true;
        });
        assert!(done && found.unwrap_err().contains("more than 50"));
        assert!(steps(5000, || turns(10)).is_ok());
    }

    #[test]
    fn a_run_within_a_run_is_an_error() {
        let mut within = Ok(Vec::new());
        let outer = steps(5000, || within = steps(5000, || turns(10)));
        assert!(within.unwrap_err().contains("already") && outer.unwrap().len() > 20);
    }

    #[test]
    fn notes_that_no_memory_holds_are_an_error() {
        let found = steps(usize::MAX, || turns(1));
        assert!(found.unwrap_err().contains("most_steps"));
    }
}

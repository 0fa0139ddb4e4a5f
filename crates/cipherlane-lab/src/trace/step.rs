//! Runs a function one instruction at a time, by the processor's trap flag, and notes where it passes.
//!
//! Counters of the processor would count as much, but virtual machines have none as a rule; the trap flag needs neither
//! a privilege nor a second process. Each step is a signal: 2 microseconds, or 100 where a hypervisor takes part.

#![allow(unsafe_code)] // a signal handler, and the flags of the processor

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Steps of the run under way.
struct Notes {
    /// Never more than it has room for from the start, so that a step allocates nothing.
    steps: UnsafeCell<Vec<Step>>,
    /// Whether there were more.
    too_many: AtomicBool,
}

// SAFETY: `steps` is touched by the holder of `ONE` before and after a run, and during it by the handler alone, which
// runs on the holder's thread.
unsafe impl Sync for Notes {}

static NOTES: Notes = Notes { steps: UnsafeCell::new(Vec::new()), too_many: AtomicBool::new(false) };
/// One run at a time: the handler is the process's.
static ONE: Mutex<()> = Mutex::new(());

/// The trap flag of the processor.
const TRAP: i64 = 1 << 8;

/// The registers in the kernel's order of its context.
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
    // SAFETY: the kernel hands a context of this type to handlers with SA_SIGINFO; see `Notes` for the steps.
    unsafe {
        let general = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let steps = &mut *NOTES.steps.get();
        if steps.len() < steps.capacity() {
            let of = |register: libc::c_int| general[register as usize].cast_unsigned();
            steps.push(Step { address: of(libc::REG_RIP), registers: CONTEXT.map(of) });
        } else {
            NOTES.too_many.store(true, Ordering::Relaxed);
            general[libc::REG_EFL as usize] &= !TRAP;
        }
    }
}

/// Steps of `run` on this thread, at most `most`; the first and last few are of the switch itself.
///
/// # Errors
/// If there are more, or the system does not let a handler be set.
pub(super) fn steps(most: usize, run: impl FnOnce()) -> Result<Vec<Step>, String> {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut room = Vec::new();
    room.try_reserve_exact(most).map_err(|error| {
        format!("no memory for the notes of {most} instructions: {error}; follow fewer (most_steps)")
    })?;
    // SAFETY: `ONE` is held, and no run is under way.
    unsafe { *NOTES.steps.get() = room };
    NOTES.too_many.store(false, Ordering::Relaxed);
    let stepping = Stepping::begin()?;
    run();
    drop(stepping);
    // SAFETY: `ONE` is held, and the run is over.
    let steps = std::mem::take(unsafe { &mut *NOTES.steps.get() });
    if NOTES.too_many.load(Ordering::Relaxed) {
        return Err(format!("it takes more than {most} instructions"));
    }
    Ok(steps)
}

/// This thread runs by single steps. Ends with the scope, by a panic as well.
struct Stepping {
    /// The handler that there was before.
    before: libc::sigaction,
}

impl Stepping {
    fn begin() -> Result<Self, String> {
        // SAFETY: both are plain data, of which zeros are values; the handler is of the kind that SA_SIGINFO asks for.
        let before = unsafe {
            let (mut new, mut before): (libc::sigaction, libc::sigaction) =
                (std::mem::zeroed(), std::mem::zeroed());
            new.sa_sigaction = note as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigemptyset(&raw mut new.sa_mask);
            if libc::sigaction(libc::SIGTRAP, &raw const new, &raw mut before) != 0 {
                return Err(format!("no handler for single steps: {}", std::io::Error::last_os_error()));
            }
            before
        };
        // SAFETY: the flags are changed by way of the stack, which the statement may use; with the trap flag set, each
        // instruction ends in the handler, which is in place and changes nothing else.
        unsafe { std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
        Ok(Self { before })
    }
}

impl Drop for Stepping {
    fn drop(&mut self) {
        // SAFETY: the same way back; `before` is what the system gave for the handler.
        unsafe {
            std::arch::asm!("pushfq", "and qword ptr [rsp], ~0x100", "popfq");
            libc::sigaction(libc::SIGTRAP, &raw const self.before, ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn notes_that_no_memory_holds_are_an_error() {
        let found = steps(usize::MAX, || turns(1));
        assert!(found.unwrap_err().contains("most_steps"));
    }
}

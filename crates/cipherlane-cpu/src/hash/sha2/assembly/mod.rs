//! One message of 64-bit words, in assembly: the schedule in vector registers, its rounds in integers.
//!
//! The two have execution units of their own, and share what brings instructions to them. Of AVX registers the schedule
//! of one block fills a half, so that two blocks are scheduled together, beside the rounds of the first: a round of the
//! first block is 24 instructions and 8 (AVX-512) or 12 beside them, one of the second 24. The compiler, which does
//! without registers enough for a round, makes 30 of these 24.
//!
//! No address and no branch depends on a word of a message.

#[macro_use]
mod rounds;

use std::arch::naked_asm;

use super::constants::K_64;
use super::scalar::Single;
use crate::hash::integers::{BmiAvx2, BmiAvx512};

impl Single<u64> for BmiAvx2 {
    #[inline(always)]
    unsafe fn absorb(self, state: &mut [u64; 8], from: *const u8, blocks: usize) {
        // SAFETY: `self` proves the instructions, and the caller vouches for the blocks.
        unsafe { with_avx2(state.as_mut_ptr(), from, blocks) }
    }
}

impl Single<u64> for BmiAvx512 {
    #[inline(always)]
    unsafe fn absorb(self, state: &mut [u64; 8], from: *const u8, blocks: usize) {
        // SAFETY: `self` proves the instructions, and the caller vouches for the blocks.
        unsafe { with_avx512(state.as_mut_ptr(), from, blocks) }
    }
}

/// Where each byte of the two words of a half comes from: they are big-endian.
static REVERSED: [u8; 16] = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8];
/// The same, of words that are rotated to the right by 8 bits.
static ROTATED: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8];

/// Two words of both blocks, at r13 and r14, and their sums.
macro_rules! load_words {
    ($($i:literal)*) => {
        concat!($(
            "vmovdqu xmm", $i, ", [r13 + 16 * ", $i, "]\n",
            "vinserti128 ymm", $i, ", ymm", $i, ", [r14 + 16 * ", $i, "], 1\n",
            v!(vpshufb $i $i 15),
            constants!($i),
            v!(vpaddq 8 8 $i),
            store_sums!(0, $i),
        )*)
    };
}

/// The working variables become what `state` is.
macro_rules! begin {
    ($($i:literal $variable:ident)*) => {
        concat!($("mov ", stringify!($variable), ", [r13 + 8 * ", $i, "]\n",)* i!(mov r11 rcx), i!(xor r11 rdx))
    };
}

/// Adds to the working variables what `state` was before the block, and there they go (step 4).
macro_rules! end {
    ($($i:literal $variable:ident)*) => {
        concat!("mov r13, [rsp + 1280]\n", $(
            "add ", stringify!($variable), ", [r13 + 8 * ", $i, "]\n",
            "mov [r13 + 8 * ", $i, "], ", stringify!($variable), "\n",
        )* i!(mov r11 rcx), i!(xor r11 rdx))
    };
}

/// Absorbs blocks.
///
/// The frame, from its end: what `$name` has to give back, the arguments, and sums for 80 rounds of two blocks, 32 bytes
/// for two rounds, which are overwritten in the end.
macro_rules! absorb {
    ($name:ident, $two:ident) => {
        /// # Safety
        /// This CPU has the instructions; of `state`, 8 words, `from` so many bytes times 128 are readable.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(state: *mut u64, from: *const u8, blocks: usize) {
            naked_asm!(
                "push rbx",
                "push rbp",
                "push r12",
                "push r13",
                "push r14",
                "push r15",
                "mov rbp, rsp",
                "sub rsp, 1344",
                "and rsp, -64",
                "mov [rsp + 1280], rdi", // state
                "mov [rsp + 1288], rsi", // from
                "mov [rsp + 1296], rdx", // blocks
                "mov [rsp + 1304], rbp", // the caller's registers
                "mov r13, rdi",
                begin!(0 rax 1 rcx 2 rdx 3 rbx 4 rsi 5 r8 6 r9 7 r10),
                // For each two blocks, or the last one, which is scheduled twice.
                "2:",
                "cmp qword ptr [rsp + 1296], 1",
                "jb 5f",
                "mov r13, [rsp + 1288]",
                "lea r14, [r13 + 128]",
                "cmove r14, r13",
                "vbroadcasti128 ymm14, [rip + {rotated}]",
                "vbroadcasti128 ymm15, [rip + {reversed}]",
                "lea rbp, [rip + {constants}]",
                "mov rdi, rsp",
                load_words!(0 1 2 3 4 5 6 7),
                "lea r13, [rsp + 1024]",
                "mov [rsp + 1312], r13",
                ".p2align 5",
                "3:",
                "add rbp, 128",
                sixteen!($two),
                "add rdi, 256",
                "cmp rdi, [rsp + 1312]",
                "jne 3b",
                sixteen!(two_of_first),
                end!(0 rax 1 rcx 2 rdx 3 rbx 4 rsi 5 r8 6 r9 7 r10),
                "sub qword ptr [rsp + 1296], 1",
                "jz 5f",
                "mov rdi, rsp",
                "lea r13, [rsp + 1280]",
                "mov [rsp + 1312], r13",
                ".p2align 5",
                "4:",
                sixteen!(two_of_second),
                "add rdi, 256",
                "cmp rdi, [rsp + 1312]",
                "jne 4b",
                end!(0 rax 1 rcx 2 rdx 3 rbx 4 rsi 5 r8 6 r9 7 r10),
                "add qword ptr [rsp + 1288], 256",
                "sub qword ptr [rsp + 1296], 1",
                "jmp 2b",
                // Sums tell what the message was.
                "5:",
                "vpxor xmm0, xmm0, xmm0",
                "lea r13, [rsp + 1280]",
                "mov rdi, rsp",
                "6:",
                "vmovdqa [rdi], ymm0",
                "vmovdqa [rdi + 32], ymm0",
                "vmovdqa [rdi + 64], ymm0",
                "vmovdqa [rdi + 96], ymm0",
                "add rdi, 128",
                "cmp rdi, r13",
                "jne 6b",
                "vzeroupper",
                "mov rsp, [rsp + 1304]",
                "pop r15",
                "pop r14",
                "pop r13",
                "pop r12",
                "pop rbp",
                "pop rbx",
                "ret",
                constants = sym K_64,
                reversed = sym REVERSED,
                rotated = sym ROTATED,
            )
        }
    };
}

absorb!(with_avx2, two_with_avx2);
absorb!(with_avx512, two_with_avx512);

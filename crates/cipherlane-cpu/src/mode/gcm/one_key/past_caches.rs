//! A message that is stored past the caches: what was stored would be long in coming back, so the ciphertext to be
//! hashed is kept aside.

use cipherlane_core::BLOCK;

use super::OneKey;
use super::groups::{GroupHash, InMemory, Text};
use crate::cipher::{Nothing, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::counters::{Count, advanced};
use crate::mode::gcm::ghash::Ghash;
use crate::mode::gcm::{Direction, text};

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// Whether `message` is to be stored past the caches, and this cipher is quick enough to gain by it.
    #[inline(always)]
    pub(super) fn is_past_caches(job: &Job<'_>, message: Message) -> bool {
        !P::WHOLE_GROUPS && job.is_past_caches(message)
    }

    /// Encrypts or decrypts and hashes `text`, which [`is_past_caches`](Self::is_past_caches) and is message `index` or
    /// a segment of it, from counter `first` on.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // SP 800-38D: fewer than 2^32 blocks
    pub(super) fn run_past_caches<'s>(
        &'s self,
        job: &Job<'_>,
        index: usize,
        hash: Ghash<'s, P::Isa, KARATSUBA>,
        text: Message,
        first: u128,
    ) -> Ghash<'s, P::Isa, KARATSUBA> {
        let counters = |start: usize| self.counters(job, index, advanced(first, (start / BLOCK) as u32));
        let group = N * V::<P>::BYTES;
        let unaligned = text.unaligned();
        let rest = unaligned + (text.bytes - unaligned) / group * group;
        let hash = self.run_text(hash, text.take(unaligned), counters(0));
        // SAFETY: both are within the text.
        let (groups, end) = unsafe { (text.take(rest).skip(unaligned), text.skip(rest)) };
        let groups = Groups(self.text(hash, groups, counters(unaligned)));
        let hash = self.cipher().isa().vectorize(groups);
        self.run_text(hash, end, counters(rest))
    }
}

/// Groups of N registers with aligned output, as work.
struct Groups<'p, P: Permutation, D, const N: usize, const KARATSUBA: bool>(Text<'p, P, D, N, KARATSUBA>);

impl<'p, P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Groups<'p, P, D, N, KARATSUBA>
{
    type Output = Ghash<'p, P::Isa, KARATSUBA>;

    /// As [`super::groups::run`] does it: when sealing, the group before is hashed.
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Text { cipher, mut hash, mut text, mut counters, .. } = self.0;
        let (isa, group) = (cipher.isa(), N * V::<P>::BYTES);
        // SAFETY: the text is whole groups, and aligned.
        unsafe {
            if D::OPEN {
                while text.bytes > 0 {
                    let cipher = std::hint::black_box(cipher);
                    let mut step = GroupHash::<P::Isa, _, N, KARATSUBA>::new(&hash, InMemory(text.input));
                    text::crypt_past_caches::<P, N>(cipher, counters.take(), text, &mut step);
                    hash.state = step.finish();
                    text = text.skip(group);
                }
            } else if text.bytes > 0 {
                let mut before = text::crypt_past_caches::<P, N>(cipher, counters.take(), text, &mut Nothing);
                text = text.skip(group);
                while text.bytes > 0 {
                    let cipher = std::hint::black_box(cipher);
                    let mut step = GroupHash::<P::Isa, _, N, KARATSUBA>::new(&hash, before);
                    before = text::crypt_past_caches::<P, N>(cipher, counters.take(), text, &mut step);
                    hash.state = step.finish();
                    text = text.skip(group);
                }
                hash.state = GroupHash::<P::Isa, _, N, KARATSUBA>::new(&hash, before).all();
            }
            isa.fence();
        }
        hash
    }
}

//! Messages that an engine hashes from the initial value to the output at once.

use std::mem::MaybeUninit;

use super::{Cut, Streams};
use crate::hash::{Absorb, Iterated, Text};

/// Most messages that are hashed as wholes at a time.
const WHOLE: usize = 128;

impl<H: Iterated, E: Absorb<H>> Streams<'_, H, E> {
    /// Hashes the next messages from the initial value to the output, which the engine has a way to do at once, in groups of
    /// messages of nearly one length. Returns whether there were such.
    #[inline(always)]
    pub(super) fn hash_whole(&mut self) -> bool {
        if self.job.digest_bytes() > self.hash.output_bytes() {
            return false;
        }
        let mut texts = [const { MaybeUninit::uninit() }; WHOLE];
        let mut count = 0;
        while count + E::LANES <= WHOLE
            && let Some((group, ends)) = self.order.falling(E::LANES)
            && group >= E::LEAST
            && self.are_near(ends)
        {
            let texts = &mut texts[count..count + group];
            if let Some(messages) = self.order.next_alike(group) {
                let first = self.text(messages.start);
                for (text, message) in texts.iter_mut().zip(messages) {
                    let (from, to) = (self.job.text(message).as_ptr(), self.job.digests_from(message));
                    text.write(Text { from, to, ..first });
                }
            } else {
                for text in texts {
                    if let Some(message) = self.order.next() {
                        text.write(self.text(message));
                    }
                }
            }
            count += group;
            if group < E::LANES {
                break;
            }
        }
        // SAFETY: the loop has written so many, as `order` had them.
        let texts = unsafe { texts[..count].assume_init_ref() };
        if texts.is_empty() {
            return false;
        }
        // SAFETY: this thread alone has the messages, which come by falling length or, none of them with a whole block, as they
        // lie.
        unsafe { self.engine.hash_whole(self.hash, texts, self.job.digest_bytes()) }
        true
    }

    /// Whether messages from the longest to the shortest are worth a group: those with fewer blocks wait for the others.
    #[inline(always)]
    fn are_near(&mut self, [longest, shortest]: [usize; 2]) -> bool {
        let most = self.cut(self.job.text(longest).len()).blocks;
        let least = self.cut(self.job.text(shortest).len()).blocks;
        most - least <= 1 + most / 8
    }

    /// A message to hash as a whole.
    #[inline(always)]
    fn text(&mut self, message: usize) -> Text {
        let text = self.job.text(message);
        let Cut { blocks, rest, .. } = self.cut(text.len());
        Text { from: text.as_ptr(), blocks, rest, to: self.job.digests_from(message) }
    }
}

//! Memory of the device and of the host that grows as it is needed, and is wiped when it is let go.

use std::ops::DerefMut;

use zeroize::Zeroize;

use crate::backend::{Backend, Commands, Fault};
use crate::key::{Expansion, KeyNumber};

/// A buffer that is made anew when more is asked of it than it has.
#[derive(Debug)]
pub(crate) struct Growing<T> {
    buffer: Option<T>,
    bytes: usize,
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Self { buffer: None, bytes: 0 }
    }
}

impl<T> Growing<T> {
    /// At least `bytes` bytes, rounded up, though not beyond `most`, so that batches of about one size do not grow it each
    /// time; `wipe` overwrites what is let go. Says whether the buffer is new, its contents gone.
    fn reserve(
        &mut self,
        bytes: usize,
        most: usize,
        wipe: impl FnOnce(&mut T) -> Result<(), Fault>,
        make: impl FnOnce(usize) -> Result<T, Fault>,
    ) -> Result<bool, Fault> {
        /// Beyond it, what is asked for is rounded up to a multiple of it, and below to a power of two.
        const STEP: usize = 16 << 20;
        if self.buffer.is_some() && bytes <= self.bytes {
            return Ok(false);
        }
        let rounded =
            if bytes < STEP { bytes.max(4096).next_power_of_two() } else { bytes.next_multiple_of(STEP) };
        let rounded = rounded.min(most.max(bytes));
        // Gone before the new one is made: there may be no room for both. What cannot be wiped now is kept, to be wiped later.
        if let Some(old) = &mut self.buffer {
            wipe(old)?;
        }
        self.buffer = None;
        self.buffer = Some(make(rounded)?);
        self.bytes = rounded;
        Ok(true)
    }

    /// The buffer, if there is one.
    pub(crate) const fn get(&self) -> Option<&T> {
        self.buffer.as_ref()
    }

    /// The buffer, to be written to.
    pub(crate) const fn get_mut(&mut self) -> Option<&mut T> {
        self.buffer.as_mut()
    }
}

impl<T: DerefMut<Target = [u8]>> Growing<T> {
    /// The buffer, of the host, with at least `bytes` bytes, as [`Growing::reserve`] makes it.
    pub(crate) fn reserved(
        &mut self,
        bytes: usize,
        make: impl FnOnce(usize) -> Result<T, Fault>,
    ) -> Result<&mut T, Fault> {
        let wipe = |old: &mut T| {
            (**old).zeroize();
            Ok(())
        };
        self.reserve(bytes, usize::MAX, wipe, make)?;
        self.buffer.as_mut().ok_or_else(|| Fault("memory was used before it was reserved".to_owned()))
    }
}

/// Memory of the device for one group.
#[derive(Debug)]
pub(crate) struct Buffers<B: Backend> {
    /// The texts that go in; in place, those that come out, too.
    pub(crate) input: Growing<B::Memory>,
    /// The texts that come out, unless in place.
    pub(crate) output: Growing<B::Memory>,
    /// The columns.
    pub(crate) rows: Growing<B::Memory>,
    /// The workspace.
    pub(crate) work: Growing<B::Memory>,
    /// What the workspace holds of a shared key, by which the next group can go on.
    keyed: Option<Expansion>,
    /// What may be here of shared keys, which are brought with it: of each program the last.
    held: Vec<Expansion>,
}

impl<B: Backend> Default for Buffers<B> {
    fn default() -> Self {
        Self {
            input: Growing::default(),
            output: Growing::default(),
            rows: Growing::default(),
            work: Growing::default(),
            keyed: None,
            held: Vec::new(),
        }
    }
}

/// What a group needs, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// `None` where texts lie in memory of the caller's.
    pub(crate) text: Option<usize>,
    pub(crate) in_place: bool,
    pub(crate) rows: usize,
    pub(crate) work: usize,
}

impl<B: Backend> Buffers<B> {
    /// Makes room. The text gets two blocks more: unaligned blocks are read by whole words.
    pub(crate) fn reserve(&mut self, commands: Commands<'_, B>, needs: Needs) -> Result<(), Fault> {
        let make = |bytes| commands.backend.allocate(bytes);
        let wipe = |old: &mut B::Memory| commands.wipe(old);
        // What is longer fails, or not, as the driver says: it may have room for more than it promises.
        let most = usize::try_from(commands.backend.limits().allocation_bytes).unwrap_or(usize::MAX);
        if let Some(text) = needs.text.map(|text| text.next_multiple_of(16) + 32) {
            self.input.reserve(text, most, wipe, make)?;
            if !needs.in_place {
                self.output.reserve(text, most, wipe, make)?;
            }
        }
        self.rows.reserve(needs.rows.max(16), most, wipe, make)?;
        if self.work.reserve(needs.work.max(256), most, wipe, make)? {
            self.keyed = None;
        }
        Ok(())
    }

    /// The buffers, which have been reserved.
    pub(crate) fn views(&self, in_place: bool) -> Result<Views<'_, B>, Fault> {
        let output = if in_place { &self.input } else { &self.output };
        let (input, output) = self.input.get().zip(output.get()).ok_or_else(unreserved)?;
        self.views_beside(input, output, in_place)
    }

    /// The same with texts that lie elsewhere.
    pub(crate) fn views_beside<'a>(
        &'a self,
        input: &'a B::Memory,
        output: &'a B::Memory,
        in_place: bool,
    ) -> Result<Views<'a, B>, Fault> {
        let (rows, work) = self.rows.get().zip(self.work.get()).ok_or_else(unreserved)?;
        Ok(Views { input, output, rows, work, in_place })
    }

    /// Notes that a group is enqueued next which makes `expansion`, if its messages share a key, and says whether the
    /// workspace holds it already. Where the group fails, nobody goes on with that key's number.
    pub(crate) fn key_by(&mut self, expansion: Option<Expansion>) -> bool {
        if let Some(expansion) = expansion {
            // It overwrites what its program has made of a former key, and the key: rows begin with it.
            self.held.retain(|held| held.program != expansion.program);
            self.held.push(expansion);
        }
        let before = std::mem::replace(&mut self.keyed, expansion);
        expansion.is_some() && before == expansion
    }

    /// Enqueues wiping what is here of other keys than `key`.
    pub(crate) fn forget_old_key(
        &mut self,
        commands: Commands<'_, B>,
        key: KeyNumber,
        steps: &mut Vec<B::Step>,
    ) -> Result<(), Fault> {
        if self.held.iter().any(|held| held.key != key) {
            for memory in [&self.rows, &self.work].into_iter().filter_map(Growing::get) {
                steps.push(commands.backend.wipe(commands.queue, memory)?);
            }
            self.held.clear();
            self.keyed = None;
        }
        Ok(())
    }

    /// Overwrites everything with zeros: there were keys, and texts. That one is refused, or one wait, spares none of the
    /// others.
    pub(crate) fn wipe(&self, commands: Commands<'_, B>) -> Result<(), Fault> {
        let all = [&self.input, &self.output, &self.rows, &self.work].into_iter().filter_map(Growing::get);
        let begun: Vec<_> = all.map(|memory| commands.backend.wipe(commands.queue, memory)).collect();
        let ended = begun.into_iter().map(|step| step.and_then(|step| commands.backend.wait(&step)));
        ended.fold(Ok(()), Result::and)
    }
}

fn unreserved() -> Fault {
    Fault("memory of the device was used before it was reserved".to_owned())
}

/// The buffers of a group as launches use them.
#[derive(Debug)]
pub(crate) struct Views<'a, B: Backend> {
    pub(crate) input: &'a B::Memory,
    /// The input in place.
    pub(crate) output: &'a B::Memory,
    pub(crate) rows: &'a B::Memory,
    pub(crate) work: &'a B::Memory,
    pub(crate) in_place: bool,
}

/// Memory of the host by which one queue reaches that of the caller.
#[derive(Debug)]
pub(crate) struct Stagings<B: Backend> {
    pub(crate) input: Growing<B::Staging>,
    pub(crate) output: Growing<B::Staging>,
    pub(crate) rows: Growing<B::Staging>,
}

impl<B: Backend> Default for Stagings<B> {
    fn default() -> Self {
        Self { input: Growing::default(), output: Growing::default(), rows: Growing::default() }
    }
}

impl<B: Backend> Stagings<B> {
    /// Overwrites a shared key of `bytes` bytes, which is at the front of all rows.
    pub(crate) fn forget_key(&mut self, bytes: usize) {
        if let Some(rows) = self.rows.get_mut() {
            let bytes = bytes.min(rows.len());
            rows[..bytes].zeroize();
        }
    }

    /// Overwrites everything with zeros.
    pub(crate) fn wipe(&mut self) {
        for buffer in [&mut self.input, &mut self.output, &mut self.rows] {
            if let Some(bytes) = buffer.get_mut() {
                bytes[..].zeroize();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Failing, Fake};

    #[test]
    fn what_cannot_be_wiped_or_waited_for_spares_nothing_else() {
        let backend = Fake::new();
        let queue = backend.queue().unwrap();
        let commands = Commands { backend: &backend, queue: &queue };
        for (failing, spared) in [(Failing::Wipe, 1), (Failing::Wait, 0)] {
            let mut buffers = Buffers::<Fake>::default();
            let needs = Needs { text: Some(64), in_place: false, rows: 16, work: 16 };
            buffers.reserve(commands, needs).unwrap();
            backend.fail(failing, 0);
            assert!(buffers.wipe(commands).is_err(), "{failing:?}");
            let Buffers { input, output, rows, work, .. } = &buffers;
            let all = [input, output, rows, work].map(|memory| memory.get().unwrap().all());
            let is_zero = |memory: &Vec<u8>| memory.iter().all(|&byte| byte == 0);
            assert_eq!(all.iter().filter(|memory| !is_zero(memory)).count(), spared, "{failing:?}");
        }
    }

    #[test]
    fn what_is_let_go_is_wiped_first() {
        let (mut wiped, mut buffer) = (Vec::new(), Growing::<Vec<u8>>::default());
        for bytes in [100, 4096, 5000, 6000] {
            let wipe = |old: &mut Vec<u8>| {
                wiped.push(old.len());
                Ok(())
            };
            buffer.reserve(bytes, usize::MAX, wipe, |bytes| Ok(vec![0; bytes])).unwrap();
        }
        assert_eq!(wiped, [4096], "it grew once");
        assert_eq!(buffer.get().map(Vec::len), Some(8192));
    }
    #[test]
    fn what_fits_an_allocation_is_not_rounded_beyond_it() {
        let backend = Fake::limited(6000);
        let queue = backend.queue().unwrap();
        let commands = Commands { backend: &backend, queue: &queue };
        let reserve = |text| {
            let mut buffers = Buffers::<Fake>::default();
            let needs = Needs { text: Some(text), in_place: true, rows: 16, work: 16 };
            buffers.reserve(commands, needs).map(|()| buffers.input.get().map(|memory| memory.all().len()))
        };
        // Two blocks are for whole words.
        assert_eq!(reserve(5968), Ok(Some(6000)));
        assert_eq!(reserve(100), Ok(Some(4096)));
        assert!(reserve(5969).unwrap_err().0.contains("no allocation of 6016 bytes"));
    }
}

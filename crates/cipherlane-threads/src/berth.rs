//! Where on a machine the threads of several devices begin: each that has some but not all of the CPUs takes others than
//! those before it, as long as there are any.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::threads::lock;

/// The numbers that are taken in this process.
static TAKEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// The lowest number that nobody else has, until it is dropped.
#[derive(Debug)]
pub(crate) struct Berth(usize);

impl Berth {
    pub(crate) fn take() -> Self {
        let mut taken = lock(&TAKEN);
        let free = (0..).find(|number| !taken.contains(number)).unwrap_or(0);
        taken.insert(free);
        Self(free)
    }

    /// The place of the first of `threads` threads: so many are before it for each berth before this one.
    pub(crate) const fn place(&self, threads: usize) -> usize {
        self.0.saturating_mul(threads)
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        lock(&TAKEN).remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_again() {
        // Other tests take berths as well.
        let (first, second) = (Berth::take(), Berth::take());
        assert_ne!(first.place(1), second.place(1));
        let number = second.place(1);
        assert_eq!(second.place(3), 3 * number);
        drop(second);
        assert!(Berth::take().place(1) <= number);
    }
}

//! Threads that sessions share. Sessions mostly run one after the other, as those of a mixed workload do: were each to
//! have threads of its own, those that still poll for one would keep those of the next from their CPUs.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, Weak};

use crate::berth::Berth;
use crate::threads::{Threads, lock};
use crate::topology::Topology;

/// The pools of a device, by number of threads. They end with the last session that holds them.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    pools: Arc<Mutex<HashMap<usize, Weak<Pool>>>>,
    /// Where their threads begin, while there is a pool, if not with the first CPU.
    berth: Option<Arc<Mutex<Weak<Berth>>>>,
}

impl Pools {
    /// Pools that keep out of each other's way: those that are made while others have threads begin on later CPUs. Others,
    /// of [`Pools::default`], begin on the first one.
    #[must_use]
    pub fn apart() -> Self {
        Self { berth: Some(Arc::default()), ..Self::default() }
    }

    /// The pool of `threads` threads, the calling one included, on the CPUs of `topology`.
    ///
    /// # Errors
    /// If the system starts no more threads.
    pub fn of(&self, threads: usize, topology: &Topology) -> io::Result<Arc<Pool>> {
        let mut pools = lock(&self.pools);
        if let Some(pool) = pools.get(&threads).and_then(Weak::upgrade) {
            return Ok(pool);
        }
        let pool = Arc::new(Pool::at(threads, topology, self.berth(threads, topology))?);
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(threads, Arc::downgrade(&pool));
        Ok(pool)
    }

    /// The pool of `threads` threads, if there is one.
    #[must_use]
    pub fn there(&self, threads: usize) -> Option<Arc<Pool>> {
        lock(&self.pools).get(&threads).and_then(Weak::upgrade)
    }

    /// The berth of all pools that have some of the CPUs.
    fn berth(&self, threads: usize, topology: &Topology) -> Option<Arc<Berth>> {
        let kept = self.berth.as_ref().filter(|_| (2..topology.cpus().len()).contains(&threads))?;
        let mut kept = lock(kept);
        let berth = kept.upgrade().unwrap_or_else(|| Arc::new(Berth::take()));
        *kept = Arc::downgrade(&berth);
        Some(berth)
    }
}

/// Threads for one run at a time, and as many more as sessions have ever run at once: they stay until the last session is
/// gone.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    topology: Topology,
    idle: Mutex<Vec<Threads>>,
    /// Kept for as long as its threads are there.
    _berth: Option<Arc<Berth>>,
}

impl Pool {
    /// A pool whose first threads are started, on the first CPUs.
    ///
    /// # Errors
    /// If the system starts no more threads.
    pub fn start(threads: usize, topology: &Topology) -> io::Result<Self> {
        Self::at(threads, topology, None)
    }

    fn at(threads: usize, topology: &Topology, berth: Option<Arc<Berth>>) -> io::Result<Self> {
        let topology = topology.beginning_at(berth.as_ref().map_or(0, |berth| berth.place(threads)));
        let pool = Self { threads, topology, idle: Mutex::default(), _berth: berth };
        lock(&pool.idle).push(pool.more()?);
        Ok(pool)
    }

    fn more(&self) -> io::Result<Threads> {
        Threads::start(self.threads, &self.topology)
    }

    /// Number of threads for a run, the calling one included.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Lends threads to `run`, or the caller alone where all are lent and the system starts no more. If it panics, they
    /// end.
    pub fn lend<T>(&self, run: impl FnOnce(&mut Threads) -> T) -> T {
        let idle = lock(&self.idle).pop();
        self.with(idle.or_else(|| self.more().ok()), run)
    }

    /// The same, or the caller alone where all are lent: for what is too little work to start threads for.
    pub fn lend_idle<T>(&self, run: impl FnOnce(&mut Threads) -> T) -> T {
        let idle = lock(&self.idle).pop();
        self.with(idle, run)
    }

    fn with<T>(&self, threads: Option<Threads>, run: impl FnOnce(&mut Threads) -> T) -> T {
        let Some(mut threads) = threads else { return run(&mut Threads::alone(&self.topology)) };
        let result = run(&mut threads);
        lock(&self.idle).push(threads);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that are not lent.
    fn idle(pool: &Pool) -> usize {
        lock(&pool.idle).len()
    }

    #[test]
    fn sessions_of_one_size_share_threads_until_the_last_is_gone() {
        let (pools, topology) = (Pools::default(), Topology::detect());
        let (first, second) = (pools.of(2, &topology).unwrap(), pools.of(2, &topology).unwrap());
        assert!(Arc::ptr_eq(&first, &second) && !Arc::ptr_eq(&first, &pools.of(3, &topology).unwrap()));
        assert!(pools.there(2).is_some_and(|there| Arc::ptr_eq(&there, &first)));
        drop((first, second));
        assert!(pools.there(2).is_none() && pools.there(4).is_none(), "none is started");
        assert!(lock(&pools.pools).values().all(|pool| pool.strong_count() == 0));
    }

    #[test]
    fn pools_of_several_devices_begin_on_other_cpus() {
        let topology = Topology::of_cores(8);
        let first = |pool: &Pool| pool.topology.cpus()[0].id;
        let (one, other, plain) = (Pools::apart(), Pools::apart(), Pools::default());
        let (two, four) = (one.of(2, &topology).unwrap(), one.of(4, &topology).unwrap());
        let theirs = other.of(2, &topology).unwrap();
        assert_ne!(first(&two), first(&theirs), "each has CPUs of its own");
        assert_eq!(2 * first(&two) % 8, first(&four), "a device has one berth");
        assert_eq!(first(&other.of(8, &topology).unwrap()), 0, "all CPUs begin with the first");
        assert_eq!(first(&plain.of(2, &topology).unwrap()), 0);
        let number = first(&theirs);
        drop((two, four));
        assert!(first(&other.of(3, &topology).unwrap()) <= 3 * number / 2, "{number} is kept");
        drop(theirs);
    }

    #[test]
    fn runs_at_the_same_time_have_threads_of_their_own() {
        let pool = Pool::start(2, &Topology::detect()).unwrap();
        let nested = pool.lend(|outer| {
            let inner = pool.lend(|inner| std::ptr::from_mut(inner).addr());
            (std::ptr::from_mut(outer).addr() != inner, idle(&pool))
        });
        assert_eq!(nested, (true, 1));
        // But for little work none are started.
        let alone = pool.lend(|_| pool.lend(|_| pool.lend_idle(|threads| format!("{threads:?}"))));
        assert!(alone.contains("workers: 0"), "{alone}");
        assert_eq!(idle(&pool), 2);
    }
}

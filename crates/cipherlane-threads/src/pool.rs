//! Threads that sessions share. Sessions mostly run one after the other, as those of a mixed workload do: were each to
//! have threads of its own, those that still poll for one would keep those of the next from their CPUs.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, Weak};

use crate::threads::{Threads, lock};
use crate::topology::Topology;

/// The pools of a device, by number of threads. They end with the last session that holds them.
#[derive(Clone, Debug, Default)]
pub struct Pools(Arc<Mutex<HashMap<usize, Weak<Pool>>>>);

impl Pools {
    /// The pool of `threads` threads, the calling one included, on the CPUs of `topology`.
    ///
    /// # Errors
    /// If the system starts no more threads.
    pub fn of(&self, threads: usize, topology: &Topology) -> io::Result<Arc<Pool>> {
        let mut pools = lock(&self.0);
        if let Some(pool) = pools.get(&threads).and_then(Weak::upgrade) {
            return Ok(pool);
        }
        let pool = Arc::new(Pool::start(threads, topology)?);
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(threads, Arc::downgrade(&pool));
        Ok(pool)
    }
}

/// Threads for one run at a time, and as many more as sessions have ever run at once: they stay until the last session is
/// gone.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    topology: Topology,
    idle: Mutex<Vec<Threads>>,
}

impl Pool {
    /// A pool whose first threads are started.
    ///
    /// # Errors
    /// If the system starts no more threads.
    pub fn start(threads: usize, topology: &Topology) -> io::Result<Self> {
        let pool = Self { threads, topology: topology.clone(), idle: Mutex::default() };
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

    /// Lends threads to `run`. If it panics, they end.
    ///
    /// # Errors
    /// If all are lent, and the system starts no more.
    pub fn lend<T>(&self, run: impl FnOnce(&mut Threads) -> T) -> io::Result<T> {
        let idle = lock(&self.idle).pop();
        let mut threads = idle.map_or_else(|| self.more(), Ok)?;
        let result = run(&mut threads);
        lock(&self.idle).push(threads);
        Ok(result)
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
        drop((first, second));
        assert!(lock(&pools.0).values().all(|pool| pool.strong_count() == 0));
    }

    #[test]
    fn runs_at_the_same_time_have_threads_of_their_own() {
        let pool = Pool::start(2, &Topology::detect()).unwrap();
        let nested = pool.lend(|outer| {
            let inner = pool.lend(|inner| std::ptr::from_mut(inner).addr()).unwrap();
            (std::ptr::from_mut(outer).addr() != inner, idle(&pool))
        });
        assert_eq!(nested.unwrap(), (true, 1));
        assert_eq!(idle(&pool), 2);
    }
}

//! Memory of the host on the NUMA node that a device is nearest to: what it copies from elsewhere comes over the link
//! between processors first.
#![allow(unsafe_code)] // the policy of a thread's memory, which only system calls tell and set

/// Runs `allocate`; what it allocates and is the first to touch lies on `node`, if one is given and has room. Where the
/// system refuses, as sandboxes do, it lies where it would have: slower, and right all the same.
pub fn near<T>(node: Option<usize>, allocate: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "linux")]
    let _until_done = node.and_then(policy::Preferred::node);
    #[cfg(not(target_os = "linux"))]
    let _ = node;
    allocate()
}

#[cfg(target_os = "linux")]
mod policy {
    use std::ptr::null;

    use libc::{MPOL_PREFERRED, SYS_get_mempolicy, SYS_set_mempolicy, c_int, c_ulong, c_void};

    const WORD: usize = c_ulong::BITS as usize;
    /// As many nodes as any build of Linux knows: it refuses to tell a policy in fewer bits than it has nodes.
    const NODES: usize = 1024;

    /// The policy by which the system chooses nodes for the calling thread's memory (set_mempolicy(2)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Policy {
        mode: c_int,
        nodes: [c_ulong; NODES / WORD],
    }

    impl Policy {
        pub(super) fn preferring(node: usize) -> Option<Self> {
            let mut nodes = [0; NODES / WORD];
            *nodes.get_mut(node / WORD)? |= 1 << (node % WORD);
            Some(Self { mode: MPOL_PREFERRED, nodes })
        }

        /// The present one, where the system tells it.
        pub(super) fn present() -> Option<Self> {
            let mut policy = Self { mode: 0, nodes: [0; NODES / WORD] };
            let (mode, nodes) = (&raw mut policy.mode, policy.nodes.as_mut_ptr());
            // SAFETY: the system writes an int and as many bits as it is told that there are; no address is asked about.
            let code =
                unsafe { libc::syscall(SYS_get_mempolicy, mode, nodes, NODES, null::<c_void>(), 0_usize) };
            (code == 0).then_some(policy)
        }

        /// Has it from here on. Says whether the system agrees.
        pub(super) fn set(&self) -> bool {
            // SAFETY: the system reads as many bits as it is told that there are. Where memory lies changes no contents.
            let code = unsafe { libc::syscall(SYS_set_mempolicy, self.mode, self.nodes.as_ptr(), NODES) };
            code == 0
        }
    }

    /// A preference of the calling thread, which ends when this is dropped: on the way of a panic, too.
    pub(super) struct Preferred {
        before: Policy,
    }

    impl Preferred {
        pub(super) fn node(node: usize) -> Option<Self> {
            let before = Policy::present()?;
            Policy::preferring(node)?.set().then_some(Self { before })
        }
    }

    impl Drop for Preferred {
        fn drop(&mut self) {
            // The system has told this policy, and takes it back.
            self.before.set();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::panic::catch_unwind;

    use super::near;
    use super::policy::Policy;

    #[test]
    fn a_node_is_preferred_until_all_is_allocated() {
        let before = Policy::present();
        // Node 0 is that of every machine. A sandbox may refuse to tell, and then nothing is changed.
        let meanwhile = near(Some(0), Policy::present);
        if before.is_some() && meanwhile != before {
            assert_eq!(meanwhile, Policy::preferring(0));
        } else {
            eprintln!("NOT CHECKED: policies of memory, which the system refuses");
        }
        assert_eq!(Policy::present(), before);
    }

    #[test]
    fn a_panic_ends_the_preference() {
        let before = Policy::present();
        assert!(catch_unwind(|| near(Some(0), || panic!("no memory"))).is_err());
        assert_eq!(Policy::present(), before);
    }

    #[test]
    fn nodes_that_are_not_there_change_nothing() {
        let before = Policy::present();
        for node in [None, Some(1000), Some(usize::MAX)] {
            assert_eq!(near(node, Policy::present), before, "{node:?}");
        }
    }
}

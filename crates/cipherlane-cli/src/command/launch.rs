//! Launch geometry on the command line: the same three options for every verb that runs kernels.

use cipherlane::{Geometry, Wish};
use cipherlane_lab::Contender;

use crate::exit::Usage;

/// How devices that launch kernels launch them.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Launch {
    /// GPUs: insist on a number of blocks (OpenCL: work-groups) [default: as tuned, else as many as fit at once]
    #[arg(long, value_name = "N", env = "CIPHERLANE_BLOCKS", help_heading = "Where")]
    pub(crate) blocks: Option<usize>,
    /// GPUs: insist on the threads of a block (OpenCL: work-items) [default: as tuned, else the kernel's]
    #[arg(long, value_name = "N", env = "CIPHERLANE_THREADS_PER_BLOCK", help_heading = "Where")]
    pub(crate) threads_per_block: Option<usize>,
    /// GPUs: insist on a number of queues on which copies and kernels overlap [default: 6,
    /// 4 from memory that the GPU does not reach by itself]
    #[arg(long, value_name = "N", env = "CIPHERLANE_STREAMS", help_heading = "Where")]
    pub(crate) streams: Option<usize>,
}

impl Launch {
    /// Puts it on the wish.
    pub(crate) fn wish(self, wish: &mut Wish) {
        wish.blocks = self.blocks;
        wish.threads_per_block = self.threads_per_block;
        wish.streams = self.streams;
    }

    /// Has those of `contenders` that launch kernels launch them so.
    ///
    /// # Errors
    /// If none does.
    pub(crate) fn apply(self, contenders: &mut [Contender<'_>]) -> Result<(), Usage> {
        if self.blocks.or(self.threads_per_block).or(self.streams).is_none() {
            return Ok(());
        }
        if contenders.iter().all(|contender| !contender.launches) {
            let remedy = "none of these devices launches kernels; name one with --device, or leave out --blocks, \
                          --threads-per-block and --streams";
            return Err(Usage(remedy.to_owned()));
        }
        for contender in contenders.iter_mut().filter(|contender| contender.launches) {
            self.wish(&mut contender.wish);
        }
        Ok(())
    }
}

/// A geometry, for people.
pub(crate) fn described(geometry: &Geometry) -> String {
    format!("{} blocks of {} threads", geometry.blocks, geometry.threads_per_block)
}

#[cfg(test)]
mod tests {
    use cipherlane::Cpu;

    use super::*;

    #[test]
    fn blocks_are_for_devices_that_launch_kernels() {
        let cpu = Cpu::new();
        let mut contenders = [Contender::new(&cpu)];
        assert!(Launch::default().apply(&mut contenders).is_ok());
        let launch = Launch { blocks: Some(132), ..Launch::default() };
        let Usage(remedy) = launch.apply(&mut contenders).unwrap_err();
        assert!(remedy.contains("--device"), "{remedy}");
    }
}

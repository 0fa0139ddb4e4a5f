//! Launch geometry on the command line: the same three options for every verb that runs kernels.

use cipherlane::{Geometry, Wish};
use cipherlane_lab::Contender;

use super::shared;
use crate::exit::Usage;

/// How devices that launch kernels launch them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Launch {
    /// GPUs: insist on a number of blocks (OpenCL: work-groups) [default: as tuned, else as many as fit at once]
    #[arg(long, value_name = "N", env = "CIPHERLANE_BLOCKS", value_parser = shared::launched, help_heading = "Where")]
    pub(crate) blocks: Option<usize>,
    /// GPUs: insist on the threads of a block (OpenCL: work-items) [default: as tuned, else the kernel's]
    #[arg(long, value_name = "N", env = "CIPHERLANE_THREADS_PER_BLOCK", value_parser = shared::launched, help_heading = "Where")]
    pub(crate) threads_per_block: Option<usize>,
    /// GPUs: insist on a number of queues on which copies and kernels overlap [default: 6,
    /// 4 from memory that the GPU does not reach by itself]
    #[arg(long, value_name = "N", env = "CIPHERLANE_STREAMS", value_parser = shared::launched, help_heading = "Where")]
    pub(crate) streams: Option<usize>,
}

/// The options, as they stand on a command line.
const OPTIONS: [&str; 3] = ["--blocks", "--threads-per-block", "--streams"];

impl Launch {
    /// Puts it on the wish.
    pub(crate) fn wish(self, wish: &mut Wish) {
        wish.blocks = self.blocks;
        wish.threads_per_block = self.threads_per_block;
        wish.streams = self.streams;
    }

    /// As the command line `argv` asks for it.
    pub(crate) fn of(argv: &[String]) -> Self {
        let number = |option: &str| {
            argv.iter().enumerate().find_map(|(place, word)| {
                let behind = word.strip_prefix(option)?;
                let text = if behind.is_empty() { argv.get(place + 1)? } else { behind.strip_prefix('=')? };
                text.parse().ok()
            })
        };
        let [blocks, threads_per_block, streams] = OPTIONS.map(number);
        Self { blocks, threads_per_block, streams }
    }

    /// Has `argv` ask for it, where a variable of the environment does and it does not.
    pub(crate) fn tell(self, argv: &mut Vec<String>) {
        let numbers = |launch: Self| [launch.blocks, launch.threads_per_block, launch.streams];
        let asked = OPTIONS.into_iter().zip(numbers(self)).zip(numbers(Self::of(argv)));
        for ((option, number), told) in asked {
            if let (Some(number), None) = (number, told) {
                argv.extend([option.to_owned(), number.to_string()]);
            }
        }
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
    fn a_command_line_says_what_it_or_the_environment_asks_for() {
        let argv = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let launch = Launch { blocks: Some(132), streams: Some(2), ..Launch::default() };
        assert_eq!(Launch::of(&argv(&["bench", "--blocks", "132", "--streams=2", "--threads", "4"])), launch);
        assert_eq!(Launch::of(&argv(&["bench", "--threads", "4"])), Launch::default());
        let mut told = argv(&["bench", "--blocks", "132"]);
        launch.tell(&mut told);
        assert_eq!(told, ["bench", "--blocks", "132", "--streams", "2"]);
    }

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

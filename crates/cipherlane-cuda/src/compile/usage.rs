//! What the assembler says of each kernel.

/// Registers and memory of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelUsage {
    /// The kernel's name.
    pub name: String,
    /// Registers of a thread.
    pub registers: usize,
    /// Bytes of a thread's stack frame: local memory that is no spill included.
    pub stack_bytes: usize,
    /// Bytes that a thread stores because registers ran out.
    pub spill_store_bytes: usize,
    /// Bytes that a thread loads because registers ran out.
    pub spill_load_bytes: usize,
    /// Bytes of shared memory that the kernel declares.
    pub shared_bytes: usize,
}

/// Reads the assembler's words (`ptxas -v`):
///
/// ```text
/// ptxas info    : Compiling entry function 'k' for 'sm_90'
/// ptxas info    : Function properties for k
///     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
/// ptxas info    : Used 10 registers, used 0 barriers, 1024 bytes smem
/// ```
pub(super) fn read(log: &str) -> Vec<KernelUsage> {
    let mut kernels: Vec<KernelUsage> = Vec::new();
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(KernelUsage { name, ..KernelUsage::default() });
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        if line.contains("bytes stack frame") {
            kernel.stack_bytes = number_before(line, " bytes stack frame");
            kernel.spill_store_bytes = number_before(line, " bytes spill stores");
            kernel.spill_load_bytes = number_before(line, " bytes spill loads");
        }
        if line.contains("Used ") {
            kernel.registers = number_before(line, " registers");
            kernel.shared_bytes = number_before(line, " bytes smem");
        }
    }
    kernels
}

/// The number right before `unit`; 0 where the line does not mention it.
fn number_before(line: &str, unit: &str) -> usize {
    let Some((before, _)) = line.split_once(unit) else { return 0 };
    before
        .rsplit(|letter: char| !letter.is_ascii_digit())
        .next()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembler_is_understood() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'one' for 'sm_90'\n\
            ptxas info    : Function properties for one\n    \
            84 bytes stack frame, 80 bytes spill stores, 76 bytes spill loads\n\
            ptxas info    : Used 255 registers, used 1 barriers, 84 bytes cumulative stack size, 1024 bytes smem\n\
            ptxas info    : Compiling entry function 'two' for 'sm_90'\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 10 registers, used 0 barriers";
        let [one, two] = &read(log)[..] else { panic!("{:?}", read(log)) };
        assert_eq!((one.name.as_str(), one.registers, one.shared_bytes), ("one", 255, 1024));
        assert_eq!((one.stack_bytes, one.spill_store_bytes, one.spill_load_bytes), (84, 80, 76));
        assert_eq!((two.name.as_str(), two.registers, two.stack_bytes), ("two", 10, 0));
    }
}

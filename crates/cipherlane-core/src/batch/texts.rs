//! Where the texts of a batch lie on a device.

use std::sync::Arc;

use crate::memory::DeviceMemory;

/// Memory of a device in which the texts of a batch lie, which names [`Source::OnDevice`](crate::Source::OnDevice): message
/// `i` is at `offsets[i]..offsets[i + 1]`, counted from the memory's first byte.
#[derive(Clone, Debug)]
pub enum DeviceTexts {
    /// Results overwrite the input.
    InPlace(Arc<dyn DeviceMemory>),
    /// Results go to the same offsets of other memory.
    Apart {
        /// What is read, and left unchanged.
        input: Arc<dyn DeviceMemory>,
        /// What is written. No byte of it is one of the input's.
        output: Arc<dyn DeviceMemory>,
    },
    /// No text comes out: for hashes.
    Read(Arc<dyn DeviceMemory>),
}

impl DeviceTexts {
    /// What is read.
    #[must_use]
    pub const fn input(&self) -> &Arc<dyn DeviceMemory> {
        match self {
            Self::InPlace(memory) | Self::Read(memory) | Self::Apart { input: memory, .. } => memory,
        }
    }

    /// What is written, if anything is; in place, what is read.
    #[must_use]
    pub const fn output(&self) -> Option<&Arc<dyn DeviceMemory>> {
        match self {
            Self::InPlace(memory) | Self::Apart { output: memory, .. } => Some(memory),
            Self::Read(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Algorithm, Cipher, Hash, Mode};
    use crate::batch::{Batch, Messages, Source};
    use crate::column::Column;
    use crate::error::{BatchError, DeviceError};
    use crate::output::Output;

    const GCM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);

    /// So many bytes of a device that there is not.
    #[derive(Debug)]
    struct Nowhere(usize);

    impl DeviceMemory for Nowhere {
        fn device(&self) -> &'static str {
            "nowhere:0"
        }

        fn bytes(&self) -> usize {
            self.0
        }

        fn handle(&self) -> u64 {
            0
        }

        fn write(&self, _: usize, _: &[u8]) -> Result<(), DeviceError> {
            Ok(())
        }

        fn read(&self, _: usize, _: &mut [u8]) -> Result<(), DeviceError> {
            Ok(())
        }
    }

    #[test]
    fn texts_on_a_device_have_a_check_of_their_own() {
        let memory = |bytes| -> Arc<dyn DeviceMemory> { Arc::new(Nowhere(bytes)) };
        let apart = |input, output| DeviceTexts::Apart { input: memory(input), output: memory(output) };
        let mut tags = [0; 32];
        let batch = Batch::seal(
            GCM,
            Column::Shared(&[0; 16]),
            Column::Each { bytes: &[0; 24], width: 12 },
            Column::EMPTY,
            Messages { source: Source::OnDevice, offsets: &[3, 20, 40] },
        );
        let mut check = |texts| batch.check_on_device(&texts, &Output::sealed(&mut [], &mut tags));
        let shape = check(DeviceTexts::InPlace(memory(40))).unwrap();
        assert_eq!((shape.messages, shape.bytes, shape.in_place), (2, 37, true));
        assert!(!check(apart(40, 40)).unwrap().in_place);
        let mut error = |texts| check(texts).unwrap_err().to_string();
        assert!(error(DeviceTexts::InPlace(memory(39))).contains("within the 39 bytes"));
        assert!(error(apart(40, 39)).contains("needs 40 bytes of text, it has 39"));
        assert!(error(DeviceTexts::Read(memory(40))).contains("needs 40 bytes of text, it has 0"));
        let mut bytes = [0; 40];
        let output = Output::sealed(&mut bytes, &mut tags);
        assert_eq!(batch.check(&output), Err(BatchError::OnDevice));
        let on_device = DeviceTexts::InPlace(memory(40));
        assert!(
            batch.check_on_device(&on_device, &output).unwrap_err().to_string().contains("no output bytes")
        );
        let messages = Messages { source: Source::Apart(&[0; 40]), offsets: &[3, 20, 40] };
        let of_host = Batch { messages, ..batch };
        assert_eq!(of_host.check_on_device(&on_device, &output), Err(BatchError::OnHost));
    }

    #[test]
    fn a_hash_only_reads_what_lies_on_a_device() {
        let memory: Arc<dyn DeviceMemory> = Arc::new(Nowhere(40));
        let batch = Batch::hash(Hash::Sha256, Messages { source: Source::OnDevice, offsets: &[0, 40] }, 32);
        let mut digests = [0; 32];
        let mut check = |texts| batch.check_on_device(&texts, &Output::digests(&mut digests));
        assert_eq!(check(DeviceTexts::Read(Arc::clone(&memory))).unwrap().bytes, 40);
        assert!(check(DeviceTexts::InPlace(memory)).unwrap_err().to_string().contains("only reads"));
    }
}

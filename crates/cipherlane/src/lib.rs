//! Bulk cryptography on every lane of a machine.
//!
//! Ten lines seal a thousand messages on every core, with the widest instructions that this CPU has:
//!
//! ```
//! use cipherlane::{Algorithm, Engine};
//!
//! let engine = Engine::new();
//! let algorithm: Algorithm = "aes-128-gcm".parse()?;
//! let key = [7; 16];
//! let nonces: Vec<[u8; 12]> = (0..1000).map(|i: u128| i.to_be_bytes()[4..].try_into().unwrap()).collect();
//! let messages: Vec<String> = (0..1000).map(|i| format!("reading {i}")).collect();
//!
//! let sealed = engine.seal(algorithm, &key, &nonces, b"meter 12", &messages)?;
//! let opened = engine.open(algorithm, &key, &nonces, b"meter 12", &sealed)?;
//! assert_eq!(opened.text(999), Some(&b"reading 999"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Engine::seal`] and its three sisters copy messages into one buffer. Programs that already have theirs in one
//! buffer, or that have a key for each message, describe them by a [`Batch`] and copy nothing:
//!
//! ```
//! use cipherlane::{Batch, Column, Engine, Messages, Output, Source};
//!
//! // A key and a nonce for each of three messages; keys come from a source of random bytes, of course.
//! let keys: [u8; 3 * 32] = std::array::from_fn(|i| i as u8);
//! let nonces: [u8; 3 * 12] = std::array::from_fn(|i| i as u8);
//! let (text, offsets) = (b"one, two, three", [0, 5, 10, 15]);
//! let batch = Batch::seal(
//!     "aes-256-gcm".parse()?,
//!     Column::Each { bytes: &keys, width: 32 },
//!     Column::Each { bytes: &nonces, width: 12 },
//!     Column::Shared(b"header"),
//!     Messages { source: Source::Apart(text), offsets: &offsets },
//! );
//! let (mut bytes, mut tags) = ([0; 15], [0; 3 * 16]);
//! let spans = Engine::new().run(&batch, &mut Output::sealed(&mut bytes, &mut tags))?;
//! assert!(!spans.wall.is_zero());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Engine::hash`] hashes batches, [`Hasher`] and [`Xof`] one message that comes in pieces.
//!
//! [`Engine::new`] runs on the CPU. [`Engine::on`] runs on another device: `Engine::on("cuda:0")` on the first NVIDIA
//! GPU, by the same calls.
//!
//! Texts that already lie in the memory of a GPU stay there ([`Engine::run_on_device`]; a [`Resident`] bound to them runs as
//! often as it is asked to). [`Device::memory`] gives such memory, [`foreign`] makes it of what other libraries have allocated;
//! [`Device::host_memory`] gives memory of the host from where copies to a GPU go at full speed.
//!
//! ```no_run
//! use cipherlane::{Batch, Column, DeviceTexts, Engine, Messages, Output, Source};
//!
//! let engine = Engine::on("cuda:0")?;
//! let memory = engine.device("cuda:0")?.memory(3 << 20)?.ok_or("name one GPU")?;  // 3 MiB of zeros
//! let messages = Messages { source: Source::OnDevice, offsets: &[0, 1 << 20, 2 << 20, 3 << 20] };
//! let key = [1; 32];
//! let nonces: [u8; 3 * 12] = std::array::from_fn(|i| i as u8);    // each row its own
//! let batch = Batch::seal(
//!     "aes-256-gcm".parse()?,
//!     Column::Shared(&key),
//!     Column::Each { bytes: &nonces, width: 12 },
//!     Column::EMPTY,
//!     messages,
//! );
//! let (texts, mut tags) = (DeviceTexts::InPlace(memory), [0; 3 * 16]);
//! engine.run_on_device(&batch, &texts, &mut Output::sealed(&mut [], &mut tags))?;  // no text comes to the host
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engine never makes up a default silently: [`Engine::plan`] shows the [`Plan`] that it will carry out, and a
//! [`Wish`] overrides it.

#![forbid(unsafe_code)]

pub mod devices;
pub mod engine;
pub mod foreign;
mod kept;
pub mod messages;
mod repeats;
pub mod verify;

pub use cipherlane_core::{
    Algorithm, BLOCK, Batch, BatchError, Checked, Cipher, Column, Device, DeviceError, DeviceMemory,
    DeviceTexts, Geometry, Hash, HostMemory, Info, Kernel, Messages, Mode, Operation, Output, Plan, Ragged,
    Resident, Session, Shape, Source, Spans, StreamSpans, TagLengths, Tried, Tuned, UnknownName, Unsupported,
    Wish, limits,
};
pub use cipherlane_cpu::{Cpu, Hasher, Tier, Xof};
pub use engine::Engine;
pub use messages::{Digests, Error, Opened, Sealed, Texts};

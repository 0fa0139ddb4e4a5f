//! Cipher block chaining (SP 800-38A section 6.2).
//!
//! Decryption runs blocks side by side. Encryption waits for the block before, so it runs messages side by side.

mod alone;
mod chain;
mod ciphers;
mod decrypt;
mod encrypt;
mod in_teams;
mod relay;
mod seams;
mod stage;
mod streams;
mod succession;

pub(crate) use decrypt::CbcDecrypt;
pub(crate) use encrypt::{CbcEncrypt, InLanes};
pub(crate) use in_teams::InTeams;

//! Puts drafts to all kernels of an algorithm and operation.

use cipherlane_core::{Algorithm, Device, Operation, Plan, Session, Shape, Wish};

use super::candidate::{Candidate, Opened, Size, describe};
use super::digest_trial::{DigestDraft, DigestTrial};
use super::draft::Draft;
use super::failure::Failure;
use super::trial::Trial;
use crate::random::Random;

/// Puts drafts to all kernels of an algorithm and operation, and counts what came out right.
pub(super) struct Examiner {
    pub(super) algorithm: Algorithm,
    pub(super) operation: Operation,
    candidates: Vec<Candidate>,
    /// Those that serve long messages only, which sit nothing else.
    long: Vec<Candidate>,
    /// Cases so far: with the algorithm and operation, the seed of the next.
    cases: u64,
    checks: u64,
}

impl Examiner {
    /// Opens sessions of all kernels that each of `wishes` allows, or returns `None` if there are none.
    pub(super) fn open(
        device: &dyn Device,
        wishes: &[Wish],
        algorithm: Algorithm,
        operation: Operation,
    ) -> Result<Option<Self>, Failure> {
        let mut candidates = Vec::new();
        for wish in wishes {
            let found = Candidate::all(device, wish, algorithm, operation);
            candidates.extend(found.map_err(|(kernel, error)| Failure {
                what: format!("{algorithm} {operation}"),
                kernel,
                case: format!("a session for {wish:?}"),
                seed: 0,
                finding: error.to_string(),
            })?);
        }
        let (long, candidates): (Vec<_>, Vec<_>) = candidates.into_iter().partition(Candidate::is_for_long);
        let is_empty = candidates.is_empty() && long.is_empty();
        let examiner = Self { algorithm, operation, candidates, long, cases: 0, checks: 0 };
        Ok((!is_empty).then_some(examiner))
    }

    pub(super) const fn checks(&self) -> u64 {
        self.checks
    }

    /// The names of the kernels and of their tiers.
    pub(super) fn kernels(&self) -> impl Iterator<Item = (String, String)> {
        self.candidates.iter().chain(&self.long).map(|candidate| {
            let Plan { kernel, tier, .. } = candidate.plan();
            (kernel.clone(), tier.clone())
        })
    }

    /// Whether there are kernels that serve messages of any length.
    pub(super) const fn has_general(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// The shapes of kernels that serve records or long messages only, each once.
    pub(super) fn special_shapes(&self) -> Vec<Shape> {
        let mut shapes: Vec<Shape> = Vec::new();
        for candidate in self.candidates.iter().chain(&self.long) {
            if !candidate.is_for_short() && !shapes.contains(candidate.shape()) {
                shapes.push(*candidate.shape());
            }
        }
        shapes
    }

    /// Smallest length beyond which each kernel splits a message, as far as that is quickly computed.
    pub(super) fn chunks(&self) -> Vec<usize> {
        /// The reference takes a few milliseconds for it.
        const LONGEST: usize = 64 << 10;
        let mut chunks: Vec<usize> =
            self.candidates.iter().map(|candidate| candidate.chunk().min(LONGEST)).collect();
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }

    /// Has every kernel run the batch that `draw` draws.
    pub(super) fn sit(
        &mut self,
        case: &str,
        draw: impl FnOnce(Algorithm, &mut Random) -> Draft,
    ) -> Result<(), Failure> {
        self.sit_sessions(case, draw, Size::Whole)
    }

    /// Has every kernel run the batch that `draw` draws, with chunks that split it.
    pub(super) fn sit_split(
        &mut self,
        case: &str,
        draw: impl FnOnce(Algorithm, &mut Random) -> Draft,
    ) -> Result<(), Failure> {
        self.sit_sessions(case, draw, Size::Split)
    }

    fn sit_sessions(
        &mut self,
        case: &str,
        draw: impl FnOnce(Algorithm, &mut Random) -> Draft,
        size: Size,
    ) -> Result<(), Failure> {
        let seed = self.next_seed();
        let mut random = Random::new(seed);
        let draft = draw(self.algorithm, &mut random);
        let trial = Trial::new(draft, &mut random);
        let operation = self.operation;
        self.each(case, seed, size, |session| {
            let trial = trial.as_ref().map_err(ToString::to_string)?;
            trial.run(session, operation, &mut random.clone())
        })
    }

    /// Has every kernel of a hash function run the batch that `draw` draws.
    pub(super) fn sit_digests(
        &mut self,
        case: &str,
        size: Size,
        draw: impl FnOnce(&mut Random) -> DigestDraft,
    ) -> Result<(), Failure> {
        let seed = self.next_seed();
        let mut random = Random::new(seed);
        let trial = DigestTrial::new(draw(&mut random), &mut random);
        self.each(case, seed, size, |session| trial.run(session, &mut random.clone()))
    }

    /// Calls `run` with the session of every kernel.
    pub(super) fn each(
        &mut self,
        case: &str,
        seed: u64,
        size: Size,
        mut run: impl FnMut(&mut dyn Session) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let ran = put(&mut self.candidates.iter_mut(), case, seed, size, &mut run)?;
        self.checks += ran;
        Ok(())
    }

    /// Calls `run` with the sessions of the kernels for `shape`, one of [`Examiner::special_shapes`].
    pub(super) fn each_special(
        &mut self,
        shape: &Shape,
        case: &str,
        seed: u64,
        size: Size,
        mut run: impl FnMut(&mut dyn Session) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let all = self.candidates.iter_mut().chain(&mut self.long);
        let mut wanted = all.filter(|candidate| candidate.shape() == shape);
        let ran = put(&mut wanted, case, seed, size, &mut run)?;
        self.checks += ran;
        Ok(())
    }

    /// The seed of the next case: its number, algorithm and operation, so that each can be repeated alone.
    pub(super) fn next_seed(&mut self) -> u64 {
        self.cases += 1;
        let (family, variant) = match self.algorithm {
            Algorithm::Cipher(cipher, mode) => (cipher as u64, mode as u64),
            Algorithm::Hash(hash) => (0xff, hash as u64),
        };
        family << 56 | variant << 48 | (self.operation as u64) << 40 | self.cases
    }
}

/// Calls `run` with the session of each of `candidates`, and counts them.
fn put(
    candidates: &mut dyn Iterator<Item = &mut Candidate>,
    case: &str,
    seed: u64,
    size: Size,
    run: &mut dyn FnMut(&mut dyn Session) -> Result<(), String>,
) -> Result<u64, Failure> {
    let mut ran = 0;
    for candidate in candidates {
        let Opened { plan, session } = candidate.opened(size);
        run(&mut **session).map_err(|finding| Failure {
            what: format!("{} {}", plan.algorithm, plan.operation),
            kernel: describe(plan),
            case: case.to_owned(),
            seed,
            finding,
        })?;
        ran += 1;
    }
    Ok(ran)
}

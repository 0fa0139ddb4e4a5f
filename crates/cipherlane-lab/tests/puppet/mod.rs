//! A device that hangs on strings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cipherlane::verify::Reference;
use cipherlane::{
    Batch, Device, DeviceError, DeviceTexts, Info, Kernel, Output, Plan, Resident, Session, Shape, Spans,
    Unsupported, Wish,
};

/// What a test device does with the reference's result.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Manner {
    Right,
    /// Flips a bit of the last text byte of every batch.
    WrongText,
    /// Accepts every tag.
    Gullible,
    /// Writes nothing after its first run.
    Lazy,
    /// Takes longer.
    Slow,
    /// Fails on its third run.
    Failing,
    /// Fails from when it is told to.
    Told,
    /// Plans as many threads as are asked for, though one does the work.
    Cuts,
    /// The same, but none without a message.
    CutsNone,
    /// Has memory of its own, and a clock that stands still.
    Timeless,
    /// Has memory of its own, where it writes nothing after its first run.
    Stale,
}

/// Whether [`Manner::Told`] fails.
pub(crate) static BROKEN: AtomicBool = AtomicBool::new(false);

/// The reference under another name, and in its manner.
pub(crate) struct Puppet {
    info: Info,
    manner: Manner,
}

impl Puppet {
    pub(crate) fn new(id: &str, manner: Manner) -> Self {
        let info = Info { id: id.to_owned(), name: format!("{id} 1.0"), ..Reference::new().info().clone() };
        Self { info, manner }
    }
}

impl Device for Puppet {
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        Reference::new().kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        let most = match self.manner {
            Manner::Cuts => usize::MAX,
            Manner::CutsNone => shape.messages,
            _ => return Reference::new().plan(shape, wish),
        };
        let plan = Reference::new().plan(shape, &Wish { threads: None, ..wish.clone() })?;
        Ok(Plan { threads: wish.threads.unwrap_or(1).min(most), ..plan })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        // Of the threads that are planned, the reference has one.
        let threads = match self.manner {
            Manner::Cuts | Manner::CutsNone => 1,
            _ => plan.threads,
        };
        let session = Reference::new().open(&Plan { threads, ..plan.clone() })?;
        Ok(Box::new(Strings { session, manner: self.manner, runs: 0 }))
    }

    fn resident(&self, plan: &Plan) -> Result<Option<Box<dyn Resident>>, DeviceError> {
        let takes = match self.manner {
            Manner::Timeless => Duration::ZERO,
            Manner::Stale => Duration::from_millis(1),
            _ => return Ok(None),
        };
        Ok(Some(Box::new(There { session: Reference::new().open(plan)?, takes, runs: 0, is_made: false })))
    }
}

/// Memory that a batch stays in, of which nothing is made but when it is taken back.
struct There {
    session: Box<dyn Session>,
    takes: Duration,
    runs: usize,
    is_made: bool,
}

impl Resident for There {
    fn load(&mut self, _: &Batch<'_>, _: &mut Output<'_>) -> Result<Spans, DeviceError> {
        self.runs = 0;
        Ok(Spans::default())
    }

    fn bind(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        _: &DeviceTexts,
    ) -> Result<Spans, DeviceError> {
        self.load(batch, output)
    }

    fn execute(&mut self) -> Result<Spans, DeviceError> {
        self.runs += 1;
        self.is_made |= self.runs == 1;
        Ok(Spans { execute: self.takes, ..Spans::default() })
    }

    fn store(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        if self.is_made {
            self.session.run(batch, output)?;
        } else {
            output.bytes.fill(0);
        }
        Ok(Spans::default())
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        self.is_made = false;
        Ok(())
    }

    fn unload(&mut self) {}
}

struct Strings {
    session: Box<dyn Session>,
    manner: Manner,
    runs: usize,
}

impl Session for Strings {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        self.runs += 1;
        match self.manner {
            Manner::Lazy if self.runs > 1 => return Ok(Spans::default()),
            Manner::Failing if self.runs > 2 => {
                return Err(DeviceError::Failed { device: "puppet".into(), reason: "a string broke".into() });
            }
            Manner::Told if BROKEN.load(Ordering::Relaxed) => {
                return Err(DeviceError::Failed { device: "puppet".into(), reason: "a string broke".into() });
            }
            Manner::Slow => std::thread::sleep(Duration::from_millis(5)),
            _ => {}
        }
        let spans = self.session.run(batch, output)?;
        match self.manner {
            Manner::WrongText => output.bytes.last_mut().into_iter().for_each(|byte| *byte ^= 1),
            Manner::Gullible => output.accepted.fill(true),
            _ => {}
        }
        Ok(spans)
    }
}

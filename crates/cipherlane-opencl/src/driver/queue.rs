//! Queues of commands, and the commands in them.

use std::time::Duration;

use cl3::command_queue::CL_QUEUE_PROFILING_ENABLE;
use cl3::types::CL_FALSE;
use opencl3::command_queue::CommandQueue;
use opencl3::event::Event;

use super::error::Named;
use super::{ClError, Context, Kernel, Memory};

/// Most items that are filled at once. NVIDIA's driver 580.159 counts them in 32 bits: of 4 GiB it fills nothing byte by
/// byte, and from item 2^31 on it writes elsewhere, after which its context is of no more use. Nor is a part of the memory filled
/// by itself: the first use of a part has that driver bring all of the memory from the host, which takes a second a GiB.
const MOST_ITEMS: usize = 1 << 30;

/// Zeros, for what is left behind whole items.
static ZEROS: [u8; 128] = [0; 128];

/// Commands that the device carries out one after the other.
#[derive(Debug)]
pub struct Queue(CommandQueue);

/// A command that was enqueued.
#[derive(Debug)]
pub struct Step(Event);

impl Queue {
    /// A queue of its own, which takes the times of its commands.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(context: &Context) -> Result<Self, ClError> {
        // SAFETY: the device is the context's.
        let queue =
            unsafe { CommandQueue::create(&context.inner, context.device().id(), CL_QUEUE_PROFILING_ENABLE) };
        queue.named("clCreateCommandQueue").map(Self)
    }

    pub(super) const fn inner(&self) -> &CommandQueue {
        &self.0
    }

    /// Has the device begin with what is enqueued.
    fn started(&self, event: Event) -> Result<Step, ClError> {
        let step = Step(event);
        if let Err(error) = self.0.flush().named("clFlush") {
            // It is under way all the same, and whoever gets an error has no step to wait for.
            drop(step.wait());
            return Err(error);
        }
        Ok(step)
    }

    /// Enqueues a copy of `bytes` bytes from `source` to byte `at` of `memory`.
    ///
    /// # Errors
    /// If the driver refuses, or the bytes do not lie within the memory.
    ///
    /// # Safety
    /// `source` is good for that many bytes, and stays so and unchanged until the step is done.
    pub unsafe fn write(
        &self,
        memory: &Memory,
        at: usize,
        source: *const u8,
        bytes: usize,
    ) -> Result<Step, ClError> {
        // SAFETY: the caller vouches for the source; OpenCL checks the target.
        let event = unsafe {
            cl3::command_queue::enqueue_write_buffer(
                self.0.get(),
                memory.get(),
                CL_FALSE,
                at,
                bytes,
                source.cast(),
                0,
                std::ptr::null(),
            )
        };
        self.started(Event::new(event.named("clEnqueueWriteBuffer")?))
    }

    /// Enqueues a copy of `bytes` bytes from byte `at` of `memory` to `target`.
    ///
    /// # Errors
    /// If the driver refuses, or the bytes do not lie within the memory.
    ///
    /// # Safety
    /// `target` is good for that many bytes, and nobody uses them until the step is done.
    pub unsafe fn read(
        &self,
        memory: &Memory,
        at: usize,
        target: *mut u8,
        bytes: usize,
    ) -> Result<Step, ClError> {
        // SAFETY: the caller vouches for the target; OpenCL checks the source.
        let event = unsafe {
            cl3::command_queue::enqueue_read_buffer(
                self.0.get(),
                memory.get(),
                CL_FALSE,
                at,
                bytes,
                target.cast(),
                0,
                std::ptr::null(),
            )
        };
        self.started(Event::new(event.named("clEnqueueReadBuffer")?))
    }

    /// Enqueues a copy of `bytes` bytes from byte `at` of `source` to the start of `target`.
    ///
    /// # Errors
    /// If the driver refuses, or the bytes do not lie within both.
    pub fn copy(&self, source: &Memory, at: usize, target: &Memory, bytes: usize) -> Result<Step, ClError> {
        // SAFETY: OpenCL checks both places.
        let event = unsafe {
            cl3::command_queue::enqueue_copy_buffer(
                self.0.get(),
                source.get(),
                target.get(),
                at,
                0,
                bytes,
                0,
                std::ptr::null(),
            )
        };
        self.started(Event::new(event.named("clEnqueueCopyBuffer")?))
    }

    /// Has later commands wait for `step`, of this queue or another one.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn after(&self, step: &Step) -> Result<(), ClError> {
        // SAFETY: the event lives.
        let event = unsafe { self.0.enqueue_barrier_with_wait_list(&[step.0.get()]) };
        self.started(event.named("clEnqueueBarrierWithWaitList")?).map(drop)
    }

    /// Enqueues filling all of `memory` with zeros. Commands of a queue follow one another: the last one ends last.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn wipe(&self, memory: &Memory) -> Result<Step, ClError> {
        // The narrowest are the fastest, but for 1 B.
        match memory.len() / MOST_ITEMS {
            0..16 => self.wipe_by::<16>(memory),
            16..64 => self.wipe_by::<64>(memory),
            _ => self.wipe_by::<128>(memory),
        }
    }

    /// The same by items of N bytes.
    fn wipe_by<const N: usize>(&self, memory: &Memory) -> Result<Step, ClError> {
        // OpenCL has no empty buffers.
        let bytes = memory.len().max(1);
        let whole = bytes - bytes % N;
        if whole > 0 {
            let step = self.fill::<N>(memory, whole)?;
            if whole == bytes {
                return Ok(step);
            }
        }
        // SAFETY: there are as many zeros, for ever.
        unsafe { self.write(memory, whole, ZEROS.as_ptr(), bytes - whole) }
    }

    /// Enqueues filling the first `bytes` bytes of `memory`, a multiple of N, with zeros, N at a time.
    fn fill<const N: usize>(&self, memory: &Memory, bytes: usize) -> Result<Step, ClError> {
        let zeros = [0_u8; N];
        // SAFETY: the pattern is N bytes, which OpenCL copies; it checks the place.
        let event = unsafe {
            cl3::command_queue::enqueue_fill_buffer(
                self.0.get(),
                memory.get(),
                zeros.as_ptr().cast(),
                N,
                0,
                bytes,
                0,
                std::ptr::null(),
            )
        };
        self.started(Event::new(event.named("clEnqueueFillBuffer")?))
    }

    /// Enqueues a launch of `groups` groups of `items` work-items.
    ///
    /// # Errors
    /// If the driver refuses the sizes.
    ///
    /// # Safety
    /// The kernel's arguments are set, and the memory that they name is good for all that it does with it.
    pub unsafe fn launch(&self, kernel: &Kernel, groups: usize, items: usize) -> Result<Step, ClError> {
        let (global, local) = (groups * items, items);
        // SAFETY: one dimension, two sizes; the caller vouches for the arguments.
        let event = unsafe {
            cl3::command_queue::enqueue_nd_range_kernel(
                self.0.get(),
                kernel.get(),
                1,
                std::ptr::null(),
                &raw const global,
                &raw const local,
                0,
                std::ptr::null(),
            )
        };
        self.started(Event::new(event.named("clEnqueueNDRangeKernel")?))
    }
}

impl Step {
    /// Waits until the command is done.
    ///
    /// # Errors
    /// What it failed by.
    pub fn wait(&self) -> Result<(), ClError> {
        self.0.wait().named("clWaitForEvents")
    }

    /// How long the device took from the start of `first` to the end of this command, both done.
    ///
    /// # Errors
    /// If the driver took no times.
    pub fn since(&self, first: &Self) -> Result<Duration, ClError> {
        // Some drivers have no times of a command that nobody has waited for, even if a later one of its queue is done.
        first.wait()?;
        self.wait()?;
        let start = first.0.profiling_command_start().named("clGetEventProfilingInfo")?;
        let end = self.0.profiling_command_end().named("clGetEventProfilingInfo")?;
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By items of each size, with and without a rest behind them.
    #[test]
    fn what_is_wiped_is_zero() {
        let devices = match crate::driver::devices() {
            Ok(devices) => devices,
            Err(reason) if std::env::var_os("CIPHERLANE_REQUIRE_OPENCL").is_some() => panic!("{reason}"),
            Err(reason) => return eprintln!("NOT CHECKED: {reason}"),
        };
        for device in devices {
            let context = Context::new(&device).unwrap();
            let queue = Queue::new(&context).unwrap();
            for len in [1, 15, 16, 17, 4095, 4096, 4097, 10_000, 16_400] {
                for wipe in [Queue::wipe_by::<16>, Queue::wipe_by::<64>, Queue::wipe_by::<128>] {
                    let mut bytes = vec![0xa5_u8; len];
                    let memory = Memory::new(&context, len).unwrap();
                    // SAFETY: all of the bytes, which are not touched until they are there.
                    unsafe { queue.write(&memory, 0, bytes.as_ptr(), len) }.unwrap().wait().unwrap();
                    wipe(&queue, &memory).unwrap().wait().unwrap();
                    // SAFETY: as above.
                    unsafe { queue.read(&memory, 0, bytes.as_mut_ptr(), len) }.unwrap().wait().unwrap();
                    assert!(bytes.iter().all(|&byte| byte == 0), "{len} B");
                }
            }
        }
    }
}

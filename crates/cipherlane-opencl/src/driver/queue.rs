//! Queues of commands, and the commands in them.

use std::time::Duration;

use cl3::command_queue::CL_QUEUE_PROFILING_ENABLE;
use cl3::types::CL_FALSE;
use opencl3::command_queue::CommandQueue;
use opencl3::event::Event;

use super::error::Named;
use super::{ClError, Context, Kernel, Memory};

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
        self.0.flush().named("clFlush")?;
        Ok(Step(event))
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

    /// Enqueues filling all of `memory` with zeros.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn wipe(&self, memory: &Memory) -> Result<Step, ClError> {
        let zero = 0_u8;
        // SAFETY: the pattern is one byte, which OpenCL copies; the range is the memory's.
        let event = unsafe {
            cl3::command_queue::enqueue_fill_buffer(
                self.0.get(),
                memory.get(),
                (&raw const zero).cast(),
                1,
                0,
                memory.len().max(1),
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

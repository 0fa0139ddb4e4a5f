//! The functions of the driver that are used here, with their types in `cuda.h`.
//!
//! Names end in `_v2` where `cuda.h` defines the plain name as that. All of them are in every driver since CUDA 11.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;

/// `CUresult`: an `int` and not an enum, since a newer driver may return codes that nobody here knows.
pub(super) type Code = c_int;
/// `CUdevice`.
pub(super) type DeviceHandle = c_int;
/// `CUdeviceptr`.
pub(super) type DevicePointer = u64;
/// `CUcontext`, `CUmodule`, `CUfunction`, `CUstream` and `CUevent` are pointers to what only the driver knows.
pub(super) type Handle = *mut c_void;

/// Declares the table of functions and how it is filled, so that a field cannot have another function's symbol. Those behind
/// a question mark may be missing.
macro_rules! functions {
    ($($symbol:ident($($argument:ty),*);)* $(? $extra:ident($($extra_argument:ty),*);)*) => {
        /// The driver's functions.
        #[allow(non_snake_case)] // the names of the C functions, so that they can be found in CUDA's manual
        pub(super) struct Functions {
            $(pub(super) $symbol: unsafe extern "C" fn($($argument),*) -> Code,)*
            $(pub(super) $extra: Option<unsafe extern "C" fn($($extra_argument),*) -> Code>,)*
        }

        impl Functions {
            /// Looks up every function, or says which is missing of those that nothing works without.
            ///
            /// # Safety
            /// `library` is a CUDA driver.
            pub(super) unsafe fn load(library: &'static Library) -> Result<Self, &'static str> {
                Ok(Self { $(
                    // SAFETY: the type is the one that `cuda.h` gives the symbol.
                    $symbol: *unsafe { library.get(stringify!($symbol)) }.map_err(|_| stringify!($symbol))?,
                )* $(
                    // SAFETY: as above.
                    $extra: unsafe { library.get(stringify!($extra)) }.ok().map(|symbol| *symbol),
                )* })
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(Code, *mut *const c_char);
    cuGetErrorString(Code, *mut *const c_char);

    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut DeviceHandle, c_int);
    cuDeviceGetName(*mut c_char, c_int, DeviceHandle);
    cuDeviceGetAttribute(*mut c_int, c_int, DeviceHandle);
    cuDeviceGetPCIBusId(*mut c_char, c_int, DeviceHandle);
    cuDeviceTotalMem_v2(*mut usize, DeviceHandle);
    cuDevicePrimaryCtxRetain(*mut Handle, DeviceHandle);
    cuDevicePrimaryCtxRelease_v2(DeviceHandle);
    cuCtxPushCurrent_v2(Handle);
    cuCtxPopCurrent_v2(*mut Handle);
    cuCtxSynchronize();
    cuMemGetInfo_v2(*mut usize, *mut usize);

    cuModuleLoadDataEx(*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    cuModuleUnload(Handle);
    cuModuleGetFunction(*mut Handle, Handle, *const c_char);
    cuModuleGetGlobal_v2(*mut DevicePointer, *mut usize, Handle, *const c_char);
    cuFuncGetAttribute(*mut c_int, c_int, Handle);
    cuFuncSetAttribute(Handle, c_int, c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Handle, c_int, usize);
    cuLaunchKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );

    cuStreamCreate(*mut Handle, c_uint);
    cuStreamDestroy_v2(Handle);
    cuStreamSynchronize(Handle);
    cuStreamWaitEvent(Handle, Handle, c_uint);
    cuEventCreate(*mut Handle, c_uint);
    cuEventDestroy_v2(Handle);
    cuEventRecord(Handle, Handle);
    cuEventSynchronize(Handle);
    cuEventElapsedTime(*mut f32, Handle, Handle);

    cuMemAlloc_v2(*mut DevicePointer, usize);
    cuMemFree_v2(DevicePointer);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuPointerGetAttributes(c_uint, *mut c_int, *mut *mut c_void, DevicePointer);
    cuMemcpyHtoDAsync_v2(DevicePointer, *const c_void, usize, Handle);
    cuMemcpyDtoHAsync_v2(*mut c_void, DevicePointer, usize, Handle);
    cuMemcpyDtoDAsync_v2(DevicePointer, DevicePointer, usize, Handle);
    cuMemsetD8Async(DevicePointer, u8, usize, Handle);

    ?cuThreadExchangeStreamCaptureMode(*mut c_int);
}

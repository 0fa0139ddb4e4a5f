//! The devices of all platforms.

use std::sync::{Mutex, PoisonError};

use cl3::info_type::InfoType;
use cl3::types::cl_device_id;
use cl3::{device as cl_device, platform as cl_platform};

use super::ClError;
use super::error::Named;
use super::place;

/// `cl_device_id` with its platform's name and number.
#[derive(Clone, Debug)]
pub struct DeviceHandle {
    id: cl_device_id,
    platform: String,
    platform_number: usize,
}

// SAFETY: OpenCL names the devices of a platform by pointers that are good for the whole process (section 4.2).
unsafe impl Send for DeviceHandle {}
// SAFETY: as above; nothing is changed through them.
unsafe impl Sync for DeviceHandle {}

/// What OpenCL knows of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The product's name.
    pub name: String,
    /// Who made the driver.
    pub platform: String,
    /// The platform's number in the loader's order, by which two of one name are told apart.
    pub platform_number: usize,
    /// The vendor.
    pub vendor: String,
    /// OpenCL's version, the vendor's words behind it: `OpenCL 3.0 CUDA`.
    pub version: String,
    /// The driver's version.
    pub driver: String,
    /// Whether it is a GPU.
    pub is_gpu: bool,
    /// Compute units.
    pub units: usize,
    /// Highest clock in MHz.
    pub megahertz: u32,
    /// Most work-items of a work-group.
    pub group_size: usize,
    /// Bytes of local memory of a work-group.
    pub local_bytes: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Most bytes of one buffer.
    pub buffer_bytes: u64,
    /// What offsets of parts of a buffer must be a multiple of, in bytes.
    pub alignment: usize,
    /// Whether numbers are little-endian, as every kernel here assumes.
    pub little_endian: bool,
    /// Where it sits on the PCI bus, if it does and the driver says so: `0000:41:00.0`.
    pub bus: Option<String>,
}

/// Every device of every platform, in the loader's order.
///
/// # Errors
/// If there is no loader, or it lists no driver; a platform without devices is no error.
pub fn devices() -> Result<Vec<DeviceHandle>, ClError> {
    if !cl3::is_opencl_runtime_available() {
        return Err(ClError::new("the OpenCL loader", cl3::error_codes::DLOPEN_RUNTIME_LOAD_FAILED));
    }
    // PoCL 3.1 shows no device to a thread that asks while another one asks for the first time.
    static ASKING: Mutex<()> = Mutex::new(());
    let _alone = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut devices = Vec::new();
    let platforms = cl_platform::get_platform_ids().named("clGetPlatformIDs")?;
    for (platform_number, platform) in platforms.into_iter().enumerate() {
        let name: String = cl_platform::get_platform_info(platform, cl_platform::CL_PLATFORM_NAME)
            .named("clGetPlatformInfo")?
            .into();
        // A platform without devices answers with an error that says so.
        let ids = cl_device::get_device_ids(platform, cl_device::CL_DEVICE_TYPE_ALL).unwrap_or_default();
        let handle = |id| DeviceHandle { id, platform: name.clone(), platform_number };
        devices.extend(ids.into_iter().map(handle));
    }
    Ok(devices)
}

impl DeviceHandle {
    pub(super) const fn id(&self) -> cl_device_id {
        self.id
    }

    /// What OpenCL knows of the device.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn facts(&self) -> Result<Facts, ClError> {
        let get = |what| cl_device::get_device_info(self.id, what).named("clGetDeviceInfo");
        let text = |what| Ok::<_, ClError>(String::from(get(what)?).trim().to_owned());
        let is_gpu = matches!(get(cl_device::CL_DEVICE_TYPE)?, InfoType::Ulong(kind) if kind & cl_device::CL_DEVICE_TYPE_GPU != 0);
        Ok(Facts {
            name: text(cl_device::CL_DEVICE_NAME)?,
            platform: self.platform.clone(),
            platform_number: self.platform_number,
            vendor: text(cl_device::CL_DEVICE_VENDOR)?,
            version: text(cl_device::CL_DEVICE_VERSION)?,
            driver: text(cl_device::CL_DRIVER_VERSION)?,
            is_gpu,
            units: u32::from(get(cl_device::CL_DEVICE_MAX_COMPUTE_UNITS)?) as usize,
            megahertz: get(cl_device::CL_DEVICE_MAX_CLOCK_FREQUENCY)?.into(),
            group_size: get(cl_device::CL_DEVICE_MAX_WORK_GROUP_SIZE)?.into(),
            local_bytes: get(cl_device::CL_DEVICE_LOCAL_MEM_SIZE)?.into(),
            memory_bytes: get(cl_device::CL_DEVICE_GLOBAL_MEM_SIZE)?.into(),
            buffer_bytes: get(cl_device::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?.into(),
            // In bits.
            alignment: u32::from(get(cl_device::CL_DEVICE_MEM_BASE_ADDR_ALIGN)?) as usize / 8,
            little_endian: u32::from(get(cl_device::CL_DEVICE_ENDIAN_LITTLE)?) != 0,
            bus: place::bus(&text(cl_device::CL_DEVICE_EXTENSIONS)?, |what| {
                cl_device::get_device_data(self.id, what).ok()
            }),
        })
    }
}

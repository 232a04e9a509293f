//! The device that computes, and libtorch on it.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

use latrunculi_data::{DeviceChoice, Precision, cpu_has_bf16};
use tch::Kind;

use crate::error::Error;

/// An available device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device(pub(crate) tch::Device);

impl Device {
    /// The processor.
    pub const CPU: Device = Device(tch::Device::Cpu);

    /// Opens a device.
    /// Fails only for [`DeviceChoice::Cuda`]: when libtorch's CUDA library or the GPU is missing.
    pub fn open(choice: DeviceChoice) -> Result<Device, Error> {
        match choice {
            DeviceChoice::Cpu => Ok(Device::CPU),
            DeviceChoice::Cuda(number) => {
                let there = gpu_count()?;
                if number < there {
                    return Ok(Device(tch::Device::Cuda(number)));
                }
                let has = format!("the machine has {there} (numbered from 0)");
                Err(Error(format!("device cuda:{number} was asked for and {has}")))
            }
            DeviceChoice::Auto => match gpu_count() {
                Ok(_) => Ok(Device(tch::Device::Cuda(0))),
                Err(_) => Ok(Device::CPU),
            },
        }
    }

    /// Tells whether this is a GPU.
    #[must_use]
    pub fn is_gpu(self) -> bool {
        self.0.is_cuda()
    }

    /// Returns the precision on this device: `wanted`, or for [`Precision::Auto`] the one that the hardware suggests.
    #[must_use]
    pub fn precision(self, wanted: Precision) -> Precision {
        match wanted {
            Precision::Auto if self.is_gpu() || cpu_has_bf16() => Precision::Bf16,
            Precision::Auto => Precision::F32,
            chosen => chosen,
        }
    }

    /// Returns the kind of the trunk's tensors in a precision.
    pub(crate) fn kind(self, precision: Precision) -> Kind {
        match self.precision(precision) {
            Precision::Bf16 | Precision::Int8 => Kind::BFloat16,
            Precision::F32 | Precision::Auto => Kind::Float,
        }
    }

    /// Waits until the device has finished its work; returns at once on the processor.
    pub fn synchronize(self) {
        if let tch::Device::Cuda(number) = self.0 {
            tch::Cuda::synchronize(number as i64);
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            tch::Device::Cuda(number) => write!(f, "cuda:{number}"),
            _ => f.write_str("cpu"),
        }
    }
}

/// Returns the number of GPUs that libtorch can use, at least 1.
fn gpu_count() -> Result<usize, Error> {
    open_gpu_library()?;
    match usize::try_from(tch::Cuda::device_count()) {
        Ok(count) if count > 0 => Ok(count),
        _ => {
            let way_out = "check the driver with nvidia-smi, or ask for the device cpu";
            Err(Error(format!("libtorch finds no usable GPU: {way_out}")))
        }
    }
}

/// Loads libtorch's CUDA library, once.
/// The program is linked with the CPU libraries only, so that one program runs with and without a GPU. This must come
/// before the first question to libtorch about CUDA, because libtorch keeps the first answer.
fn open_gpu_library() -> Result<(), Error> {
    static OPENED: OnceLock<Result<(), String>> = OnceLock::new();
    OPENED
        .get_or_init(|| {
            #[cfg(target_os = "linux")]
            {
                use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
                // SAFETY: the library's initialisers register its kernels with the loaded libtorch, which is their
                // purpose; nothing is called through the handle.
                #[allow(unsafe_code)]
                let library = unsafe { Library::open(Some("libtorch_cuda.so"), RTLD_NOW | RTLD_GLOBAL) };
                // It stays loaded until the program ends, because its kernels are registered.
                library.map(std::mem::forget).map_err(|error| error.to_string())
            }
            #[cfg(not(target_os = "linux"))]
            {
                Err("not on this system".to_owned())
            }
        })
        .clone()
        .map_err(|reason| {
            Error(format!(
                "libtorch's CUDA library for GPUs cannot be loaded ({reason}): run scripts/setup-libtorch --cuda, or set \
                 LD_LIBRARY_PATH to the folder torch/lib of a PyTorch 2.11.0"
            ))
        })
}

/// Lets libtorch compute in the calling thread alone: its threads wait for one another by spinning, so that two of them on a
/// busy machine are 40 to 50 times slower than one.
pub fn use_one_thread() {
    keep_memory();
    thread_local!(static IS_SET: Cell<bool> = const { Cell::new(false) });
    IS_SET.with(|is_set| {
        if !is_set.replace(true) {
            tch::set_num_threads(1);
        }
    });
}

/// Configures the allocator to keep the memory that libtorch frees, once.
/// A batch needs tensors of some megabytes for a short time. By default glibc returns such blocks to the system and
/// maps them again page by page, thousands of times a second: 7 to 10 % of a training step.
fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        static ASKED: std::sync::Once = std::sync::Once::new();
        ASKED.call_once(|| {
            // SAFETY: sets two numbers of the allocator, which locks them itself. 32 MiB is the largest threshold that
            // it accepts. When it refuses, memory is returned as before.
            #[allow(unsafe_code)]
            unsafe {
                libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
                libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
            }
        });
    }
}

/// Returns the version of the libtorch that the program was linked with, where it is known.
#[must_use]
pub fn libtorch_version() -> Option<&'static str> {
    option_env!("LATRUNCULI_LIBTORCH_VERSION")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_gpu_is_an_error_only_when_asked_for() {
        Device::open(DeviceChoice::Cpu).unwrap();
        Device::open(DeviceChoice::Auto).unwrap();
        let error = Device::open(DeviceChoice::Cuda(999)).unwrap_err();
        println!("{error}");
        assert!(error.to_string().contains("GPU") || error.to_string().contains("cuda:999"), "{error}");
    }
}

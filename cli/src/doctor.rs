//! `doctor`: what was found on this machine, what will be used, how to mend what is wrong.

use clap::Args;
use latrunculi_infer::Kernel;
use latrunculi_model::{Device, DeviceChoice, device};
use serde_json::json;

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: DoctorArgs) -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let bf16 = device::cpu_has_bf16();
    let gpu = Device::open(DeviceChoice::Cuda(0));
    // A missing GPU is no fault: `auto` takes the processor then.
    let gpu_text = match &gpu {
        Ok(_) => "found, used by device = \"auto\"".to_owned(),
        Err(error) => format!("none usable: {error}"),
    };
    let features = processor_features();
    let kernels: Vec<&str> = Kernel::available().into_iter().map(Kernel::name).collect();
    let libtorch = Device::open(DeviceChoice::Cpu).map(|_| ()).map_err(|error| error.to_string());
    if args.json {
        let report = json!({
            "program": env!("CARGO_PKG_VERSION"), "threads": threads, "processor_features": features, "kernels": kernels,
            "bf16": bf16, "gpu": gpu.is_ok(), "gpu_note": gpu_text, "libtorch": libtorch.is_ok(),
        });
        println!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    println!("program      latrunculi {}", env!("CARGO_PKG_VERSION"));
    match libtorch {
        Ok(()) => println!("libtorch     loaded; computes on the processor"),
        Err(error) => println!("libtorch     {error}"),
    }
    println!("threads      {threads} (self-play and matches use all, one libtorch thread each)");
    println!("processor    {}", if features.is_empty() { "nothing known".to_owned() } else { features.join(" ") });
    println!(
        "precision    {}",
        if bf16 {
            "16 bits (bf16) in play where the answers agree with those in 32 bits"
        } else {
            "32 bits: this processor has no bf16"
        }
    );
    println!("kernels      {}", kernels.join(" "));
    println!("GPU          {gpu_text}");
    if gpu.is_err() {
        println!("             to use one: NVIDIA's driver, then `scripts/setup-libtorch --cuda`, or LD_LIBRARY_PATH");
        println!("             set to the lib folder of a PyTorch 2.11 with CUDA");
    }
    Ok(())
}

/// Returns the processor features that matter for speed, as the system names them.
fn processor_features() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let wanted = ["avx2", "bmi2", "avx512f", "avx512_bf16", "amx_bf16", "avx512_vnni"];
    flags.split_whitespace().filter(|flag| wanted.contains(flag)).map(str::to_owned).collect()
}

//! `serve`: the board in a browser.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use clap::Args;
use latrunculi_serve::{Server, Settings};
use latrunculi_train::rulesets;
use latrunculi_train::runs::RUNS;

use crate::interrupt::stop_on_signals;
use crate::libtorch::Libtorch;
use crate::network::NetworkArgs;

const STUDIES: &str = "studies";

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = 8765)]
    port: u16,
    /// The address to listen at; any but a loopback address needs a token, which is part of the address printed
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    bind: IpAddr,
    /// The network to play against: a model file or the folder of a run [default: the one in the program]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Ruleset files of your own, with commas between, that are offered beside the shipped rulesets
    #[arg(long, alias = "ruleset", value_name = "FILE,FILE", value_delimiter = ',')]
    rulesets: Vec<String>,
    /// The folder whose training runs are shown
    #[arg(long, default_value = RUNS, value_name = "DIR")]
    runs: PathBuf,
    /// The folder whose studies are shown
    #[arg(long, default_value = STUDIES, value_name = "DIR")]
    studies: PathBuf,
    #[command(flatten)]
    network: NetworkArgs,
}

pub(crate) fn run(args: ServeArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let networks = args.network.opener(true, libtorch)?;
    let stop = stop_on_signals()?;
    let rulesets = args.rulesets.iter().map(|path| rulesets::load_file(path)).collect::<Result<_, _>>()?;
    for (option, folder) in [("--runs", &args.runs), ("--studies", &args.studies)] {
        let is_default = [RUNS, STUDIES].map(Path::new).contains(&folder.as_path());
        if !is_default && !folder.is_dir() {
            eprintln!("{option}: there is no folder {} yet; it is shown as soon as there is", folder.display());
        }
    }
    let server = Server::bind(Settings {
        address: args.bind,
        port: args.port,
        model: args.model,
        networks,
        rulesets,
        runs: args.runs,
        studies: args.studies,
    })?;
    println!("the board is at {}", server.url());
    if args.bind.is_unspecified() {
        println!(
            "from other machines: with this machine's name or address in place of {}",
            if args.bind.is_ipv6() { "[::]" } else { "0.0.0.0" }
        );
    }
    println!("Ctrl-C ends the program");
    server.run(&stop)?;
    Ok(())
}

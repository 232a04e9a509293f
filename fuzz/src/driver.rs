//! Runs a target over its corpus and over mutated seeds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rustix::time::{ClockId, clock_gettime};

use crate::MEMORY;
use crate::mutate::Mutator;

/// Most processor time of an input.
const SECS_MAX: f64 = 2.0;
/// An input that takes this long on the clock hangs.
const HANG: Duration = Duration::from_secs(60);
/// Most memory of an input: so many bytes, and so many per byte of the input.
const MEMORY_MAX: usize = 96 << 20;
const MEMORY_PER_BYTE: usize = 512;

/// A reader to be tried.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is that of its folder in the corpus.
    pub name: &'static str,
    /// Returns valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Makes an input of the seeds.
    pub mutate: fn(&[Vec<u8>], &mut Mutator) -> Vec<u8>,
    /// Reads an input, and panics where what is accepted is not true. Returns whether it was accepted.
    pub check: fn(&[u8]) -> bool,
}

/// An input that broke a reader.
#[derive(Debug)]
pub struct Failure {
    /// What happened.
    pub what: String,
    /// The input.
    pub input: Vec<u8>,
}

/// What is being tried now, for the thread that looks out for inputs that hang.
static CURRENT: Mutex<Option<(Instant, PathBuf, Vec<u8>)>> = Mutex::new(None);
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

impl Target {
    /// Returns the folder with what broke this reader once.
    #[must_use]
    pub fn corpus(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name)
    }

    /// Tries the seeds, the corpus, then `inputs` mutated inputs. Returns how many inputs were accepted.
    ///
    /// # Errors
    /// The first input that breaks the reader. A copy is written to the folder for temporary files.
    ///
    /// # Panics
    /// When a seed is refused: nothing would be tried then.
    pub fn run(&self, inputs: u64, seed: u64) -> Result<u64, Failure> {
        watch_for_hangs();
        let seeds = (self.seeds)();
        for (index, seed) in seeds.iter().enumerate() {
            assert!(self.try_input(seed)?, "{}: seed {index} is refused", self.name);
        }
        let mut known: Vec<PathBuf> =
            fs::read_dir(self.corpus()).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        known.sort();
        for path in known {
            self.try_input(&fs::read(&path).expect("a file of the corpus"))?;
        }
        let mut accepted = 0;
        for number in 0..inputs {
            let mut stream = ChaCha8Rng::seed_from_u64(seed ^ u64::from(crc32fast::hash(self.name.as_bytes())));
            stream.set_stream(number);
            let input = (self.mutate)(&seeds, &mut Mutator::new(stream));
            accepted += u64::from(self.try_input(&input)?);
        }
        Ok(accepted)
    }

    fn try_input(&self, input: &[u8]) -> Result<bool, Failure> {
        let kept = std::env::temp_dir().join(format!("latrunculi-fuzz-{}-{:08x}", self.name, crc32fast::hash(input)));
        let set = |current| *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = current;
        set(Some((Instant::now(), kept.clone(), input.to_vec())));
        let begun = processor_secs();
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let checked = catch_unwind(AssertUnwindSafe(|| (self.check)(input)));
        let taken = MEMORY.peak_usage().saturating_sub(before);
        let secs = processor_secs() - begun;
        set(None);
        let what = match checked {
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
            }
            Ok(_) if secs > SECS_MAX => format!("it took {secs:.1} s"),
            Ok(_) if taken > MEMORY_MAX + MEMORY_PER_BYTE * input.len() => {
                format!("{} bytes took {taken} bytes of memory", input.len())
            }
            Ok(is_accepted) => return Ok(is_accepted),
        };
        // What cannot be written is still in the failure.
        let _ = fs::write(&kept, input);
        Err(Failure { what: format!("{}: {what}; the input is {}", self.name, kept.display()), input: input.to_vec() })
    }
}

/// Returns the processor time of this thread.
fn processor_secs() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Ends the program when an input takes far too long, which nothing else could end.
fn watch_for_hangs() {
    if IS_WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((begun, kept, input)) = &*current
                && begun.elapsed() > HANG
            {
                let _ = fs::write(kept, input);
                // The process is about to end, and the test has no other way to say why.
                let _ = std::io::Write::write_all(
                    &mut std::io::stderr(),
                    format!("an input hangs: {}\n", kept.display()).as_bytes(),
                );
                std::process::abort();
            }
        }
    });
}

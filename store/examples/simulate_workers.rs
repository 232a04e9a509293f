//! Simulates a training run with many workers in virtual time: the share of their time that counts, and their requests
//! to the store. The same settings give the same numbers. No game is played, and no store is opened.
//!
//! `cargo run --release -p latrunculi-store --example simulate_workers -- [key=value ...]`
//!
//! The keys are those of [`SETTINGS`]. Values with commas between them are compared: `workers=10,100 places=told,head`.
//! Workers do what `train/src/workers/work.rs` does, and choose units by [`WorkOrder`]; the learner does what `lead.rs`
//! beside it does, and trains beside the games of the next generation. All units are of one ruleset. A request takes a
//! constant time, also above the limits of a store. Constants without a source are assumptions.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use latrunculi_store::WorkOrder;

/// The keys and their defaults; the first varies slowest.
const SETTINGS: [(&str, &str); 9] = [
    ("train", "inf"),           // Samples a second that the learner trains on.
    ("workers", "10,100,1000"), // Workers, each on two cores.
    ("places", "told,none"),    // told `--index` and `--of`; none; head: it names who counted before, in their order.
    ("close", "all,quorum"),    // When a generation is closed.
    ("units", "1,3,10"),        // Units of a generation for each that is played at once.
    ("unit_secs", "60"),        // Mean seconds of a unit on a machine that is not slow.
    ("kills", "0.1"),           // Kills of a worker in an hour.
    ("seed", "1"),              // Of the random numbers.
    ("aside", "16"),            // Units of a closed generation that the learner moves aside at once.
];
/// What words among the values stand for; for `close` the share of the units that is needed. Source: lead.rs.
const WORDS: [(&str, f64); 5] = [("none", 0.0), ("told", 1.0), ("head", 2.0), ("all", 1.0), ("quorum", 0.9)];
const SAMPLES: f64 = 330.0 / 2.0; // A second, of one unit. Source: docs/workers.md.
const SAMPLE_BYTES: f64 = 140.0; // Source: the same.
const MODEL_BYTES: f64 = 2.34e6; // Source: models/universal.safetensors.
const PAGE: usize = 1000; // Names in one answer to LIST. Source: the interface of S3.
const LIMITS: [u32; 2] = [5500, 3500]; // LIST and GET, PUT a second for each prefix. Source: the manual of S3.
const IDLE: f64 = 5.0; // Seconds between looks of a worker that has nothing to do. Source: cli/src/worker.rs.
const LOOK: f64 = 10.0; // Seconds between looks whether what is played is closed. Source: train/src/workers/work.rs.
const WAITS: [f64; 2] = [0.25, 5.0]; // Shortest and longest seconds between looks of the learner. Source: lead.rs.
const REUSE: f64 = 5.0; // How often the learner trains on a sample. Source: configs/train/evening.toml.
const AT_ONCE: usize = 2; // Units that a worker plays at once.
const READERS: usize = 16; // Units that the learner reads at once.
const CHECK: f64 = 100e3; // Samples a second that it checks in each of them.
const SPREAD: f64 = 0.25; // Standard deviation of the logarithm of a unit's seconds.
const SLOW: [f64; 2] = [0.1, 2.0]; // The share of slow machines, and how many times as long they take.
const START: f64 = 60.0; // Seconds within which the workers are started, and until one that was killed is.
const LATENCY: f64 = 0.05; // Seconds of one request, or of one page of a LIST.
const LINKS: [f64; 2] = [12.5e6, 1.25e9]; // Bytes a second of a worker, and of the learner.
const GENERATIONS: usize = 5; // That are measured, after one that is not.

const LIST: usize = 0; // Kinds of requests.
const GET: usize = 1;
const PUT: usize = 2;
const COUNTED: usize = 0; // What time is spent on, by the workers,
const NOT_COUNTED: usize = 1;
const LOST: usize = 2; // by kills;
const READING: usize = 3; // and by the learner: listing, reading, moving aside.
const TRAINING: usize = 4;

/// Microseconds of virtual time.
type Time = u64;

fn micros(secs: f64) -> Time {
    (secs * 1e6) as Time
}

type Event = Box<dyn FnOnce(&mut Simulation)>;

#[derive(Default)]
struct Worker {
    slowness: f64,
    id: u64,                        // Random, another in each life; 0 while it is dead.
    generation: usize,              // That it plays.
    active: usize,                  // Threads that play or look for a unit.
    playing: Vec<(u64, u64, Time)>, // The number of each play, its unit, and when it was begun; or since when it is dead.
    locked: Time,                   // Until then one of its threads takes a unit.
}

#[derive(Default)]
struct Generation {
    units: usize,
    missing: Vec<u64>,       // Units not written, in order.
    fresh: Vec<(u64, Time)>, // Of units written and not listed: whose they are, and how long they were played.
    taken: Vec<(u64, Time)>, // The same, of those that the learner has read.
    known: Vec<u64>,         // The workers that counted in the generation before, in order.
    is_closed: bool,
}

#[derive(Default)]
struct Simulation {
    settings: BTreeMap<&'static str, f64>,
    random: u64,
    now: Time,
    begin: Time, // Of what is measured.
    queue: BTreeMap<(Time, u64), Event>,
    count: u64, // Of events and plays.
    workers: Vec<Worker>,
    generations: Vec<Generation>,
    trained: Time,           // When the learner has trained on the generation before.
    requests: Vec<[u32; 3]>, // Of each kind in each second.
    spent: [Time; 5],
}

impl Simulation {
    /// Simulates a run with the values of [`SETTINGS`].
    fn run(row: &[&str]) -> Result<Simulation, String> {
        let mut own = Simulation { begin: Time::MAX, ..Simulation::default() };
        for ((key, _), text) in SETTINGS.iter().zip(row) {
            let word = WORDS.iter().find(|word| word.0 == *text).map(|word| word.1);
            let may_be_0 = ["kills", "places", "seed"].contains(key);
            let number =
                word.or_else(|| text.parse().ok()).filter(|number| *number > 0.0 || may_be_0 && *number == 0.0);
            own.settings.insert(key, number.ok_or_else(|| format!("{key}={text} cannot be used"))?);
        }
        own.random = own.settings["seed"] as u64;
        for worker in 0..own.settings["workers"] as usize {
            let slowness = if own.share() <= SLOW[0] { SLOW[1] } else { 1.0 };
            let start = micros(own.share() * START);
            own.workers.push(Worker { slowness, ..Worker::default() });
            own.at(start, move |own| own.start(worker));
        }
        own.open();
        while own.generations.len() <= GENERATIONS + 1
            && let Some(((time, _), event)) = own.queue.pop_first()
        {
            own.now = time;
            event(&mut own);
        }
        // What is still being played is of a generation that is closed.
        for worker in 0..own.workers.len() {
            own.drop_plays(worker, if own.workers[worker].id == 0 { LOST } else { NOT_COUNTED });
        }
        own.spent[TRAINING] -= own.trained.saturating_sub(own.now);
        Ok(own)
    }

    /// Returns a random number. Source: Steele, Lea and Flood 2014 (SplitMix64).
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number above 0 and at most 1.
    fn share(&mut self) -> f64 {
        ((self.random() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Lets something happen at a time.
    fn at(&mut self, time: Time, event: impl FnOnce(&mut Simulation) + 'static) {
        self.count += 1;
        self.queue.insert((time, self.count), Box::new(event));
    }

    /// Lets something happen to a worker at a time, unless it has been killed before.
    fn later(&mut self, time: Time, worker: usize, event: impl FnOnce(&mut Simulation, usize) + 'static) {
        let id = self.workers[worker].id;
        self.at(time, move |own| {
            if own.workers[worker].id == id {
                event(own, worker)
            }
        });
    }

    /// Adds what lies between two times, as far as it is measured; the learner's work is added before it ends.
    fn spend(&mut self, on: usize, from: Time, to: Time) {
        self.spent[on] += to.saturating_sub(from.max(self.begin));
    }

    fn drop_plays(&mut self, worker: usize, on: usize) {
        for (_, _, begun) in std::mem::take(&mut self.workers[worker].playing) {
            self.spend(on, begun, self.now);
        }
    }

    /// Counts requests that follow one another; returns when they are answered.
    fn ask(&mut self, from: Time, kind: usize, count: usize) -> Time {
        for index in 0..count as u64 {
            let second = ((from + index * micros(LATENCY)) / 1_000_000) as usize;
            self.requests.resize(self.requests.len().max(second + 1), [0; 3]);
            self.requests[second][kind] += 1;
        }
        from + count as u64 * micros(LATENCY)
    }

    /// Counts the LIST of the units of a generation; returns when it is answered.
    fn ask_units(&mut self, from: Time, generation: usize) -> Time {
        let generation = &self.generations[generation];
        let pages = (generation.units - generation.missing.len()).div_ceil(PAGE).max(1);
        self.ask(from, LIST, pages)
    }

    fn start(&mut self, worker: usize) {
        let (id, until_kill) = (self.random(), -self.share().ln());
        self.drop_plays(worker, LOST);
        let own = &mut self.workers[worker];
        (own.id, own.active, own.locked) = (id, 0, 0);
        if self.settings["kills"] > 0.0 {
            self.later(self.now + micros(until_kill * 3600.0 / self.settings["kills"]), worker, Simulation::kill);
        }
        self.look(worker);
    }

    fn kill(&mut self, worker: usize) {
        self.drop_plays(worker, LOST);
        let own = &mut self.workers[worker];
        (own.id, own.playing) = (0, vec![(0, 0, self.now); AT_ONCE]);
        self.at(self.now + micros(START), move |own| own.start(worker));
    }

    /// Looks for the newest generation: lists the heads, and asks for the manifest and for the head.
    fn look(&mut self, worker: usize) {
        let newest = self.generations.len() - 1;
        let listed = self.ask(self.now, LIST, 1);
        let (mut answered, mut unit) = (self.ask(listed, GET, 1), None);
        if !self.generations[newest].is_closed {
            self.workers[worker].generation = newest;
            answered = self.ask(answered, GET, 1);
            (unit, answered) = self.next(worker, answered);
        }
        let Some(unit) = unit else {
            // It looks for games of studies too.
            answered = self.ask(answered, LIST, 1);
            return self.later(answered + micros(IDLE), worker, Simulation::look);
        };
        answered = self.ask(answered, GET, 1) + micros(MODEL_BYTES / LINKS[0]);
        self.workers[worker].active = AT_ONCE;
        self.play(worker, unit, answered);
        (1..AT_ONCE).for_each(|_| self.later(answered, worker, Simulation::take));
        self.later(answered + micros(LOOK), worker, move |own, worker| own.watch(worker, newest));
    }

    /// Returns the unit that a worker takes by what the store shows now, and when the answers are there.
    fn next(&mut self, worker: usize, from: Time) -> (Option<u64>, Time) {
        let answered = self.ask(from, GET, 1);
        let own = &self.workers[worker];
        let generation = &self.generations[own.generation];
        if generation.is_closed {
            return (None, answered);
        }
        let (index, of) = match (self.settings["places"] as usize, generation.known.binary_search(&own.id)) {
            (1, _) => (worker, self.workers.len()),
            (2, Ok(index)) => (index, generation.known.len()),
            _ => (0, 1),
        };
        let is_free = |unit: &u64| own.playing.iter().all(|play| play.1 != *unit);
        let order = WorkOrder::with_id(index as u64, of as u64, own.id);
        let unit = order.first(generation.missing.iter().copied().filter(is_free));
        (unit, self.ask_units(answered, own.generation))
    }

    fn play(&mut self, worker: usize, unit: u64, begun: Time) {
        let normal = (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos();
        let factor = (SPREAD * normal - SPREAD * SPREAD / 2.0).exp() * self.workers[worker].slowness;
        let ended = begun + micros(self.settings["unit_secs"] * factor);
        self.count += 1;
        let number = self.count;
        self.workers[worker].playing.push((number, unit, begun));
        self.later(ended, worker, move |own, worker| own.end(worker, number));
    }

    /// Takes one more unit.
    fn take(&mut self, worker: usize) {
        let locked = self.workers[worker].locked;
        if self.now < locked {
            return self.later(locked, worker, Simulation::take);
        }
        let (unit, answered) = self.next(worker, self.now);
        let own = &mut self.workers[worker];
        own.locked = answered;
        if let Some(unit) = unit {
            return self.play(worker, unit, answered);
        }
        // The generation is left when all its threads have ended.
        own.active -= 1;
        if own.active == 0 {
            self.later(answered, worker, Simulation::look);
        }
    }

    /// Writes a unit that was played to its end.
    fn end(&mut self, worker: usize, number: u64) {
        let own = &mut self.workers[worker];
        let Some(at) = own.playing.iter().position(|play| play.0 == number) else { return };
        let ((_, unit, begun), id) = (own.playing.swap_remove(at), own.id);
        let generation = &mut self.generations[own.generation];
        let (found, is_late) = (generation.missing.binary_search(&unit), generation.is_closed);
        if let Ok(at) = found {
            generation.missing.remove(at);
            generation.fresh.push((id, self.now.saturating_sub(begun)));
        }
        let sent = micros(self.settings["unit_secs"] * SAMPLES * SAMPLE_BYTES / LINKS[0]);
        let mut answered = self.ask(self.now, PUT, 1) + sent;
        if found.is_err() {
            answered = self.ask(answered, GET, 1) + sent; // What is there is read and compared.
        }
        if found.is_err() || is_late {
            self.spend(NOT_COUNTED, begun, self.now);
        }
        self.later(answered, worker, Simulation::take);
    }

    /// Drops what is played for a generation that is closed.
    fn watch(&mut self, worker: usize, generation: usize) {
        let own = &self.workers[worker];
        if own.generation != generation || own.active == 0 {
            return;
        }
        let plays = own.playing.clone();
        self.ask(self.now, GET, plays.len());
        for (number, _, begun) in plays {
            if self.generations[generation].is_closed && begun < self.now {
                self.workers[worker].playing.retain(|play| play.0 != number);
                self.spend(NOT_COUNTED, begun, self.now);
                self.later(self.now, worker, Simulation::take);
            }
        }
        self.later(self.now + micros(LOOK), worker, move |own, worker| own.watch(worker, generation));
    }

    /// Writes a network and a head, and begins to train on the generation before.
    fn open(&mut self) {
        let taken = self.generations.last().map_or(&[][..], |before| &before.taken);
        let samples = taken.len() as f64 * self.settings["unit_secs"] * SAMPLES;
        let known: BTreeSet<u64> = taken.iter().map(|(id, _)| *id).collect();
        let units = (self.settings["units"] * (self.workers.len() * AT_ONCE) as f64).ceil() as usize;
        let (missing, known) = ((0..units as u64).collect(), known.into_iter().collect());
        self.generations.push(Generation { units, missing, known, ..Generation::default() });
        self.trained = self.now + micros(REUSE * samples / self.settings["train"]);
        self.spend(TRAINING, self.now, self.trained);
        let written = self.ask(self.now, PUT, 2);
        self.at(written, |own| own.list(WAITS[0]));
    }

    /// Lists the units of the open generation and reads those that are new; `pause`: seconds until it looks again.
    fn list(&mut self, pause: f64) {
        let Some(open) = self.generations.last_mut() else { return };
        let new = open.fresh.len();
        open.taken.append(&mut open.fresh);
        let mut end = self.ask_units(self.now, self.generations.len() - 1);
        for first in (0..new).step_by(READERS) {
            let together = READERS.min(new - first);
            (0..together).for_each(|_| _ = self.ask(end, GET, 1));
            let samples = self.settings["unit_secs"] * SAMPLES;
            end += micros(LATENCY + together as f64 * (samples * SAMPLE_BYTES) / LINKS[1] + samples / CHECK);
        }
        self.spend(READING, self.now, end);
        self.at(end, move |own| own.close(if new > 0 { WAITS[0] } else { (pause * 2.0).min(WAITS[1]) }));
    }

    /// Closes the generation if what was read is enough, and moves the late units of the one before aside.
    fn close(&mut self, pause: f64) {
        let newest = self.generations.len() - 1;
        let open = &mut self.generations[newest];
        if (open.taken.len() as f64) < self.settings["close"] * open.units as f64 {
            let asked = self.ask(self.now, GET, 1);
            return self.at(asked + micros(pause), move |own| own.list(pause));
        }
        open.is_closed = true;
        if self.begin < self.now {
            self.spent[COUNTED] += open.taken.iter().map(|written| written.1).sum::<Time>();
            self.spent[NOT_COUNTED] += open.fresh.iter().map(|written| written.1).sum::<Time>();
        }
        let mut end = self.ask(self.now, PUT, 1);
        if let Some(before) = newest.checked_sub(1) {
            end = self.ask(end, GET, 2);
            end = self.ask_units(end, before);
            let (late, aside, begun) =
                (self.generations[before].fresh.len(), self.settings["aside"].ceil() as usize, end);
            for first in (0..late).step_by(aside) {
                let (together, mut answered) = (aside.min(late - first), end);
                for _ in 0..together {
                    answered = self.ask(end, GET, 2);
                    answered = self.ask(answered, PUT, 3); // DELETE is counted as PUT.
                }
                let bytes = 3.0 * together as f64 * (self.settings["unit_secs"] * SAMPLES * SAMPLE_BYTES);
                end = answered + micros(bytes / LINKS[1]);
            }
            self.spend(READING, begun, end);
        }
        end = end.max(self.trained);
        self.begin = self.begin.min(end);
        self.at(end, Simulation::open);
    }

    /// Prints a row of the table.
    fn print(&self, row: &[&str]) {
        let secs = (self.now - self.begin) as f64 / 1e6;
        let percent = |on: usize| self.spent[on] as f64 / 1e4 / secs;
        let of_workers = |on: usize| percent(on) / (self.workers.len() * AT_ONCE) as f64;
        let (counted, not, lost) = (of_workers(COUNTED), of_workers(NOT_COUNTED), of_workers(LOST));
        let (reading, training) = (percent(READING), percent(TRAINING));
        let (hourly, waited) = (3600.0 * GENERATIONS as f64 / secs, 100.0 - counted - not - lost);
        print!("{:<5}{:<6}{:>3}{hourly:>6.1}{counted:>4.0}{not:>4.0}{lost:>5.1}{waited:>5.0}", row[2], row[3], row[4]);
        let bins = self.requests.get((self.begin / 1_000_000) as usize..).unwrap_or_default();
        let peak = |of: &dyn Fn(&[u32; 3]) -> u32| bins.iter().map(of).max().unwrap_or_default();
        let short = |number: f64| match number {
            0.0..9.95 => format!("{number:.1}"),
            0.0..999.5 => format!("{number:.0}"),
            0.0..9950.0 => format!("{:.1}k", number / 1e3),
            _ => format!("{:.0}k", number / 1e3),
        };
        for kind in [LIST, GET, PUT] {
            let mean = bins.iter().map(|bin| f64::from(bin[kind])).sum::<f64>() / secs;
            print!("{:>5}{:>5}", short(mean), short(f64::from(peak(&|bin| bin[kind]))));
        }
        let (asked, put) = (peak(&|bin| bin[LIST] + bin[GET]), peak(&|bin| bin[PUT]));
        let full = [training > 90.0, reading > 90.0, asked > LIMITS[0], put > LIMITS[1]];
        let full: String = "TRGP".chars().zip(full).filter(|of| of.1).map(|of| of.0).collect();
        println!("{reading:>4.0}{training:>4.0} {full}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (given, mut values): (Vec<String>, _) = (std::env::args().skip(1).collect(), SETTINGS);
    for text in &given {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("{text:?} is not key=value"))?;
        values.iter_mut().find(|known| known.0 == key).ok_or_else(|| format!("there is no {key:?}"))?.1 = value;
    }
    let mut rows: Vec<Vec<&str>> = vec![Vec::new()];
    for (_, texts) in values {
        rows = rows.iter().flat_map(|row| texts.split(',').map(move |text| [&row[..], &[text]].concat())).collect();
    }
    println!("u: units of a generation for each played at once. gen/h: generations an hour.");
    println!("% of the workers' time: counted, not counted, lost by kills, waited.");
    println!("LIST, GET, PUT: a second, mean and peak. rd, tr: the learner reads, trains, %.");
    println!("sat: Training, Reading over 90 %; Get and list over 5,500/s, Put over 3,500/s.");
    let mut before = [""; 2];
    for row in rows {
        if before != row[..2] {
            before = [row[0], row[1]];
            println!("\n{} workers, {AT_ONCE} units at once each; training {} samples/s", row[1], row[0]);
            println!("     close   u gen/h cnt not lost wait LIST peak  GET peak  PUT peak  rd  tr sat");
        }
        Simulation::run(&row)?.print(&row);
    }
    Ok(())
}

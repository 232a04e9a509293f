//! The part of the learner: says what is played, checks what workers write, and says what counts.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use latrunculi_engine::Rules;
use latrunculi_eval::workers::{VERSION, is_replayed};
use latrunculi_search::evaluators::Uniform;
use latrunculi_selfplay::{PlayedGame, Pool, PoolPlan, PoolTask, Progress, Quota, play_pools, verify_finished};
use latrunculi_store::{Created, Store, StoreError, UnitHeader, Waiting, WorkOrder, sha256};

use super::head::{GenerationHead, Manifest, ManifestUnit, UnitPlace, name_of, to_bytes};
use super::{HEADS, MANIFESTS};
use crate::config::TrainConfig;
use crate::error::{Error, bail};
use crate::files::{read_text, write_whole};
use crate::generation::{GenerationGames, RulesetGames};
use crate::run_dir::STORE_ID;

/// The longest wait between two looks at the store, while nothing comes.
const WAIT_MAX: Duration = Duration::from_secs(5);
const UNIT_BYTES_MAX: u64 = 1 << 30;
/// Generations that are asked how long the games of a ruleset are: one that had too many games has none in the next ones.
const GENERATIONS_ASKED: u64 = 4;
const OWNER_BYTES_MAX: u64 = 256;
/// The share of each ruleset's units that a quorum needs.
const QUORUM: f64 = 0.9;
/// Units of a generation for each that workers play at once: with fewer, many of them wait for the slowest.
const UNITS_PER_PLACE: u64 = 3;
/// Units of a ruleset that are aimed at, where workers play no more than sixteen at once.
const UNITS_MIN: u64 = 16 * UNITS_PER_PLACE;
/// Samples of a game, where nothing better is known.
const GAME_SAMPLES: u64 = 64;

/// When a generation is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Close {
    /// When all its units are there.
    #[default]
    All,
    /// When nine tenths of the units of each ruleset are there: the slowest are left.
    Quorum,
}

/// What a learner needs to let workers play.
#[derive(Clone, Debug)]
pub struct Leader {
    /// The store that it shares with them.
    pub store: Arc<Store>,
    /// The name of the run in it.
    pub run: String,
    /// Differs from run to run, whatever their names ([`owner_of`]).
    pub owner: String,
    /// When a generation is closed.
    pub close: Close,
    /// Is told, in a sentence, of what does not count.
    pub notice: fn(&str),
    /// Whether the user knows that a generation has too few games for its workers.
    knows_of_few: Arc<AtomicBool>,
    /// A name that no other learner has.
    learner: String,
}

/// Returns what tells the run in a folder from all others, made when it is first asked for.
pub fn owner_of(folder: &Path) -> Result<String, Error> {
    let path = folder.join(STORE_ID);
    if !path.exists() {
        write_whole(&path, format!("{}\n", WorkOrder::new(0, 1).name()).as_bytes())?;
    }
    Ok(read_text(&path, OWNER_BYTES_MAX)?.trim().to_owned())
}

/// A unit whose games were checked.
struct Taken {
    about: ManifestUnit,
    games: Vec<PlayedGame>,
}

impl Leader {
    /// Makes the leader of a run.
    #[must_use]
    pub fn new(store: Arc<Store>, run: String, owner: String, close: Close, notice: fn(&str)) -> Leader {
        let learner = WorkOrder::new(0, 1).name();
        Leader { store, run, owner, close, notice, knows_of_few: Arc::default(), learner }
    }

    /// Returns how many games make about so many samples under the rules: by the games of the last of the generations before
    /// that had some under the same rules, or by all of the generation before where none had, as of a new mix.
    pub fn games_for(&self, generation: u64, rules: &Rules, samples: u64) -> Result<u64, Error> {
        let sum = |sums: (u64, u64), unit: &ManifestUnit| (sums.0 + unit.games, sums.1 + unit.samples);
        let estimate = |(games, made): (u64, u64)| samples.saturating_mul(games).div_ceil(made);
        let mut of_all = (1, GAME_SAMPLES);
        for before in (generation.saturating_sub(GENERATIONS_ASKED)..generation).rev() {
            let Some(manifest) = Manifest::read(&self.store, &self.run, before)? else { continue };
            let own = manifest.units.iter().filter(|unit| unit.ruleset == rules.ruleset().id).fold((0, 0), sum);
            if own.1 > 0 {
                return Ok(estimate(own));
            }
            let all = manifest.units.iter().fold((0, 0), sum);
            if before + 1 == generation && all.1 > 0 {
                of_all = all;
            }
        }
        Ok(estimate(of_all))
    }

    /// Returns how many units of each of so many rulesets are enough, by how many the workers of the generation before played
    /// at once.
    pub fn units_for(&self, generation: u64, rulesets: usize) -> Result<u64, Error> {
        let before = match generation.checked_sub(1) {
            Some(before) => Manifest::read(&self.store, &self.run, before)?,
            None => None,
        };
        let enough = before.map_or(0, |manifest| UNITS_PER_PLACE.saturating_mul(manifest.at_once()));
        Ok(UNITS_MIN.max(enough.div_ceil(rulesets.max(1) as u64)))
    }

    /// Returns how many games a unit has: at most as many as fill the batches of a network twice, but so few that there are
    /// `units` units of the games.
    #[must_use]
    pub fn per_unit(games: u64, in_flight: usize, units: u64) -> u64 {
        games.div_ceil(units.max(1)).clamp(1, 2 * in_flight.max(1) as u64)
    }

    /// Lets workers play a generation; returns its games by ruleset, in the order of `rules`, which are those of the head.
    /// A head of it that is in the store counts instead of `head`: settings that were changed since, and the numbers of games
    /// that follow from them, take effect with the next generation.
    /// `model` returns the file of the network, where one plays. `watch` receives the number of games that are there, or of
    /// their samples if `counts_samples`, and returns whether to go on.
    /// Fails with [`Error::Stopped`] when `watch` returns false; when the store cannot be used, or another learner leads this
    /// run.
    pub fn play(
        &self,
        mut head: GenerationHead,
        rules: &[Arc<Rules>],
        model: &dyn Fn() -> Result<Vec<u8>, Error>,
        (counts_samples, watch): (bool, &dyn Fn(u64) -> bool),
    ) -> Result<GenerationGames, Error> {
        let begun = Instant::now();
        let manifest = Manifest::read(&self.store, &self.run, head.generation)?;
        if manifest.is_none() && !head.fingerprint.is_empty() {
            let bytes = model()?;
            head.model = self.store.write_model(&bytes)?;
        }
        let head = self.publish(head)?;
        let (units, config) = (head.units(), TrainConfig::from_text(&head.config)?);
        let plans: Vec<(PoolPlan, String)> = rules.iter().map(|rules| head.plan(&config, rules)).collect();
        let taken = match manifest {
            Some(manifest) => self.take_again(&head, &units, &plans, &manifest)?,
            None => {
                let mut taken = BTreeMap::new();
                self.wait(&head, &units, &plans, &mut taken, &|taken| {
                    let of_games = |one: &Taken| if counts_samples { one.about.samples } else { one.about.games };
                    watch(taken.values().map(of_games).sum())
                })?;
                let manifest = self.close(&head, &units, &taken)?;
                self.tell_of_few(&head, &config, manifest.at_once());
                taken
            }
        };
        let mut played: Vec<RulesetGames> =
            rules.iter().map(|rules| RulesetGames { rules: Arc::clone(rules), games: Vec::new() }).collect();
        let progress = Progress::default();
        let kernels: BTreeSet<String> = taken.values().map(|one| one.about.kernel.clone()).collect();
        let kernels = kernels.into_iter().filter(|kernel| !kernel.is_empty()).collect();
        for (number, one) in taken {
            progress.games.fetch_add(one.games.len() as u64, Ordering::Relaxed);
            played[units[number as usize].ruleset].games.extend(one.games);
        }
        Ok(GenerationGames { rulesets: played, found: 0, progress, secs: begun.elapsed().as_secs_f64(), kernels })
    }

    /// Returns the checksum of the weights that play a generation, which a head of it that was there before decides; empty where
    /// alpha-beta plays.
    pub fn network_of(&self, generation: u64) -> Result<String, Error> {
        Ok(GenerationHead::read(&self.store, &self.run, generation)?.map(|head| head.fingerprint).unwrap_or_default())
    }

    /// Writes the head, or returns the one that is there, if it is this run's.
    /// A learner that is started again may have other settings, and where the training comes before the games it may come to
    /// weights that differ in their last digits from those that it had written; the games of what is written count.
    fn publish(&self, head: GenerationHead) -> Result<GenerationHead, Error> {
        let name = name_of(HEADS, &self.run, head.generation);
        let there = match GenerationHead::read(&self.store, &self.run, head.generation)? {
            Some(there) => Some(there),
            None => match self.store.create(&name, &to_bytes(&head)?)? {
                Created::Mine => return Ok(head),
                Created::Theirs => GenerationHead::read(&self.store, &self.run, head.generation)?,
            },
        };
        match there {
            Some(there) if there.is_of_the_same_run(&head) => Ok(there),
            Some(there)
                if there.owner == head.owner
                    && (&there.program, there.search_version) != (&head.program, head.search_version) =>
            {
                bail!(
                    "{name} was written by version {} of the program with searches of version {}; go on with that version until \
                     the generation is closed",
                    there.program,
                    there.search_version
                )
            }
            Some(there) if there.owner == head.owner => bail!(
                "{name} asks for games of other rulesets or of another player than the settings do now: until the generation \
                 is closed, give `mixes` and `teacher.generations` their values of before, with --set"
            ),
            _ => bail!(
                "{}: {name} is there and is not that of this run, or asks for other games; give the folder of this run another \
                 name, which is the run's in the store, or use another --store",
                self.store
            ),
        }
    }

    fn wait(
        &self,
        head: &GenerationHead,
        units: &[UnitPlace],
        plans: &[(PoolPlan, String)],
        taken: &mut BTreeMap<u64, Taken>,
        watch: &dyn Fn(&BTreeMap<u64, Taken>) -> bool,
    ) -> Result<(), Error> {
        let mut waiting = Waiting::new(WAIT_MAX, self.notice);
        loop {
            let before = taken.len();
            let mut new = Vec::new();
            for object in self.store.list(&head.units_folder())? {
                let unit = head.unit_of_name(&object.name).and_then(|number| units.get(number as usize));
                let Some(unit) = unit else {
                    if !watch(taken) {
                        return Err(Error::Stopped);
                    }
                    let reason = "the generation has no such unit";
                    if self.store.reject(&object.name, UNIT_BYTES_MAX, reason)? {
                        self.tell_of_rejected(&object.name, reason);
                    }
                    continue;
                };
                if !taken.contains_key(&unit.number) {
                    new.push(*unit);
                }
            }
            for new in new.chunks(processors()) {
                if !watch(taken) {
                    return Err(Error::Stopped);
                }
                let read = |unit: &UnitPlace| {
                    let plan = &plans[unit.ruleset];
                    self.store
                        .read_unit(&head.unit_name(unit.number), UNIT_BYTES_MAX, |content| check(content, unit, plan))
                };
                for (unit, found) in new.iter().zip(each_at_once(new, read)) {
                    match found? {
                        Some(Ok(one)) => _ = taken.insert(unit.number, one),
                        Some(Err(reason)) => self.tell_of_rejected(&head.unit_name(unit.number), &reason),
                        None => {}
                    }
                }
            }
            if !watch(taken) {
                return Err(Error::Stopped);
            }
            if self.is_enough(head, units, taken) {
                return Ok(());
            }
            // Another learner may be content with less.
            if self.store.read_beginning(&name_of(MANIFESTS, &self.run, head.generation), 1)?.is_some() {
                return self.superseded(head.generation);
            }
            waiting.after_look(&self.store, taken.len() > before)?;
        }
    }

    fn tell_of_rejected(&self, name: &str, reason: &str) {
        (self.notice)(&format!("{name} does not count: {reason}; it was moved to rejected/"));
    }

    fn is_enough(&self, head: &GenerationHead, units: &[UnitPlace], taken: &BTreeMap<u64, Taken>) -> bool {
        (0..head.rulesets.len()).all(|ruleset| {
            let own = || units.iter().filter(|unit| unit.ruleset == ruleset);
            let (all, there) = (own().count(), own().filter(|unit| taken.contains_key(&unit.number)).count());
            match self.close {
                Close::All => there == all,
                Close::Quorum => there as f64 >= QUORUM * all as f64,
            }
        })
    }

    /// Writes the manifest, and moves aside what came too late for the one before.
    fn close(
        &self,
        head: &GenerationHead,
        units: &[UnitPlace],
        taken: &BTreeMap<u64, Taken>,
    ) -> Result<Manifest, Error> {
        let manifest = Manifest {
            program: VERSION.program.to_owned(),
            run: self.run.clone(),
            generation: head.generation,
            learner: self.learner.clone(),
            units: taken.values().map(|one| one.about.clone()).collect(),
            left: units.iter().map(|unit| unit.number).filter(|number| !taken.contains_key(number)).collect(),
        };
        let name = name_of(MANIFESTS, &self.run, head.generation);
        if self.store.create(&name, &to_bytes(&manifest)?)? == Created::Theirs {
            return self.superseded(head.generation);
        }
        if let Some(before) = head.generation.checked_sub(1) {
            self.sweep(before)?;
        }
        Ok(manifest)
    }

    /// Says once that there are fewer games than workers have use for; smaller units cannot mend that.
    fn tell_of_few(&self, head: &GenerationHead, config: &TrainConfig, at_once: u64) {
        let games: u64 = head.rulesets.iter().map(|ruleset| ruleset.games).sum();
        if games >= UNITS_PER_PLACE.saturating_mul(at_once) || self.knows_of_few.swap(true, Ordering::Relaxed) {
            return;
        }
        let setting = match (head.fingerprint.is_empty(), config.games.samples_per_generation) {
            (true, _) => "teacher.games",
            (false, 0) => "games.per_generation",
            (false, _) => "games.samples_per_generation",
        };
        (self.notice)(&format!(
            "generation {} had {games} games for workers that play {at_once} units at once: with fewer than {UNITS_PER_PLACE} \
             for each, many of them wait for the slowest. A larger {setting} makes more",
            head.generation
        ));
    }

    fn superseded<T>(&self, generation: u64) -> Result<T, Error> {
        bail!(
            "{} was written by another learner of run {:?}, which goes on; this one ends. To take the run over, end the other \
             one and run train --resume here",
            name_of(MANIFESTS, &self.run, generation),
            self.run
        );
    }

    /// Moves aside the units of a closed generation that its manifest does not name.
    fn sweep(&self, generation: u64) -> Result<(), Error> {
        let (Some(head), Some(manifest)) = (
            GenerationHead::read(&self.store, &self.run, generation)?,
            Manifest::read(&self.store, &self.run, generation)?,
        ) else {
            return Ok(());
        };
        let counted: BTreeSet<String> = manifest.units.iter().map(|unit| head.unit_name(unit.unit)).collect();
        let late: Vec<String> = self.store.list(&head.units_folder())?.into_iter().map(|object| object.name).collect();
        let late: Vec<String> = late.into_iter().filter(|name| !counted.contains(name)).collect();
        let reject = |name: &String| self.store.reject(name, UNIT_BYTES_MAX, "it came after its generation was closed");
        // The next generation waits for this.
        for late in late.chunks(processors()) {
            each_at_once(late, reject).into_iter().collect::<Result<Vec<bool>, StoreError>>()?;
        }
        if !late.is_empty() {
            let units = late.len();
            (self.notice)(&format!(
                "{units} units that came after generation {generation} was closed do not count; they were moved to rejected/"
            ));
        }
        Ok(())
    }

    fn take_again(
        &self,
        head: &GenerationHead,
        units: &[UnitPlace],
        plans: &[(PoolPlan, String)],
        manifest: &Manifest,
    ) -> Result<BTreeMap<u64, Taken>, Error> {
        let read = |about: &ManifestUnit| -> Result<(u64, Taken), Error> {
            let name = head.unit_name(about.unit);
            let content = self.store.read(&name, UNIT_BYTES_MAX)?.filter(|content| sha256(content) == about.sha256);
            let (Some(content), Some(unit)) = (content, units.get(about.unit as usize)) else {
                bail!(
                    "{name} is not the unit that the manifest of generation {} names; restore it, or begin a new run",
                    head.generation
                );
            };
            match check(&content, unit, &plans[unit.ruleset]) {
                Ok(one) => Ok((about.unit, one)),
                Err(reason) => bail!("{name}, which the manifest of generation {} names: {reason}", head.generation),
            }
        };
        let all = manifest.units.chunks(processors()).flat_map(|units| each_at_once(units, read));
        all.collect()
    }
}

/// Returns how many units are checked at once.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Calls `each` for all items at once.
fn each_at_once<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(move || each(item))).collect();
        threads.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Returns whether a game of alpha-beta is one of those that the learner plays again.
pub(super) fn is_drawn(pool: &str, game: u64) -> bool {
    is_replayed(crc32fast::hash(format!("{pool} {game}").as_bytes()).into())
}

fn play_again(plan: &PoolPlan, game: u64) -> Result<PlayedGame, String> {
    let pool = Pool::new(PoolPlan { first_game: game, ..plan.clone() }).map_err(|error| error.to_string())?;
    let task = PoolTask { pool, quota: Quota::PlayOut { until: game + 1 }, journal: None };
    let played = play_pools(vec![task], &mut [&mut Uniform], false, &Progress::default(), &|_: &Progress| true);
    let mut played = played.map_err(|error| error.to_string())?;
    played.pop().and_then(|(_, mut games)| games.pop()).ok_or_else(|| "it cannot be played again".to_owned())
}

fn check(content: &[u8], unit: &UnitPlace, (plan, series): &(PoolPlan, String)) -> Result<Taken, String> {
    let games = [unit.first, unit.first + unit.count];
    let (header, body) = UnitHeader::read_checked(content, VERSION, series, games)?;
    let games = verify_finished(body, plan, unit.first, unit.count)?;
    for game in &games {
        // What a shard would refuse is refused here.
        game.samples.check(&plan.rules).map_err(|fault| format!("game {}: {fault}", game.index))?;
        if plan.teacher.is_some() && is_drawn(&plan.name, game.index) && play_again(plan, game.index)? != *game {
            return Err(format!("game {}: played again here it goes another way", game.index));
        }
    }
    let UnitHeader { worker, host, kernel, secs, at_once, .. } = header;
    let about = ManifestUnit {
        unit: unit.number,
        sha256: sha256(content),
        ruleset: plan.rules.ruleset().id.clone(),
        games: games.len() as u64,
        samples: games.iter().map(|game| game.samples.len() as u64).sum(),
        worker,
        host,
        kernel,
        secs,
        at_once,
    };
    Ok(Taken { about, games })
}

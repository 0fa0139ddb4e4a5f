//! What several verbs share: the devices to choose from, and options that mean the same everywhere.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use anyhow::Result;
use cipherlane::devices::{self, Absent, NoDevice};
use cipherlane::{Algorithm, Cipher, Device, Engine, Info, Mode, Operation, Shape, UnknownName};
use cipherlane_lab::Contender;
use cipherlane_lab::telemetry::MOST_HERTZ;
use cipherlane_record::{Host, Record};

use crate::exit::Usage;
use crate::render::{complain, sink};
use crate::suggest;

/// Everything that runs batches here: the engine's devices, and the rivals.
pub(crate) struct Roster {
    /// The engine.
    pub(crate) engine: Engine,
    /// Other libraries.
    pub(crate) rivals: Vec<Box<dyn Device>>,
    /// Kinds of devices that are not here, and why.
    pub(crate) absent: Vec<Absent>,
}

impl Roster {
    /// Finds the devices, and the rivals where `with_rivals`.
    pub(crate) fn find(with_rivals: bool) -> Self {
        let (mut devices, absent) = devices::find();
        let cpu = devices.remove(0);
        let rivals = if with_rivals { rivals() } else { Vec::new() };
        Self { engine: Engine::with_devices(cpu, devices), rivals, absent }
    }

    /// The engine's own devices.
    pub(crate) fn own(&self) -> Vec<&dyn Device> {
        self.engine.devices().iter().map(AsRef::as_ref).collect()
    }

    /// The engine's own devices that are measured and checked unless others are named: of those of OpenCL only GPUs that
    /// are not in the list already. The others may be this CPU.
    fn usual(&self) -> Vec<&dyn Device> {
        let own = self.own();
        let infos: Vec<&Info> = own.iter().map(|device| device.info()).collect();
        let is_usual: Vec<bool> = infos.iter().map(|info| is_usual(info, &infos)).collect();
        own.into_iter().zip(is_usual).filter(|(_, is_usual)| *is_usual).map(|(device, _)| device).collect()
    }

    /// What helps whose devices launch no kernels.
    pub(crate) fn remedy_for_launches(&self) -> String {
        let launching = self.own().into_iter().filter(|&device| Contender::new(device).launches);
        let options: Vec<String> = launching.map(|device| format!("--device {}", device.info().id)).collect();
        match options.is_empty() {
            true => "there is none here that does".to_owned(),
            false => format!("give {}", options.join(" or ")),
        }
    }

    /// The devices of these identifiers; `all` names every one, and none names the engine's usual ones.
    ///
    /// # Errors
    /// If there is none of that name; says why where it is of a kind that this machine has none of.
    pub(crate) fn choose(&self, ids: &[String]) -> Result<Vec<&dyn Device>> {
        if ids.is_empty() {
            return Ok(self.usual());
        }
        let all: Vec<&dyn Device> =
            self.own().into_iter().chain(self.rivals.iter().map(|rival| &**rival)).collect();
        let mut chosen: Vec<&dyn Device> = Vec::new();
        for id in ids {
            let named: Vec<&dyn Device> =
                all.iter().filter(|device| id == "all" || device.info().id == *id).copied().collect();
            if named.is_empty() {
                let known = all.iter().map(|device| device.info().id.clone()).chain(["all".to_owned()]);
                return Err(NoDevice::new(id, known, &self.absent).into());
            }
            for device in named {
                if chosen.iter().all(|other| other.info().id != device.info().id) {
                    chosen.push(device);
                }
            }
        }
        Ok(chosen)
    }
}

/// Whether a device is one of its own beside `all`: no CPU by way of OpenCL, nor a GPU that CUDA drives.
fn is_usual(info: &Info, all: &[&Info]) -> bool {
    let is_gpu = info.detail("kind") == Some("GPU");
    // A fleet's name ends in that of its devices.
    let is_cudas =
        || all.iter().any(|other| other.id.starts_with("cuda:") && info.name.ends_with(&other.name));
    !info.id.starts_with("opencl:") || (is_gpu && !is_cudas())
}

#[cfg(feature = "rivals")]
fn rivals() -> Vec<Box<dyn Device>> {
    cipherlane_lab::rivals::available()
}

#[cfg(not(feature = "rivals"))]
fn rivals() -> Vec<Box<dyn Device>> {
    Vec::new()
}

/// Each of `devices` at each of `tiers`, once where one is named twice; says which have none of them.
///
/// # Errors
/// If a tier is not one of this machine, or a device has none to choose from.
pub(crate) fn at_tiers<'a>(devices: &[&'a dyn Device], tiers: &[String]) -> Result<Vec<Contender<'a>>> {
    let mut contenders = Vec::new();
    for (place, tier) in tiers.iter().enumerate() {
        if tiers[..place].iter().any(|earlier| earlier.eq_ignore_ascii_case(tier)) {
            continue;
        }
        let has =
            |device: &&&dyn Device| device.info().tiers.iter().any(|known| known.eq_ignore_ascii_case(tier));
        let having: Vec<_> = devices.iter().filter(has).collect();
        // None has it: the first says why.
        let asked = if having.is_empty() { devices.iter().take(1).collect() } else { having };
        for &&device in &asked {
            let Info { id, tiers: known, .. } = device.info();
            if known.is_empty() {
                let remedy = format!("{id} chooses its instructions by itself; leave --tier to cpu");
                return Err(Usage(remedy).into());
            }
            let contender = Contender::at_tier(device, tier);
            // A tier serves every algorithm or none: one plan tells.
            let algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);
            device.plan(&Shape::uniform(algorithm, Operation::Seal, 1, 0, true), &contender.wish)?;
            contenders.push(contender);
        }
    }
    for device in devices {
        let id = &device.info().id;
        if contenders.iter().all(|contender| contender.device.info().id != *id) {
            complain("left out", &format!("{id}, which has none of the tiers {}", tiers.join(", ")));
        }
    }
    Ok(contenders)
}

/// Each of `devices` at each of its own tiers.
pub(crate) fn at_every_tier<'a>(devices: &[&'a dyn Device]) -> Vec<Contender<'a>> {
    let mut contenders = Vec::new();
    for &device in devices {
        match device.info().tiers.as_slice() {
            [] => contenders.push(Contender::new(device)),
            tiers => contenders.extend(tiers.iter().map(|tier| Contender::at_tier(device, tier))),
        }
    }
    contenders
}

/// The contender's name: its device, and the tier where it insists on one.
pub(crate) fn label(contender: &Contender<'_>) -> String {
    let id = &contender.device.info().id;
    contender.wish.tier.as_ref().map_or_else(|| id.clone(), |tier| format!("{id} {tier}"))
}

/// The value of an option that takes one: its variable may hold a list, for the verbs that take several.
///
/// # Errors
/// If it is a list, or no such value.
pub(crate) fn one<T>(text: &str) -> Result<T, String>
where
    T: FromStr,
    T::Err: Display,
{
    single(text)?.parse().map_err(|error: T::Err| error.to_string())
}

/// `text`, unless it is a list.
///
/// # Errors
/// If it is one.
pub(crate) fn single(text: &str) -> Result<&str, String> {
    if text.contains(',') {
        return Err("it names several; give one with this option on the command line".to_owned());
    }
    Ok(text)
}

/// A number of threads, as the command line takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many.
    Count(usize),
    /// One per physical core.
    Physical,
    /// One per logical core.
    All,
}

impl Threads {
    /// The number on this machine.
    pub(crate) fn on(self, host: &Host) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Physical => host.physical_cores.unwrap_or(host.logical_cores).min(host.logical_cores),
            Self::All => host.logical_cores,
        }
    }
}

/// More than any machine profits from; each has a stack and a share of the working set.
const MOST_THREADS: usize = 4096;

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "phys" => Ok(Self::Physical),
            "all" => Ok(Self::All),
            _ => match text.parse() {
                Ok(count) if (1..=MOST_THREADS).contains(&count) => Ok(Self::Count(count)),
                _ => Err(format!("`{text}` is no number of threads; write 1 to {MOST_THREADS}, phys or all")),
            },
        }
    }
}

/// The numbers of threads that were asked for, or else `default`, each once.
pub(crate) fn thread_counts(wanted: &[Threads], default: &[Threads], host: &Host) -> Vec<usize> {
    let wanted = if wanted.is_empty() { default } else { wanted };
    once(wanted.iter().map(|threads| threads.on(host)))
}

/// What was asked for, in the order of first mention: what is named twice is meant once.
pub(crate) fn once<T: PartialEq>(asked: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in asked {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

/// A time on the command line.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        _ => Err(format!("`{text}` is no time; write a number of seconds above 0")),
    }
}

/// Readings a second on the command line, 0 for none.
pub(crate) fn readings(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(hertz) if (0.0..=MOST_HERTZ).contains(&hertz) => Ok(hertz),
        _ => Err(format!("`{text}` is no rate of readings; write a number from 0 to {MOST_HERTZ}")),
    }
}

/// A number of messages on the command line.
pub(crate) fn messages(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(messages) if messages > 0 => Ok(messages),
        _ => Err(format!(
            "`{text}` is no number of messages; write a whole number from 1, without a unit: 1000000"
        )),
    }
}

/// A number of blocks, threads or queues on the command line.
pub(crate) fn launched(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!(
            "`{text}` is no number of them; write a whole number from 1, or leave it to the device"
        )),
    }
}

/// The records of a file, which no result may replace from then on.
///
/// # Errors
/// [`Usage`] if it is a folder.
pub(crate) fn records(path: &Path) -> Result<Vec<Record>> {
    if path.is_dir() {
        let name = path.display();
        return Err(Usage(format!("{name} is a folder; name the files in it, as {name}/*.jsonl")).into());
    }
    sink::protect(path);
    Ok(cipherlane_record::read(path)?)
}

/// The seed of all contents on the command line.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no seed; write a whole number from 0 to {}", u64::MAX))
}

/// An algorithm on the command line.
pub(crate) fn algorithm(text: &str) -> Result<Algorithm, String> {
    let names = || Algorithm::all().map(|algorithm| algorithm.to_string());
    text.parse().map_err(|error: UnknownName| format!("{error}{}", suggest::behind(text, names())))
}

/// One algorithm, as [`one`] takes it.
pub(crate) fn one_algorithm(text: &str) -> Result<Algorithm, String> {
    algorithm(single(text)?)
}

/// One key for all messages, or one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Keys {
    /// One key for all messages
    Same,
    /// A key for each message
    Distinct,
}

impl From<Keys> for cipherlane_record::Keys {
    fn from(keys: Keys) -> Self {
        match keys {
            Keys::Same => Self::Same,
            Keys::Distinct => Self::Distinct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_read() {
        assert_eq!("3".parse(), Ok(Threads::Count(3)));
        assert_eq!("phys".parse(), Ok(Threads::Physical));
        assert!("0".parse::<Threads>().unwrap_err().contains("phys or all"));
    }

    #[test]
    fn numbers_that_nothing_takes_are_refused_with_what_is_taken() {
        assert_eq!((readings("0"), readings("10"), messages("12")), (Ok(0.0), Ok(10.0), Ok(12)));
        assert!(readings("11").unwrap_err().contains("from 0 to 10") && readings("NaN").is_err());
        for text in ["0", "1k", "-1", ""] {
            assert!(messages(text).unwrap_err().contains("a whole number from 1"), "{text}");
            assert!(launched(text).unwrap_err().contains("a whole number from 1"), "{text}");
        }
    }

    #[test]
    fn what_is_named_twice_is_meant_once() {
        assert_eq!(once([3, 1, 3, 2, 1]), [3, 1, 2]);
        let roster = Roster::find(false);
        let cpu = roster.choose(&["cpu".to_owned(), "cpu".to_owned()]).unwrap();
        assert_eq!(cpu.len(), 1);
        let tiers = ["portable", "Portable"].map(str::to_owned);
        assert_eq!(at_tiers(&cpu, &tiers).unwrap().len(), 1);
    }

    #[test]
    fn a_gpu_is_measured_once_and_a_cpu_not_by_opencl() {
        let info = |id: &str, name: &str, kind: &str| Info {
            id: id.to_owned(),
            name: name.to_owned(),
            tiers: Vec::new(),
            threads: 1,
            details: vec![("kind".to_owned(), kind.to_owned())],
        };
        let found = [
            info("cpu", "a CPU", ""),
            info("cuda:0", "a GPU", ""),
            info("opencl:0", "a CPU", "no GPU"),
            info("opencl:1", "a GPU", "GPU"),
            info("opencl:2", "another GPU", "GPU"),
            info("opencl:all", "2 devices: a GPU", "GPU"),
        ];
        let all: Vec<&Info> = found.iter().collect();
        let usual: Vec<&str> =
            all.iter().filter(|info| is_usual(info, &all)).map(|info| info.id.as_str()).collect();
        assert_eq!(usual, ["cpu", "cuda:0", "opencl:2"]);
    }

    #[test]
    fn a_device_of_an_absent_kind_says_why() {
        let mut roster = Roster::find(false);
        roster.absent = vec![Absent { kind: "mill", reason: "no mill: build one".to_owned() }];
        let error = |id: &str| roster.choose(&[id.to_owned()]).err().unwrap();
        assert_eq!(error("mill:0").to_string(), "no device mill:0 here: no mill: build one");
        assert_eq!(crate::exit::of(&error("mill:0")), crate::exit::Exit::NothingToRun);
        assert_eq!(crate::exit::of(&error("miller:0")), crate::exit::Exit::Usage);
    }

    #[test]
    fn an_unknown_device_lists_the_known_ones() {
        let roster = Roster::find(false);
        let error = roster.choose(&["abacus".to_owned()]).err().unwrap().to_string();
        // Between them stand the GPUs of this machine.
        assert!(
            error.starts_with("unknown device `abacus`; known: cpu, ") && error.ends_with("all"),
            "{error}"
        );
        let all = roster.choose(&["all".to_owned(), "cpu".to_owned()]).unwrap();
        assert_eq!(all.len(), roster.own().len());
    }
}

//! The logical CPUs that this process may use: which share a core, a cache or memory, and in which order threads
//! should take them.

use core_affinity::CoreId;

/// The logical CPUs of this process, in the order in which threads take them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    cpus: Vec<LogicalCpu>,
    /// How many of them a quota leaves at a time; all where there is none.
    at_once: usize,
    caches: Vec<Cache>,
    unknown: Option<&'static str>,
}

/// One hardware thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalCpu {
    /// The operating system's number.
    pub id: usize,
    /// The smallest number among the CPUs of its physical core.
    pub core: usize,
    /// How many CPUs of the same core come before it.
    pub sibling: usize,
    /// Whether the core is one of the slower kind of a hybrid processor.
    pub efficient: bool,
    /// The NUMA node.
    pub node: usize,
}

/// A cache of the first CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cache {
    /// `L1d`, `L1i`, `L2`.
    name: String,
    /// Size as the system words it: `2048K`.
    size: String,
    /// Logical CPUs that share it.
    shared_by: usize,
}

impl Topology {
    /// What this process may use now. A thread that has been pinned sees only its own CPU, so devices are made
    /// before threads are pinned.
    pub fn detect() -> Self {
        let allowed = core_affinity::get_core_ids().filter(|ids| !ids.is_empty());
        let known = allowed.is_some();
        let ids = allowed.unwrap_or_else(|| {
            let count = std::thread::available_parallelism().map_or(1, usize::from);
            (0..count).map(|id| CoreId { id }).collect()
        });
        let mut topology = Self::read(ids.into_iter().map(|core| core.id), |file| {
            std::fs::read_to_string(format!("/sys/devices/{file}")).ok()
        });
        // Control groups limit time as well as places: the standard library knows both.
        let quota = std::thread::available_parallelism().map_or(topology.cpus.len(), usize::from);
        topology.at_once = quota.clamp(1, topology.cpus.len().max(1));
        if !known {
            topology.unknown = Some("the system does not say which CPUs this process may use");
        }
        topology
    }

    /// The topology of the CPUs `ids`, where `read` returns the text of a file below `/sys/devices`.
    fn read(ids: impl IntoIterator<Item = usize>, read: impl Fn(&str) -> Option<String>) -> Self {
        let nodes = nodes(&read);
        let efficient = read("cpu_atom/cpus").map_or_else(Vec::new, |list| parse_list(&list));
        let mut unknown = None;
        let mut cpus: Vec<LogicalCpu> = Vec::new();
        for id in ids {
            let siblings = read(&format!("system/cpu/cpu{id}/topology/thread_siblings_list"));
            let core = siblings.and_then(|list| parse_list(&list).into_iter().min()).unwrap_or_else(|| {
                unknown = Some("the system does not say which CPUs share a core; taken as given");
                id
            });
            let node = nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map_or(0, |(node, _)| *node);
            let sibling = cpus.iter().filter(|cpu| cpu.core == core).count();
            cpus.push(LogicalCpu { id, core, sibling, efficient: efficient.contains(&id), node });
        }
        // A stable sort: what the system does not tell apart stays in its order.
        cpus.sort_by_key(|cpu| (cpu.sibling, cpu.efficient, cpu.node));
        let caches = cpus.first().map_or_else(Vec::new, |cpu| caches(cpu.id, &read));
        let at_once = cpus.len();
        Self { cpus, at_once, caches, unknown }
    }

    /// The cores in groups of `cores` neighbours in the order, or a few more where they do not come out even; with their
    /// siblings. One group where there are fewer.
    #[must_use]
    pub fn groups(&self, cores: usize) -> Vec<Self> {
        let firsts: Vec<usize> =
            self.cpus.iter().filter(|cpu| cpu.sibling == 0).map(|cpu| cpu.core).collect();
        let groups = (firsts.len() / cores.max(1)).max(1);
        let group = |number: usize| {
            let mine = &firsts[number * firsts.len() / groups..(number + 1) * firsts.len() / groups];
            let cpus = self.cpus.iter().filter(|cpu| mine.contains(&cpu.core)).copied().collect();
            Self { cpus, ..self.clone() }
        };
        (0..groups).map(group).collect()
    }

    /// The same CPUs, in an order that begins with the one at `place` and goes round. Neighbours are of different cores as
    /// long as there are cores: siblings come behind all of them.
    #[must_use]
    pub(crate) fn beginning_at(&self, place: usize) -> Self {
        let mut rotated = self.clone();
        rotated.cpus.rotate_left(place % self.cpus.len().max(1));
        rotated
    }

    /// The CPUs: first one of each physical core, fast cores before slow ones, node by node; then their siblings.
    pub fn cpus(&self) -> &[LogicalCpu] {
        &self.cpus
    }

    /// How many CPUs may be busy at a time: fewer than there are where a quota of the system says so, as of containers.
    pub fn at_once(&self) -> usize {
        self.at_once.min(self.cpus.len())
    }

    /// Number of physical cores.
    pub fn cores(&self) -> usize {
        self.cpus.iter().filter(|cpu| cpu.sibling == 0).count()
    }

    /// Number of NUMA nodes.
    pub fn nodes(&self) -> usize {
        let mut nodes: Vec<usize> = self.cpus.iter().map(|cpu| cpu.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.len()
    }

    /// Caches of the first CPU, for people to read: `L1d 48K, L2 2048K, L3 491520K shared by 2`.
    pub fn caches(&self) -> Option<String> {
        let texts: Vec<String> = self.caches.iter().map(Cache::to_text).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// Bytes of the last cache before memory that holds data, where the system says so.
    pub fn last_cache(&self) -> Option<usize> {
        self.caches.iter().filter(|cache| !cache.name.ends_with('i')).filter_map(Cache::bytes).max()
    }

    /// Bytes of the second cache, where there is one and the system says so.
    pub fn second_cache(&self) -> Option<usize> {
        self.caches.iter().find(|cache| cache.name == "L2")?.bytes()
    }

    /// Why the order is no better than the system's numbering, if so.
    pub fn unknown(&self) -> Option<&'static str> {
        self.unknown
    }
}

impl Cache {
    fn bytes(&self) -> Option<usize> {
        self.size.strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1 << 10)
    }

    fn to_text(&self) -> String {
        let Self { name, size, shared_by } = self;
        if *shared_by > 1 { format!("{name} {size} shared by {shared_by}") } else { format!("{name} {size}") }
    }
}

/// NUMA nodes with their CPUs; none where the system has no notion of them.
fn nodes(read: impl Fn(&str) -> Option<String>) -> Vec<(usize, Vec<usize>)> {
    let online = read("system/node/online").map_or_else(Vec::new, |list| parse_list(&list));
    let cpus = |node: &usize| Some((*node, parse_list(&read(&format!("system/node/node{node}/cpulist"))?)));
    online.iter().filter_map(cpus).collect()
}

fn caches(cpu: usize, read: impl Fn(&str) -> Option<String>) -> Vec<Cache> {
    let cache = |index: usize| {
        let field = |name: &str| {
            let text = read(&format!("system/cpu/cpu{cpu}/cache/index{index}/{name}"))?;
            Some(text.trim().to_owned())
        };
        let kind = match field("type")?.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        let shared_by = field("shared_cpu_list").map_or(1, |list| parse_list(&list).len());
        Some(Cache { name: format!("L{}{kind}", field("level")?), size: field("size")?, shared_by })
    };
    (0..).map_while(cache).collect()
}

/// The numbers of a list in the kernel's notation: `0-3,8`. What is not a number is left out.
fn parse_list(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
impl Topology {
    /// So many cores without siblings.
    pub(crate) fn of_cores(cores: usize) -> Self {
        Self::read(0..cores, |_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two cores with two hardware threads each, numbered as Linux does: 0 and 4 share a core.
    fn two_nodes(file: &str) -> Option<String> {
        let cpu = |file: &str| file.strip_prefix("system/cpu/cpu")?.split('/').next()?.parse::<usize>().ok();
        Some(match file {
            "system/node/online" => "0-1\n".to_owned(),
            "system/node/node0/cpulist" => "0,2,4,6\n".to_owned(),
            "system/node/node1/cpulist" => "1,3,5,7\n".to_owned(),
            "system/cpu/cpu0/cache/index0/type" => "Data\n".to_owned(),
            "system/cpu/cpu0/cache/index0/level" => "1\n".to_owned(),
            "system/cpu/cpu0/cache/index0/size" => "48K\n".to_owned(),
            "system/cpu/cpu0/cache/index0/shared_cpu_list" => "0,4\n".to_owned(),
            _ if file.ends_with("thread_siblings_list") => {
                format!("{},{}\n", cpu(file)? % 4, cpu(file)? % 4 + 4)
            }
            _ => return None,
        })
    }

    fn order(topology: &Topology) -> Vec<usize> {
        topology.cpus().iter().map(|cpu| cpu.id).collect()
    }

    #[test]
    fn cores_come_before_siblings_node_by_node() {
        let topology = Topology::read(0..8, two_nodes);
        assert_eq!(order(&topology), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!((topology.cores(), topology.nodes(), topology.unknown()), (4, 2, None));
        assert_eq!(topology.caches().as_deref(), Some("L1d 48K shared by 2"));
    }

    #[test]
    fn groups_share_out_the_cores() {
        let topology = Topology::read(0..8, two_nodes);
        let orders = |cores| topology.groups(cores).iter().map(order).collect::<Vec<_>>();
        assert_eq!(orders(2), [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!([orders(3), orders(4), orders(9), orders(0)].map(|groups| groups.len()), [1, 1, 1, 4]);
        assert_eq!(topology.groups(3)[0], topology);
    }

    #[test]
    fn a_sibling_whose_core_is_not_allowed_counts_as_a_core() {
        let topology = Topology::read([2, 4, 6], two_nodes);
        assert_eq!(order(&topology), [2, 4, 6]);
        assert_eq!(topology.cores(), 2);
    }

    #[test]
    fn fast_cores_come_first() {
        let read = |file: &str| if file == "cpu_atom/cpus" { Some("0-1".to_owned()) } else { None };
        assert_eq!(order(&Topology::read(0..4, read)), [2, 3, 0, 1]);
    }

    #[test]
    fn without_the_files_the_order_is_the_given_one() {
        let topology = Topology::read([5, 3, 9], |_| None);
        assert_eq!(order(&topology), [5, 3, 9]);
        assert_eq!((topology.cores(), topology.nodes()), (3, 1));
        assert!(topology.unknown().is_some());
        assert_eq!(topology.caches(), None);
    }

    #[test]
    fn this_process_may_use_a_cpu() {
        assert!(!Topology::detect().cpus().is_empty());
    }

    #[test]
    fn a_later_beginning_takes_siblings_of_cores_that_are_left_over() {
        let topology = Topology::read(0..8, two_nodes);
        let (all, later) = (order(&topology), order(&topology.beginning_at(3)));
        assert_eq!(later[..5], all[3..]);
        let mut cores: Vec<usize> =
            topology.beginning_at(3).cpus().iter().take(topology.cores()).map(|cpu| cpu.core).collect();
        cores.sort_unstable();
        cores.dedup();
        assert_eq!(cores.len(), topology.cores(), "as many threads as cores have one each");
    }

    #[test]
    fn no_more_cpus_work_at_once_than_there_are() {
        let topology = Topology { at_once: 3, ..Topology::of_cores(8) };
        assert_eq!(topology.at_once(), 3);
        assert_eq!(topology.groups(2)[0].at_once(), 2);
        assert!((1..=Topology::detect().cpus().len()).contains(&Topology::detect().at_once()));
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(parse_list("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(parse_list("\n"), [0; 0]);
    }
}

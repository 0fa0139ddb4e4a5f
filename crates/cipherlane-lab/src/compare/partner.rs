//! Which row of one file belongs to which of the other.

use cipherlane_record::Measurement;

use super::kind::Row;
use super::{Alone, parts, scopes_differ};

/// Rows with their partners, and those that have none, each under what it is a row of.
#[derive(Debug, Default)]
pub(super) struct Partners<'a> {
    pub(super) pairs: Vec<(Row, &'a Measurement, &'a Measurement)>,
    pub(super) only_base: Vec<Alone>,
    pub(super) only_new: Vec<Alone>,
}

/// Finds partners. Where a side has several rows of a kind, those meet first that are most alike, wherever they stand in
/// their files. Where it has the same row several times, none of them is passed over: as many on both sides meet in
/// their order, else each meets each.
pub(super) fn find<'a>(base: &'a [Measurement], new: &'a [Measurement]) -> Partners<'a> {
    let mut partners = Partners::default();
    for group in groups(base, new) {
        group.join(&mut partners);
    }
    partners
}

/// Rows of one kind.
struct Group<'a> {
    kind: Row,
    base: Vec<&'a Measurement>,
    new: Vec<&'a Measurement>,
}

fn groups<'a>(base: &'a [Measurement], new: &'a [Measurement]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut sort = |row: &'a Measurement, is_new: bool| {
        let kind = Row::of(row);
        let place = groups.iter().position(|group| group.kind == kind).unwrap_or_else(|| {
            groups.push(Group { kind, base: Vec::new(), new: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[place];
        if is_new { group.new.push(row) } else { group.base.push(row) }
    };
    base.iter().for_each(|row| sort(row, false));
    new.iter().for_each(|row| sort(row, true));
    groups
}

/// How alike two rows of a kind are.
type Alike = fn(&Measurement, &Measurement) -> bool;

/// The ways of being partners that need the same kernel, from the closest on. Rows of the same scope come first: only
/// they can be compared without being asked to.
const OF_A_KERNEL: [Alike; 5] = [
    |a, b| scope(a, b) && kernel(a, b) && messages(a, b) && machine(a, b),
    |a, b| scope(a, b) && kernel(a, b) && messages(a, b),
    |a, b| scope(a, b) && kernel(a, b) && machine(a, b),
    |a, b| scope(a, b) && kernel(a, b),
    kernel,
];

fn scope(a: &Measurement, b: &Measurement) -> bool {
    scopes_differ(&a.scope, &b.scope).is_empty()
}

fn kernel(a: &Measurement, b: &Measurement) -> bool {
    a.kernel == b.kernel
}

const fn messages(a: &Measurement, b: &Measurement) -> bool {
    a.messages == b.messages && a.bytes == b.bytes
}

fn machine(a: &Measurement, b: &Measurement) -> bool {
    a.device_name == b.device_name
        && a.host.cpu_model == b.host.cpu_model
        && a.host.cpu_signature == b.host.cpu_signature
}

impl<'a> Group<'a> {
    fn join(self, partners: &mut Partners<'a>) {
        let mut left = Left { base: self.base.clone(), new: self.new.clone(), pairs: Vec::new() };
        let [closest @ .., any_scope] = OF_A_KERNEL;
        closest.iter().for_each(|alike| left.meet(alike));
        // A new kernel is what is compared, unless the files tell rows apart by their kernels.
        left.meet(&|a, b| scope(a, b) && self.is_of_one_kernel(|row| scope(row, a)));
        left.meet(&any_scope);
        left.meet(&|_, _| self.is_of_one_kernel(|_| true));
        let named = |row: &Measurement| self.named(row);
        let Left { base, new, mut pairs } = left;
        // In the order of the base, and of the new rows that meet the same one.
        let place = |row: &Measurement, rows: &[&Measurement]| {
            rows.iter().position(|other| std::ptr::eq(*other, row)).unwrap_or(usize::MAX)
        };
        pairs.sort_by_key(|&(one, other)| (place(one, &self.base), place(other, &self.new)));
        partners.pairs.extend(pairs.into_iter().map(|(one, other)| {
            let Row { kernel: of_one, scope: told, .. } = named(one);
            let (kernel, scope) =
                (kernel(one, other).then_some(of_one).flatten(), told.filter(|_| scope(one, other)));
            (Row { kernel, scope, ..self.kind.clone() }, one, other)
        }));
        let alone = |row: &Measurement| Alone { row: named(row), fault: row.fault() };
        partners.only_base.extend(base.into_iter().map(alone));
        partners.only_new.extend(new.into_iter().map(alone));
    }

    /// Whether each side has one kernel, among the rows for which `is_one`.
    fn is_of_one_kernel(&self, is_one: impl Fn(&Measurement) -> bool) -> bool {
        [&self.base, &self.new].into_iter().all(|side| {
            let mut of_side = side.iter().filter(|row| is_one(row));
            let first = of_side.next();
            of_side.all(|row| first.is_none_or(|first| kernel(first, row)))
        })
    }

    /// What `row` is a row of: its kernel, and of its scope what tells rows of this kind apart in one of the files.
    fn named(&self, row: &Measurement) -> Row {
        let varies = |place: usize| {
            let value = |row: &&Measurement| parts(&row.scope)[place];
            [&self.base, &self.new]
                .into_iter()
                .any(|side| side.iter().any(|row| value(row) != value(&side[0])))
        };
        let told = parts(&row.scope).into_iter().enumerate().filter(|&(place, _)| varies(place));
        let told: Vec<String> = told.map(|(_, (name, value))| format!("{name} {value}")).collect();
        let scope = (!told.is_empty()).then(|| told.join(", "));
        Row { kernel: Some(row.kernel.clone()), scope, ..self.kind.clone() }
    }
}

/// Rows of a kind that have not met, and those that have.
struct Left<'a> {
    base: Vec<&'a Measurement>,
    new: Vec<&'a Measurement>,
    pairs: Vec<(&'a Measurement, &'a Measurement)>,
}

impl Left<'_> {
    /// Has the rows meet that are `alike`, which sorts rows into classes.
    fn meet(&mut self, alike: &dyn Fn(&Measurement, &Measurement) -> bool) {
        let mut alone = Vec::new();
        while let Some(&first) = self.base.first() {
            let (base, other_base): (Vec<_>, Vec<_>) =
                self.base.iter().copied().partition(|row| alike(first, row));
            let (new, other_new): (Vec<_>, Vec<_>) =
                self.new.iter().copied().partition(|row| alike(first, row));
            (self.base, self.new) = (other_base, other_new);
            if new.is_empty() {
                alone.extend(base);
            } else if base.len() == new.len() {
                self.pairs.extend(base.into_iter().zip(new));
            } else {
                let with_each = |one| new.iter().map(move |&other| (one, other));
                self.pairs.extend(base.into_iter().flat_map(with_each));
            }
        }
        self.base = alone;
    }
}

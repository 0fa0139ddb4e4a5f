//! Listings of instructions: functions, their loops, and what stands in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// How often each instruction stands somewhere, by its whole name: `LOP3.LUT`, `xor.b32`, `vpxord`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<String, usize>);

impl Counts {
    /// Instructions whose names are one of `beginnings`, alone or with a digit or a point after it: `IADD` stands for
    /// `IADD3.X`, `SHF` not for `SHFL`.
    pub(crate) fn of(&self, beginnings: &[&str]) -> usize {
        let is = |name: &str| {
            beginnings.iter().any(|beginning| {
                name.strip_prefix(beginning).is_some_and(|rest| {
                    !rest.starts_with(|next: char| next.is_ascii_alphabetic() || next == '_')
                })
            })
        };
        self.0.iter().filter(|(name, _)| is(name)).map(|(_, count)| count).sum()
    }

    /// All of them.
    pub(crate) fn all(&self) -> usize {
        self.0.values().sum()
    }
}

/// A loop: what stands in it, and of that what stands in the longest loop within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    outside: Counts,
    within: Counts,
}

impl Nest {
    /// Instructions of one turn in which the loop within goes round `turns` times: of those that `of` counts.
    pub(crate) fn turn(&self, turns: usize, of: impl Fn(&Counts) -> usize) -> usize {
        of(&self.outside) + turns * of(&self.within)
    }
}

/// A line of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Label(String),
    /// Its name, and the label that it jumps to.
    Instruction(String, Option<String>),
}

/// A function as it was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Its name.
    pub(crate) name: String,
    lines: Vec<Line>,
}

impl Listing {
    /// The functions in what `nvdisasm -c` prints of a cubin.
    pub(crate) fn sass(text: &str) -> Vec<Self> {
        let mut functions: Vec<Self> = Vec::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
                functions.push(Self { name: name.to_owned(), lines: Vec::new() });
            } else if let Some(function) = functions.last_mut() {
                function.lines.extend(sass_line(line));
            }
        }
        functions
    }

    /// The entry points in PTX.
    pub(crate) fn ptx(text: &str) -> Vec<Self> {
        let mut functions: Vec<Self> = Vec::new();
        for line in text.lines() {
            if let Some((_, name)) = line.split_once(".entry ") {
                let name = name.split('(').next().unwrap_or_default().trim();
                functions.push(Self { name: name.to_owned(), lines: Vec::new() });
            } else if let Some(function) = functions.last_mut() {
                ptx_line(line, &mut function.lines);
            }
        }
        functions
    }

    /// The one function that begins where `objdump -d` begins: everything up to its first return.
    pub(crate) fn objdump(text: &str) -> Self {
        let mut lines = Vec::new();
        for line in text.lines() {
            let Some((address, rest)) = line.trim_start().split_once(":\t") else { continue };
            let mut words = rest.split_whitespace();
            let Some(name) = words.next() else { continue };
            lines.push(Line::Label(address.to_owned()));
            let target = words.next().filter(|_| name.starts_with('j')).map(str::to_owned);
            lines.push(Line::Instruction(name.to_owned(), target));
            if name.starts_with("ret") {
                break;
            }
        }
        Self { name: String::new(), lines }
    }

    /// The longest loop in which there is no other: from a label to the last jump back to it.
    pub(crate) fn main_loop(&self) -> Option<Counts> {
        let loops = self.loops();
        let innermost = |one: &&Range<usize>| {
            loops.iter().all(|other| other == *one || other.start < one.start || other.end > one.end)
        };
        let longest =
            loops.iter().filter(innermost).max_by_key(|range| self.counts((*range).clone()).all())?;
        Some(self.counts(longest.clone()))
    }

    /// The loop that has most instructions of these names outside of the loops within it, of equals the shortest; where
    /// none has any, the main loop. Look-ups tell so where a cipher works: the longest loop may be of what is seldom done.
    pub(crate) fn working_loop(&self, names: &[&str]) -> Option<Nest> {
        let loops = self.loops();
        let within = |one: &Range<usize>| {
            let one = one.clone();
            loops
                .iter()
                .filter(move |other| **other != one && other.start >= one.start && other.end <= one.end)
        };
        let outside = |one: &Range<usize>| {
            let places = one.clone().filter(|place| !within(one).any(|inner| inner.contains(place)));
            self.counts(places).of(names)
        };
        let best = loops.iter().max_by_key(|one| (outside(one), Reverse(one.len())))?;
        if outside(best) == 0 {
            return Some(Nest { outside: self.main_loop()?, within: Counts::default() });
        }
        let longest = within(best).max_by_key(|inner| inner.len()).cloned().unwrap_or_default();
        let rest = best.clone().filter(|place| !longest.contains(place));
        Some(Nest { outside: self.counts(rest), within: self.counts(longest.clone()) })
    }

    fn loops(&self) -> Vec<Range<usize>> {
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        let mut loops: Vec<Range<usize>> = Vec::new();
        for (place, line) in self.lines.iter().enumerate() {
            match line {
                Line::Label(name) => {
                    labels.insert(name, place);
                }
                Line::Instruction(_, Some(target)) => {
                    if let Some(&start) = labels.get(target.as_str()) {
                        // A loop may be gone back to from several places; the last one ends it.
                        loops.retain(|known| known.start != start);
                        loops.push(start..place + 1);
                    }
                }
                Line::Instruction(_, None) => {}
            }
        }
        // What jumps to itself is where a function ends.
        loops.retain(|range| range.len() > 2);
        loops
    }

    fn counts(&self, places: impl IntoIterator<Item = usize>) -> Counts {
        let mut counts = Counts::default();
        for place in places {
            if let Line::Instruction(name, _) = &self.lines[place] {
                *counts.0.entry(name.clone()).or_default() += 1;
            }
        }
        counts
    }
}

/// `.L_x_1:`, or `/*0210*/  @P0 BRA `(.L_x_1) ;`.
fn sass_line(line: &str) -> Option<Line> {
    if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with(".L_")) {
        return Some(Line::Label(label.to_owned()));
    }
    let (place, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    if !place.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut words = rest.split_whitespace().skip_while(|word| word.starts_with('@'));
    let name = words.next().filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))?;
    let jump = name.starts_with("BRA") || name.starts_with("UBRA");
    let target = rest.split_once("`(").and_then(|(_, target)| target.split_once(')'));
    let target = target.filter(|_| jump).map(|(label, _)| label.to_owned());
    Some(Line::Instruction(name.trim_end_matches(';').to_owned(), target))
}

/// A label, or instructions with semicolons after them; those of inline assembly stand in braces on one line.
fn ptx_line(line: &str, lines: &mut Vec<Line>) {
    let line = line.split("//").next().unwrap_or_default().trim();
    if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with('$')) {
        lines.push(Line::Label(label.to_owned()));
        return;
    }
    for statement in line.split(';') {
        let statement = statement.trim().trim_start_matches('{').trim_start();
        let mut words = statement.split_whitespace().skip_while(|word| word.starts_with('@'));
        let Some(name) = words.next().filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        else {
            continue;
        };
        let target = words.next().filter(|_| name.starts_with("bra")).map(str::to_owned);
        lines.push(Line::Instruction(name.to_owned(), target));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SASS: &str = "\
.text.probe:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/               @P1 LOP3.LUT R14, R14, R15, RZ, 0x3c, !PT ;
        /*0020*/               @P0 LOP3.LUT R15, R15, R14, RZ, 0x3c, !PT ;
        /*0030*/                   IMAD.IADD R3, R3, 0x1, R4 ;
        /*0040*/              @!P2 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
.L_x_1:
        /*0060*/                   BRA `(.L_x_1);
";

    #[test]
    fn the_loop_of_a_gpus_listing_is_counted() {
        let [function] = &Listing::sass(SASS)[..] else { panic!("one function") };
        let counts = function.main_loop().unwrap();
        assert_eq!((function.name.as_str(), counts.all()), ("probe", 4));
        assert_eq!((counts.of(&["LOP3"]), counts.of(&["IMAD.IADD"]), counts.of(&["IMAD"])), (2, 1, 1));
        assert_eq!(function.counts(0..function.lines.len()).all(), 7);
    }

    #[test]
    fn inline_assembly_is_counted() {
        let text = ".visible .entry probe(\n\t.param .u64 p\n)\n{\n$L__BB0_2:\n\t// begin inline asm\n\t\
            {.reg .pred p; setp.ne.u32 p, %r2, 0; @p xor.b32 %r1, %r1, %r3;}\n\tadd.s32 %r4, %r4, 1;\n\t\
            @%p2 bra \t$L__BB0_2;\n\tret;\n}\n";
        let [function] = &Listing::ptx(text)[..] else { panic!("one function") };
        let counts = function.main_loop().unwrap();
        assert_eq!((counts.of(&["xor"]), counts.of(&["add"]), counts.all()), (1, 1, 4));
    }

    #[test]
    fn a_cpus_loop_is_counted() {
        let text = "\n0000000000001000 <f>:\n    1000:\tpush   rbp\n    1001:\tvpxord zmm0,zmm0,zmm12\n    \
            1007:\tvpxord zmm1,zmm1,zmm12\n    100d:\tsub    edi,0x1\n    1010:\tjne    1001 <f+0x1>\n    \
            1012:\tret\n    1013:\tvpxord zmm1,zmm1,zmm12\n";
        let counts = Listing::objdump(text).main_loop().unwrap();
        assert_eq!((counts.of(&["vpxord"]), counts.of(&["vpxor"]), counts.all()), (2, 0, 4));
    }

    #[test]
    fn the_innermost_loop_is_taken() {
        let text = ".text.k:\n.L_a:\n /*0000*/ MOV R1, R2 ;\n.L_b:\n /*0010*/ PRMT R1, R2 ;\n \
            /*0020*/ @P0 BRA `(.L_b) ;\n /*0030*/ BRA `(.L_a) ;\n";
        let counts = Listing::sass(text)[0].main_loop().unwrap();
        assert_eq!((counts.all(), counts.of(&["PRMT"])), (2, 1));
    }

    /// A turn with two look-ups and a loop of one more within it, among loops that are longer or hold it.
    #[test]
    fn the_loop_of_most_look_ups_is_taken() {
        let text = ".text.k:\n.L_tiles:\n /*0000*/ MOV R1, R2 ;\n.L_turn:\n /*0010*/ LDS R1, [R2] ;\n \
            /*0020*/ LDS.128 R4, [R2] ;\n.L_rows:\n /*0030*/ LDS R3, [R2] ;\n /*0040*/ @P0 BRA `(.L_rows) ;\n \
            /*0050*/ @P1 BRA `(.L_turn) ;\n.L_rest:\n /*0060*/ PRMT R1, R2 ;\n /*0070*/ PRMT R1, R2 ;\n \
            /*0080*/ PRMT R1, R2 ;\n /*0090*/ PRMT R1, R2 ;\n /*00a0*/ @P2 BRA `(.L_rest) ;\n \
            /*00b0*/ LDS R1, [R2] ;\n /*00c0*/ @P3 BRA `(.L_tiles) ;\n";
        let nest = Listing::sass(text)[0].working_loop(&["LDS"]).unwrap();
        assert_eq!((nest.turn(1, |counts| counts.of(&["LDS"])), nest.turn(1, Counts::all)), (3, 5));
        assert_eq!((nest.turn(8, |counts| counts.of(&["LDS"])), nest.turn(8, Counts::all)), (10, 19));
        // Where nothing is looked up, the longest one that holds no other.
        let nest = Listing::sass(&text.replace("LDS", "MOV"))[0].working_loop(&["LDS"]).unwrap();
        assert_eq!(nest.turn(8, |counts| counts.of(&["PRMT"])), 4);
    }
}

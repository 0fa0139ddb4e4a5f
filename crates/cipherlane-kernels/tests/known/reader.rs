//! What a compiler reads of a kernel's text. `c/dialect.h` has a block for each of three, and what is written for one of them
//! is nothing to what the others were seen to do.

/// What compilers are told from one another by.
const NAMES: [&str; 6] = [
    "__CUDACC_RTC__",
    "__CUDACC__",
    "__OPENCL_VERSION__",
    "__NV_CL_C_VERSION",
    "cl_nv_pragma_unroll",
    "__clang__",
];

/// A compiler, by those of the names that it defines.
#[derive(Clone, Copy)]
pub(crate) struct Reader(&'static [&'static str]);

#[allow(dead_code)] // each test has one of them
impl Reader {
    pub(crate) const NVRTC: Self = Self(&["__CUDACC_RTC__", "__CUDACC__"]);
    pub(crate) const POCL: Self = Self(&["__OPENCL_VERSION__", "__clang__"]);
    pub(crate) const HOST: Self = Self(&[]);
}

/// A condition that the line at hand is under.
enum Branch {
    /// Not about compilers: it stays in the text.
    Kept,
    /// Whether a branch was read already, and whether this one is.
    Settled { before: bool, now: bool },
}

impl Reader {
    /// The lines of `text` that this compiler reads, without the conditions that settle it.
    pub(crate) fn read(self, text: &str) -> String {
        let mut branches = Vec::new();
        let mut read = String::new();
        for line in text.lines() {
            let is_settled = self.follow(line, &mut branches);
            let is_read = branches.iter().all(|branch| !matches!(branch, Branch::Settled { now: false, .. }));
            if is_read && !is_settled {
                read.push_str(line);
                read.push('\n');
            }
        }
        assert!(branches.is_empty(), "an #if without its #endif");
        read
    }

    /// Opens, changes or closes a branch. Returns whether `line` is a condition that is settled here.
    fn follow(self, line: &str, branches: &mut Vec<Branch>) -> bool {
        let Some(directive) = line.strip_prefix('#') else { return false };
        let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        match word {
            "if" | "ifdef" | "ifndef" => {
                let now = self.holds(word, rest);
                branches.push(now.map_or(Branch::Kept, |now| Branch::Settled { before: false, now }));
                now.is_some()
            }
            "elif" | "else" => match branches.last_mut() {
                Some(Branch::Settled { before, now }) => {
                    *before |= *now;
                    let holds = word == "else"
                        || self.holds("if", rest).expect("a chain is about compilers, or is not");
                    *now = !*before && holds;
                    true
                }
                _ => false,
            },
            "endif" => matches!(branches.pop(), Some(Branch::Settled { .. })),
            _ => false,
        }
    }

    /// Whether a condition holds that is about compilers alone.
    fn holds(self, word: &str, condition: &str) -> Option<bool> {
        let defines = |name: &str| NAMES.contains(&name).then(|| self.0.contains(&name));
        match word {
            "ifdef" => defines(condition.trim()),
            "ifndef" => defines(condition.trim()).map(|defined| !defined),
            _ => condition.split("||").try_fold(false, |holds, term| {
                let name = term.trim().strip_prefix("defined(")?.strip_suffix(')')?;
                Some(holds | defines(name)?)
            }),
        }
    }
}

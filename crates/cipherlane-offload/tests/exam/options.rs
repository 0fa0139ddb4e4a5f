//! The command line of the examples that check devices.

/// Words with an equals sign are options, others parts of names.
pub(crate) struct Options(Vec<String>);

impl Options {
    pub(crate) fn of_program() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// What follows `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|argument| argument.strip_prefix(name))
    }

    pub(crate) fn number(&self, name: &str, otherwise: usize) -> usize {
        self.get(name).map_or(otherwise, |number| number.parse().unwrap())
    }

    /// Bytes of the text of speeds: `kib=`, else `mib=`, else so many MiB.
    pub(crate) fn text_bytes(&self, mib: usize) -> usize {
        self.get("kib=")
            .map_or_else(|| self.number("mib=", mib) << 20, |kib| kib.parse::<usize>().unwrap() << 10)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().filter(|argument| !argument.contains('=')).cloned().collect()
    }
}

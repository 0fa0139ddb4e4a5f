//! Toolchains, found by name.

use std::io;
use std::process::{Command, Stdio};

/// A compiler or an interpreter.
#[derive(Debug)]
pub(in crate::experiment) struct Tool {
    /// Names under which it may be installed, the preferred one first.
    names: &'static [&'static str],
    /// What makes it tell its version.
    version: &'static str,
    /// How to get it.
    remedy: &'static str,
}

pub(in crate::experiment) const PYTHON: Tool = Tool {
    names: &["python3", "python"],
    version: "--version",
    remedy: "install Python 3 from python.org or the system's packages (python3)",
};
pub(in crate::experiment) const JAVAC: Tool = Tool {
    names: &["javac"],
    version: "--version",
    remedy: "install a JDK from adoptium.net or the system's packages (default-jdk)",
};
pub(in crate::experiment) const JAVA: Tool = Tool {
    names: &["java"],
    version: "--version",
    remedy: "install a JDK from adoptium.net or the system's packages (default-jdk)",
};
pub(in crate::experiment) const CSHARP: Tool = Tool {
    names: &["dotnet"],
    version: "--version",
    remedy: "install the .NET SDK from dotnet.microsoft.com",
};
pub(in crate::experiment) const CPP: Tool = Tool {
    names: &["g++", "clang++"],
    version: "--version",
    remedy: "install g++ or clang++ from the system's packages",
};
pub(in crate::experiment) const GCC: Tool =
    Tool { names: &["gcc"], version: "--version", remedy: "install gcc from the system's packages" };
pub(in crate::experiment) const CLANG: Tool = Tool {
    names: &["clang"],
    version: "--version",
    remedy: "install clang from llvm.org or the system's packages",
};
pub(in crate::experiment) const RUSTC: Tool =
    Tool { names: &["rustc"], version: "--version", remedy: "install Rust from rustup.rs" };
pub(in crate::experiment) const GO: Tool =
    Tool { names: &["go"], version: "version", remedy: "install Go from go.dev" };
pub(in crate::experiment) const NODE: Tool = Tool {
    names: &["node", "nodejs"],
    version: "--version",
    remedy: "install Node.js from nodejs.org or the system's packages (nodejs)",
};

/// A tool that is here.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The name that starts it.
    pub(super) name: &'static str,
    /// What it says of itself: the first line.
    pub(super) version: String,
}

impl Tool {
    /// Finds it by asking for its version.
    ///
    /// # Errors
    /// That it is not here, and how to get it; or why it does not run.
    pub(super) fn find(&self) -> Result<Found, String> {
        for &name in self.names {
            let asked = Command::new(name).arg(self.version).stdin(Stdio::null()).output();
            match asked {
                Ok(output) if output.status.success() => {
                    let text = [output.stdout, output.stderr].concat();
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or(name);
                    return Ok(Found { name, version: line.trim().to_owned() });
                }
                Ok(output) => {
                    return Err(format!("{name} {} fails: {}; {}", self.version, output.status, self.remedy));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{name} does not start: {error}; {}", self.remedy)),
            }
        }
        Err(format!("{} is not installed; {}", self.names.join(" or "), self.remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_is_named_with_its_remedy() {
        let tool = Tool { names: &["no-such-compiler"], version: "--version", remedy: "write one" };
        assert_eq!(tool.find().unwrap_err(), "no-such-compiler is not installed; write one");
    }

    #[test]
    fn a_tool_says_its_version() {
        // The compiler that built this test.
        let found = RUSTC.find().unwrap();
        assert!(found.version.starts_with("rustc 1."), "{}", found.version);
    }
}

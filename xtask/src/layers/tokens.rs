//! What the rules ask of one source file.
//!
//! Files are read as tokens, so that a comment or a string that speaks of `unsafe` is not taken for it.

use anyhow::{Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};

/// Modules of the standard library that touch the world outside.
const IMPURE: [&str; 7] = ["env", "fs", "io", "net", "os", "process", "thread"];

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The keyword `unsafe` occurs.
    pub(super) has_unsafe: bool,
    /// It says `#![allow(unsafe_code)]`, for itself and the modules below it.
    pub(super) allows_unsafe: bool,
    /// Modules that it declares as `#[allow(unsafe_code)] mod name;`.
    pub(super) opens: Vec<String>,
    /// Which of [`IMPURE`] it names, as `std::fs`.
    pub(super) impure: Vec<String>,
}

impl Facts {
    /// Reads the text of one file.
    pub(super) fn of(text: &str) -> Result<Self> {
        let tokens: TokenStream = text.parse().map_err(|error| anyhow!("not Rust: {error}"))?;
        let mut facts = Self::default();
        facts.gather(&tokens.into_iter().collect::<Vec<_>>());
        Ok(facts)
    }

    fn gather(&mut self, tokens: &[TokenTree]) {
        for (place, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(name) if name == "unsafe" => self.has_unsafe = true,
                TokenTree::Ident(name) if name == "std" => self.gather_std(&tokens[place + 1..]),
                TokenTree::Group(group) => {
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    if allows_unsafe(&inner) {
                        let is_inner =
                            place >= 2 && is(&tokens[place - 2], '#') && is(&tokens[place - 1], '!');
                        self.allows_unsafe |= is_inner;
                        self.opens.extend(declared_module(&tokens[place + 1..]).filter(|_| !is_inner));
                    }
                    self.gather(&inner);
                }
                _ => {}
            }
        }
    }

    /// Looks at what follows `std`: `::fs`, or `::{fs, io}`.
    fn gather_std(&mut self, tokens: &[TokenTree]) {
        let [first, second, third, ..] = tokens else { return };
        if !(is(first, ':') && is(second, ':')) {
            return;
        }
        let names: Vec<TokenTree> = match third {
            TokenTree::Group(group) => group.stream().into_iter().collect(),
            name => vec![name.clone()],
        };
        // The first name of each item between commas is a module of std.
        let items = names.split(|token| is(token, ','));
        let modules = items.filter_map(|item| item.first()).map(ToString::to_string);
        self.impure.extend(
            modules.filter(|name| IMPURE.contains(&name.as_str())).map(|name| format!("std::{name}")),
        );
    }
}

fn is(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether the inside of an attribute is `allow(.., unsafe_code, ..)`.
fn allows_unsafe(attribute: &[TokenTree]) -> bool {
    let [TokenTree::Ident(name), TokenTree::Group(lints), ..] = attribute else { return false };
    let mut lints = lints.stream().into_iter();
    name == "allow" && lints.any(|lint| matches!(lint, TokenTree::Ident(lint) if lint == "unsafe_code"))
}

/// The name in `mod name;`, where `tokens` start with that after further attributes and a visibility.
fn declared_module(mut tokens: &[TokenTree]) -> Option<String> {
    loop {
        tokens = match tokens {
            [hash, TokenTree::Group(_), rest @ ..] if is(hash, '#') => rest,
            [TokenTree::Ident(word), TokenTree::Group(_), rest @ ..] if word == "pub" => rest,
            [TokenTree::Ident(word), rest @ ..] if word == "pub" => rest,
            [TokenTree::Ident(word), TokenTree::Ident(name), end, ..] if word == "mod" && is(end, ';') => {
                return Some(name.to_string());
            }
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Facts;

    #[test]
    fn speaking_of_unsafe_is_not_unsafe() {
        let facts = Facts::of("//! unsafe\n#![forbid(unsafe_code)]\nconst A: &str = \"unsafe\";").unwrap();
        assert!(!facts.has_unsafe && !facts.allows_unsafe);
        assert!(Facts::of("fn f() { g(|| unsafe { h() }) }").unwrap().has_unsafe);
    }

    #[test]
    fn a_module_is_opened_by_an_attribute_on_its_declaration() {
        let facts = Facts::of("#[allow(unsafe_code)] #[cfg(unix)] pub(crate) mod job; mod tier;").unwrap();
        assert_eq!(facts.opens, ["job"]);
        // An item is not a module: `unsafe` stays in named files.
        assert!(Facts::of("#[allow(unsafe_code)] fn f() {}").unwrap().opens.is_empty());
        assert!(Facts::of("#[allow(unsafe_code)] mod inline {}").unwrap().opens.is_empty());
        let inner = Facts::of("#![allow(unsafe_code)] mod job;").unwrap();
        assert!(inner.allows_unsafe && inner.opens.is_empty());
    }

    #[test]
    fn modules_of_std_are_found_in_paths_and_in_groups() {
        let text =
            "use std::{fmt, io::Read}; fn f() { let _ = std::fs::read(\"\"); std::mem::take(&mut 0); }";
        assert_eq!(Facts::of(text).unwrap().impure, ["std::io", "std::fs"]);
    }
}

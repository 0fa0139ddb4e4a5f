//! What a command line takes from the environment: variables stand in for options, and errors about their values name them.

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, Error, FromArgMatches};

use crate::cli::Cli;
use crate::exit::Exit;
use crate::render::complain;

/// Those of this command line, each with its value.
static TAKEN: OnceLock<Vec<(String, String)>> = OnceLock::new();

/// The command line, or the end of the program where it is wrong or asks for help.
pub(crate) fn parse() -> Cli {
    let words: Vec<OsString> = std::env::args_os().collect();
    let mut command = with_negative_numbers(Cli::command());
    let matches =
        command.try_get_matches_from_mut(&words).unwrap_or_else(|error| named(error, &words).exit());
    let _ = TAKEN.set(taken(&command, &matches));
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
}

/// The names of the variables that `matches` has values of, of the options of `command`.
pub(crate) fn of(command: &Command, matches: &ArgMatches) -> impl Iterator<Item = String> {
    let is_taken =
        |argument: &&Arg| matches.value_source(argument.get_id().as_str()) == Some(ValueSource::EnvVariable);
    command.get_arguments().filter(is_taken).filter_map(variable)
}

/// Names the variables that an error may be about, whose text this is: all of them where the command line is wrong or asks
/// for what is not here, else those whose value it quotes.
pub(crate) fn tell(text: &str, exit: Exit) {
    let is_of_all = matches!(exit, Exit::Usage | Exit::NothingToRun);
    let taken = TAKEN.get().map_or(&[][..], Vec::as_slice);
    let about: Vec<String> = taken
        .iter()
        .filter(|(_, value)| is_of_all || (!value.is_empty() && text.contains(value)))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if !about.is_empty() {
        complain(
            "variables",
            &format!("{}; an option on the command line wins over its variable", about.join(", ")),
        );
    }
}

fn variable(argument: &Arg) -> Option<String> {
    argument.get_env().map(|name| name.to_string_lossy().into_owned())
}

/// The variables that `matches` has values of, in the verb that was called and in those above it.
fn taken(command: &Command, matches: &ArgMatches) -> Vec<(String, String)> {
    let value = |name: &String| std::env::var_os(name).unwrap_or_default().to_string_lossy().into_owned();
    let here = of(command, matches).map(|name| (name.clone(), value(&name)));
    let below =
        matches.subcommand().and_then(|(name, matches)| Some(taken(command.find_subcommand(name)?, matches)));
    here.chain(below.unwrap_or_default()).collect()
}

/// `error` of the command line `words`, with the name of the variable behind the option whose value it is about, where the
/// value is that of the variable: then the error is gone without variables.
fn named(mut error: Error, words: &[OsString]) -> Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg).cloned() else {
        return error;
    };
    if error.get(ContextKind::InvalidValue).is_none() {
        return error;
    }
    let mut command = Cli::command();
    command.build();
    let alone = without_variables(with_negative_numbers(Cli::command())).try_get_matches_from(words).err();
    let left = alone.as_ref().and_then(|error| error.get(ContextKind::InvalidArg));
    if let Some(name) = find(&command, &option)
        && left != error.get(ContextKind::InvalidArg)
    {
        error.insert(ContextKind::InvalidArg, ContextValue::String(format!("{option} of {name}")));
    }
    error
}

/// The variable of the option that errors call `option`; the verbs that have it share it.
fn find(command: &Command, option: &str) -> Option<String> {
    let here = command.get_arguments().filter(|argument| argument.to_string() == option).find_map(variable);
    here.or_else(|| command.get_subcommands().find_map(|below| find(below, option)))
}

/// Has values be what looks like one: the error about `--time -1` says then what a time is, and not that there is no option
/// of this name.
fn with_negative_numbers(command: Command) -> Command {
    let takes = |argument: &Arg| !argument.is_positional() && argument.get_action().takes_values();
    command
        .mut_args(|argument| if takes(&argument) { argument.allow_negative_numbers(true) } else { argument })
        .mut_subcommands(with_negative_numbers)
}

fn without_variables(command: Command) -> Command {
    command.mut_args(|argument| argument.env(None::<&'static str>)).mut_subcommands(without_variables)
}

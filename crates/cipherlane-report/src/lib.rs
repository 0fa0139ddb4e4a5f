//! Records as pictures: one self-contained page, Markdown and CSV.
//!
//! Data flows one way: records, from one machine or many, to a report. The engine is not asked for anything, so a
//! report can be made wherever the files are.

#![forbid(unsafe_code)]

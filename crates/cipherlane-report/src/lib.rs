//! Records as pictures: one self-contained page, Markdown and CSV.
//!
//! Data flows one way: records, from one machine or many, to a report. The engine is not asked for anything, so a
//! report can be made wherever the files are.
//!
//! ```
//! use std::collections::BTreeMap;
//! use cipherlane_report::Report;
//!
//! let records = Vec::new(); // cipherlane_record::read(path)?
//! let page = Report::new(&records, &BTreeMap::new()).html()?;
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), cipherlane_report::DrawError>(())
//! ```

#![forbid(unsafe_code)]

mod advice;
mod against;
mod beside;
mod ceiling;
mod chart;
mod crossover;
mod csv;
mod headline;
mod html;
mod level;
mod machine;
mod markdown;
mod reading;
mod row;
mod section;
mod subjects;
mod table;
mod units;

use std::collections::BTreeMap;

use cipherlane_record::Record;

pub use chart::DrawError;
pub use html::STYLE;

use advice::Advice;
use headline::Figure;
use machine::Machines;
use row::Row;
use section::{Placed, Section};

/// What records say, ready to be written. The same records make the same bytes.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    records: Vec<Placed<'a>>,
    machines: Machines<'a>,
    figures: Vec<Figure>,
    advice: Vec<Advice>,
    sections: Vec<Section>,
}

impl<'a> Report<'a> {
    /// Reads `records`, of one machine or many. `questions` says, by the name of an experiment, what it asks; one that
    /// is not there goes by its name.
    #[must_use]
    pub fn new(records: &'a [Record], questions: &BTreeMap<String, String>) -> Self {
        let (machines, places) = Machines::of(records);
        let records: Vec<Placed<'a>> = places.into_iter().zip(records).collect();
        let (measured, observed) = section::apart(&records);
        let rows: Vec<Row<'a>> = measured;
        let figures = headline::of(&rows, &observed, &machines);
        let advice = advice::of(&rows, &observed, &machines);
        let sections = section::all(&records, &machines, questions);
        Self { records, machines, figures, advice, sections }
    }

    /// One page with everything in it: it opens from disk, loads nothing, and runs no script.
    ///
    /// # Errors
    /// If a chart cannot be drawn, which only a defect of the plotting library can cause.
    pub fn html(&self) -> Result<String, DrawError> {
        html::page(self)
    }

    /// The same as Markdown, with tables in place of pictures.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::text(self)
    }

    /// The records as comma-separated values (RFC 4180), one line for each quantity, in the records' units.
    #[must_use]
    pub fn csv(&self) -> String {
        csv::text(&self.records, &self.machines)
    }
}

//! Charts as data: what is drawn, what is read aloud, and the table that says the same.

mod bars;
mod draw;
mod heat;
mod lines;
mod scale;
mod svg;

use crate::table::{Column, Table};
use crate::units;

pub use draw::Error as DrawError;
pub(crate) use scale::{Axis, Form};
pub(crate) use svg::swatch;

/// Series that can be told apart by colour and by marker.
pub(crate) const MOST_SERIES: usize = 8;
/// Series of published figures that are drawn beside them: hollow forms tell apart what shares a colour.
pub(crate) const MOST_PUBLISHED: usize = 12;

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// What it shows: `aes-128-gcm seal`.
    pub(crate) title: String,
    /// What is to be seen, in a sentence; read aloud where the picture cannot be seen.
    pub(crate) finding: String,
    /// What is drawn.
    pub(crate) plot: Plot,
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plot {
    /// Values against a number.
    Lines(Lines),
    /// Values of named things.
    Bars(Bars),
    /// Values against two numbers.
    Heat(Heat),
}

/// Values against a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lines {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
}

/// A line with its markers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// By rising `x`.
    pub(crate) points: Vec<Point>,
    pub(crate) look: Look,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A line with markers.
    Measured,
    /// A line alone: so many readings that markers would hide it.
    Dense,
    /// Dashes without markers, for what was computed and not measured.
    Computed,
    /// Markers without a line, for things that follow from no other.
    Scattered,
    /// Hollow markers without a line, for what others published.
    Published,
    /// An area, of bars.
    Solid,
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The ends of the interval, where there is one.
    pub(crate) interval: Option<(f64, f64)>,
}

/// A place on the x axis that matters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) label: String,
}

/// Values of named things, one bar each, or one bar of several parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bars {
    pub(crate) value: Axis,
    /// What the bars of a group are, or the parts of a bar.
    pub(crate) series: Vec<String>,
    /// From top to bottom.
    pub(crate) groups: Vec<Group>,
    /// Whether the bars of a group are parts of one.
    pub(crate) stacked: bool,
    /// Whether values are per cent of a whole, which is shown.
    pub(crate) whole: bool,
}

/// The bars of one thing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) label: String,
    /// A value for each series; `None` where there is none.
    pub(crate) bars: Vec<Option<Bar>>,
    /// What others published for the like.
    pub(crate) published: Vec<(String, f64)>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) value: f64,
    /// The ends of the 95 % interval, where there is one.
    pub(crate) interval: Option<(f64, f64)>,
    /// What stands behind the value: `FASTER`, the name of a library.
    pub(crate) note: String,
}

/// Values against two numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heat {
    /// Title with unit, and the values from left to right.
    pub(crate) x: (String, Vec<f64>),
    /// Title with unit, and the values from bottom to top.
    pub(crate) y: (String, Vec<f64>),
    /// What the colours say, with its unit.
    pub(crate) value: String,
    /// One row of values for each `y`.
    pub(crate) cells: Vec<Vec<Option<f64>>>,
}

impl Chart {
    /// The picture, without its legend: an SVG element whose colours are variables of the page. `id` is unique on
    /// the page.
    pub(crate) fn svg(&self, id: &str) -> Result<String, draw::Error> {
        let drawing = match &self.plot {
            Plot::Lines(lines) => lines::draw(&lines.on_paper()),
            Plot::Bars(bars) => bars::draw(bars),
            Plot::Heat(heat) => heat::draw(heat),
        }?;
        Ok(svg::element(&drawing, id, &self.title, &self.finding))
    }

    /// The names of its series and how they look; none where one would say nothing.
    pub(crate) fn legend(&self) -> Vec<(Look, usize, &str)> {
        match &self.plot {
            Plot::Lines(Lines { series, .. }) if series.len() > 1 => {
                series.iter().enumerate().map(|(place, one)| (one.look, place, one.name.as_str())).collect()
            }
            Plot::Bars(Bars { series, groups, .. }) => {
                let mut legend: Vec<(Look, usize, &str)> = series
                    .iter()
                    .enumerate()
                    .map(|(place, name)| (Look::Solid, place, name.as_str()))
                    .collect();
                if groups.iter().any(|group| !group.published.is_empty()) {
                    legend.push((Look::Published, svg::PUBLISHED, "published"));
                }
                if legend.len() > 1 { legend } else { Vec::new() }
            }
            Plot::Lines(_) | Plot::Heat(_) => Vec::new(),
        }
    }

    /// What is drawn, as numbers.
    pub(crate) fn table(&self) -> Table {
        match &self.plot {
            Plot::Lines(lines) => lines.table(),
            Plot::Bars(bars) => bars.table(),
            Plot::Heat(heat) => heat.table(),
        }
    }
}

impl Lines {
    /// What of it has a place on its axes; the table has the rest.
    fn on_paper(&self) -> Self {
        let mut drawn = self.clone();
        for series in &mut drawn.series {
            series.points.retain(|point| self.x.has(point.x) && self.y.has(point.y));
        }
        drawn.marks.retain(|mark| self.x.has(mark.x));
        drawn
    }

    /// One row for each x, one column for each series, with all of its values there.
    fn table(&self) -> Table {
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|one| one.points.iter().map(|point| point.x)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let mut columns = vec![Column::number(&self.x.title)];
        columns
            .extend(self.series.iter().map(|one| Column::number(&format!("{}: {}", one.name, self.y.title))));
        let value = |one: &Series, x: f64| {
            let there = one.points.iter().filter(|point| point.x.total_cmp(&x).is_eq());
            let texts = there.map(|point| with_interval(point.y, point.interval));
            texts.collect::<Vec<_>>().join("; ")
        };
        let row = |&x: &f64| {
            let mut row = vec![self.x.form.text(x)];
            row.extend(self.series.iter().map(|one| value(one, x)));
            row
        };
        Table { columns, rows: places.iter().map(row).collect() }
    }
}

impl Bars {
    fn table(&self) -> Table {
        let mut columns = vec![Column::words("what")];
        for name in &self.series {
            columns.push(Column::number(&format!("{name}: {}", self.value.title)));
        }
        let published = self.groups.iter().any(|group| !group.published.is_empty());
        if published {
            columns.push(Column::words("published"));
        }
        let rows = self.groups.iter().map(|group| {
            let mut row = vec![group.label.clone()];
            row.extend(group.bars.iter().map(|bar| bar.as_ref().map_or_else(String::new, Bar::text)));
            if published {
                let figures = group
                    .published
                    .iter()
                    .map(|(on, value)| format!("{} ({on})", units::significant(*value)));
                row.push(figures.collect::<Vec<_>>().join(", "));
            }
            row
        });
        Table { columns, rows: rows.collect() }
    }
}

impl Bar {
    fn text(&self) -> String {
        let text = with_interval(self.value, self.interval);
        if self.note.is_empty() { text } else { format!("{text} {}", self.note) }
    }
}

impl Heat {
    fn table(&self) -> Table {
        let mut columns = vec![Column::words(&format!("{} ↓, {} →", self.y.0, self.x.0))];
        columns.extend(self.x.1.iter().map(|x| Column::number(&x.to_string())));
        let rows = self.y.1.iter().zip(&self.cells).rev().map(|(y, cells)| {
            let mut row = vec![y.to_string()];
            row.extend(cells.iter().map(|cell| cell.map_or_else(String::new, units::significant)));
            row
        });
        Table { columns, rows: rows.collect() }
    }
}

/// A value with its interval: `16.3 (16.2–16.4)`.
fn with_interval(value: f64, interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(
        || units::significant(value),
        |(low, high)| {
            format!(
                "{} ({}–{})",
                units::significant(value),
                units::significant(low),
                units::significant(high)
            )
        },
    )
}

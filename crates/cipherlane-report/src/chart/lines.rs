//! Values against a number.

use plotters::prelude::*;

use super::draw::{self, At, Drawing, Error, LINE, Paper, WIDTH};
use super::{Axis, Lines, Look, Point, Series, svg};

const HEIGHT: u32 = 600;
/// Room for the numbers of the y axis, and for those of the x axis with its title.
const LEFT: u32 = 92;
const BOTTOM: u32 = 86;

/// Lines of labels above the plot.
const MOST_LABELS: usize = 3;

/// Draws axes, marks and series.
pub(super) fn draw(lines: &Lines) -> Result<Drawing, Error> {
    let points = || lines.series.iter().flat_map(|series| &series.points);
    let from_zero = !lines.y.logarithmic && points().all(|point| point.y >= 0.0) && !starts_high(lines);
    let marks = lines.marks.iter().map(|mark| mark.x);
    let x_scale =
        lines.x.scale(points().map(|point| point.x).chain(marks), !lines.x.logarithmic && counts(lines));
    let ends = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low.max(if lines.y.logarithmic { point.y / 2.0 } else { f64::MIN }), high]
    });
    let y_scale = lines.y.scale(ends, from_zero);
    draw::on_paper(HEIGHT, |paper| {
        draw::write(paper, &lines.y.title, At::Right, (2, LINE / 2), svg::INK)?;
        let labelled = || lines.marks.iter().filter(|mark| !mark.label.is_empty());
        let room = labelled().count().min(MOST_LABELS);
        #[allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation)] // at most three
        let top = LINE + 10 + LINE * room as i32;
        let mut chart = ChartBuilder::on(paper)
            .margin_top(top)
            .margin_right(26)
            .x_label_area_size(BOTTOM)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(x_scale, y_scale)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(draw::line(svg::GRID, 2))
            .axis_style(draw::line(svg::FAINT, 2))
            .label_style(draw::text_style(svg::INK))
            .axis_desc_style(draw::text_style(svg::INK))
            .x_desc(lines.x.title.as_str())
            .x_labels(7)
            .y_labels(6)
            .draw()?;
        let bottom = i32::try_from(HEIGHT - BOTTOM).unwrap_or(0);
        let place = |x: f64, y: f64| chart.backend_coord(&(x, y));
        let mut row = 0;
        for mark in &lines.marks {
            draw_mark(paper, &mark.label, place(mark.x, 0.0).0, row % MOST_LABELS, bottom)?;
            row += usize::from(!mark.label.is_empty());
        }
        // Those that matter most come first, and are drawn last.
        for (number, series) in lines.series.iter().enumerate().rev() {
            draw_series(paper, (series, number), &lines.x, &place)?;
        }
        Ok(())
    })
}

/// Whether zero would press the readings together: temperatures, clocks.
fn starts_high(lines: &Lines) -> bool {
    lines.series.iter().all(|series| series.look == Look::Dense)
}

/// Whether the x axis counts things, so that it starts at nothing.
fn counts(lines: &Lines) -> bool {
    lines.x.form == super::Form::Count
}

/// A dashed line with its label above the plot.
fn draw_mark(paper: &Paper<'_>, label: &str, x: i32, row: usize, bottom: i32) -> Result<(), Error> {
    let row = i32::try_from(row).unwrap_or(0);
    let height = LINE + LINE * row + LINE / 2 + 6;
    let path = PathElement::new(vec![(x, height + LINE / 2), (x, bottom)], draw::line(svg::dashed(7), 3));
    paper.draw(&path)?;
    let width = draw::width_of(label);
    let right_end = i32::try_from(WIDTH).unwrap_or(0) - 4;
    let (at, x) = if x + width / 2 > right_end {
        (At::Left, right_end)
    } else if x < width / 2 {
        (At::Right, 2)
    } else {
        (At::Middle, x)
    };
    draw::write(paper, label, at, (x, height), svg::FAINT)
}

fn draw_series(
    paper: &Paper<'_>,
    (series, number): (&Series, usize),
    axis: &Axis,
    place: &impl Fn(f64, f64) -> (i32, i32),
) -> Result<(), Error> {
    let at = |point: &Point| place(point.x, point.y);
    let colour = svg::series(number);
    let style = match series.look {
        Look::Measured => Some(draw::line(colour, 4)),
        Look::Dense => Some(draw::line(colour, 3)),
        Look::Computed => Some(draw::line(svg::dashed(number), 3)),
        Look::Scattered | Look::Published | Look::Solid => None,
    };
    let whole = |one: &Point, next: &Point| !axis.is_broken_between(one.x, next.x);
    for part in series.points.chunk_by(whole) {
        match (style, part) {
            // No line tells of a point alone.
            (Some(_), [point]) if series.look == Look::Dense => draw::marker(paper, number, at(point))?,
            (Some(style), part) => {
                paper.draw(&PathElement::new(part.iter().map(at).collect::<Vec<_>>(), style))?;
            }
            (None, _) => {}
        }
    }
    for point in &series.points {
        if let Some((low, high)) = point.interval {
            let ends = vec![place(point.x, low), place(point.x, high)];
            // Shorter than the marker it would not be seen.
            if (ends[0].1 - ends[1].1).abs() > 14 {
                paper.draw(&PathElement::new(ends, draw::line(colour, 3)))?;
            }
        }
        match series.look {
            Look::Measured | Look::Scattered => draw::marker(paper, number, at(point))?,
            Look::Published => draw::published(paper, number, at(point))?,
            Look::Dense | Look::Computed | Look::Solid => {}
        }
    }
    Ok(())
}

/// The sample of a series for a legend, 48 units wide and 24 high.
pub(super) fn sample(paper: &Paper<'_>, look: Look, number: usize) -> Result<(), Error> {
    let across = |style| PathElement::new(vec![(2, 12), (46, 12)], style);
    match look {
        Look::Measured => {
            paper.draw(&across(draw::line(svg::series(number), 4)))?;
            draw::marker(paper, number, (24, 12))
        }
        Look::Scattered => draw::marker(paper, number, (24, 12)),
        Look::Dense => Ok(paper.draw(&across(draw::line(svg::series(number), 5)))?),
        Look::Solid => {
            let block = Rectangle::new([(4, 3), (44, 21)], draw::area(svg::series(number), 1.0));
            Ok(paper.draw(&block)?)
        }
        Look::Computed => Ok(paper.draw(&across(draw::line(svg::dashed(number), 4)))?),
        Look::Published => draw::published(paper, number, (24, 12)),
    }
}

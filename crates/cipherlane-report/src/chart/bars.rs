//! Values of named things: horizontal bars with their label above, so that long names have room on a narrow screen.

use plotters::prelude::*;

use super::draw::{self, At, Drawing, Error, LINE, Paper, WIDTH};
use super::scale::Scale;
use super::{Bar, Bars, Group, svg};
use crate::units;

/// Height of a bar, and the space below it.
const BAR: i32 = 24;
const GAP: i32 = 6;
/// Room that the marker of a published figure takes.
const MARKER: i32 = 20;
/// Space below a group.
const BELOW: i32 = 16;
/// Room for the numbers of the axis and its title.
const AXIS: i32 = 84;
const LEFT: i32 = 6;
const RIGHT: i32 = 26;
/// Part of the width that is kept for the texts behind the bars.
const ROOM: f64 = 0.34;

/// Draws axis and groups, from top to bottom.
pub(super) fn draw(bars: &Bars) -> Result<Drawing, Error> {
    let scale = scale(bars);
    let body: i32 = bars.groups.iter().map(|group| height(group, bars.stacked)).sum();
    let total = body + AXIS + GAP;
    draw::on_paper(u32::try_from(total).unwrap_or(0), |paper| {
        let mut chart = ChartBuilder::on(paper)
            .margin_left(LEFT)
            .margin_right(RIGHT)
            .x_label_area_size(AXIS)
            .build_cartesian_2d(scale.clone(), 0.0..1.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(draw::line(svg::GRID, 2))
            .light_line_style(draw::line(svg::GRID, 0))
            .axis_style(draw::line(svg::FAINT, 2))
            .label_style(draw::text_style(svg::INK))
            .axis_desc_style(draw::text_style(svg::INK))
            .x_desc(bars.value.title.as_str())
            .x_labels(6)
            .draw()?;
        let place = |value: f64| chart.backend_coord(&(value, 0.0)).0;
        let origin = if bars.value.logarithmic { LEFT } else { place(0.0) };
        let mut top = GAP;
        for group in &bars.groups {
            draw_group(paper, bars, group, top, origin, &place)?;
            top += height(group, bars.stacked);
        }
        Ok(())
    })
}

fn height(group: &Group, stacked: bool) -> i32 {
    let bars = if stacked { 1 } else { group.bars.iter().flatten().count().max(1) };
    LINE + i32::try_from(bars).unwrap_or(0) * (BAR + GAP) + BELOW
}

/// The axis, with room for texts behind the longest bar.
fn scale(bars: &Bars) -> Scale {
    let values = || bars.groups.iter().flat_map(|group| group.bars.iter().flatten());
    let published = bars.groups.iter().flat_map(|group| group.published.iter().map(|(_, value)| *value));
    let most = if bars.stacked {
        let sums = bars.groups.iter().map(|group| group.bars.iter().flatten().map(|bar| bar.value).sum());
        sums.fold(0.0, f64::max)
    } else {
        values()
            .flat_map(|bar| [bar.value, bar.interval.map_or(bar.value, |ends| ends.1)])
            .fold(0.0, f64::max)
    };
    let ends = values().map(|bar| bar.value).chain(published).chain([most]);
    let mut scale = bars.value.scale(ends, true);
    if bars.stacked {
        scale.high = most;
    } else if bars.whole {
        scale.high = most.max(100.0) * 1.12;
    } else if bars.value.logarithmic {
        let span = (scale.high / scale.low).powf(ROOM / (1.0 - ROOM));
        scale.high *= span;
        scale.low /= 2.0;
    } else {
        scale.high += (scale.high - scale.low) * ROOM / (1.0 - ROOM);
    }
    scale
}

fn draw_group(
    paper: &Paper<'_>,
    bars: &Bars,
    group: &Group,
    top: i32,
    origin: i32,
    place: &impl Fn(f64) -> i32,
) -> Result<(), Error> {
    let width = i32::try_from(WIDTH).unwrap_or(0) - LEFT;
    let label = draw::fitted(&group.label, width);
    draw::write(paper, &label, At::Right, (LEFT, top + LINE / 2), svg::INK)?;
    let mut upper = top + LINE;
    let mut done = 0.0;
    for (series, bar) in group.bars.iter().enumerate() {
        let Some(bar) = bar else { continue };
        if bars.stacked {
            draw_block(paper, series, (place(done), place(done + bar.value)), upper)?;
            done += bar.value;
        } else {
            let beside: Vec<i32> = group.published.iter().map(|(_, value)| place(*value)).collect();
            draw_bar(paper, (series, bar), (origin, place), upper, &beside, bars.value.logarithmic)?;
            upper += BAR + GAP;
        }
    }
    for (_, value) in &group.published {
        draw::published(paper, svg::PUBLISHED, (place(*value), top + LINE + BAR / 2))?;
    }
    Ok(())
}

fn draw_block(paper: &Paper<'_>, series: usize, (from, to): (i32, i32), upper: i32) -> Result<(), Error> {
    let corners = [(from.min(to), upper), (from.max(to), upper + BAR)];
    Ok(paper.draw(&Rectangle::new(corners, draw::area(svg::series(series), 1.0)))?)
}

/// A bar with its interval and its value, which stands clear of what others published.
fn draw_bar(
    paper: &Paper<'_>,
    (series, bar): (usize, &Bar),
    (origin, place): (i32, &impl Fn(f64) -> i32),
    upper: i32,
    beside: &[i32],
    logarithmic: bool,
) -> Result<(), Error> {
    let end = place(bar.value);
    let middle = upper + BAR / 2;
    if logarithmic {
        // The length would say nothing; the place of the marker does.
        let stem = vec![(origin, middle), (end, middle)];
        paper.draw(&PathElement::new(stem, draw::line(svg::series(series), 2)))?;
        draw::marker(paper, series, (end, middle))?;
    } else {
        draw_block(paper, series, (origin, end), upper)?;
    }
    let mut text_from = end.max(origin);
    if let Some((low, high)) = bar.interval {
        let (low, high) = (place(low), place(high));
        // Narrower it would not be told from the bar's end.
        if high - low > 6 {
            let whisker = PathElement::new(vec![(low, middle), (high, middle)], draw::line(svg::INK, 3));
            paper.draw(&whisker)?;
            text_from = text_from.max(high);
        }
    }
    let text = format!("{} {}", units::significant(bar.value), bar.note);
    let mut beside = beside.to_vec();
    beside.sort_unstable();
    for marker in beside {
        if (text_from - MARKER..text_from + draw::width_of(&text) + MARKER).contains(&marker) {
            text_from = marker + MARKER / 2;
        }
    }
    let room = i32::try_from(WIDTH).unwrap_or(0) - text_from - 10;
    draw::write(paper, &draw::fitted(text.trim_end(), room), At::Right, (text_from + 10, middle), svg::INK)
}

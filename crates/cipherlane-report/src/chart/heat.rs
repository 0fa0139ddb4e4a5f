//! Values against two numbers: a field of cells, the darker the more.

use plotters::prelude::*;

use super::draw::{self, At, Drawing, Error, LINE, Paper, WIDTH};
use super::{Heat, svg};
use crate::units;

const CELL: i32 = 60;
const LEFT: i32 = 92;
const BOTTOM: i32 = 80;
/// The strongest colour, so that the number in the cell can still be read.
const STRONGEST: f64 = 0.62;
const WEAKEST: f64 = 0.05;

/// Draws the cells with their values.
pub(super) fn draw(heat: &Heat) -> Result<Drawing, Error> {
    let rows = i32::try_from(heat.y.1.len()).unwrap_or(0);
    let top = 2 * LINE;
    let height = top + rows * CELL + BOTTOM;
    draw::on_paper(u32::try_from(height).unwrap_or(0), |paper| {
        draw::write(paper, &heat.value, At::Right, (2, LINE / 2), svg::INK)?;
        draw::write(paper, &format!("{} ↓", heat.y.0), At::Right, (2, LINE + LINE / 2), svg::FAINT)?;
        let width = i32::try_from(WIDTH).unwrap_or(0) - LEFT - 4;
        let columns = i32::try_from(heat.x.1.len()).unwrap_or(1).max(1);
        let place = |column: i32, row: i32| (LEFT + width * column / columns, top + (rows - row) * CELL);
        for (row, (y, cells)) in (0..).zip(heat.y.1.iter().zip(&heat.cells)) {
            let (_, lower) = place(0, row);
            draw::write(paper, &y.to_string(), At::Left, (LEFT - 12, lower - CELL / 2), svg::INK)?;
            for (column, cell) in (0..).zip(cells) {
                let corners = [place(column, row + 1), place(column + 1, row)];
                draw_cell(paper, heat, *cell, corners, width / columns)?;
            }
        }
        let below = top + rows * CELL + LINE / 2 + 4;
        for (column, x) in (0..).zip(&heat.x.1) {
            let middle = i32::midpoint(place(column, 0).0, place(column + 1, 0).0);
            draw::write(paper, &x.to_string(), At::Middle, (middle, below), svg::INK)?;
        }
        let title = (LEFT + width / 2, height - LINE / 2);
        draw::write(paper, &heat.x.0, At::Middle, title, svg::INK)
    })
}

fn draw_cell(
    paper: &Paper<'_>,
    heat: &Heat,
    value: Option<f64>,
    [(left, upper), (right, lower)]: [(i32, i32); 2],
    width: i32,
) -> Result<(), Error> {
    let corners = [(left + 2, upper + 2), (right - 2, lower - 2)];
    let Some(value) = value else {
        paper.draw(&Rectangle::new(corners, draw::line(svg::GRID, 2)))?;
        return Ok(());
    };
    let most = heat.cells.iter().flatten().flatten().copied().fold(f64::MIN, f64::max);
    let part = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let strength = WEAKEST + (STRONGEST - WEAKEST) * part;
    // Places after the point beyond these are invisible, and make the page heavy.
    let strength = (strength * 1000.0).round() / 1000.0;
    paper.draw(&Rectangle::new(corners, draw::area(svg::series(0), strength)))?;
    let text = draw::fitted(&units::significant(value), width);
    let middle = (i32::midpoint(left, right), i32::midpoint(upper, lower));
    draw::write(paper, &text, At::Middle, middle, svg::INK)
}

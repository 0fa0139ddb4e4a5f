//! What all charts are drawn with: the paper, its colours, texts and markers.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{RGBColor, ShapeStyle, TextStyle};
use thiserror::Error;

use super::svg;

/// A chart could not be drawn. It is drawn into memory, so that only a defect of the plotting library can cause it.
#[derive(Debug, Error)]
#[error("a chart cannot be drawn: {0}")]
pub struct Error(String);

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for Error {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Self(error.to_string())
    }
}

/// The paper. Two units are one pixel where a chart is shown at its natural size: places are whole units, and half a
/// pixel is fine enough for a curve.
pub(super) type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Width of every chart.
pub(super) const WIDTH: u32 = 960;
/// Height of a line of text, with its leading.
pub(super) const LINE: i32 = 34;
/// Height of letters, in the measure of the plotting library: it divides by 1.24.
const LETTERS: f64 = 25.0 * 1.24;
/// About how wide a letter is.
const LETTER_WIDTH: usize = 14;
/// Radius of a marker.
const RADIUS: i32 = 7;

/// What was drawn.
pub(super) struct Drawing {
    /// The SVG element of the plotting library.
    pub(super) text: String,
    pub(super) height: u32,
}

/// Draws on paper of `height`.
pub(super) fn on_paper(
    height: u32,
    draw: impl FnOnce(&Paper<'_>) -> Result<(), Error>,
) -> Result<Drawing, Error> {
    let mut text = String::new();
    let paper = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
    draw(&paper)?;
    paper.present()?;
    drop(paper);
    Ok(Drawing { text, height })
}

/// A style for lines.
pub(super) fn line(colour: RGBColor, width: u32) -> ShapeStyle {
    ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: width }
}

/// A style for areas; `share` of 1 covers what lies below.
pub(super) fn area(colour: RGBColor, share: f64) -> ShapeStyle {
    ShapeStyle { color: colour.mix(share), filled: true, stroke_width: 0 }
}

/// A style for texts.
pub(super) fn text_style<'a>(colour: RGBColor) -> TextStyle<'a> {
    ("sans-serif", LETTERS).into_font().color(&colour)
}

/// Where a text stands from its point.
#[derive(Clone, Copy)]
pub(super) enum At {
    Right,
    Left,
    Middle,
}

/// Writes `text` with its middle at the height of `point`.
pub(super) fn write(
    paper: &Paper<'_>,
    text: &str,
    at: At,
    point: (i32, i32),
    colour: RGBColor,
) -> Result<(), Error> {
    let place = match at {
        At::Right => HPos::Left,
        At::Left => HPos::Right,
        At::Middle => HPos::Center,
    };
    let style = text_style(colour).pos(Pos::new(place, VPos::Center));
    Ok(paper.draw(&Text::new(text.to_owned(), point, style))?)
}

/// `text`, cut to what `width` units have room for.
pub(super) fn fitted(text: &str, width: i32) -> String {
    let room = usize::try_from(width).unwrap_or(0) / LETTER_WIDTH;
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let cut: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// About how wide a text is.
pub(super) fn width_of(text: &str) -> i32 {
    i32::try_from(text.chars().count() * LETTER_WIDTH).unwrap_or(i32::MAX)
}

/// Draws the marker of a series: colours alone would not tell them apart.
pub(super) fn marker(paper: &Paper<'_>, place: usize, at: (i32, i32)) -> Result<(), Error> {
    let colour = svg::series(place);
    let corners = |corners: &[(i32, i32)]| -> Vec<(i32, i32)> {
        corners.iter().map(|(dx, dy)| (at.0 + dx, at.1 + dy)).collect()
    };
    let polygon = |points: &[(i32, i32)]| Polygon::new(corners(points), area(colour, 1.0));
    let (r, s) = (RADIUS, RADIUS + 2);
    match place % super::MOST_SERIES {
        0 => paper.draw(&Circle::new(at, r, area(colour, 1.0)))?,
        1 => paper.draw(&polygon(&[(-6, -6), (6, -6), (6, 6), (-6, 6)]))?,
        2 => paper.draw(&polygon(&[(0, -s), (s, 0), (0, s), (-s, 0)]))?,
        3 => paper.draw(&polygon(&[(0, -s), (s, r), (-s, r)]))?,
        4 => paper.draw(&polygon(&[(0, s), (s, -r), (-s, -r)]))?,
        5 => {
            paper.draw(&Circle::new(at, r, area(svg::PAPER, 1.0)))?;
            paper.draw(&Circle::new(at, r, line(colour, 4)))?;
        }
        6 => {
            paper.draw(&PathElement::new(corners(&[(-r, 0), (r, 0)]), line(colour, 5)))?;
            paper.draw(&PathElement::new(corners(&[(0, -r), (0, r)]), line(colour, 5)))?;
        }
        _ => {
            paper.draw(&PathElement::new(corners(&[(-6, -6), (6, 6)]), line(colour, 5)))?;
            paper.draw(&PathElement::new(corners(&[(-6, 6), (6, -6)]), line(colour, 5)))?;
        }
    }
    Ok(())
}

/// Draws the marker of a figure that others published: a hollow diamond, and another hollow form once the colours
/// are used up.
pub(super) fn published(paper: &Paper<'_>, place: usize, at: (i32, i32)) -> Result<(), Error> {
    let (r, s) = (RADIUS + 3, RADIUS + 1);
    let colour = if place == svg::PUBLISHED { svg::OTHERS } else { svg::series(place) };
    let form: &[(i32, i32)] = match place / super::MOST_SERIES {
        1 => &[(-s, -s), (s, -s), (s, s), (-s, s), (-s, -s)],
        2 => &[(0, -r), (r, s), (-r, s), (0, -r)],
        _ => &[(0, -r), (r, 0), (0, r), (-r, 0), (0, -r)],
    };
    let corners: Vec<(i32, i32)> = form.iter().map(|(dx, dy)| (at.0 + dx, at.1 + dy)).collect();
    paper.draw(&Polygon::new(corners.clone(), area(svg::PAPER, 1.0)))?;
    Ok(paper.draw(&PathElement::new(corners, line(colour, 4)))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_by_letters_not_by_bytes() {
        assert_eq!(fitted("short", 200), "short");
        assert_eq!(fitted("äöüßäöüß", 6 * 14), "äöüßä…");
        assert_eq!(fitted("text", -5), "…");
    }
}

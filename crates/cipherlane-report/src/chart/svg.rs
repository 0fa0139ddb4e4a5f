//! From the plotting library's SVG to an element of the page: colours become variables of the style sheet, so that
//! one picture serves light and dark, and a title and a description are there for those who listen.

use plotters::style::RGBColor;

use super::draw::{self, Drawing};
use super::{Look, MOST_SERIES};

/// Colours that stand for variables. No chart has a colour of its own.
pub(super) const INK: RGBColor = RGBColor(2, 0, 0);
pub(super) const FAINT: RGBColor = RGBColor(2, 0, 1);
pub(super) const GRID: RGBColor = RGBColor(2, 0, 2);
pub(super) const PAPER: RGBColor = RGBColor(2, 0, 3);
/// What others published.
pub(super) const OTHERS: RGBColor = RGBColor(2, 0, 4);

/// The place of published figures in a legend: after every series.
pub(super) const PUBLISHED: usize = usize::MAX;

/// The colour of a series.
pub(super) fn series(place: usize) -> RGBColor {
    RGBColor(1, 0, index(place))
}

/// The colour of a series whose lines are dashed.
pub(super) fn dashed(place: usize) -> RGBColor {
    RGBColor(3, 0, index(place))
}

fn index(place: usize) -> u8 {
    u8::try_from(place % MOST_SERIES).unwrap_or(0)
}

/// The element, read aloud as `title` and `finding`.
pub(super) fn element(drawing: &Drawing, id: &str, title: &str, finding: &str) -> String {
    let Drawing { text, height } = drawing;
    // The library's own root says neither how to scale nor what is to be seen.
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let body = body.trim_end().strip_suffix("</svg>").unwrap_or(body);
    format!(
        "<svg viewBox=\"0 0 {} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{}</title>\
         <desc id=\"{id}-d\">{}</desc>{}</svg>",
        draw::WIDTH,
        escape(title),
        escape(finding),
        in_variables(body)
    )
}

/// The sample of a series in a legend.
pub(crate) fn swatch(look: Look, place: usize) -> Result<String, draw::Error> {
    let drawing = draw::on_paper(24, |paper| super::lines::sample(paper, look, place))?;
    let body = drawing.text.split_once('>').map_or("", |(_, body)| body);
    let body = body.trim_end().strip_suffix("</svg>").unwrap_or(body);
    Ok(format!("<svg viewBox=\"0 0 48 24\" aria-hidden=\"true\">{}</svg>", in_variables(body)))
}

/// Puts variables in the place of colours, and leaves out what the style sheet says. Quotes of texts are escaped, so
/// that what stands between quotes is an attribute.
fn in_variables(body: &str) -> String {
    let mut text = body.replace(" opacity=\"1\"", "").replace(" font-family=\"sans-serif\"", "");
    text = text.replace(" stroke=\"none\"", "").replace(" stroke-width=\"0\"", "");
    for (colour, name) in
        [(INK, "ink"), (FAINT, "faint"), (GRID, "grid"), (PAPER, "paper"), (OTHERS, "others")]
    {
        text = text.replace(&attribute(colour), &format!("\"var(--{name})\""));
    }
    for place in 0..MOST_SERIES {
        text = text.replace(&attribute(series(place)), &format!("\"var(--s{place})\""));
        let dashes = format!("\"var(--s{place})\" stroke-dasharray=\"12 9\"");
        text = text.replace(&attribute(dashed(place)), &dashes);
    }
    text
}

/// The colour as the library writes it.
fn attribute(RGBColor(red, green, blue): RGBColor) -> String {
    format!("\"#{red:02X}{green:02X}{blue:02X}\"")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

//! Drawing: scales, axes, lines, bands. Everything is SVG inside the page, coloured by the page's CSS variables.

use maud::{Markup, html};

use super::numbers;

/// The width of every plot in the units of its view box: what a phone shows at full size.
pub(super) const WIDTH: f64 = 320.0;

/// A stretch of numbers laid along a stretch of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    domain: (f64, f64),
    range: (f64, f64),
    is_log: bool,
}

impl Scale {
    /// Lays `domain` linearly along `range`; a domain of one number is widened.
    pub(super) fn linear(domain: (f64, f64), range: (f64, f64)) -> Scale {
        let domain = if domain.1 > domain.0 { domain } else { (domain.0 - 0.5, domain.0 + 0.5) };
        Scale { domain, range, is_log: false }
    }

    /// Lays a positive `domain` along `range` by its logarithm.
    pub(super) fn log(domain: (f64, f64), range: (f64, f64)) -> Scale {
        let (low, high) = (domain.0.max(f64::MIN_POSITIVE), domain.1.max(f64::MIN_POSITIVE));
        let domain = if high > low { (low, high) } else { (low / 2.0, low * 2.0) };
        Scale { domain, range, is_log: true }
    }

    /// Returns the place of a number; beyond the domain, the nearer end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let view = |x: f64| if self.is_log { x.max(f64::MIN_POSITIVE).log2() } else { x };
        let (from, to) = (view(self.domain.0), view(self.domain.1));
        let share = ((view(value) - from) / (to - from)).clamp(0.0, 1.0);
        self.range.0 + share * (self.range.1 - self.range.0)
    }

    /// Returns up to about `count` round numbers of the domain.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        if self.is_log {
            let (low, high) = (self.domain.0.log10().floor() as i32, self.domain.1.log10().ceil() as i32);
            return (low..=high).map(|power| 10f64.powi(power)).filter(|&tick| self.holds(tick)).collect();
        }
        let rough = (self.domain.1 - self.domain.0) / count.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        // The round step that is nearest to what was asked for, as a ratio.
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .min_by(|one, other| (one / rough).ln().abs().total_cmp(&(other / rough).ln().abs()))
            .unwrap_or(power);
        let first = (self.domain.0 / step - 1e-9).ceil() as i64;
        let last = (self.domain.1 / step + 1e-9).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }

    fn holds(&self, value: f64) -> bool {
        self.domain.0 <= value && value <= self.domain.1
    }
}

/// Returns a domain that holds all values, rounded out to whole `step`s.
pub(super) fn domain(values: impl IntoIterator<Item = f64>, step: f64) -> (f64, f64) {
    let (low, high) = values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high { (0.0, step) } else { ((low / step).floor() * step, (high / step).ceil() * step) }
}

/// Returns those of the rising `ticks` that stand at least `room` apart, the first of all among them.
pub(super) fn apart(scale: &Scale, ticks: &[f64], room: f64) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for &tick in ticks {
        if kept.last().is_none_or(|&last| (scale.at(tick) - scale.at(last)).abs() >= room) {
            kept.push(tick);
        }
    }
    kept
}

/// Returns a coordinate in the fewest characters that are exact enough.
pub(super) fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

pub(super) struct Plot<'a> {
    /// What it shows, for readers who do not see it too.
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    /// The height in the units of the view box.
    pub(super) height: f64,
    pub(super) x_label: &'a str,
}

/// Where a plot's lines go.
pub(super) struct Frame {
    pub(super) x: Scale,
    pub(super) y: Scale,
}

/// The place of the plotting area inside the view box.
const LEFT: f64 = 44.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 10.0;

impl Plot<'_> {
    fn bottom(&self) -> f64 {
        self.height - 34.0
    }

    /// Returns the stretch of the page along the bottom.
    pub(super) fn across(&self) -> (f64, f64) {
        (LEFT, RIGHT)
    }

    /// Returns the stretch of the page up the side.
    pub(super) fn up(&self) -> (f64, f64) {
        (self.bottom(), TOP)
    }

    /// Draws axes, and `marks` in them; along the bottom with these numbers, or else with round ones.
    pub(super) fn draw(
        &self,
        frame: &Frame,
        x_ticks: Option<&[f64]>,
        x_text: impl Fn(f64) -> String,
        y_text: impl Fn(f64) -> String,
        marks: &Markup,
    ) -> Markup {
        let round_ticks = frame.x.ticks(5);
        let bottom = self.bottom();
        html! {
            svg.plot viewBox=(format!("0 0 {WIDTH} {}", place(self.height))) role="img" aria-label=(self.title) {
                title { (self.title) }
                desc { (self.description) }
                @for tick in frame.y.ticks(4) {
                    @let y = place(frame.y.at(tick));
                    line.grid x1=(LEFT) x2=(RIGHT) y1=(y) y2=(y) {}
                    text.tick x=(LEFT - 5.0) y=(place(frame.y.at(tick) + 4.0)) text-anchor="end" { (y_text(tick)) }
                }
                line.axis x1=(LEFT) x2=(RIGHT) y1=(place(bottom)) y2=(place(bottom)) {}
                @for &tick in x_ticks.unwrap_or(&round_ticks) {
                    @let x = place(frame.x.at(tick));
                    line.axis x1=(x) x2=(x) y1=(place(bottom)) y2=(place(bottom + 4.0)) {}
                    text.tick x=(x) y=(place(bottom + 15.0)) text-anchor="middle" { (x_text(tick)) }
                }
                text.label x=(place((LEFT + RIGHT) / 2.0)) y=(place(self.height - 4.0)) text-anchor="middle" { (self.x_label) }
                (marks)
            }
        }
    }
}

pub(super) fn line(frame: &Frame, class: &str, points: &[(f64, f64)]) -> Markup {
    html! { path class=(format!("line {class}")) d=(path(frame, points.iter().copied())) {} }
}

/// Returns the area between lower and upper ends, by `(x, lower, upper)`.
pub(super) fn band(frame: &Frame, class: &str, ends: &[(f64, f64, f64)]) -> Markup {
    if ends.is_empty() {
        return html! {};
    }
    let forth = ends.iter().map(|&(x, lower, _)| (x, lower));
    let back = ends.iter().rev().map(|&(x, _, upper)| (x, upper));
    html! { path class=(format!("band {class}")) d=(path(frame, forth.chain(back)) + "Z") {} }
}

fn path(frame: &Frame, points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        path.push_str(&format!("{letter}{} {}", place(frame.x.at(x)), place(frame.y.at(y))));
    }
    path
}

/// Returns a point with its interval standing on it.
pub(super) fn point(frame: &Frame, series: usize, x: f64, value: f64, ends: (f64, f64), tip: &str) -> Markup {
    let (at, low, high) = (place(frame.x.at(x)), place(frame.y.at(ends.0)), place(frame.y.at(ends.1)));
    html! {
        g class=(series_class(series)) {
            title { (tip) }
            line.whisker x1=(at) x2=(at) y1=(low) y2=(high) {}
            (mark(series, frame.x.at(x), frame.y.at(value)))
        }
    }
}

/// Returns the class of the `index`-th series.
pub(super) fn series_class(index: usize) -> &'static str {
    ["s1", "s2", "s3", "s4"][index % 4]
}

/// Returns the mark of the `index`-th series: disc, square, triangle, diamond.
pub(super) fn mark(index: usize, x: f64, y: f64) -> Markup {
    let at = |dx: f64, dy: f64| format!("{},{}", place(x + dx), place(y + dy));
    match index % 4 {
        0 => html! { circle.mark cx=(place(x)) cy=(place(y)) r="4" {} },
        1 => html! { rect.mark x=(place(x - 3.6)) y=(place(y - 3.6)) width="7.2" height="7.2" {} },
        2 => html! { polygon.mark points=(format!("{} {} {}", at(0.0, -5.0), at(4.6, 3.4), at(-4.6, 3.4))) {} },
        _ => {
            html! { polygon.mark points=(format!("{} {} {} {}", at(0.0, -5.2), at(5.2, 0.0), at(0.0, 5.2), at(-5.2, 0.0))) {} }
        }
    }
}

/// Returns a legend: one entry per series, with its mark.
pub(super) fn legend<Name: AsRef<str>>(names: &[Name]) -> Markup {
    html! {
        ul.legend {
            @for (index, name) in names.iter().enumerate() {
                li {
                    svg class=(format!("key {}", series_class(index))) viewBox="0 0 14 14" aria-hidden="true" { (mark(index, 7.0, 7.0)) }
                    (name.as_ref())
                }
            }
        }
    }
}

/// Returns a share as percent for an axis.
pub(super) fn percent_tick(share: f64) -> String {
    format!("{} %", numbers::text(100.0 * share, 0))
}

/// Returns a number for an axis without needless digits.
pub(super) fn number_tick(value: f64) -> String {
    let decimals = (0..=3).find(|&decimals| (value * 10f64.powi(decimals)).fract().abs() < 1e-6).unwrap_or(3);
    numbers::text(value, decimals as usize)
}

/// Returns a large number for an axis: `2k`, `1M`.
pub(super) fn short_tick(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", number_tick(v / 1e6)),
        v if v >= 1e3 => format!("{}k", number_tick(v / 1e3)),
        v => number_tick(v),
    }
}

/// One row of a [`Forest`].
pub(super) struct ForestRow {
    pub(super) label: Markup,
    pub(super) shown: Markup,
    /// The class that colours the row.
    pub(super) class: &'static str,
    pub(super) value: f64,
    /// Its interval.
    pub(super) interval: (f64, f64),
    /// A wider interval, drawn thinner.
    pub(super) outer: Option<(f64, f64)>,
}

/// Intervals below one another along a common axis. The places are in percent of the width, so that text keeps its size.
pub(super) struct Forest<'a> {
    pub(super) caption: Markup,
    pub(super) domain: (f64, f64),
    /// The value that means "none", drawn as a line.
    pub(super) reference: f64,
    /// Around the reference: what counts as none.
    pub(super) margin: Option<f64>,
    pub(super) tick: &'a dyn Fn(f64) -> String,
}

impl Forest<'_> {
    pub(super) fn draw(&self, rows: &[ForestRow]) -> Markup {
        let scale = Scale::linear(self.domain, (2.0, 98.0));
        let at = |value: f64| format!("{:.2}%", scale.at(value));
        let between = |from: f64, to: f64| format!("{:.2}%", (scale.at(to) - scale.at(from)).max(0.0));
        let ground = html! {
            @if let Some(margin) = self.margin {
                rect.margin x=(at(self.reference - margin)) width=(between(self.reference - margin, self.reference + margin)) y="0" height="100%" {}
            }
            @for tick in scale.ticks(5) { line.grid x1=(at(tick)) x2=(at(tick)) y1="0" y2="100%" {} }
            line.reference x1=(at(self.reference)) x2=(at(self.reference)) y1="0" y2="100%" {}
        };
        let axis = html! {
            li.axis-row aria-hidden="true" {
                span {} span {}
                span.strip {
                    svg { @for tick in scale.ticks(5) { text.tick x=(at(tick)) y="14" text-anchor="middle" { ((self.tick)(tick)) } } }
                }
            }
        };
        html! {
            figure.forest {
                figcaption { (self.caption) }
                ul {
                    (axis)
                    @for row in rows {
                        li {
                            span.what { (row.label) }
                            span.value { (row.shown) }
                            span.strip {
                                svg class=(row.class) aria-hidden="true" {
                                    (ground)
                                    @if let Some((low, high)) = row.outer { line.outer x1=(at(low)) x2=(at(high)) y1="50%" y2="50%" {} }
                                    line.inner x1=(at(row.interval.0)) x2=(at(row.interval.1)) y1="50%" y2="50%" {}
                                    circle.mark cx=(at(row.value)) cy="50%" r="5" {}
                                }
                            }
                        }
                    }
                    (axis)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::linear((0.43, 0.67), (0.0, 100.0));
        let ticks = scale.ticks(5);
        assert_eq!(ticks.len(), 5);
        assert!(ticks.iter().zip([0.45, 0.5, 0.55, 0.6, 0.65]).all(|(tick, round)| (tick - round).abs() < 1e-9));
        assert_eq!(Scale::log((500.0, 60_000.0), (0.0, 1.0)).ticks(5), [1_000.0, 10_000.0]);
    }

    #[test]
    fn ticks_are_as_many_as_were_asked_for() {
        // A score from 15 to 100 % has more than two numbers on its axis.
        let scores = Scale::linear((0.15, 1.0), (0.0, 100.0)).ticks(4);
        assert!(scores.iter().zip([0.2, 0.4, 0.6, 0.8, 1.0]).all(|(tick, round)| (tick - round).abs() < 1e-9));
        assert_eq!(scores.len(), 5);
        let budgets = Scale::log((160.0, 6250.0), (0.0, 200.0));
        assert_eq!(apart(&budgets, &[200.0, 200.0, 1000.0, 5000.0], 26.0), [200.0, 1000.0, 5000.0]);
        assert_eq!(apart(&budgets, &[200.0, 220.0, 1000.0], 26.0), [200.0, 1000.0]);
    }

    #[test]
    fn places_stay_on_the_page() {
        let scale = Scale::linear((0.0, 1.0), (40.0, 300.0));
        assert_eq!((scale.at(-1.0), scale.at(0.5), scale.at(7.0)), (40.0, 170.0, 300.0));
        let single = Scale::linear((3.0, 3.0), (0.0, 10.0));
        assert_eq!(single.at(3.0), 5.0);
        let doubling = Scale::log((100.0, 400.0), (0.0, 1.0));
        assert!((doubling.at(200.0) - 0.5).abs() < 1e-12);
        assert_eq!(domain([0.47, 0.61], 0.05), (0.45, 0.65));
        assert_eq!(domain([], 0.05), (0.0, 0.05));
    }

    #[test]
    fn numbers_on_axes_are_short() {
        assert_eq!([0.0, 2.5, 300.0].map(number_tick), ["0", "2.5", "300"]);
        assert_eq!([500.0, 2_000.0, 1e6].map(short_tick), ["500", "2k", "1M"]);
        assert_eq!(percent_tick(0.55), "55 %");
    }
}

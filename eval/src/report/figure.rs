//! The first player's scores as a picture of its own, which pages elsewhere can show.

use maud::{Markup, PreEscaped, html};

use super::plot::{Scale, domain, place};
use super::{Study, numbers};
use crate::study::StudySummary;
use crate::study::summary::{Conclusion, RulesetSummary, ScoreSummary};

/// One neutral background serves light and dark pages.
const STYLE: &str = "svg { font: 12px system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif; background: #f6f6f3; } \
text { fill: #57606a; } .name { fill: #1f2328; font-size: 13px; } .title { fill: #1f2328; font-size: 16px; font-weight: bold; } \
line { stroke: #d3d6da; } .fair { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 4 3; } \
.interval { stroke: currentColor; stroke-width: 3; } circle { fill: currentColor; stroke: currentColor; stroke-width: 2; } \
.drawn { fill: #f6f6f3; }";

/// Above this share of draws a score near one half says little; the circle is left empty.
const MOSTLY_DRAWN: f64 = 0.9;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 230.0;
const RIGHT: f64 = WIDTH - 210.0;
const TOP: f64 = 76.0;
const ROW: f64 = 20.0;

struct Row<'a> {
    ruleset: &'a RulesetSummary,
    score: ScoreSummary,
    conclusion: Conclusion,
    drawn: f64,
}

/// Returns the headline agent's score in every ruleset that was asked for, the highest first, with its interval, as SVG.
#[must_use]
pub fn first_player_svg(summary: &StudySummary) -> String {
    let study = Study { summary, rulesets: &[] };
    let agent = study.headline_agent().map_or("", |agent| &agent.agent);
    let row = |ruleset| {
        let cell = study.headline(ruleset)?;
        let drawn = (cell.outcomes.rule_draws + cell.outcomes.truncated) as f64 / cell.games.max(1) as f64;
        Some(Row { ruleset, score: cell.score?, conclusion: cell.verdict.as_ref()?.verdict, drawn })
    };
    let mut rows: Vec<Row<'_>> = study.asked().filter_map(row).collect();
    rows.sort_by(|one, other| other.score.score.total_cmp(&one.score.score));
    let ends = rows.iter().flat_map(|row| [row.score.interval.lower, row.score.interval.upper]);
    let scores = domain(ends.chain([0.4, 0.6]), 0.1);
    let (x, bottom) = (Scale::linear(scores, (LEFT, RIGHT)), TOP + ROW * rows.len() as f64);
    let upright = |class: &str, score: f64| {
        let at = place(x.at(score));
        html! { line class=(class) x1=(at) x2=(at) y1=(TOP) y2=(bottom) {} }
    };
    let title = format!("First player’s score at equal strength, {agent}");
    let height = bottom + 52.0;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img" {
            title { (title) " against itself, in " (rows.len()) " rulesets" }
            style { (PreEscaped(STYLE)) }
            (text("title", 16.0, 26.0, "start", &title))
            (legend(&rows))
            (text("", WIDTH - 78.0, TOP - 8.0, "end", &format!("score [{} interval]", study.confidence())))
            (text("", WIDTH - 16.0, TOP - 8.0, "end", "drawn"))
            @for tick in x.ticks(8) {
                (upright("grid", tick))
                (text("", x.at(tick), bottom + 18.0, "middle", &numbers::text(100.0 * tick, 0)))
            }
            (upright("fair", 0.5))
            @for (row, index) in rows.iter().zip(0u32..) { (row.draw(&x, TOP + ROW * (f64::from(index) + 0.5))) }
            (text("", (LEFT + RIGHT) / 2.0, bottom + 38.0, "middle", "points of 100; a draw counts one half"))
        }
    };
    picture.into_string() + "\n"
}

fn text(class: &str, x: f64, y: f64, anchor: &str, words: &str) -> Markup {
    html! { text class=(class) x=(place(x)) y=(place(y)) text-anchor=(anchor) { (words) } }
}

fn circle(x: f64, y: f64, colour: &str, is_drawn: bool) -> Markup {
    html! { circle class=[is_drawn.then_some("drawn")] color=(colour) cx=(place(x)) cy=(place(y)) r="4.5" {} }
}

fn colour(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::First => "#86650f",
        Conclusion::Second => "#3a3532",
        Conclusion::Balanced => "#1f6f54",
        Conclusion::EvenWithThisPlayer => "#4f7396",
        Conclusion::Unresolved => "#57606a",
    }
}

/// What the colours of the rows mean, and an empty circle.
fn legend(rows: &[Row<'_>]) -> Markup {
    use Conclusion::{Balanced, EvenWithThisPlayer, First, Second, Unresolved};
    let found = [First, Second, Balanced, EvenWithThisPlayer, Unresolved]
        .into_iter()
        .filter(|conclusion| rows.iter().any(|row| row.conclusion == *conclusion))
        .map(|conclusion| (conclusion.as_str().to_owned(), colour(conclusion), false));
    let drawn = format!("more than {} % of the games drawn", 100.0 * MOSTLY_DRAWN);
    let placed = found.chain([(drawn, "#57606a", true)]).scan(21.0, |next, (words, colour, is_drawn)| {
        let at = *next;
        *next += 35.0 + 6.5 * words.len() as f64;
        Some(html! { (circle(at, 46.0, colour, is_drawn)) (text("", at + 10.0, 50.0, "start", &words)) })
    });
    html! { @for meaning in placed { (meaning) } }
}

impl Row<'_> {
    fn draw(&self, x: &Scale, y: f64) -> Markup {
        let (score, interval) = (self.score.score, self.score.interval);
        let colour = colour(self.conclusion);
        html! {
            (text("name", LEFT - 12.0, y + 4.5, "end", &self.ruleset.name))
            line.interval color=(colour) x1=(place(x.at(interval.lower))) x2=(place(x.at(interval.upper))) y1=(place(y)) y2=(place(y)) {}
            (circle(x.at(score), y, colour, self.drawn > MOSTLY_DRAWN))
            (text("", WIDTH - 78.0, y + 4.5, "end", &format!("{:.1} {:.1}", 100.0 * score, interval.percent())))
            (text("", WIDTH - 16.0, y + 4.5, "end", &format!("{:.1} %", 100.0 * self.drawn)))
        }
    }
}

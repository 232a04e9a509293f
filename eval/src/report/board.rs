//! Drawings of boards: the opening position and heat maps.

use latrunculi_engine::{GameState, Piece, Player, Rules, Square};
use maud::{Markup, html};

use super::numbers;
use super::plot::place;
use crate::metrics::board::{BoardUse, HeatMap};
use latrunculi_stats::Estimate;

/// The side of a square in the units of the view box.
const SIDE: f64 = 20.0;
/// The room for the letters and numbers beside the board.
const EDGE: f64 = 14.0;

/// Returns the corner of a square on the page, rank 1 being at the bottom.
fn corner(ranks: usize, file: usize, rank: usize) -> (f64, f64) {
    (EDGE + SIDE * file as f64, 2.0 + SIDE * (ranks - 1 - rank) as f64)
}

/// Draws a board: `squares` gives what stands on file and rank, both from 0.
fn grid(
    class: &str,
    files: usize,
    ranks: usize,
    title: &str,
    description: &str,
    squares: impl Fn(usize, usize) -> Markup,
) -> Markup {
    let (width, height) = (EDGE + SIDE * files as f64 + 2.0, SIDE * ranks as f64 + EDGE + 4.0);
    html! {
        svg class=(class) viewBox=(format!("0 0 {} {}", place(width), place(height))) role="img" aria-label=(title) {
            title { (title) }
            desc { (description) }
            rect.ground x=(EDGE) y="2" width=(place(SIDE * files as f64)) height=(place(SIDE * ranks as f64)) {}
            @for rank in 0..ranks {
                text.tick x=(EDGE - 3.0) y=(place(corner(ranks, 0, rank).1 + 14.0)) text-anchor="end" { (rank + 1) }
                @for file in 0..files { (squares(file, rank)) }
            }
            path.lines d=(lines(files, ranks)) {}
            @for file in 0..files {
                text.tick x=(place(EDGE + SIDE * (file as f64 + 0.5))) y=(place(height - 3.0)) text-anchor="middle" {
                    (file_letter(file))
                }
            }
        }
    }
}

fn lines(files: usize, ranks: usize) -> String {
    let (right, bottom) = (EDGE + SIDE * files as f64, 2.0 + SIDE * ranks as f64);
    let upright = (0..=files).map(|file| format!("M{} 2V{}", place(EDGE + SIDE * file as f64), place(bottom)));
    let level = (0..=ranks).map(|rank| format!("M{EDGE} {}H{}", place(2.0 + SIDE * rank as f64), place(right)));
    upright.chain(level).collect()
}

fn file_letter(file: usize) -> char {
    char::from(b'a' + file as u8)
}

/// Draws the position in which games begin.
pub(super) fn opening(rules: &Rules) -> Markup {
    let position = rules.initial_position();
    let is_empty = position.men(Player::First).is_empty() && position.dux(Player::First).is_none();
    // The first player is whoever begins, and that may be player 2, who plays from the top.
    let beginner = position.player_to_act();
    let description = match (is_empty, beginner) {
        (true, _) => "The board is empty: the pieces are placed in turn.",
        (false, Player::First) => {
            "The first player's pieces are light, at the bottom, the second player's dark, at the top; a dux bears a cross."
        }
        (false, Player::Second) => {
            "The first player's pieces are dark, at the top, the second player's light, at the bottom; a dux bears a cross."
        }
    };
    let title = format!("Opening position of {}", rules.ruleset().id);
    let drawn = grid("board", rules.files(), rules.ranks(), &title, description, |file, rank| {
        let square = Square::from_index(rank * rules.files() + file);
        let standing = position.piece_at(square);
        standing.map_or(html! {}, |(piece, owner)| disc(corner(rules.ranks(), file, rank), piece, side(owner)))
    });
    html! { figure.opening { (drawn) figcaption { (description) } } }
}

/// The class of a player's pieces: light or dark.
fn side(owner: Player) -> &'static str {
    if owner == Player::First { "piece one" } else { "piece two" }
}

/// Draws a piece on the square of this corner.
fn disc((x, y): (f64, f64), piece: Piece, class: &str) -> Markup {
    let (x, y) = (x + SIDE / 2.0, y + SIDE / 2.0);
    html! {
        circle class=(class) cx=(place(x)) cy=(place(y)) r="6.5" {}
        @if piece == Piece::Dux {
            path class=(format!("cross {class}")) d=(format!("M{} {}v7M{} {}h7", place(x), place(y - 3.5), place(x - 3.5), place(y))) {}
        }
    }
}

/// The looks of a board that stands outside of a page.
const POSITION_STYLE: &str = ".ground{fill:#f2e3c6}.lines{stroke:#8a7350;stroke-width:.6;fill:none}\
    .tick{font:7px sans-serif;fill:#777}.piece{stroke:#222;stroke-width:1}.one{fill:#fff}.two{fill:#222}\
    .bound{stroke:#c0392b;stroke-width:1.6;stroke-dasharray:2 1.2}.cross.one{stroke:#222}.cross.two{stroke:#fff}\
    .emptied{fill:#c0392b;fill-opacity:.18}";

/// Returns the board of a game as an image of its own (SVG), player 1 at the bottom in white: a dux bears a cross, bound pieces a
/// red line, and the squares that the last action emptied by capture are reddish.
#[must_use]
pub fn position_svg(state: &GameState) -> String {
    let (rules, position) = (state.rules(), state.position());
    let (files, ranks) = (rules.files(), rules.ranks());
    let title = format!("{} after {} turns", rules.ruleset().id, position.turns());
    let drawn = grid("board", files, ranks, &title, &rules.position_text(position), |file, rank| {
        let square = Square::from_index(rank * files + file);
        let (x, y) = corner(ranks, file, rank);
        html! {
            @if state.last_taken().contains(square) {
                rect.emptied x=(place(x)) y=(place(y)) width=(SIDE) height=(SIDE) {}
            }
            @if let Some((piece, owner)) = position.piece_at(square) {
                @let bound = if position.bound().contains(square) { " bound" } else { "" };
                (disc((x, y), piece, &format!("{}{bound}", side(owner))))
            }
        }
    });
    let (width, height) = (files * 40 + 32, ranks * 40 + 36);
    let open = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" ");
    let style = format!("<style>{POSITION_STYLE}</style><title>");
    drawn.into_string().replacen("<svg ", &open, 1).replacen("<title>", &style, 1)
}

/// Draws what each player does on each square: six maps with their scales.
pub(super) fn heat(board: &BoardUse) -> Markup {
    type View = fn(&HeatMap) -> &Vec<Estimate>;
    const MAPS: [(&str, &str, View); 3] = [
        ("moves that end here", "moves a game", |map| &map.moved_to),
        ("pieces lost here", "pieces a game", |map| &map.captured_on),
        ("share of turns with a piece here", "of turns", |map| &map.occupancy),
    ];
    html! {
        div.maps {
            @for (what, unit, view) in MAPS {
                @let top = board.heat.iter().flat_map(view).map(|estimate| estimate.value).fold(0.0, f64::max);
                @for map in &board.heat {
                    (heat_map(board, map, view(map), top, what, unit))
                }
            }
        }
        p.note {
            "Darker squares have larger values; the two maps of a pair share one scale. Player 1 (South) plays from the bottom. Point at a square to see its value and standard error; empty squares were never used."
        }
    }
}

fn heat_map(board: &BoardUse, map: &HeatMap, values: &[Estimate], top: f64, what: &str, unit: &str) -> Markup {
    let (files, ranks) = (board.files as usize, board.ranks as usize);
    let title = format!("Player {}: {what}", map.player);
    let busiest = values
        .iter()
        .enumerate()
        .max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
        .map(|(index, estimate)| (square_name(files, index), *estimate));
    let description = busiest.map_or(String::new(), |(name, most)| {
        format!(
            "Most on {name}: {} {unit}, standard error {}.",
            numbers::text(most.value, 2),
            numbers::text(most.standard_error, 2)
        )
    });
    let drawn = grid("board heat", files, ranks, &title, &description, |file, rank| {
        let index = rank * files + file;
        // Where nothing ever happened there is only the board.
        let Some(estimate) = values.get(index).filter(|estimate| estimate.value > 0.0) else { return html! {} };
        let (x, y) = corner(ranks, file, rank);
        let strength = if top > 0.0 { estimate.value / top } else { 0.0 };
        html! {
            // There are thousands of these: what they share stands in the style sheet.
            path d=(format!("M{} {}h20v20h-20", place(x), place(y))) opacity=(opacity(strength)) {
                title { (square_name(files, index)) ": " (numbers::text(estimate.value, 2)) " ± " (numbers::text(estimate.standard_error, 2)) }
            }
        }
    });
    html! {
        figure {
            figcaption { (title) }
            (drawn)
            p.scale { "0 " span.ramp {} " " (numbers::text(top, 2)) " " (unit) }
        }
    }
}

/// Returns a share of 1 in the fewest characters that are exact enough for the eye.
fn opacity(share: f64) -> String {
    let text = format!("{share:.2}");
    text.strip_prefix('0').filter(|rest| !rest.is_empty()).map_or(text.clone(), str::to_owned)
}

fn square_name(files: usize, index: usize) -> String {
    format!("{}{}", file_letter(index % files), index / files + 1)
}

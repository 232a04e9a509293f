//! Small positions that show how a ruleset captures. They are found by trying, so what they show is what the engine does.

use std::cell::Cell;
use std::sync::Arc;

use latrunculi_engine::ruleset::{Lines, Span, Timing};
use latrunculi_engine::{Action, ActionKind, GameState, Player, Rules, Square, SquareSet};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::detector::{Detector, MechanicSet};
use super::mechanics::Mechanic;

/// A rule in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureExample {
    /// The rule in a few words.
    pub caption: &'static str,
    /// The position before, as [`Rules::parse_position`] reads it.
    pub start: String,
    /// The actions that show the rule, as [`GameState::parse_action`] reads them; where it takes two turns, with the opponent's
    /// between them.
    pub actions: Vec<String>,
}

/// What is to be shown: mechanisms that one player uses one after the other, and whether the pieces are the right ones.
struct Lesson {
    caption: &'static str,
    uses: &'static [Mechanic],
    has: fn(&Rules) -> bool,
    fits: fn(&Rules, &Shown) -> bool,
}

/// An action that may be shown.
struct Shown {
    action: Action,
    next: GameState,
    used: MechanicSet,
    /// The enemy pieces that it took or bound.
    held: SquareSet,
    takes_dux: bool,
}

const LESSONS: &[Lesson] = &[
    Lesson::new("A man is taken between two enemies", &[Mechanic::Capture])
        .of(|rules, shown| shown.held.len() == 1 && !is_diagonal(rules, shown)),
    Lesson::new("A man is taken on a diagonal", &[Mechanic::Capture])
        .where_rules(|rules| takes_at_once(rules) && rules.ruleset().capture.lines == Lines::All)
        .of(|rules, shown| shown.held.len() == 1 && is_diagonal(rules, shown)),
    Lesson::new("A row is taken between two enemies", &[Mechanic::MultipleCapture])
        .where_rules(|rules| takes_at_once(rules) && rules.ruleset().capture.span == Span::Row)
        .of(|rules, shown| shown.held.len() == 2 && are_neighbours(rules, shown.held)),
    Lesson::new("One move takes several", &[Mechanic::MultipleCapture])
        .where_rules(takes_at_once)
        .of(|rules, shown| shown.held.len() == 2 && !are_neighbours(rules, shown.held)),
    Lesson::new("A man is bound, then removed", &[Mechanic::Bound, Mechanic::Removal]),
    Lesson::new("A man is bound, then taken by moving onto it", &[Mechanic::Bound, Mechanic::Displacement]),
    Lesson::new("A row is bound between two enemies", &[Mechanic::Bound])
        .where_rules(|rules| rules.ruleset().capture.span == Span::Row)
        .of(|rules, shown| shown.held.len() == 2 && are_neighbours(rules, shown.held)),
    Lesson::new("A man is bound in the corner", &[Mechanic::Bound])
        .where_rules(|rules| rules.ruleset().capture.corner)
        .of(|rules, shown| {
            shown.held.len() == 1 && shown.held.iter().all(|at| rules.orthogonal_neighbours(at).len() == 2)
        }),
    Lesson::new("Who moves in between two enemies is bound", &[Mechanic::SelfBound]),
    Lesson::new("A man is taken in the corner", &[Mechanic::CornerCapture]).where_rules(takes_at_once),
    Lesson::new("A man with enemies on all its sides is taken", &[Mechanic::EnclosureCapture])
        .where_rules(takes_at_once),
    Lesson::new("Who moves in between two enemies is safe", &[Mechanic::SafeEntry]),
    Lesson::new("Who has captured moves on and captures again", &[Mechanic::Capture, Mechanic::ContinuationCapture]),
    Lesson::new("The dux is taken", &[Mechanic::DuxCaptured]),
];

impl Lesson {
    const fn new(caption: &'static str, uses: &'static [Mechanic]) -> Lesson {
        Lesson { caption, uses, has: |_| true, fits: |_, _| true }
    }

    const fn where_rules(self, has: fn(&Rules) -> bool) -> Lesson {
        Lesson { has, ..self }
    }

    const fn of(self, fits: fn(&Rules, &Shown) -> bool) -> Lesson {
        Lesson { fits, ..self }
    }
}

fn takes_at_once(rules: &Rules) -> bool {
    rules.ruleset().capture.timing == Timing::Immediate
}

fn file_and_rank(rules: &Rules, square: Square) -> (usize, usize) {
    (square.index() % rules.files(), square.index() / rules.files())
}

fn are_neighbours(rules: &Rules, squares: SquareSet) -> bool {
    squares.iter().all(|square| !(rules.orthogonal_neighbours(square) & squares).is_empty())
}

/// Tells whether the mover stands on a diagonal with the piece that it has taken.
fn is_diagonal(rules: &Rules, shown: &Shown) -> bool {
    let (ActionKind::Move { to, .. } | ActionKind::MoveTaking { to, .. }) = shown.action.kind() else { return false };
    let (file, rank) = file_and_rank(rules, to);
    shown.held.iter().all(|square| {
        let (other_file, other_rank) = file_and_rank(rules, square);
        file.abs_diff(other_file) == 1 && rank.abs_diff(other_rank) == 1
    })
}

/// Positions of each size that are tried.
const TRIES: usize = 1000;
/// Actions that are tried in all: where pieces have very many, fewer positions are.
const ACTIONS_MAX: usize = 500_000;
/// The sizes: pieces within a window of so many squares a side.
const PIECES: std::ops::RangeInclusive<usize> = 3..=8;
const WINDOW: usize = 5;

/// Returns an example of each of a ruleset's rules of capture for which one is found, with as few pieces as possible. The same
/// ruleset has the same examples always.
#[must_use]
pub fn capture_examples(rules: &Arc<Rules>) -> Vec<CaptureExample> {
    let trier = Trier { detector: Detector::new(rules), left: Cell::new(ACTIONS_MAX) };
    let detector = &trier.detector;
    let has = |lesson: &&Lesson| {
        (lesson.has)(rules) && lesson.uses.iter().all(|&used| detector.mechanisms().any(|mechanic| mechanic == used))
    };
    let lessons: Vec<&Lesson> = LESSONS.iter().filter(has).collect();
    let mut found: Vec<Option<CaptureExample>> = vec![None; lessons.len()];
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for pieces in PIECES {
        for is_in_corner in [false, true] {
            // Of one size, the one that shows the least besides.
            let mut best: Vec<Option<(u32, CaptureExample)>> = vec![None; lessons.len()];
            for _ in 0..TRIES {
                let Some(state) = draw(rules, pieces, is_in_corner, &mut rng) else { continue };
                let tried = trier.all(&state);
                for (index, lesson) in lessons.iter().enumerate().filter(|(index, _)| found[*index].is_none()) {
                    if let Some((besides, actions)) = trier.show(&state, &tried, lesson)
                        && best[index].as_ref().is_none_or(|(fewest, _)| besides < *fewest)
                    {
                        let start = rules.position_text(state.position());
                        best[index] = Some((besides, CaptureExample { caption: lesson.caption, start, actions }));
                    }
                }
            }
            for (place, best) in found.iter_mut().zip(best) {
                *place = place.take().or(best.map(|(_, example)| example));
            }
            if found.iter().all(Option::is_some) {
                return found.into_iter().flatten().collect();
            }
        }
    }
    found.into_iter().flatten().collect()
}

/// Draws a position: so many pieces near each other, and the duces of the ruleset, which may be among them.
fn draw(rules: &Arc<Rules>, pieces: usize, is_in_corner: bool, rng: &mut ChaCha8Rng) -> Option<GameState> {
    let initial = rules.initial_position();
    let sides = [rules.files(), rules.ranks()]
        .map(|side| (side.min(WINDOW), if is_in_corner { 0 } else { side.saturating_sub(WINDOW) / 2 }));
    let [(files, left), (ranks, bottom)] = sides;
    let square = |file: usize, rank: usize| Square::from_index(rank * rules.files() + file);
    let mut window: Vec<Square> =
        (0..files * ranks).map(|index| square(left + index % files, bottom + index / files)).collect();
    window.shuffle(rng);
    window.truncate(pieces);
    let mut men: [Vec<String>; 2] = Default::default();
    let mut text = String::new();
    for player in Player::BOTH {
        let has_dux = initial.dux(player).is_some() || initial.hand(player).dux > 0;
        if !has_dux {
            continue;
        }
        let rank = if player == Player::First { 0 } else { rules.ranks() - 1 };
        let home = square(rules.files() - 1, rank);
        // A dux is mostly out of the way.
        let at = if rng.random_bool(0.2) || window.contains(&home) { window.pop()? } else { home };
        text += &format!("{}:{} ", if player == Player::First { 'D' } else { 'd' }, rules.square_text(at));
    }
    for at in window {
        men[usize::from(rng.random_bool(0.5))].push(rules.square_text(at));
    }
    let text = format!("{text}M:{} m:{}", men[0].join(","), men[1].join(","));
    let state = GameState::parse(rules, &text, Player::First).ok()?;
    let is_quiet = state.position().bound().is_empty() && state.outcome().is_none();
    is_quiet.then_some(state)
}

/// Tries actions until so many have been tried.
struct Trier {
    detector: Detector,
    left: Cell<usize>,
}

impl Trier {
    /// Plays every legal action; none once enough have been played.
    fn all(&self, state: &GameState) -> Vec<Shown> {
        let before = state.position();
        let opponent = state.player_to_act().opponent();
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        legal.truncate(self.left.get());
        self.left.set(self.left.get() - legal.len());
        let play = |action| {
            let mut next = state.clone();
            next.play(action);
            let after = next.position();
            let used = self.detector.used(before, action, after, next.outcome());
            let stones = before.stones(opponent);
            let held = (stones & !after.stones(opponent)) | (stones & after.bound() & !before.bound());
            let takes_dux = before.dux(opponent) != after.dux(opponent);
            Shown { action, next, used, held, takes_dux }
        };
        legal.into_iter().map(play).collect()
    }

    /// Returns actions that show a lesson, and how many mechanisms the first one uses.
    fn show(&self, state: &GameState, tried: &[Shown], lesson: &Lesson) -> Option<(u32, Vec<String>)> {
        let (&wanted, later) = lesson.uses.split_first()?;
        let fits = |shown: &&Shown| is_plain(shown, wanted) && (lesson.fits)(state.rules(), shown);
        let shown = tried.iter().filter(fits).filter_map(|shown| {
            let mut actions = vec![state.action_text(shown.action)];
            if let Some(&next) = later.first() {
                actions.extend(self.go_on(&shown.next, next, state.player_to_act())?);
            }
            Some((shown.used.count(), actions))
        });
        shown.min_by_key(|(used, _)| *used)
    }

    /// Returns the second action of a lesson, after one of the opponent if it is his turn.
    fn go_on(&self, state: &GameState, wanted: Mechanic, player: Player) -> Option<Vec<String>> {
        let tried = self.all(state);
        if state.player_to_act() == player {
            let shown = tried.iter().find(|shown| is_plain(shown, wanted))?;
            return Some(vec![state.action_text(shown.action)]);
        }
        let replies =
            tried.iter().filter(|reply| reply.next.outcome().is_none() && reply.next.player_to_act() == player);
        replies.into_iter().find_map(|reply| {
            let last = self.go_on(&reply.next, wanted, player)?;
            Some([vec![state.action_text(reply.action)], last].concat())
        })
    }
}

/// Tells whether an action uses a mechanism and shows nothing louder: the end of the game, or the loss of the dux. Where that is
/// shown, the game may end by it, and by nothing else.
fn is_plain(shown: &Shown, wanted: Mechanic) -> bool {
    let is_dux = wanted == Mechanic::DuxCaptured;
    let is_plain_end = shown.next.outcome().is_none_or(|outcome| is_dux && outcome.reason.is_dux_lost());
    shown.used.contains(wanted) && is_plain_end && (is_dux || !shown.takes_dux)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latrunculi_engine::presets;

    #[test]
    fn every_shipped_ruleset_has_examples_that_can_be_played() {
        for name in presets::NAMES {
            let rules = presets::rules(name);
            let found = capture_examples(&rules);
            let captions: Vec<&str> = found.iter().map(|example| example.caption).collect();
            let timing = rules.ruleset().capture.timing;
            assert_eq!(
                captions[0] == "A man is taken between two enemies",
                timing == Timing::Immediate,
                "{name}: {captions:?}"
            );
            for example in &found {
                let mut state = GameState::parse(&rules, &example.start, Player::First).expect("a position");
                for action in &example.actions {
                    state.play(state.parse_action(action).expect("a legal action"));
                }
                // Only the loss of the dux ends a game here, where it does.
                let ends = example.caption == "The dux is taken" && rules.ruleset().end.win_dux;
                assert_eq!(state.outcome().is_some(), ends, "{name}: {example:?}");
            }
        }
        let captions = |name: &str| -> Vec<_> {
            capture_examples(&presets::rules(name)).into_iter().map(|example| example.caption).collect()
        };
        assert!(captions("falkener").contains(&"A man is taken on a diagonal"));
        assert!(captions("mac-12x8").contains(&"A row is taken between two enemies"));
        assert!(captions("savard").contains(&"A man is taken in the corner"));
        assert!(captions("bell").contains(&"Who has captured moves on and captures again"));
        assert!(captions("bell").contains(&"The dux is taken"));
        assert!(captions("savard-delayed").contains(&"A man is bound, then removed"));
        assert!(captions("beads").contains(&"A row is bound between two enemies"));
        assert!(captions("beads").contains(&"Who moves in between two enemies is bound"));
        assert!(!captions("beads").contains(&"Who moves in between two enemies is safe"));
    }
}

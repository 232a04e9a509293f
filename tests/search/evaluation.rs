//! The static evaluation counts whole sets of squares at once. Here it is compared with a second one that looks at
//! one piece after another, on random positions of every shipped ruleset and of variations of them.

use std::sync::Arc;

use latrunculi_engine::ruleset::{
    DuxCapture, EnclosureBy, EnclosureSides, JumpOver, Lines, PerMove, Range, Ruleset, SetupMode, Span, StepDirections,
    Timing, Trigger,
};
use latrunculi_engine::{Phase, Player, Position, Rules, Square, presets};
use latrunculi_search::alphabeta::Heuristic;
use latrunculi_search::latrunculi::{Counts, FEATURE_COUNT, Feature, LatrunculiHeuristic};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::latrunculi::random_game;
use crate::legal;

const STEPS: [(i32, i32); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)];

type At = (i32, i32);

/// A position, square by square.
struct Board<'a> {
    rules: &'a Ruleset,
    position: &'a Position,
    files: i32,
    ranks: i32,
    move_directions: usize,
    capture_directions: usize,
}

fn directions(lines: Lines) -> usize {
    if lines == Lines::All { 8 } else { 4 }
}

fn beside((file, rank): At, direction: usize) -> At {
    (file + STEPS[direction].0, rank + STEPS[direction].1)
}

fn distance(one: At, other: At) -> i32 {
    (one.0 - other.0).abs() + (one.1 - other.1).abs()
}

impl<'a> Board<'a> {
    fn new(rules: &'a Rules, position: &'a Position) -> Board<'a> {
        let ruleset = rules.ruleset();
        Board {
            rules: ruleset,
            position,
            files: rules.files() as i32,
            ranks: rules.ranks() as i32,
            move_directions: directions(ruleset.movement.lines),
            capture_directions: directions(ruleset.capture.lines),
        }
    }

    fn at(&self, square: Square) -> At {
        (square.index() as i32 % self.files, square.index() as i32 / self.files)
    }

    fn square(&self, (file, rank): At) -> Option<Square> {
        let is_on_board = (0..self.files).contains(&file) && (0..self.ranks).contains(&rank);
        is_on_board.then(|| Square::from_index((rank * self.files + file) as usize))
    }

    fn is_of(&self, player: Player, at: At) -> bool {
        self.square(at).is_some_and(|square| self.position.stones(player).contains(square))
    }

    fn is_empty(&self, at: At) -> bool {
        self.square(at).is_some() && !Player::BOTH.iter().any(|&player| self.is_of(player, at))
    }

    fn around(&self, at: At) -> impl Iterator<Item = At> {
        (0..self.move_directions).map(move |direction| beside(at, direction))
    }

    fn outwardness(&self, (file, rank): At) -> i32 {
        (2 * file - self.files + 1).abs() + (2 * rank - self.ranks + 1).abs()
    }

    fn ray(&self, at: At, direction: usize) -> i32 {
        let next = beside(at, direction);
        if self.is_empty(next) { 1 + self.ray(next, direction) } else { 0 }
    }

    /// Tells whether a piece of `mover` could come to the empty square `to` by a step, slide or simple jump.
    fn is_in_reach(&self, mover: Player, to: At) -> bool {
        let forward = if mover == Player::First { 1 } else { -1 };
        let man = &self.rules.man;
        (0..self.move_directions).any(|direction| {
            let near = beside(to, direction);
            let behind = beside(near, direction);
            // A piece that comes from there moves the opposite way.
            let may_walk = match man.step {
                StepDirections::All => true,
                StepDirections::ForwardSideways => -STEPS[direction].1 * forward >= 0,
                StepDirections::None => false,
            };
            let steps = may_walk && self.is_of(mover, near);
            let empties = self.ray(to, direction);
            let from = (to.0 + STEPS[direction].0 * (empties + 1), to.1 + STEPS[direction].1 * (empties + 1));
            let slides = may_walk && man.range == Range::Slide && empties > 0 && self.is_of(mover, from);
            let over = man.jump_over.own && self.is_of(mover, near)
                || man.jump_over.enemy && self.is_of(mover.opponent(), near);
            steps || slides || over && self.is_of(mover, behind)
        })
    }

    /// Tells whether a piece of `player` is flanked from one side, and whether the enemy could close the other.
    fn threat(&self, player: Player, at: At) -> (bool, bool) {
        let enemy = player.opponent();
        let mut found = (false, false);
        for direction in 0..self.capture_directions {
            let gap = beside(at, direction ^ 1);
            if self.is_of(enemy, beside(at, direction)) && self.is_empty(gap) {
                found = (true, found.1 || self.is_in_reach(enemy, gap));
            }
        }
        found
    }

    fn pieces(&self, player: Player) -> i32 {
        self.position.stones(player).len() as i32 + i32::from(self.position.hand(player).stones())
    }

    /// Returns `player`'s counts, and the mean file and rank of his stones, and his contacts with the enemy.
    fn side(&self, player: Player) -> (Counts, Vec<At>, i32) {
        let enemy = player.opponent();
        let dux = self.position.dux(player);
        let enemy_dux = self.position.dux(enemy).map(|square| self.at(square));
        let hand = self.position.hand(player);
        let enemy_acts = self.position.player_to_act() != player;
        let has_sides =
            self.rules.setup.mode == SetupMode::Array || self.rules.man.step == StepDirections::ForwardSideways;
        let mut counts = [0; FEATURE_COUNT];
        let mut add = |feature: Feature, number: i32| counts[feature as usize] += number;
        let (mut stones, mut contacts, mut at_risk) = (Vec::new(), 0, 0);
        add(Feature::Men, i32::from(hand.men));
        add(Feature::Dux, i32::from(hand.dux) + i32::from(dux.is_some()));
        for square in self.position.stones(player).iter() {
            let at = self.at(square);
            let is_dux = dux == Some(square);
            let is_bound = self.position.bound().contains(square);
            let free = self.around(at).filter(|&next| self.is_empty(next)).count() as i32;
            stones.push(at);
            contacts += self.around(at).filter(|&next| self.is_of(enemy, next)).count() as i32;
            if let Some(hunted) = enemy_dux {
                add(Feature::DuxHunted, -(5 - distance(at, hunted)).max(0));
            }
            if is_dux {
                add(Feature::DuxOutward, self.outwardness(at));
                add(Feature::DuxLiberties, free);
                add(Feature::DuxBound, i32::from(is_bound));
            } else {
                let ends = [at.0 == 0 || at.0 == self.files - 1, at.1 == 0 || at.1 == self.ranks - 1];
                add(Feature::Men, 1);
                add(Feature::Outward, self.outwardness(at));
                add(Feature::Edge, i32::from(ends[0] != ends[1]));
                add(Feature::Corner, i32::from(ends[0] && ends[1]));
                let advance = if player == Player::First { at.1 } else { self.ranks - 1 - at.1 };
                add(Feature::Advance, if has_sides { advance } else { 0 });
                add(Feature::Support, self.around(at).filter(|&next| self.is_of(player, next)).count() as i32);
                add(Feature::Bound, i32::from(is_bound));
            }
            if is_bound {
                continue;
            }
            add(Feature::Immobile, i32::from(free == 0));
            let (is_half_flanked, is_at_risk) = self.threat(player, at);
            if is_dux {
                let risk = if enemy_acts { Feature::DuxAtRiskNow } else { Feature::DuxAtRiskLater };
                add(risk, i32::from(self.rules.dux.capture == DuxCapture::AsMan && is_at_risk));
                continue;
            }
            add(Feature::Liberties, free);
            if self.rules.man.range == Range::Slide {
                add(Feature::Reach, (0..self.move_directions).map(|direction| self.ray(at, direction)).sum());
            }
            add(Feature::HalfFlanked, i32::from(is_half_flanked));
            at_risk += i32::from(is_at_risk);
        }
        add(if enemy_acts { Feature::AtRiskNow } else { Feature::AtRiskLater }, at_risk);
        add(Feature::AtRiskMore, (at_risk - 1).max(0));
        if let Some(square) = dux.filter(|_| self.rules.dux.capture == DuxCapture::Enclosure) {
            let sides = (0..4).map(|direction| beside(self.at(square), direction));
            let on_board: Vec<At> = sides.filter(|&side| self.square(side).is_some()).collect();
            let is_open = |side: &&At| match self.rules.dux.enclosure_by {
                EnclosureBy::Any => self.is_empty(**side),
                EnclosureBy::Enemy => !self.is_of(enemy, **side),
            };
            let open = on_board.iter().filter(is_open).count();
            let by_number =
                [Feature::DuxOpenNone, Feature::DuxOpenOne, Feature::DuxOpenTwo, Feature::DuxOpenThree].get(open);
            if let Some(&feature) = by_number
                && (self.rules.dux.enclosure_sides != EnclosureSides::Four || on_board.len() == 4)
            {
                add(feature, 1);
            }
        }
        (counts, stones, contacts)
    }

    fn counts(&self) -> Counts {
        let [(first, first_stones, first_contacts), (second, second_stones, second_contacts)] =
            Player::BOTH.map(|player| self.side(player));
        let mut counts: Counts = std::array::from_fn(|index| first[index] - second[index]);
        let (one, other) = (self.pieces(Player::First), self.pieces(Player::Second));
        let lead = 100 * (one - other) / (one + other).max(1);
        // Sixteenths of a square from the centre of the board.
        let middle = |stones: &[At], part: fn(&At) -> i32, length: i32| {
            let count = stones.len() as i32;
            8 * (2 * stones.iter().map(part).sum::<i32>() - (length - 1) * count) / count
        };
        let closeness = if first_stones.is_empty() || second_stones.is_empty() {
            0
        } else {
            let apart =
                |part, length| (middle(&first_stones, part, length) - middle(&second_stones, part, length)).abs();
            let span = self.files + self.ranks - 2;
            100 - 100 * (apart(|at| at.0, self.files) + apart(|at| at.1, self.ranks)) / (16 * span)
        };
        counts[Feature::ToAct as usize] = if self.position.player_to_act() == Player::First { 1 } else { -1 };
        counts[Feature::Lead as usize] = lead;
        counts[Feature::Contact as usize] = lead * (first_contacts + second_contacts) / 100;
        counts[Feature::Pursuit as usize] = lead * closeness / 100;
        counts
    }
}

/// Changes of rules that the evaluation looks at.
const VARIATIONS: [fn(&mut Ruleset); 15] = [
    |_| {},
    |ruleset| ruleset.movement.lines = Lines::All,
    |ruleset| ruleset.capture.lines = Lines::All,
    |ruleset| ruleset.man.range = Range::Slide,
    |ruleset| ruleset.man.jump_over = JumpOver { own: true, enemy: true },
    |ruleset| ruleset.man.step = StepDirections::ForwardSideways,
    |ruleset| (ruleset.man.step, ruleset.man.range) = (StepDirections::ForwardSideways, Range::Slide),
    |ruleset| {
        (ruleset.man.step, ruleset.man.jump_over) = (StepDirections::None, JumpOver { own: true, enemy: true });
    },
    |ruleset| ruleset.capture.trigger = Trigger::Positional,
    |ruleset| ruleset.capture.span = Span::Row,
    |ruleset| ruleset.capture.per_move = PerMove::One,
    |ruleset| (ruleset.capture.corner, ruleset.capture.man_by_enclosure) = (true, true),
    |ruleset| ruleset.dux.armed = false,
    |ruleset| (ruleset.dux.capture, ruleset.dux.enclosure_by) = (DuxCapture::Enclosure, EnclosureBy::Any),
    |ruleset| {
        ruleset.dux.capture = DuxCapture::Enclosure;
        (ruleset.dux.enclosure_by, ruleset.dux.enclosure_sides) = (EnclosureBy::Enemy, EnclosureSides::Four);
    },
];

/// Calls `check` with random positions of every shipped ruleset and of its variations.
fn on_random_positions(mut check: impl FnMut(&str, &Arc<Rules>, &latrunculi_engine::GameState)) {
    let mut tried = 0;
    for name in presets::NAMES {
        for vary in VARIATIONS {
            let mut ruleset = presets::ruleset(name).expect("a shipped ruleset");
            vary(&mut ruleset);
            let Ok(rules) = Rules::new(&ruleset).map(Arc::new) else { continue };
            tried += 1;
            let mut rng = ChaCha8Rng::seed_from_u64(41);
            for _ in 0..8 {
                let played = rng.random_range(0..250);
                check(name, &rules, &random_game(&rules, played, &mut rng));
            }
        }
    }
    assert!(tried >= 200, "{tried} rulesets can be played");
}

#[test]
fn the_counts_are_those_of_a_look_at_each_piece() {
    let mut seen = [0; FEATURE_COUNT];
    on_random_positions(|name, rules, game| {
        let heuristic = LatrunculiHeuristic::new(rules);
        let found = heuristic.counts(game.position());
        let expected = Board::new(rules, game.position()).counts();
        for (index, feature) in Feature::ALL.iter().enumerate() {
            assert_eq!(found[index], expected[index], "{name}: {feature:?} of {:?}", game.position());
            seen[index] += u32::from(found[index] != 0);
        }
    });
    for (feature, seen) in Feature::ALL.iter().zip(seen) {
        assert!(seen >= 5, "{feature:?} was counted in {seen} positions");
    }
}

#[test]
fn the_gains_of_all_actions_together_are_those_of_each() {
    let (mut captures, mut quiet, mut walked_in) = (0, 0, 0);
    on_random_positions(|name, rules, game| {
        let heuristic = LatrunculiHeuristic::new(rules);
        let actions = legal(game);
        let mut gains = Vec::new();
        heuristic.each_gain(game, &actions, |ordinal, gain| gains.push((ordinal, gain)));
        let alone = |(ordinal, &action)| (ordinal, heuristic.capture_gain(game, action));
        let expected: Vec<(usize, i32)> = actions.iter().enumerate().map(alone).collect();
        assert_eq!(gains, expected, "{name}: {:?}", game.position());
        let mut tactical = Vec::new();
        heuristic.each_tactical(game, &actions, |ordinal, gain| tactical.push((ordinal, gain)));
        let expected: Vec<(usize, i32)> =
            gains.into_iter().filter(|&(ordinal, _)| heuristic.is_tactical(game, actions[ordinal])).collect();
        assert_eq!(tactical, expected, "{name}: {:?}", game.position());
        captures += tactical.len();
        let capture = &rules.ruleset().capture;
        if capture.timing == Timing::Immediate && capture.trigger == Trigger::Positional {
            for &action in actions.iter().filter(|&&action| !rules.taken_by(game.position(), action).is_empty()) {
                walked_in += 1;
                assert!(heuristic.is_tactical(game, action), "{name}: {action:?} of {:?}", game.position());
            }
        }
        if game.position().phase() == Phase::Movement && !heuristic.needs_quiescence(game) {
            quiet += 1;
            assert!(tactical.is_empty(), "{name}: {:?}", game.position());
        }
    });
    assert!(captures > 1000 && quiet > 100, "{captures} captures, {quiet} positions without any");
    assert!(walked_in > 100, "{walked_in} captures of what may have walked in");
}

//! Detects the mechanisms an action used from the positions before and after it.

use std::sync::Arc;

use latrunculi_engine::ruleset::{
    DuxCapture, ExtraMode, JumpChain, JumpRun, Lines, NoMove, PerMove, Range, RemovalScope, Ruleset, SetupMode, Span,
    StepDirections, Timing, Trigger,
};
use latrunculi_engine::{Action, ActionKind, EndReason, Outcome, Player, Position, Rules, Square, SquareSet};

use super::mechanics::Mechanic;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MechanicSet(u32);

impl MechanicSet {
    pub(super) const EMPTY: MechanicSet = MechanicSet(0);

    pub(super) fn contains(self, mechanic: Mechanic) -> bool {
        self.0 >> mechanic as u32 & 1 != 0
    }

    pub(super) fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn insert(&mut self, mechanic: Mechanic) {
        self.0 |= 1 << mechanic as u32;
    }

    fn insert_if(&mut self, mechanic: Mechanic, holds: bool) {
        if holds {
            self.insert(mechanic);
        }
    }
}

impl FromIterator<Mechanic> for MechanicSet {
    fn from_iter<I: IntoIterator<Item = Mechanic>>(mechanics: I) -> Self {
        let mut set = MechanicSet::EMPTY;
        mechanics.into_iter().for_each(|mechanic| set.insert(mechanic));
        set
    }
}

/// How a piece got from one square to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gait {
    Step,
    Jump,
    /// By several jumps, perhaps with slides between them.
    Chain,
}

pub(super) struct Detector {
    rules: Arc<Rules>,
    has: MechanicSet,
    corners: SquareSet,
}

impl Detector {
    pub(super) fn new(rules: &Arc<Rules>) -> Detector {
        let has = Mechanic::ALL.into_iter().filter(|&mechanic| ruleset_has(rules, mechanic)).collect();
        let corners = rules.board().iter().filter(|&square| rules.orthogonal_neighbours(square).len() == 2).collect();
        Detector { rules: Arc::clone(rules), has, corners }
    }

    pub(super) fn mechanisms(&self) -> impl Iterator<Item = Mechanic> {
        Mechanic::ALL.into_iter().filter(|&mechanic| self.has.contains(mechanic))
    }

    /// Returns the mechanisms that `action` used: those of the ruleset, and no others.
    ///
    /// `before` and `after` are the positions around it, `outcome` is how it ended the game, if it did.
    pub(super) fn used(
        &self,
        before: &Position,
        action: Action,
        after: &Position,
        outcome: Option<Outcome>,
    ) -> MechanicSet {
        let player = before.player_to_act();
        let opponent = player.opponent();
        let taken = before.stones(opponent) & !after.stones(opponent);
        let mut used = MechanicSet::EMPTY;
        match action.kind() {
            ActionKind::PlaceMan(_) | ActionKind::PlaceDux(_) => used.insert(Mechanic::Placement),
            ActionKind::Remove { .. } => used.insert(Mechanic::Removal),
            ActionKind::Stop => used.insert(Mechanic::ContinuationDeclined),
            ActionKind::Pass => used.insert(Mechanic::ForcedPass),
            ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. } => {
                let gait = self.gait(before, from, to);
                used.insert_if(Mechanic::Jump, gait != Gait::Step);
                used.insert_if(Mechanic::JumpChain, gait == Gait::Chain);
                used.insert_if(Mechanic::DuxMove, before.dux(player) == Some(from));
                used.insert_if(Mechanic::Displacement, before.stones(opponent).contains(to));
                let continues = before.continuation().is_some();
                used.insert_if(Mechanic::Continuation, continues);
                used.insert_if(Mechanic::ContinuationCapture, continues && !taken.is_empty());
                used.insert_if(Mechanic::SafeEntry, self.entered_safely(after, player, to));
            }
        }
        used.insert_if(Mechanic::Capture, !taken.is_empty());
        used.insert_if(Mechanic::MultipleCapture, taken.len() > 1);
        let mut men = taken;
        if let Some(dux) = before.dux(opponent) {
            men.remove(dux);
        }
        used.insert_if(Mechanic::CornerCapture, !(men & self.corners).is_empty());
        let to = match action.kind() {
            ActionKind::Move { to, .. } | ActionKind::MoveTaking { to, .. } => Some(to),
            _ => None,
        };
        used.insert_if(Mechanic::EnclosureCapture, self.took_enclosed(before, to, after, men & !self.corners));
        self.add_binding(before, after, &mut used);
        let dux_taken = before.dux(opponent).is_some() && after.dux(opponent).is_none();
        let dux_enclosed = outcome.is_some_and(|outcome| {
            outcome.winner == Some(player) && matches!(outcome.reason, EndReason::DuxEnclosed | EndReason::DuxCaptured)
        });
        used.insert_if(Mechanic::DuxCaptured, dux_taken || dux_enclosed);
        MechanicSet(used.0 & self.has.0)
    }

    fn add_binding(&self, before: &Position, after: &Position, used: &mut MechanicSet) {
        let player = before.player_to_act();
        let newly = after.bound() & !before.bound();
        used.insert_if(Mechanic::Bound, !(newly & after.stones(player.opponent())).is_empty());
        used.insert_if(Mechanic::SelfBound, !(newly & after.stones(player)).is_empty());
        used.insert_if(Mechanic::DuxBound, after.dux(player.opponent()).is_some_and(|dux| newly.contains(dux)));
        let freed = before.bound() & !after.bound();
        let stayed = Player::BOTH.map(|owner| before.stones(owner) & after.stones(owner));
        used.insert_if(Mechanic::Released, !(freed & (stayed[0] | stayed[1])).is_empty());
    }

    fn entered_safely(&self, after: &Position, player: Player, to: Square) -> bool {
        self.has.contains(Mechanic::SafeEntry)
            && after.stones(player).contains(to)
            && !after.bound().contains(to)
            && self.rules.flanked(after, player.opponent()).contains(to)
    }

    /// Returns whether one of `men`, which were taken, was held by no two flankers.
    ///
    /// Where binding takes a move, the position before says what held them. Where a move takes at once, it must
    /// be one of the flankers (`to`), unless being flanked counts however it came about.
    fn took_enclosed(&self, before: &Position, to: Option<Square>, after: &Position, men: SquareSet) -> bool {
        if !self.has.contains(Mechanic::EnclosureCapture) {
            return false;
        }
        let capture = &self.rules.ruleset().capture;
        let is_active = capture.trigger == Trigger::Active;
        let is_immediate = capture.timing == Timing::Immediate;
        if is_active && !is_immediate {
            return !(men & !before.holds().on_lines()).is_empty();
        }
        let player = before.player_to_act();
        let standing = if is_immediate { after } else { before };
        let mut flankers = standing.stones(player);
        if !self.rules.ruleset().dux.armed
            && let Some(dux) = standing.dux(player)
        {
            flankers.remove(dux);
        }
        let row = before.stones(player.opponent());
        let taking_part = if is_active { to } else { None };
        men.iter().any(|square| !self.is_on_held_line(flankers, taking_part, row, square))
    }

    /// Returns whether flankers stand on both sides of `square` on one line, next to it or at the ends of a row,
    /// the one on `taking_part` among them if it is given.
    fn is_on_held_line(
        &self,
        flankers: SquareSet,
        taking_part: Option<Square>,
        row: SquareSet,
        square: Square,
    ) -> bool {
        let capture = &self.rules.ruleset().capture;
        let lines: &[(i32, i32)] = match capture.lines {
            Lines::Orthogonal => &[(1, 0), (0, 1)],
            Lines::All => &[(1, 0), (0, 1), (1, 1), (1, -1)],
        };
        let flanker_towards = |step: (i32, i32)| {
            let mut next = self.neighbour(square, step);
            while let Some(at) = next
                && capture.span == Span::Row
                && row.contains(at)
            {
                next = self.neighbour(at, step);
            }
            next.filter(|&at| flankers.contains(at))
        };
        lines.iter().any(|&(file, rank)| {
            let ends = (flanker_towards((file, rank)), flanker_towards((-file, -rank)));
            matches!(ends, (Some(one), Some(other)) if taking_part.is_none_or(|part| part == one || part == other))
        })
    }

    fn neighbour(&self, square: Square, (file_step, rank_step): (i32, i32)) -> Option<Square> {
        let (file, rank) = self.file_and_rank(square);
        let (file, rank) = (file + file_step, rank + rank_step);
        let (files, ranks) = (self.rules.files() as i32, self.rules.ranks() as i32);
        ((0..files).contains(&file) && (0..ranks).contains(&rank))
            .then(|| Square::from_index((rank * files + file) as usize))
    }

    fn file_and_rank(&self, square: Square) -> (i32, i32) {
        let (index, files) = (square.index() as i32, self.rules.files() as i32);
        (index % files, index / files)
    }

    /// Tells how the piece on `from` gets to `to`, by the shortest way.
    fn gait(&self, before: &Position, from: Square, to: Square) -> Gait {
        let ruleset = self.rules.ruleset();
        let player = before.player_to_act();
        let movement = if before.dux(player) == Some(from) { &ruleset.dux_movement } else { &ruleset.man };
        let ((from_file, from_rank), (to_file, to_rank)) = (self.file_and_rank(from), self.file_and_rank(to));
        let (files, ranks) = (to_file - from_file, to_rank - from_rank);
        let is_orthogonal = files == 0 || ranks == 0;
        let is_straight = is_orthogonal || ruleset.movement.lines == Lines::All && files.abs() == ranks.abs();
        if !is_straight {
            return Gait::Chain;
        }
        let step = (files.signum(), ranks.signum());
        let distance = files.abs().max(ranks.abs());
        let between: SquareSet =
            (1..distance).filter_map(|count| self.neighbour(from, (step.0 * count, step.1 * count))).collect();
        let forward = if player == Player::First { 1 } else { -1 };
        let may_step = match movement.step {
            StepDirections::All => true,
            StepDirections::ForwardSideways => step.1 * forward >= 0,
            StepDirections::None => false,
        };
        let stones = before.stones(Player::First) | before.stones(Player::Second);
        let reaches = distance == 1 || movement.range == Range::Slide && (between & stones).is_empty();
        if may_step && reaches {
            return Gait::Step;
        }
        let mut jumpable = SquareSet::EMPTY;
        if movement.jump_over.own {
            jumpable |= before.stones(player);
        }
        if movement.jump_over.enemy {
            jumpable |= before.stones(player.opponent());
        }
        if !ruleset.movement.jump_over_dux {
            Player::BOTH.into_iter().filter_map(|owner| before.dux(owner)).for_each(|dux| jumpable.remove(dux));
        }
        let is_one_run = distance == 2 || distance > 2 && movement.jump_run == JumpRun::Any;
        if is_one_run && (between & !jumpable).is_empty() { Gait::Jump } else { Gait::Chain }
    }
}

fn ruleset_has(rules: &Rules, mechanic: Mechanic) -> bool {
    let ruleset = rules.ruleset();
    let Ruleset { capture, extra, .. } = ruleset;
    let has_duces = rules.has_duces();
    let binds = capture.timing != Timing::Immediate;
    let goes_on = rules.why_without_effect("extra.mode").is_none();
    let moves = || {
        let dux = has_duces.then_some(&ruleset.dux_movement);
        std::iter::once(&ruleset.man).chain(dux)
    };
    let jumps = || moves().filter(|movement| movement.jump_over.any());
    match mechanic {
        Mechanic::Placement => ruleset.setup.mode == SetupMode::Placement,
        Mechanic::Jump => jumps().next().is_some(),
        Mechanic::JumpChain => jumps().any(|movement| movement.jump_chain != JumpChain::None),
        Mechanic::Capture => true,
        Mechanic::MultipleCapture => match capture.timing {
            Timing::Immediate => capture.per_move == PerMove::All,
            Timing::Delayed => match capture.removal_scope {
                RemovalScope::All => true,
                RemovalScope::Line => capture.span == Span::Row,
                RemovalScope::One => false,
            },
            Timing::Displacement => false,
        },
        Mechanic::CornerCapture => capture.corner || capture.man_by_enclosure,
        Mechanic::EnclosureCapture => capture.man_by_enclosure,
        Mechanic::Continuation | Mechanic::ContinuationCapture => goes_on && extra.mode != ExtraMode::None,
        Mechanic::ContinuationDeclined => goes_on && matches!(extra.mode, ExtraMode::Optional | ExtraMode::Mandatory),
        Mechanic::Bound | Mechanic::Released => binds,
        Mechanic::SelfBound => binds && capture.trigger == Trigger::Positional,
        Mechanic::Removal => capture.timing == Timing::Delayed,
        Mechanic::Displacement => capture.timing == Timing::Displacement,
        Mechanic::SafeEntry => capture.trigger == Trigger::Active,
        Mechanic::DuxMove => has_duces,
        Mechanic::DuxBound => {
            let binds_enclosed = capture.timing == Timing::Displacement && ruleset.dux.capture == DuxCapture::Enclosure;
            has_duces && binds && (ruleset.dux.capture == DuxCapture::AsMan || binds_enclosed)
        }
        Mechanic::DuxCaptured => has_duces && ruleset.dux.capture != DuxCapture::Never,
        Mechanic::ForcedPass => ruleset.end.no_move == NoMove::Pass,
    }
}

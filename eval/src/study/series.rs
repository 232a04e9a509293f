//! One series of games: an agent against itself under one ruleset, with one kind of start.

use std::sync::Arc;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Action, GameState, Player, Position, Rules, Ruleset, SquareSet};
use rand::seq::IteratorRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::tally::StopRule;
use crate::agents::{AgentSpec, NetworkPlay, mix_seeds};
use crate::matches::game_play::{Beginning, Matchup, OpeningPolicy};
use crate::matches::ledger::Place;
use crate::matches::openings::{Opening, OpeningBook, PolicyOpenings};
use crate::players::Opened;
use crate::workers::{SeriesHead, SharedPlay};

/// What a series measures; first turns as texts of their actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SeriesKind {
    Main,
    /// The same with openings of another length.
    SecondOpening,
    /// The same where all stones are placed at random.
    RandomPlacement,
    /// So many men fewer for the first player; negative: for the second.
    Handicap(i32),
    /// The game after a first turn, to choose among such turns.
    PieTurn(usize, Vec<String>),
    /// The game after the chosen first turn.
    PieHeldOut(Vec<String>),
}

impl SeriesKind {
    /// Returns the actions that every game begins with.
    pub(super) fn first_turn(&self) -> &[String] {
        match self {
            SeriesKind::PieTurn(_, turn) | SeriesKind::PieHeldOut(turn) => turn,
            _ => &[],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyPlay {
    /// The ruleset as TOML.
    pub(super) ruleset: String,
    /// The ruleset whose evaluation alpha-beta uses: a derived one is played by the same player as its base.
    pub(super) evaluated_as: String,
    pub(super) agent: AgentSpec,
    pub(super) seed: u64,
    pub(super) kind: SeriesKind,
    pub(super) opening_length: usize,
    /// From whose policy; `None` for any legal action.
    pub(super) opening_policy: Option<PolicyOpenings>,
    /// In so many choices, the first after the opening, the visits of tree searches are noted, for metrics.
    pub(crate) visits_within: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) play: StudyPlay,
    /// The ruleset and the agent, by their places in the study.
    pub(super) ruleset: usize,
    pub(super) agent: usize,
    /// The rules of `play`, and the ruleset whose evaluation alpha-beta uses.
    pub(super) rules: Arc<Rules>,
    pub(super) evaluated_as: Ruleset,
    /// The actions that every game begins with.
    pub(super) first_turn: Vec<Action>,
    /// The agent's text with what its network adds.
    pub(super) text: String,
    /// The networks of the agent and of the opening policy: the place among the opened ones, and how it plays.
    pub(super) networks: [Option<(usize, NetworkPlay)>; 2],
    pub(super) stop: StopRule,
    /// Stands for everything that a game of the series depends on.
    pub(super) key: String,
}

impl Series {
    /// Returns what workers must know of the series.
    pub(super) fn head(&self) -> SeriesHead {
        let openers = self.play.opening_policy.iter().map(|policy| &policy.agent);
        let agents: Vec<&AgentSpec> = std::iter::once(&self.play.agent).chain(openers).collect();
        let play = SharedPlay::Study(Box::new(self.play.clone()));
        SeriesHead::new(&self.key, self.stop.games_max, &agents, &self.evaluated_as, play)
    }

    /// Makes a series with the networks of its agent and of its opening policy.
    pub(super) fn new(
        play: StudyPlay,
        rules: &Arc<Rules>,
        evaluated_as: &Ruleset,
        first_turn: Vec<Action>,
        networks: [Option<(usize, &Opened)>; 2],
        stop: StopRule,
    ) -> Series {
        let [identity, opener] =
            networks.map(|network| network.map(|(_, network)| identity_of(network)).unwrap_or_default());
        let ruleset = rules.ruleset();
        let at = if identity.is_empty() { "" } else { "@" };
        let mut key = format!("{}/{}", ruleset.id, ruleset_fingerprint(ruleset));
        key.push_str(&format!(" {}{at}{identity} seed={} opening={}", play.agent, play.seed, play.opening_length));
        if let Some(policy) = &play.opening_policy {
            key.push_str(&format!(" from {}", policy.text(&opener)));
        }
        match &play.kind {
            // Their openings differ in length.
            SeriesKind::Main | SeriesKind::SecondOpening => {}
            SeriesKind::RandomPlacement => key.push_str(" placed-at-random"),
            SeriesKind::Handicap(men) => key.push_str(&format!(" handicap={men}")),
            SeriesKind::PieTurn(_, turn) => key.push_str(&format!(" after={}", turn.join(","))),
            SeriesKind::PieHeldOut(turn) => key.push_str(&format!(" after={} held-out", turn.join(","))),
        }
        Series {
            ruleset: 0,
            agent: 0,
            rules: Arc::clone(rules),
            evaluated_as: evaluated_as.clone(),
            first_turn,
            text: play.agent.text_with(networks[0].map(|(_, network)| &network.play)),
            networks: networks.map(|network| network.map(|(index, network)| (index, network.play.clone()))),
            stop,
            key,
            play,
        }
    }

    pub(super) fn needs_network(&self) -> bool {
        self.networks.iter().any(Option::is_some)
    }

    /// Returns the seed of game `index`.
    pub(super) fn game_seed(&self, index: usize) -> u64 {
        mix_seeds(&[self.seed(), index as u64])
    }

    /// Returns the seed from which the openings of the series are drawn.
    pub(super) fn seed(&self) -> u64 {
        let bytes: Vec<u64> = self.key.bytes().map(u64::from).collect();
        mix_seeds(&bytes)
    }

    /// Returns the ledger of its games in the study's folder `games`: one per ruleset and agent.
    pub(super) fn ledger_file(&self) -> String {
        format!("{}/{}.jsonl", self.rules.ruleset().id, slug(&self.play.agent))
    }

    /// Returns the place of game `index` in ledgers.
    pub(super) fn place(&self, index: usize) -> Place {
        Place { series: self.key.clone(), pair: index, game: 1 }
    }

    pub(super) fn matchup(&self, id: usize) -> Matchup<'_> {
        let [own, opener] = self.networks.each_ref().map(|network| network.as_ref().map(|(at, play)| (*at, play)));
        Matchup {
            id,
            rules: &self.rules,
            evaluated_as: &self.evaluated_as,
            agents: [&self.play.agent; 2],
            opening_agent: self.play.opening_policy.as_ref().map(|policy| &policy.agent),
            texts: [&self.text; 2],
            networks: [own, own, opener],
        }
    }

    /// Returns how game `index` begins; `opening` is the one that was drawn, unless the opening policy draws it in the game.
    pub(super) fn beginning_of(&self, index: usize, opening: Option<&Opening>) -> Beginning {
        let seed = self.game_seed(index);
        let mut actions = self.first_turn.clone();
        actions.extend(opening.into_iter().flat_map(|opening| &opening.actions));
        let policy = self.play.opening_policy.as_ref().map(|policy| {
            let length = self.first_turn.len() + self.play.opening_length;
            OpeningPolicy::new(length, policy.temperature, mix_seeds(&[seed, 2]))
        });
        let own = self.play.agent.seed.unwrap_or(0);
        Beginning {
            state: self.beginning(index),
            opening: actions,
            policy,
            seats: [0, 1],
            seed,
            agent_seeds: [3, 4].map(|stream| mix_seeds(&[seed, stream, own])),
            visits_within: self.play.visits_within,
        }
    }

    /// Returns the book of its openings; `None` where the opening policy draws them in the games.
    pub(super) fn openings(&self) -> Option<OpeningBook> {
        self.play.opening_policy.is_none().then(|| OpeningBook::new(self.seed(), self.play.opening_length))
    }

    /// Returns the opening of game `index`, which is drawn where `book` does not have it yet; says whether the game would only
    /// repeat an earlier one.
    pub(super) fn opening(&self, index: usize, book: &mut OpeningBook) -> (Opening, bool) {
        while book.openings.len() <= index {
            let mut beginning = self.beginning(book.openings.len());
            self.first_turn.iter().for_each(|&action| beginning.play(action));
            book.draw_next(&beginning);
        }
        let opening = book.openings[index].clone();
        let repeats = opening.repeats.is_some() && !self.is_random();
        (opening, repeats)
    }

    /// Returns where game `index` begins, before its first turn and its opening.
    pub(super) fn beginning(&self, index: usize) -> GameState {
        let SeriesKind::Handicap(men) = self.play.kind else { return GameState::new(Arc::clone(&self.rules)) };
        let mut rng = ChaCha8Rng::seed_from_u64(mix_seeds(&[self.game_seed(index), 1]));
        let position = handicapped(&self.rules, men, &mut rng);
        GameState::from_position(Arc::clone(&self.rules), position)
    }

    /// Returns whether a game that begins like an earlier one may go another way.
    pub(super) fn is_random(&self) -> bool {
        self.play.agent.is_random()
    }
}

/// Returns what names of series and a study's folder hold of a network: its checksum, and the kernel that computes it.
pub(super) fn identity_of(network: &Opened) -> String {
    let Opened { identity, play, .. } = network;
    if play.kernel.is_empty() { identity.clone() } else { format!("{identity} kernel={}", play.kernel) }
}

/// Returns who makes the first placement or move.
pub(super) fn first_player(rules: &Rules) -> Player {
    rules.initial_position().player_to_act()
}

/// Returns the actions of a first turn as text.
pub(super) fn turn_text(rules: &Arc<Rules>, turn: &[Action]) -> Vec<String> {
    let mut state = GameState::new(Arc::clone(rules));
    turn.iter()
        .map(|&action| {
            let text = state.action_text(action);
            state.play(action);
            text
        })
        .collect()
}

/// Returns the opening position without some men of one side: from its hand if the stones are placed, else
/// any of its men on the board, each as likely.
fn handicapped(rules: &Rules, men: i32, rng: &mut ChaCha8Rng) -> Position {
    let first = first_player(rules);
    let (loser, count) = if men >= 0 { (first, men as usize) } else { (first.opponent(), men.unsigned_abs() as usize) };
    let initial = rules.initial_position();
    let mut in_hand = [0; 2];
    in_hand[loser.index()] = count.min(usize::from(initial.hand(loser).men)) as u8;
    let on_board = count - usize::from(in_hand[loser.index()]);
    let squares: SquareSet = initial.men(loser).iter().sample(rng, on_board).into_iter().collect();
    rules.initial_position_without(squares, in_hand)
}

/// Returns a name for a file that stands for an agent.
fn slug(agent: &AgentSpec) -> String {
    let text: String =
        agent.to_string().chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    if text.len() <= 80 {
        return text;
    }
    // The end tells long paths apart.
    text[text.len() - 80..].to_owned()
}

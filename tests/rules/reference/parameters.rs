//! The parameters of section 2 of the rules, read from a flat map of names to values.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use serde_json::{Map, Value};

/// How one kind of piece moves.
#[derive(Clone, Debug)]
pub(crate) struct Movement {
    /// `all`, `forward_sideways` or `none`.
    pub(crate) step: String,
    pub(crate) slides: bool,
    pub(crate) jumps_own: bool,
    pub(crate) jumps_enemy: bool,
    pub(crate) jumps_runs: bool,
    /// `none`, `optional` or `maximal`.
    pub(crate) chain: String,
}

/// Every parameter of a ruleset, defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    pub(crate) files: usize,
    pub(crate) ranks: usize,
    pub(crate) placement: bool,
    pub(crate) array: Option<String>,
    pub(crate) men_in_hand: usize,
    pub(crate) dux_in_hand: usize,
    pub(crate) group: usize,
    pub(crate) opening_group: usize,
    pub(crate) dux_any_time: bool,
    pub(crate) first_player: u8,
    pub(crate) move_diagonally: bool,
    pub(crate) man: Movement,
    pub(crate) dux: Movement,
    pub(crate) jump_over_dux: bool,
    pub(crate) chain_slides: bool,
    /// `immediate`, `delayed` or `displacement`.
    pub(crate) timing: String,
    pub(crate) capture_diagonally: bool,
    pub(crate) capture_rows: bool,
    pub(crate) dux_spared_in_row: bool,
    pub(crate) one_capture_per_move: bool,
    pub(crate) capture_active: bool,
    pub(crate) release_effective: bool,
    pub(crate) free_flankers: bool,
    pub(crate) corner: bool,
    pub(crate) man_by_enclosure: bool,
    pub(crate) removal_precedes_move: bool,
    /// `all`, `line` or `one`.
    pub(crate) removal_scope: String,
    /// `none`, `optional`, `mandatory` or `must_capture`.
    pub(crate) extra: String,
    pub(crate) extra_is_step: bool,
    pub(crate) extra_limit: Option<usize>,
    pub(crate) dux_armed: bool,
    /// `enclosure`, `as_man` or `never`.
    pub(crate) dux_capture: String,
    pub(crate) four_sides: bool,
    pub(crate) enclosed_by_any: bool,
    pub(crate) enclosure_active: bool,
    pub(crate) enclosure_escape: bool,
    pub(crate) win_dux: bool,
    /// `all_men`, `all_pieces` or `off`.
    pub(crate) eliminate: String,
    pub(crate) eliminate_at: usize,
    /// `pass`, `loss` or `draw`.
    pub(crate) no_move: String,
    pub(crate) quiet_limit: usize,
    /// `draw` or `most_pieces`.
    pub(crate) quiet_result: String,
    pub(crate) count_dux: bool,
    /// `none`, `threefold_draw`, `threefold_forbidden`, `superko` or `shuttle3`.
    pub(crate) repetition: String,
    pub(crate) max_plies: usize,
    /// `draw` or `most_pieces`.
    pub(crate) max_plies_result: String,
}

impl Parameters {
    /// Reads the map; a parameter left out has the default of the rules.
    pub(crate) fn new(map: &Map<String, Value>) -> Self {
        let mut reader = Reader { map, read: Vec::new() };
        let group = reader.number("placement.group", 2);
        let parameters = Self {
            files: reader.number("board.files", 8),
            ranks: reader.number("board.ranks", 8),
            placement: reader.word("setup.mode", &["array", "placement"]) == "placement",
            array: reader.text("setup.array"),
            men_in_hand: reader.number("placement.men", 0),
            dux_in_hand: reader.number("placement.dux", 0),
            group,
            opening_group: reader.optional_number("placement.opening_group").unwrap_or(group),
            dux_any_time: reader.word("placement.dux_time", &["after_men", "any"]) == "any",
            first_player: u8::try_from(reader.number("play.first_player", 1)).unwrap(),
            move_diagonally: reader.word("move.lines", &["orthogonal", "all"]) == "all",
            man: reader.movement("man"),
            dux: reader.movement("dux"),
            jump_over_dux: reader.flag("move.jump_over_dux", true),
            chain_slides: reader.flag("dux.chain_slides", false),
            timing: reader.word("capture.timing", &["immediate", "delayed", "displacement"]),
            capture_diagonally: reader.word("capture.lines", &["orthogonal", "all"]) == "all",
            capture_rows: reader.one_or("capture.span", "row"),
            dux_spared_in_row: reader.word("capture.row_with_dux", &["blocks", "spared"]) == "spared",
            one_capture_per_move: reader.word("capture.per_move", &["all", "one"]) == "one",
            capture_active: reader.word("capture.trigger", &["active", "positional"]) == "active",
            release_effective: reader.word("capture.release", &["geometric", "effective"]) == "effective",
            free_flankers: reader.flag("capture.free_flankers", false),
            corner: reader.flag("capture.corner", false),
            man_by_enclosure: reader.flag("capture.man_by_enclosure", false),
            removal_precedes_move: reader.word("capture.removal", &["replaces_move", "precedes_move"])
                == "precedes_move",
            removal_scope: reader.word("capture.removal_scope", &["all", "line", "one"]),
            extra: reader.word("extra.mode", &["none", "optional", "mandatory", "must_capture"]),
            extra_is_step: reader.word("extra.moves", &["piece", "step"]) == "step",
            extra_limit: reader.optional_number("extra.limit"),
            dux_armed: reader.flag("dux.armed", true),
            dux_capture: reader.word("dux.capture", &["enclosure", "as_man", "never"]),
            four_sides: reader.word("dux.enclosure_sides", &["available", "four"]) == "four",
            enclosed_by_any: reader.word("dux.enclosure_by", &["enemy", "any"]) == "any",
            enclosure_active: reader.word("dux.enclosure_trigger", &["active", "positional"]) == "active",
            enclosure_escape: reader.flag("dux.enclosure_escape", false),
            win_dux: reader.flag("end.win_dux", true),
            eliminate: reader.word("end.eliminate", &["all_men", "all_pieces", "off"]),
            eliminate_at: reader.number("end.eliminate_at", 0),
            no_move: reader.word("end.no_move", &["pass", "loss", "draw"]),
            quiet_limit: reader.number("end.quiet_limit", 0),
            quiet_result: reader.word("end.quiet_result", &["draw", "most_pieces"]),
            count_dux: reader.flag("end.count_dux", true),
            repetition: reader
                .word("end.repetition", &["none", "threefold_draw", "threefold_forbidden", "superko", "shuttle3"]),
            max_plies: reader.number("end.max_plies", 1000),
            max_plies_result: reader.word("end.max_plies_result", &["draw", "most_pieces"]),
        };
        reader.everything_was_read();
        parameters
    }

    /// The movement of a dux or a man.
    pub(crate) fn movement(&self, dux: bool) -> &Movement {
        if dux { &self.dux } else { &self.man }
    }
}

/// Reads parameters one by one and remembers their names, so that none is overlooked.
struct Reader<'a> {
    map: &'a Map<String, Value>,
    read: Vec<String>,
}

impl Reader<'_> {
    /// The value of a parameter; null is the same as left out.
    fn value(&mut self, name: &str) -> Option<&Value> {
        self.read.push(name.to_owned());
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.value(name).map(|value| value.as_str().unwrap().to_owned())
    }

    /// One of the `allowed` words, of which the first is the default.
    fn word(&mut self, name: &str, allowed: &[&str]) -> String {
        let word = self.text(name).unwrap_or_else(|| allowed[0].to_owned());
        assert!(allowed.contains(&word.as_str()), "{name} may not be {word}");
        word
    }

    fn number(&mut self, name: &str, default: usize) -> usize {
        self.optional_number(name).unwrap_or(default)
    }

    /// A number or nothing; `"none"` is nothing too.
    fn optional_number(&mut self, name: &str) -> Option<usize> {
        let value = self.value(name).filter(|value| value.as_str() != Some("none"))?;
        Some(usize::try_from(value.as_u64().unwrap()).unwrap())
    }

    fn flag(&mut self, name: &str, default: bool) -> bool {
        self.value(name).map_or(default, |value| value.as_bool().unwrap())
    }

    /// Whether a parameter is `word` rather than the number 1, its default.
    fn one_or(&mut self, name: &str, word: &str) -> bool {
        match self.value(name) {
            None => false,
            Some(value) if value.as_u64() == Some(1) || value.as_str() == Some("1") => false,
            Some(value) if value.as_str() == Some(word) => true,
            Some(value) => panic!("{name} may not be {value}"),
        }
    }

    fn movement(&mut self, kind: &str) -> Movement {
        let jump_over = self.value(&format!("{kind}.jump_over")).map_or(Vec::new(), |value| {
            let colours = value.as_array().unwrap().iter();
            colours.map(|colour| colour.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        });
        assert!(jump_over.iter().all(|colour| colour == "own" || colour == "enemy"));
        Movement {
            step: self.word(&format!("{kind}.step"), &["all", "forward_sideways", "none"]),
            slides: self.one_or(&format!("{kind}.range"), "slide"),
            jumps_own: jump_over.iter().any(|colour| colour == "own"),
            jumps_enemy: jump_over.iter().any(|colour| colour == "enemy"),
            jumps_runs: self.one_or(&format!("{kind}.jump_run"), "any"),
            chain: self.word(&format!("{kind}.jump_chain"), &["none", "optional", "maximal"]),
        }
    }

    fn everything_was_read(&self) {
        for name in self.map.keys() {
            assert!(self.read.contains(name), "{name} is no parameter");
        }
    }
}

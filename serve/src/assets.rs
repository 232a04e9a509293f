//! The page and everything that it needs, embedded in the program.

pub(crate) struct Asset {
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) const PAGE: &str = include_str!("../assets/index.html");

/// What a browser shows where a request is refused: `{message}` says why.
pub(crate) const REFUSAL: &str = include_str!("../assets/refusal.html");

const SCRIPT: &str = "text/javascript; charset=utf-8";

pub(crate) fn find(name: &str) -> Option<Asset> {
    let (kind, text) = match name {
        "style.css" => ("text/css; charset=utf-8", include_str!("../assets/style.css")),
        "icon.svg" => ("image/svg+xml", include_str!("../assets/icon.svg")),
        "main.js" => (SCRIPT, include_str!("../assets/main.js")),
        "api.js" => (SCRIPT, include_str!("../assets/api.js")),
        "dom.js" => (SCRIPT, include_str!("../assets/dom.js")),
        "game.js" => (SCRIPT, include_str!("../assets/game.js")),
        "board.js" => (SCRIPT, include_str!("../assets/board.js")),
        "chart.js" => (SCRIPT, include_str!("../assets/chart.js")),
        "play.js" => (SCRIPT, include_str!("../assets/play.js")),
        "advice.js" => (SCRIPT, include_str!("../assets/advice.js")),
        "clock.js" => (SCRIPT, include_str!("../assets/clock.js")),
        "judge.js" => (SCRIPT, include_str!("../assets/judge.js")),
        "link.js" => (SCRIPT, include_str!("../assets/link.js")),
        "moves.js" => (SCRIPT, include_str!("../assets/moves.js")),
        "pace.js" => (SCRIPT, include_str!("../assets/pace.js")),
        "players.js" => (SCRIPT, include_str!("../assets/players.js")),
        "review.js" => (SCRIPT, include_str!("../assets/review.js")),
        "variations.js" => (SCRIPT, include_str!("../assets/variations.js")),
        "verdict.js" => (SCRIPT, include_str!("../assets/verdict.js")),
        "choices.js" => (SCRIPT, include_str!("../assets/choices.js")),
        "comparison.js" => (SCRIPT, include_str!("../assets/comparison.js")),
        "scores.js" => (SCRIPT, include_str!("../assets/scores.js")),
        "settings.js" => (SCRIPT, include_str!("../assets/settings.js")),
        "trends.js" => (SCRIPT, include_str!("../assets/trends.js")),
        "kept.js" => (SCRIPT, include_str!("../assets/kept.js")),
        "files.js" => (SCRIPT, include_str!("../assets/files.js")),
        "setup.js" => (SCRIPT, include_str!("../assets/setup.js")),
        "analyse.js" => (SCRIPT, include_str!("../assets/analyse.js")),
        "shelf.js" => (SCRIPT, include_str!("../assets/shelf.js")),
        "overview.js" => (SCRIPT, include_str!("../assets/overview.js")),
        "arrayfield.js" => (SCRIPT, include_str!("../assets/arrayfield.js")),
        "points.js" => (SCRIPT, include_str!("../assets/points.js")),
        "pieces.js" => (SCRIPT, include_str!("../assets/pieces.js")),
        "rulesets.js" => (SCRIPT, include_str!("../assets/rulesets.js")),
        "captures.js" => (SCRIPT, include_str!("../assets/captures.js")),
        "faults.js" => (SCRIPT, include_str!("../assets/faults.js")),
        "drafts.js" => (SCRIPT, include_str!("../assets/drafts.js")),
        "values.js" => (SCRIPT, include_str!("../assets/values.js")),
        "editor.js" => (SCRIPT, include_str!("../assets/editor.js")),
        "curves.js" => (SCRIPT, include_str!("../assets/curves.js")),
        "runcards.js" => (SCRIPT, include_str!("../assets/runcards.js")),
        "runs.js" => (SCRIPT, include_str!("../assets/runs.js")),
        "studies.js" => (SCRIPT, include_str!("../assets/studies.js")),
        _ => return None,
    };
    Some(Asset { kind, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_embedded_and_nothing_is_fetched_from_elsewhere() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let text = match name.as_str() {
                "index.html" => PAGE,
                "refusal.html" => REFUSAL,
                name => find(name).unwrap_or_else(|| panic!("{name}")).text,
            };
            for line in text.lines().filter(|line| line.contains("//") && !line.contains("www.w3.org/2000/svg")) {
                assert!(!line.contains("http://") && !line.contains("https://"), "{name}: {line}");
            }
        }
    }
}

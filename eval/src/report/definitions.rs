//! The definitions of all terms of the report, in words and as formulas.

use maud::html;

use super::Study;
use super::layout::Section;

/// A term, what it means, how it is computed.
const TERMS: &[(&str, &str, &str)] = &[
    ("First player", "The player who makes the first placement or move of the game.", ""),
    (
        "Score",
        "The first player’s points divided by the number of games: a win counts one, a draw one half. Both sides are the same program, so 50 % is a fair game.",
        "s = (W + D/2) / n",
    ),
    (
        "Interval",
        "The confidence interval of the true score: every μ that the score test does not reject. The test takes the standard error that μ itself makes likely, because with few decisive games that of the games seen is too small. It takes into account that games of one opening are correlated.",
        "|s − μ| ≤ z·SE(μ)",
    ),
    (
        "Wider interval",
        "Simultaneous confidence intervals of all rulesets with one player (Šidák).",
        "z = Φ⁻¹(½ + ½·c^(1/K))",
    ),
    (
        "First or second player ahead",
        "The score differs significantly from 50 %, after correction for the number of rulesets (Holm).",
        "p = 2·Φ(−|s − ½| / SE(½))",
    ),
    (
        "Balanced",
        "The score is shown to differ from 50 % by less than the margin: both “too high” and “too low” are rejected (two one-sided tests, after Holm). Besides, pieces are captured in enough games, too few games are cut off to matter, and another kind of player that searches shows the same with its largest budget while none shows the contrary. The absence of a significant difference is not enough; a small advantage within the margin counts as balanced, even if it is significant.",
        "max(Φ((s − ½ − δ)/SE(½ + δ)), Φ((½ − δ − s)/SE(½ − δ))) < 1 − c",
    ),
    (
        "Even with this player",
        "The score is shown to be within the margin, but something else that a verdict of balance needs is missing; the reason stands beside it. Two cautious players may draw every game of an unfair ruleset.",
        "",
    ),
    (
        "Games with captures",
        "The fraction of games in which a player captures, with Wilson’s interval. Captures in the drawn opening do not count.",
        "",
    ),
    (
        "Change since half of the budget",
        "The score less that with the largest budget that is at most half as large. Stable: the interval lies within the margin; changed: it does not contain zero; unclear: neither.",
        "s₂ − s₁, SE² = SE₁² + SE₂²",
    ),
    ("Unresolved", "Neither is shown; more games are needed.", ""),
    (
        "Mostly drawn",
        "Fewer than half of the games were won. Such a ruleset can be balanced only because most games are drawn; the first player’s fraction of the won games shows who wins the others.",
        "(W + L)/n < ½",
    ),
    (
        "Cut off",
        "The game reached the program’s turn limit. It counts as a draw; the bracket shows the score if the first player had lost, or won, all such games.",
        "[(W + D/2)/n, (W + D/2 + T)/n]",
    ),
    (
        "Decisive",
        "The fraction of games that are not drawn, and the first player’s fraction of those; both with Wilson’s interval.",
        "(W + L)/n, W/(W + L)",
    ),
    (
        "Elo",
        "The difference in strength that would give the same score. The same advantage gives other Elo numbers where draws are common.",
        "E = −400·log₁₀(1/s − 1)",
    ),
    (
        "Games, and what they are worth",
        "The games that count, and the effective number of independent games: repeated games and mirror images are left out, and games of one opening count less.",
        "σ²/SE², σ² the variance of one game’s score",
    ),
    (
        "Trend",
        "The distance of the score from 50 % with the largest budget, less that with the smallest. Its intervals hold for all rulesets together (Šidák). Shrinking or growing: the interval does not contain zero; stable: it lies within the margin. Not monotone: some pair of budgets shows that the distance grows and another that it shrinks, all pairs tested together (Bonferroni).",
        "|s₂ − ½| − |s₁ − ½|, SE² = SE₁² + SE₂²",
    ),
    (
        "Agreement of two players",
        "The difference of a ruleset’s scores with two kinds of programs. They agree if its interval lies within the margin.",
        "s₁ − s₂, SE² = SE₁² + SE₂²",
    ),
    (
        "Kendall’s τ",
        "The rank correlation of the rulesets’ scores with two players: 1 for the same order, −1 for the opposite. The noise of the games lowers it where many rulesets have nearly the same score, so it has no interval; beside it stand the pairs of rulesets that both players tell apart, and how many of them are in the same order.",
        "(concordant − discordant pairs) / all pairs, corrected for ties",
    ),
    (
        "Fair handicap",
        "The number of men that the first player must give up for a score of 50 %, by logistic regression; with Fieller’s confidence set.",
        "h* = −b₀/b₁",
    ),
    (
        "Pie rule",
        "One player makes the first turn, the other chooses sides. The first turn is selected on some games and evaluated on new ones, because the best of many looks better than it is.",
        "|s − ½| of the held-out games",
    ),
    (
        "Expected score in a game",
        "The program’s own expectation for the first player: its values, with a scale fitted to the results.",
        "p = 1/(1 + e^(−2kx)), x = atanh v",
    ),
    ("Change of lead", "The expected score passes from above 55 % to below 45 % or back.", ""),
    (
        "Drama",
        "How far behind the eventual winner was, over the turns in which it was behind.",
        "mean of √(½ − v) over turns with v < ½",
    ),
    (
        "Uncertainty",
        "How open the game is: 1 bit if both sides have the same chances, 0 if it is decided.",
        "−v·log₂ v − (1 − v)·log₂(1 − v)",
    ),
    (
        "Options that matter",
        "The effective number of actions, over the choices with recorded search visits: in a study the first 20 of each game after its opening.",
        "exp(−Σ π·ln π), π the fractions of the search’s visits",
    ),
    (
        "Openings in nats",
        "The diversity of the first actions: each nat is a factor of 2.7 in the number of equally likely openings.",
        "H = −E[Σ ln π(aₜ)]",
    ),
    (
        "Piece values",
        "The weights of the differences in men, dux, bound men and possible moves that best predict the result.",
        "minimise Σ(z − tanh(w·x))²",
    ),
    (
        "Exploratory",
        "Described, not tested. Among dozens of numbers for each ruleset some stand out by chance; confirm them with a separate study.",
        "",
    ),
];

pub(super) fn section(study: &Study<'_>) -> Section {
    let content = html! {
        p {
            "A score of 54 % means that the first player wins 54 of every hundred points. It does not predict a single game. "
            "An interval from 51 to 57 % means that the games are compatible with any true value in that range; half the width needs four times as many games. "
            "In the formulas W, D, L and T count games won, drawn, lost and cut off, n all games, SE is the standard error, c the confidence ("
            (study.confidence()) "), δ the margin, K the number of rulesets, z the normal quantile and Φ the normal distribution."
        }
        dl.terms {
            @for (term, meaning, formula) in TERMS {
                dt { (term) }
                dd { (meaning) @if !formula.is_empty() { " " span.formula { (formula) } } }
            }
        }
    };
    Section::new("reading", "How to read this", "How to read this", content)
}

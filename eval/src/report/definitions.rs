//! How to read the page: every term, in words and as a formula.

use maud::{Markup, html};

use super::Study;

/// A term, what it means, how it is computed.
const TERMS: &[(&str, &str, &str)] = &[
    ("First player", "Whoever makes the first placement or move of the game.", ""),
    (
        "Score",
        "The first player’s points as a share of all games: a win counts one, a draw one half. Both sides are the same program, so 50 % is a fair game.",
        "s = (W + D/2) / n",
    ),
    (
        "Interval",
        "The range that holds the true score in that share of studies; it allows for games of one opening resembling each other. Near 0 % and 100 % it is a credible interval.",
        "s ± z·SE, SE over openings",
    ),
    (
        "Wider interval",
        "Intervals of all rulesets with one player that hold together, however many rulesets there are (Šidák).",
        "z = Φ⁻¹(½ + ½·c^(1/K))",
    ),
    (
        "First or second player ahead",
        "The score differs from 50 % by more than chance would give, after correcting for the number of rulesets (Holm).",
        "p = 2·Φ(−|s − ½| / SE)",
    ),
    (
        "Balanced",
        "Shown to be nearer to 50 % than the margin: both “too high” and “too low” are rejected (two one-sided tests, after Holm). Not to find a difference is not enough; a slight advantage within the margin still counts as balanced, even if the games show that it is there.",
        "max(Φ((s − ½ − δ)/SE), Φ((½ − δ − s)/SE)) < 1 − c",
    ),
    ("Unresolved", "Neither is shown: more games would be needed.", ""),
    (
        "Mostly drawn",
        "Fewer than half of the games were won by anybody. Such a ruleset can be balanced merely because nobody wins; the first player’s share of the won games says who is ahead when somebody does.",
        "(W + L)/n < ½",
    ),
    (
        "Cut off",
        "The game reached the program’s own limit of turns. It counts as a draw; the bracket shows the score if all such games had been lost, or won, by the first player.",
        "[(W + D/2)/n, (W + D/2 + T)/n]",
    ),
    (
        "Won by anybody",
        "Share of games that are not drawn, and the first player’s share of those; both with Wilson’s interval.",
        "(W + L)/n, W/(W + L)",
    ),
    (
        "Elo",
        "The difference in strength that would give the same score. It is a second column, because the same advantage gives other Elo numbers where draws are common.",
        "E = −400·log₁₀(1/s − 1)",
    ),
    (
        "Games (worth)",
        "The games that count, and how many independent games they are worth: repeated games and mirror images are left out, and games of one opening count less.",
        "σ²/SE², σ² the variance of one game’s score",
    ),
    (
        "Trend",
        "A straight line through the scores against the doublings of the budget, weighted by their errors. Shrinking: towards 50 %; growing: away from it; stable: the change over the whole ladder lies within the margin. Where the scores do not lie on a line, the slope is only its mean.",
        "s = a + b·log₂(budget), weights 1/SE²",
    ),
    (
        "Agreement of two players",
        "The difference of the scores that two kinds of programs give one ruleset. They agree if its interval lies within the margin.",
        "s₁ − s₂, SE² = SE₁² + SE₂²",
    ),
    (
        "Kendall’s τ",
        "Whether two players put the rulesets in the same order: 1 the same, −1 the opposite. Its interval is a bootstrap over openings.",
        "(concordant − discordant pairs) / all pairs, corrected for ties",
    ),
    (
        "Fair handicap",
        "How many men fewer the first player must have for a score of 50 %, by logistic regression; its set of values is Fieller’s.",
        "h* = −b₀/b₁",
    ),
    (
        "Pie rule",
        "One divides, the other chooses. The opening is picked on one half of the games and judged on the other, for the best of many always looks better than it is.",
        "|s − ½| of the held-out games",
    ),
    (
        "Expected score in a game",
        "What the program itself expects for the first player, from its values, with a scale fitted to the results.",
        "p = 1/(1 + e^(−2kx)), x = atanh v",
    ),
    ("Change of lead", "The expectation passes from above 55 % to below 45 % or back.", ""),
    (
        "Drama",
        "How far behind the later winner was, over the turns in which he was behind.",
        "mean of √(½ − v) over turns with v < ½",
    ),
    (
        "Uncertainty",
        "How open the game is: 1 bit where both sides have the same chances, 0 where it is decided.",
        "−v·log₂ v − (1 − v)·log₂(1 − v)",
    ),
    (
        "Options that matter",
        "The number of equally good actions that would leave as much choice as there is, over the choices of which it is known how the search weighed them: in a study the first 20 of each game after its opening.",
        "exp(−Σ π·ln π), π the shares of the search’s visits",
    ),
    (
        "Openings in nats",
        "How much the beginnings of games differ: each nat is a factor of 2.7 in the number of equally likely openings.",
        "H = −E[Σ ln π(aₜ)]",
    ),
    (
        "What things are worth",
        "Weights by which the difference in men, the dux, bound men and possible moves best foretell the result.",
        "minimise Σ(z − tanh(w·x))²",
    ),
    (
        "Exploratory",
        "Described, not tested. Among dozens of numbers for each ruleset some will stand out by chance; what looks interesting needs a study of its own.",
        "",
    ),
];

/// The explanations.
pub(super) fn section(study: &Study<'_>) -> Markup {
    html! {
        section #reading aria-labelledby="reading-title" {
            h2 #reading-title { "How to read this" }
            p {
                "A score of 54 % means: of every hundred points to be won, the one who begins takes 54. It says nothing about a single game. "
                "An interval from 51 to 57 % means that the games played fit any true value in that range; twice as narrow an interval needs four times as many games. "
                "In the formulas W, D, L and T count games won, drawn, lost and cut off, n all games, SE is the standard error, c the confidence ("
                (study.confidence()) "), δ the margin, K the number of rulesets, z the normal quantile and Φ the normal distribution."
            }
            dl.terms {
                @for (term, meaning, formula) in TERMS {
                    dt { (term) }
                    dd { (meaning) @if !formula.is_empty() { " " span.formula { (formula) } } }
                }
            }
        }
    }
}

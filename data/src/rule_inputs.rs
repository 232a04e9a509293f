//! The ruleset as a network sees it: every parameter of [`PARAMETERS`] becomes numbers in `[0, 1]`. A choice or a set has one
//! number per name, true or false one; a whole number `n` is `n / (n + s)`, with `s = 64` for counters of turns and 16 otherwise,
//! and one more number says whether it is there. Left out are the drawn array, the first player, and choices of one name.

use std::sync::LazyLock;

use latrunculi_engine::Ruleset;
use latrunculi_engine::parameters::{PARAMETERS, Parameter, ParameterKind, ParameterValue};

#[derive(Clone, Copy, Debug)]
enum Question {
    /// Is it this name, or is this name in it?
    Has(&'static str),
    /// Is it true?
    IsTrue,
    /// How large is it? `n / (n + s)`.
    Size(f32),
    /// Is it absent?
    IsAbsent,
}

#[derive(Debug)]
struct RuleInput {
    parameter: &'static Parameter,
    question: Question,
    name: String,
}

static INPUTS: LazyLock<Vec<RuleInput>> = LazyLock::new(|| PARAMETERS.iter().flat_map(inputs_of).collect());

fn inputs_of(parameter: &'static Parameter) -> Vec<RuleInput> {
    let size = |most: i64| Question::Size(if most > 255 { 64.0 } else { 16.0 });
    let questions: Vec<Question> = match parameter.kind {
        _ if parameter.name == "play.first_player" => Vec::new(),
        ParameterKind::Board => Vec::new(),
        ParameterKind::Choice([_]) => Vec::new(),
        ParameterKind::Choice(names) | ParameterKind::Set(names) => names.iter().copied().map(Question::Has).collect(),
        ParameterKind::Boolean => vec![Question::IsTrue],
        ParameterKind::Integer(_, most) => vec![size(most)],
        ParameterKind::OptionalInteger(_, most) => vec![Question::IsAbsent, size(most)],
    };
    let input = |question| {
        let name = match question {
            Question::Has(name) => format!("{} = {name}", parameter.name),
            Question::IsTrue => parameter.name.to_owned(),
            Question::Size(half) => format!("{}, n / (n + {half})", parameter.name),
            Question::IsAbsent => format!("{} = none", parameter.name),
        };
        RuleInput { parameter, question, name }
    };
    questions.into_iter().map(input).collect()
}

/// Returns the names of the numbers, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    INPUTS.iter().map(|input| input.name.as_str())
}

/// Returns how many numbers a ruleset gives.
#[must_use]
pub fn count() -> usize {
    INPUTS.len()
}

/// Returns the numbers of a ruleset, each in `[0, 1]`, in the order of [`names`].
#[must_use]
pub fn of(ruleset: &Ruleset) -> Vec<f32> {
    let truth = |truth: bool| f32::from(u8::from(truth));
    let number = |input: &RuleInput| match (input.question, input.parameter.value_in(ruleset)) {
        (Question::Has(wanted), ParameterValue::Text(name)) => truth(name == wanted),
        (Question::Has(wanted), ParameterValue::List(names)) => truth(names.iter().any(|name| name == wanted)),
        (Question::IsTrue, ParameterValue::Boolean(value)) => truth(value),
        (Question::Size(half), ParameterValue::Integer(number)) => number as f32 / (number as f32 + half),
        (Question::IsAbsent, value) => truth(value == ParameterValue::Absent),
        _ => 0.0,
    };
    INPUTS.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use latrunculi_engine::presets;

    fn value(ruleset: &Ruleset, wanted: &str) -> f32 {
        let values = of(ruleset);
        let index = names().position(|name| name == wanted).unwrap_or_else(|| panic!("there is no {wanted}"));
        values[index]
    }

    #[test]
    fn each_parameter_has_its_own_numbers() {
        let bell = presets::ruleset("bell").expect("shipped");
        assert_eq!(value(&bell, "capture.timing = immediate"), 1.0);
        assert_eq!(value(&bell, "capture.timing = delayed"), 0.0);
        assert_eq!(value(&bell, "board.files, n / (n + 16)"), 8.0 / 24.0);
        assert_eq!(value(&bell, "end.quiet_limit, n / (n + 64)"), 30.0 / 94.0);
        assert_eq!(value(&bell, "extra.limit = none"), f32::from(u8::from(bell.extra.limit.is_none())));
        assert_eq!(value(&bell, "dux.jump_over = enemy"), 1.0);
        assert_eq!(value(&bell, "dux.jump_over = own"), f32::from(u8::from(bell.dux_movement.jump_over.own)));
    }

    #[test]
    fn rulesets_that_differ_in_a_mechanism_differ_in_a_number() {
        let rulesets: Vec<Ruleset> = presets::NAMES.iter().filter_map(|name| presets::ruleset(name)).collect();
        for (index, one) in rulesets.iter().enumerate() {
            assert_eq!(of(one).len(), count());
            assert!(of(one).iter().all(|number| (0.0..=1.0).contains(number)), "{}", one.id);
            for other in &rulesets[index + 1..] {
                assert_ne!(of(one), of(other), "{} and {}", one.id, other.id);
            }
        }
    }
}

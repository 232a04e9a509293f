//! The command that plays a study again.

use super::settings::StudySettings;

/// Returns the command that makes a study, in the words of its settings alone.
#[must_use]
pub fn command(settings: &StudySettings) -> String {
    let usual = StudySettings::default();
    let opening = &settings.opening;
    let plain = StudySettings {
        title: settings.title.clone(),
        batch: usual.batch,
        confidence: usual.confidence,
        pie_turns: usual.pie_turns,
        pie_games: usual.pie_games,
        ..settings.clone()
    };
    let is_plain = plain == *settings && opening.by_ruleset.is_empty() && opening.array == opening.placement;
    if !is_plain {
        return "latrunculi balance DIR/study.toml --out DIR".to_owned();
    }
    let points = |value: f64| ((value * 1e6).round() / 1e4).to_string();
    let unless = |is_usual: bool, value: String| (!is_usual).then_some(value);
    let flag = |is_set: bool| is_set.then(String::new);
    let mut options = vec![
        ("rulesets", Some(settings.rulesets.join(","))),
        ("agents", Some(settings.agents.join(","))),
        ("half-width", Some(points(settings.half_width))),
        ("margin", unless(settings.margin == usual.margin, points(settings.margin))),
        ("min-contact", unless(settings.min_contact == usual.min_contact, points(settings.min_contact))),
        ("min-games", unless(settings.min_games == usual.min_games, settings.min_games.to_string())),
        ("max-games", unless(settings.max_games == usual.max_games, settings.max_games.to_string())),
        ("seed", Some(settings.seed.to_string())),
        ("opening", opening.array.map(|actions| actions.to_string())),
        ("second-opening", opening.second.map(|actions| actions.to_string())),
        ("opening-policy", opening.policy.clone()),
        ("opening-temperature", opening.policy.as_ref().map(|_| opening.temperature.to_string())),
        ("metrics", flag(settings.metrics)),
        ("compensation", unless(settings.compensation.is_empty(), list(&settings.compensation))),
        ("pie", flag(settings.pie)),
        ("phases", flag(settings.phases)),
    ];
    options.extend(settings.sweep.iter().map(|(name, values)| ("sweep", Some(format!("{name}={}", values.join(","))))));
    let given =
        options.into_iter().filter_map(|(name, value)| Some(format!("--{name} {}", value?).trim_end().to_owned()));
    format!("latrunculi balance {} --out DIR", given.collect::<Vec<_>>().join(" "))
}

fn list(men: &[u32]) -> String {
    men.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_says_what_the_settings_say() {
        let mut settings = StudySettings {
            rulesets: vec!["bell".to_owned()],
            agents: vec!["greedy".to_owned()],
            compensation: vec![1, 2],
            half_width: 0.025,
            ..StudySettings::default()
        };
        assert_eq!(
            command(&settings),
            "latrunculi balance --rulesets bell --agents greedy --half-width 2.5 --seed 0 --compensation 1,2 --out DIR"
        );
        settings.batch = 7;
        assert_eq!(command(&settings), "latrunculi balance DIR/study.toml --out DIR");
    }
}

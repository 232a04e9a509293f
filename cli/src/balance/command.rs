//! The command that plays a study again.

use latrunculi_eval::study::StudySettings;

/// Returns the command that makes a study, in the words of its settings alone.
pub(super) fn command(settings: &StudySettings) -> String {
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
    let points = |value: f64| (value * 1e6).round() / 1e4;
    let mut options = vec![
        format!("--rulesets {}", settings.rulesets.join(",")),
        format!("--agents {}", settings.agents.join(",")),
        format!("--half-width {}", points(settings.half_width)),
    ];
    let mut add = |is_there: bool, option: String| {
        if is_there {
            options.push(option);
        }
    };
    add(settings.margin != usual.margin, format!("--margin {}", points(settings.margin)));
    let contact = settings.min_contact;
    add(contact != usual.min_contact, format!("--min-contact {}", points(contact)));
    add(settings.min_games != usual.min_games, format!("--min-games {}", settings.min_games));
    add(settings.max_games != usual.max_games, format!("--max-games {}", settings.max_games));
    add(true, format!("--seed {}", settings.seed));
    add(opening.array.is_some(), format!("--opening {}", opening.array.unwrap_or_default()));
    add(opening.second.is_some(), format!("--second-opening {}", opening.second.unwrap_or_default()));
    if let Some(policy) = &opening.policy {
        add(true, format!("--opening-policy {policy} --opening-temperature {}", opening.temperature));
    }
    let men: Vec<String> = settings.compensation.iter().map(u32::to_string).collect();
    add(settings.metrics, "--metrics".to_owned());
    add(!men.is_empty(), format!("--compensation {}", men.join(",")));
    add(settings.pie, "--pie".to_owned());
    add(settings.phases, "--phases".to_owned());
    for (name, values) in &settings.sweep {
        add(true, format!("--sweep {name}={}", values.join(",")));
    }
    format!("latrunculi balance {} --out DIR", options.join(" "))
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

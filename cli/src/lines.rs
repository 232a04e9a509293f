//! Text in lines that fit a terminal of eighty columns.

/// Columns of a line.
pub(crate) const COLUMNS: usize = 80;

/// Breaks a text between words into lines of at most eighty columns, each after `indent` spaces.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    wrapped_after(&" ".repeat(indent), text)
}

/// As [`wrapped`], each line after a prefix.
pub(crate) fn wrapped_after(prefix: &str, text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{prefix}{word}")),
        }
    }
    lines.join("\n")
}

/// Returns `head` and a text beside it. A text that is too long goes on in lines beneath its own beginning.
pub(crate) fn beside(head: &str, text: &str) -> String {
    let indent = head.chars().count();
    if indent + text.chars().count() <= COLUMNS {
        return format!("{head}{text}");
    }
    let lines = wrapped(text, indent);
    format!("{head}{}", lines.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_goes_on_beneath_its_beginning() {
        assert_eq!(beside("name  ", "a  short   one"), "name  a  short   one");
        let text = "word ".repeat(25);
        let shown = beside("näme  ", text.trim());
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS));
        assert!(lines[0].starts_with("näme  word") && lines[1].starts_with("      word"), "{shown}");
        // What has no place to be broken stands on a line of its own.
        assert_eq!(beside("path  ", &"x".repeat(90)), format!("path  {}", "x".repeat(90)));
    }
}

//! Text in lines that fit a terminal of eighty columns; tables.

use serde::Serialize;

pub(crate) const COLUMNS: usize = 80;

/// Breaks a text between words into lines of at most eighty columns, each after `indent` spaces.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    wrapped_after(&" ".repeat(indent), text)
}

/// As [`wrapped`], each line after a prefix.
pub(crate) fn wrapped_after(prefix: &str, text: &str) -> String {
    filled(prefix, text.split_whitespace(), " ")
}

/// Sets as many parts in a line as there is room for, with `between` between them, each line after a prefix.
pub(crate) fn filled<'a>(prefix: &str, parts: impl IntoIterator<Item = &'a str>, between: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let width = between.len() + part.chars().count();
        match lines.last_mut().filter(|line| line.chars().count() + width <= COLUMNS) {
            Some(line) => *line += &format!("{between}{part}"),
            None => lines.push(format!("{prefix}{part}")),
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

/// Sets names and what is said of each in two columns, after `indent` spaces.
pub(crate) fn facts<Name: AsRef<str>>(indent: usize, facts: &[(Name, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.as_ref().chars().count()).max().unwrap_or(0);
    let line = |(name, text): &(Name, String)| {
        let head = format!("{:indent$}{:<width$}  ", "", name.as_ref());
        beside(&head, text.trim_end()).trim_end().to_owned() + "\n"
    };
    facts.iter().map(line).collect()
}

/// Prints a value as JSON over several lines.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// A name, how many letters a cell has at least, at which side they stand, and the cell of a row.
struct Column<'a, Row> {
    name: String,
    width: usize,
    is_right: bool,
    cell: Box<dyn Fn(&Row) -> String + 'a>,
}

/// Rows as lines of a table or as JSON.
pub(crate) struct Table<'a, Row> {
    columns: Vec<Column<'a, Row>>,
}

impl<'a, Row> Table<'a, Row> {
    pub(crate) fn new() -> Self {
        Table { columns: Vec::new() }
    }

    /// A column of words; the last one goes on beneath itself where the line is full.
    pub(crate) fn left(self, name: impl Into<String>, width: usize, cell: impl Fn(&Row) -> String + 'a) -> Self {
        self.with(Column { name: name.into(), width, is_right: false, cell: Box::new(cell) })
    }

    pub(crate) fn right(self, name: impl Into<String>, width: usize, cell: impl Fn(&Row) -> String + 'a) -> Self {
        self.with(Column { name: name.into(), width, is_right: true, cell: Box::new(cell) })
    }

    fn with(mut self, mut column: Column<'a, Row>) -> Self {
        column.width = column.width.max(column.name.chars().count());
        self.columns.push(column);
        self
    }

    fn line(&self, cell: impl Fn(&Column<'a, Row>) -> String) -> String {
        let Some((last, others)) = self.columns.split_last() else { return String::new() };
        let set = |column: &Column<'a, Row>| match (cell(column), column.width, column.is_right) {
            (cell, width, true) => format!("{cell:>width$}"),
            (cell, width, false) => format!("{cell:<width$}"),
        };
        let head: String = others.iter().map(|column| set(column) + "  ").collect();
        beside(&head, set(last).trim_end()).trim_end().to_owned()
    }

    pub(crate) fn head(&self) -> String {
        self.line(|column| column.name.clone())
    }

    /// Returns a row, whose columns are no wider than they were said to be.
    pub(crate) fn row(&self, row: &Row) -> String {
        self.line(|column| (column.cell)(row))
    }

    /// Returns the names of the columns and the rows, all columns as wide as their widest cell.
    pub(crate) fn lines(mut self, rows: &[Row]) -> Vec<String> {
        for column in &mut self.columns {
            let widest = rows.iter().map(|row| (column.cell)(row).chars().count()).max().unwrap_or(0);
            column.width = column.width.max(widest);
        }
        std::iter::once(self.head()).chain(rows.iter().map(|row| self.row(row))).collect()
    }

    /// Prints each row as soon as it is there; or all as JSON.
    pub(crate) fn print(&self, is_json: bool, rows: impl Iterator<Item = anyhow::Result<Row>>) -> anyhow::Result<()>
    where
        Row: Serialize,
    {
        if is_json {
            return print_json(&rows.collect::<Result<Vec<Row>, _>>()?);
        }
        println!("{}", self.head());
        for row in rows {
            println!("{}", self.row(&row?));
        }
        Ok(())
    }
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

    #[test]
    fn columns_are_as_wide_as_their_cells_and_the_last_goes_on_beneath_itself() {
        let table = Table::new().left("name", 0, |row: &u32| format!("no. {row}")).right("n", 3, u32::to_string);
        assert_eq!(table.lines(&[5, 1000]), ["name         n", "no. 5        5", "no. 1000  1000"]);
        let long = Table::new().right("n", 0, u32::to_string).left("said", 0, |_| "word ".repeat(20));
        let line = long.row(&7);
        assert!(line.starts_with("7  word") && line.contains("\n   word"), "{line}");
        assert_eq!(facts(1, &[("a", "b".to_owned()), ("long", "c".to_owned())]), " a     b\n long  c\n");
    }
}

//! Sections and tables of the page.

use maud::{Markup, Render, html};

use crate::study::summary::LedgerPlace;

/// A section of the page, and its name in the table of contents.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) markup: Markup,
}

impl Section {
    pub(super) fn new(id: &'static str, name: &'static str, heading: impl Render, content: impl Render) -> Section {
        Section { id, name, markup: section(id, heading, content) }
    }
}

/// A section under a heading, to which `#id` leads.
pub(super) fn section(id: &str, heading: impl Render, content: impl Render) -> Markup {
    let title = format!("{id}-title");
    html! { section id=(id) aria-labelledby=(title) { h2 id=(title) { (heading) } (content) } }
}

/// What stands in a cell, and what it is sorted by, if that is not its text.
type Cell = (Option<String>, Markup);

struct Column<'a, Row> {
    name: String,
    class: &'static str,
    is_row_head: bool,
    cell: Box<dyn Fn(&Row) -> Cell + 'a>,
}

/// A table, which may be wider than the page. Methods that return it change the table or its last column.
pub(super) struct Table<'a, Row> {
    label: String,
    caption: Markup,
    class: &'static str,
    rows: Vec<Row>,
    columns: Vec<Column<'a, Row>>,
    ledger: fn(&Row) -> Option<&LedgerPlace>,
}

impl<'a, Row> Table<'a, Row> {
    /// `label` is what it is called where it is not seen.
    pub(super) fn new(label: impl Into<String>, caption: Markup, rows: impl IntoIterator<Item = Row>) -> Self {
        let rows = rows.into_iter().collect();
        Table { label: label.into(), caption, class: "", rows, columns: Vec::new(), ledger: |_| None }
    }

    /// Classes of the table. Rows of `cards` become cards on a phone; the roles keep it a table for readers who listen.
    pub(super) fn class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    /// Where the games of a row are, whose numbers open them in the page of `serve`.
    pub(super) fn ledger(mut self, ledger: fn(&Row) -> Option<&LedgerPlace>) -> Self {
        self.ledger = ledger;
        self
    }

    pub(super) fn column(mut self, name: impl Into<String>, cell: impl Fn(&Row) -> Markup + 'a) -> Self {
        let cell = Box::new(move |row: &Row| (None, cell(row)));
        self.columns.push(Column { name: name.into(), class: "", is_row_head: false, cell });
        self
    }

    /// A column of cells, each with what it is sorted by.
    pub(super) fn sorted<Key: ToString>(self, name: &str, cell: impl Fn(&Row) -> (Option<Key>, Markup) + 'a) -> Self {
        let mut table = self.column(name, |_| html! {});
        table.last().cell = Box::new(move |row| {
            let (key, cell) = cell(row);
            (Some(key.map(|key| key.to_string()).unwrap_or_default()), cell)
        });
        table
    }

    pub(super) fn row_head(self, name: &str, cell: impl Fn(&Row) -> Markup + 'a) -> Self {
        let mut table = self.column(name, cell);
        table.last().is_row_head = true;
        table
    }

    pub(super) fn text(self, name: &str, cell: impl Fn(&Row) -> Markup + 'a) -> Self {
        self.column(name, cell).styled("text")
    }

    fn last(&mut self) -> &mut Column<'a, Row> {
        self.columns.last_mut().expect("a method that changes the last column follows one that adds it")
    }

    pub(super) fn styled(mut self, class: &'static str) -> Self {
        self.last().class = class;
        self
    }

    /// Leaves out the last column unless `is_there`.
    pub(super) fn only_if(mut self, is_there: bool) -> Self {
        if !is_there {
            self.columns.pop();
        }
        self
    }
}

impl<Row> Render for Table<'_, Row> {
    fn render(&self) -> Markup {
        let is_cards = self.class.contains("cards");
        let role = |role: &'static str| is_cards.then_some(role);
        let class = |class: &'static str| Some(class).filter(|class| !class.is_empty());
        html! {
            div.wide tabindex="0" role="region" aria-label=(self.label) {
                table class=[class(self.class)] role=[role("table")] {
                    @if !self.caption.0.is_empty() { caption { (self.caption) } }
                    thead role=[role("rowgroup")] {
                        tr role=[role("row")] {
                            @for column in &self.columns {
                                th class=[class(column.class)] scope="col" role=[role("columnheader")] { (column.name) }
                            }
                        }
                    }
                    tbody role=[role("rowgroup")] {
                        @for row in &self.rows {
                            @let ledger = (self.ledger)(row);
                            tr role=[role("row")] data-file=[ledger.map(|ledger| &ledger.file)] data-series=[ledger.map(|ledger| &ledger.series)] {
                                @for column in &self.columns {
                                    @let (key, cell) = (column.cell)(row);
                                    @if column.is_row_head {
                                        th class=[class(column.class)] scope="row" role=[role("rowheader")] data-key=[key] { (cell) }
                                    } @else if is_cards {
                                        td class=[class(column.class)] role="cell" data-label=(column.name) data-key=[key] { span.field { (cell) } }
                                    } @else {
                                        td class=[class(column.class)] data-key=[key] { (cell) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

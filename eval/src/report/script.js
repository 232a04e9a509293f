// Conveniences only: everything can be read without.
(() => {
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details");
    if (folded && !folded.open) { folded.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => document.querySelectorAll("details.ruleset").forEach(d => { d.open = true; }));
  // Within the page of `latrunculi serve` the report is as high as its text, so that only the page scrolls,
  if (parent !== window) {
    const root = document.documentElement;
    new ResizeObserver(() => parent.postMessage({ height: root.offsetHeight }, "*")).observe(root);
    addEventListener("click", (event) => {
      const place = event.target.closest?.('a[href^="#"]')?.hash.slice(1);
      const target = place && document.getElementById(decodeURIComponent(place));
      // The line that unfolds it says what it is.
      const first = target && (target.parentNode.matches("details") ? target.parentNode : target);
      if (first) setTimeout(() => parent.postMessage({ top: first.getBoundingClientRect().top }, "*"), 50);
    });
  }
  // and a number of games opens them, if it has them.
  if (name === "games") for (const number of document.querySelectorAll("tr[data-file] .games")) {
    const { file, series } = number.closest("tr").dataset;
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Show these games";
    button.textContent = number.textContent;
    button.disabled = number.textContent === "0";
    button.addEventListener("click", () => parent.postMessage({ file, series, result: number.dataset.result }, "*"));
    number.replaceChildren(button);
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") === "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
        const compare = (a, b) => {
          const [x, y] = [key(a), key(b)];
          const numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
          return (numbers ? x - y : x.localeCompare(y)) * (rising ? 1 : -1);
        };
        body.append(...[...body.rows].sort(compare));
      });
    });
  }
})();

// Conveniences only: everything can be read without.
(() => {
  // A ruleset may be named without what stands before its name.
  const find = (place) => document.getElementById(`r-${place}`) ?? document.getElementById(place);
  const unfold = (target) => {
    const folded = target && target.closest("details");
    if (!folded || folded.open) return false;
    folded.open = true;
    return true;
  };
  const open = () => {
    const target = find(decodeURIComponent(location.hash.slice(1)));
    if (unfold(target)) target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => document.querySelectorAll("details.ruleset").forEach(d => { d.open = true; }));
  // Within the page of `latrunculi serve` the report is as high as its text, so that only the page scrolls. The page is told of a
  // link that is followed, and says which place it shows: its address holds the place, and the browser's way back is the page's.
  if (parent !== window) {
    const tell = (what) => parent.postMessage(what, "*");
    const root = document.documentElement;
    new ResizeObserver(() => tell({ height: root.offsetHeight })).observe(root);
    addEventListener("click", (event) => {
      const link = event.target.closest?.('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      tell({ place: decodeURIComponent(link.hash.slice(1)) });
    });
    addEventListener("message", ({ source, data }) => {
      if (source !== parent || !data?.show) return;
      const target = find(data.show);
      if (!target) return tell({ missing: data.show });
      unfold(target);
      // The line that unfolds it says what it is. The page knows the new height first.
      const first = target.parentNode.matches("details") ? target.parentNode : target;
      setTimeout(() => tell({ height: root.offsetHeight, top: first.getBoundingClientRect().top }), 50);
    });
  }
  // A number of games opens them, if the page has them.
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

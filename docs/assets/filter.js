// Filter the catalogue of mistakes and the tables of models: show the rows that have all the words of a field.
(() => {
  // A text as words, with a space before each.
  const normalise = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}#.]+/gu, " ").replace(/^ ?/, " ");

  // The sections of the catalogue: a heading and what follows it.
  const sectionsAfter = (box) => {
    const sections = [];
    for (let next = box.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) {
      if (next.tagName === "H3") sections.push([]);
      sections.at(-1)?.push(next);
    }
    return sections;
  };

  const prepare = (box) => {
    box.dataset.ready = "";
    const field = box.querySelector("input");
    const status = box.querySelector("[role=status]");
    const sections = sectionsAfter(box);
    const update = () => {
      const words = normalise(field.value).split(" ").filter(Boolean);
      // What stands first in rows: in those that are shown, and in all.
      const [found, all] = [new Set(), new Set()];
      for (const section of sections) {
        const rows = section.flatMap((element) => [...element.querySelectorAll("tbody tr")]);
        for (const row of rows) {
          const text = normalise(`${section[0].textContent} ${row.textContent}`);
          row.hidden = !words.every((word) => text.includes(` ${word}`));
        }
        const shown = rows.filter((row) => !row.hidden);
        for (const element of section) {
          element.hidden = !shown.length;
          element.open = shown.length > 0 && words.length > 0;
        }
        shown.forEach((row) => found.add(row.cells[0].textContent));
        rows.forEach((row) => all.add(row.cells[0].textContent));
      }
      const hint = found.size ? "" : "; the search looks in all chapters";
      status.textContent = words.length ? `${found.size} of ${all.size}${hint}` : "";
    };
    field.addEventListener("input", update);
    if (field.value) update(); // the browser restored it
    for (const [, table] of sections) table.open ||= Boolean(table.querySelector("mark")); // found by a search
    openTarget();
  };

  // The table below a heading that a link leads to.
  const openTarget = () => {
    const table = document.getElementById(location.hash.slice(1))?.nextElementSibling;
    if (table?.matches("details")) table.open = true;
  };
  addEventListener("hashchange", openTarget);
  const prepareAll = () => document.querySelectorAll(".filter:not([data-ready])").forEach(prepare);
  window.attentionDocs.onArrival(prepareAll);
  prepareAll();
})();

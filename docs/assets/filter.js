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
    const rowsOf = (section) => section.flatMap((element) => [...element.querySelectorAll("tbody tr")]);
    const nameOf = (row) => normalise(row.cells[0].textContent);
    const texts = {};
    for (const section of sections)
      for (const row of rowsOf(section))
        texts[nameOf(row)] = `${texts[nameOf(row)] ?? ""} ${normalise(`${section[0].textContent} ${row.textContent}`)}`;
    const update = () => {
      const words = normalise(field.value).split(" ").filter(Boolean);
      const having = (text) => words.every((word) => text.includes(` ${word}`));
      // Words of names find names alone: “gemma 4” is no model with 42 layers, and “llama 2” none with 2 key heads.
      const squeezed = words.join("");
      const named = Object.keys(texts).filter((name) => having(name) || name.replaceAll(" ", "").includes(squeezed));
      const isName = named.length || (words.some(Number) && Object.keys(texts).some((name) => name.includes(` ${words[0]}`)));
      const found = new Set(isName && field.dataset.names ? named : Object.keys(texts).filter((name) => having(texts[name])));
      for (const section of sections) {
        const rows = rowsOf(section);
        for (const row of rows) row.hidden = !found.has(nameOf(row));
        const isEmpty = rows.every((row) => row.hidden);
        for (const element of section) {
          element.hidden = isEmpty;
          element.open = !isEmpty && words.length > 0;
        }
      }
      const hint = found.size ? "" : "; the search looks in all chapters";
      status.textContent = words.length ? `${found.size} of ${Object.keys(texts).length}${hint}` : "";
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

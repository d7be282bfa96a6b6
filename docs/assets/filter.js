// Filter the catalogue of mistakes: show the rows that have all the words of a field.
(() => {
  const prepare = (box) => {
    box.dataset.ready = "";
    const field = box.querySelector("input");
    const status = box.querySelector("[role=status]");
    const tables = [...box.parentElement.querySelectorAll("details.note:has(table)")];
    const update = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let [count, total] = [0, 0];
      for (const table of tables) {
        const subject = table.previousElementSibling.textContent;
        const rows = [...table.querySelectorAll("tbody tr")];
        for (const row of rows) {
          const text = `${subject} ${row.textContent}`.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
        }
        const shown = rows.filter((row) => !row.hidden);
        table.hidden = !shown.length;
        table.previousElementSibling.hidden = table.hidden;
        table.open = shown.length > 0 && words.length > 0;
        count += shown.length;
        total += rows.length;
      }
      status.textContent = words.length ? `${count} of ${total}` : "";
    };
    for (const table of tables) if (table.querySelector("mark")) table.open = true; // found by a search
    field.addEventListener("input", update);
    if (field.value) update(); // the browser restored it
  };
  const prepareAll = () => document.querySelectorAll(".filter:not([data-ready])").forEach(prepare);
  window.attentionDocs.onArrival(prepareAll);
  prepareAll();
})();

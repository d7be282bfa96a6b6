// Names the mistake in a pasted output, as attention_docs/diagnosis/pasted.py does on the command line.
// Nothing that is pasted leaves the page.
(() => {
  // How far a 32-bit output, all of whose digits are printed, may be from the exact one.
  const FLOAT32 = 4e-6;
  const SETTING = /\w+\s*=\s*(?:<[^>]*>|\([^)]*\)|[^,()[\]\n]*)|Size\([^)]*\)/g;
  const CALL = /[A-Za-z_][\w.]*\(/g;
  const ROW = /\[([^[\]]*)\]/g;
  const NUMBER = /[-+]?(?:\d+\.?(?<decimals>\d*)(?:[eE](?<power>[-+]?\d+))?|(?:nan|inf)\b)/g;

  // Rows of numbers, each with how far the number that was meant may be from it.
  const read = (text) => {
    const plain = text
      .replaceAll("−", "-").replaceAll("NaN", "nan").replaceAll("Infinity", "inf")
      .replace(SETTING, "").replace(CALL, "(");
    if (/\.\.\.|…/.test(plain)) throw new Error("Some numbers are left out (...): print all of them.");
    const lines = plain.includes("[") ? [...plain.matchAll(ROW)].map((row) => row[1]) : plain.split(/\n/);
    const rows = lines.map((line) => [...line.matchAll(NUMBER)]).filter((cells) => cells.length);
    if (new Set(rows.map((row) => row.length)).size !== 1)
      throw new Error("There are no rows of equally many numbers: paste a printed array.");
    // NumPy leaves out zeros at the end, so all numbers have the decimals of the longest.
    const decimals = Math.max(...rows.flat().map((cell) => (cell.groups.decimals ?? "").length));
    return rows.map((row) =>
      row.map(({ 0: printed, groups: { power = 0 } }) => ({
        printed: printed.replace("+", ""),
        number: Number(printed),
        tolerance: 0.51 * 10 ** (power - decimals) + FLOAT32,
      })),
    );
  };

  // What is no number is text in the data.
  const mayBe = ({ printed, number, tolerance }, known) =>
    typeof known === "string"
      ? printed === known
      : Number.isFinite(number) && Math.abs(number - known) <= tolerance;

  // Row and column of the first number that differs, as far as both have numbers.
  const firstDifference = (rows, known) => {
    for (let i = 0; i < Math.min(rows.length, known.length); i++) {
      const columns = Math.min(rows[i].length, known[i].length);
      for (let j = 0; j < columns; j++) if (!mayBe(rows[i][j], known[i][j])) return [i, j];
    }
    return null;
  };

  const size = (rows) => `${rows.length} × ${rows[0].length}`;

  const diagnose = (text, outputs) => {
    const rows = read(text);
    const agrees = (known) => size(rows) === size(known) && !firstDifference(rows, known);
    const known = outputs.find((output) => agrees(output.rows)) ?? null;
    return { rows, known, first: firstDifference(rows, outputs[0].rows) };
  };

  const element = (name, content, properties) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...[content].flat());
    return made;
  };

  const verdict = ({ rows, known, first }, right) => {
    if (known?.right) return [element("p", `This is ${known.words}.`)];
    const words = [known ? `This is the output of ${known.words}.` : "No known mistake gives this."];
    if (size(rows) !== size(right)) words.push(`It is ${size(rows)}; expected ${size(right)}.`);
    if (first) {
      const [i, j] = first;
      words.push(`The first wrong number is ${rows[i][j].printed}, in row ${i + 1} and column ${j + 1}; expected ${right[i][j].toFixed(4)}.`);
    }
    const said = [element("p", words.join(" "))];
    if (known) {
      const row = document.getElementById(known.anchor)?.closest("tr");
      const link = element("a", "what it does and how to notice it", {
        href: row?.querySelector("a")?.href ?? `#${known.anchor}`,
      });
      said.push(element("p", ["The line that fixes it: ", element("code", known.fix), ". Read ", link, "."]));
    }
    return said;
  };

  // The numbers as they were read, the first wrong one marked.
  const table = ({ rows, known, first }) => {
    const cell = ({ printed }, i, j) => {
      const marked = !known?.right && first?.[0] === i && first[1] === j;
      return element("td", marked ? element("mark", printed) : printed);
    };
    const lines = rows.map((row, i) => element("tr", row.map((entry, j) => cell(entry, i, j))));
    return element("table", element("tbody", lines));
  };

  const prepare = (box) => {
    box.dataset.ready = "";
    const outputs = JSON.parse(box.querySelector("template").content.textContent);
    const [area, status] = [box.querySelector("textarea"), box.querySelector("[role=status]")];
    const answer = () => {
      box.querySelector("table")?.remove();
      if (!area.value.trim()) return status.replaceChildren();
      try {
        const found = diagnose(area.value, outputs);
        status.replaceChildren(...verdict(found, outputs[0].rows));
        status.after(table(found));
      } catch (error) {
        status.replaceChildren(element("p", error.message));
      }
    };
    area.addEventListener("input", answer);
    answer(); // for what the browser has kept
  };

  // Without a page there is nothing to prepare, but a test asks.
  if (!globalThis.document) return Object.assign(globalThis, { diagnose });
  const prepareAll = () => document.querySelectorAll(".paste:not([data-ready])").forEach(prepare);
  new MutationObserver(prepareAll).observe(document.body, { childList: true, subtree: true });
  prepareAll();
})();

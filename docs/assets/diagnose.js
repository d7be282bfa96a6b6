// Diagnose a pasted output, as attention_docs/diagnosis/pasted.py does on the command line. Pasted text never
// leaves the page.
(() => {
  // Error of a 32-bit output that is printed with all its digits.
  const FLOAT32_TOLERANCE = 4e-6;
  const KEYWORD_ARGUMENT = /\w+\s*=\s*(?:<[^>]*>|\([^)]*\)|[^,()[\]\n]*)|Size\([^)]*\)/g;
  const CALL = /[A-Za-z_][\w.]*\(/g;
  const ROW = /\[([^[\]]*)\]/g;
  const NUMBER = /[-+]?(?:\d+\.?(?<decimals>\d*)(?:[eE](?<power>[-+]?\d+))?|(?:nan|inf)\b)/g;

  // Parse rows of numbers, each with the tolerance that its printed digits imply.
  const parse = (text) => {
    const normalised = text
      .replaceAll("−", "-").replaceAll("NaN", "nan").replaceAll("Infinity", "inf")
      .replace(KEYWORD_ARGUMENT, "").replace(CALL, "(");
    if (/\.\.\.|…/.test(normalised)) throw new Error("Some numbers are left out (...): print all of them.");
    const lines = normalised.includes("[") ? [...normalised.matchAll(ROW)].map((row) => row[1]) : normalised.split(/\n/);
    const rows = lines.map((line) => [...line.matchAll(NUMBER)]).filter((cells) => cells.length);
    if (new Set(rows.map((row) => row.length)).size !== 1)
      throw new Error("There are no rows of equally many numbers: paste a printed array.");
    // NumPy omits trailing zeros, so the longest number gives the decimals of all.
    const decimals = Math.max(...rows.flat().map((cell) => (cell.groups.decimals ?? "").length));
    return rows.map((row) =>
      row.map(({ 0: printed, groups: { power = 0 } }) => ({
        printed: printed.replace("+", ""),
        number: Number(printed),
        tolerance: 0.51 * 10 ** (power - decimals) + FLOAT32_TOLERANCE,
      })),
    );
  };

  // In the data, inf and nan are strings.
  const matches = ({ printed, number, tolerance }, expected) =>
    typeof expected === "string"
      ? printed === expected
      : Number.isFinite(number) && Math.abs(number - expected) <= tolerance;

  // Row and column of the first difference within the common shape.
  const firstDifference = (rows, expected) => {
    for (let i = 0; i < Math.min(rows.length, expected.length); i++) {
      const columns = Math.min(rows[i].length, expected[i].length);
      for (let j = 0; j < columns; j++) if (!matches(rows[i][j], expected[i][j])) return [i, j];
    }
    return null;
  };

  const size = (rows) => `${rows.length} × ${rows[0].length}`;

  const diagnose = (text, outputs) => {
    const rows = parse(text);
    const agrees = (expected) => size(rows) === size(expected) && !firstDifference(rows, expected);
    const match = outputs.find((output) => agrees(output.rows)) ?? null;
    return { rows, match, difference: firstDifference(rows, outputs[0].rows) };
  };

  const element = (name, content, properties) => {
    const created = Object.assign(document.createElement(name), properties);
    created.append(...[content].flat());
    return created;
  };

  const verdict = ({ rows, match, difference }, right) => {
    if (match?.right) return [element("p", `This is ${match.words}.`)];
    const words = [match ? `This is the output of ${match.words}.` : "No known mistake gives this."];
    if (size(rows) !== size(right)) words.push(`It is ${size(rows)}; expected ${size(right)}.`);
    if (difference) {
      const [i, j] = difference;
      words.push(`The first wrong number is ${rows[i][j].printed}, in row ${i + 1} and column ${j + 1}; expected ${right[i][j].toFixed(4)}.`);
    }
    const paragraphs = [element("p", words.join(" "))];
    if (match) {
      const row = document.getElementById(match.anchor)?.closest("tr");
      const link = element("a", "what it does and how to notice it", {
        href: row?.querySelector("a")?.href ?? `#${match.anchor}`,
      });
      paragraphs.push(element("p", ["The line that fixes it: ", element("code", match.fix), ". Read ", link, "."]));
    }
    return paragraphs;
  };

  // The parsed numbers, with the first wrong one marked.
  const table = ({ rows, match, difference }) => {
    const cell = ({ printed }, i, j) => {
      const isMarked = !match?.right && difference?.[0] === i && difference[1] === j;
      return element("td", isMarked ? element("mark", printed) : printed);
    };
    const lines = rows.map((row, i) => element("tr", row.map((entry, j) => cell(entry, i, j))));
    return element("table", element("tbody", lines));
  };

  const prepare = (box) => {
    box.dataset.ready = "";
    const outputs = JSON.parse(box.querySelector("template").content.textContent);
    const [area, status] = [box.querySelector("textarea"), box.querySelector("[role=status]")];
    const update = () => {
      box.querySelector("table")?.remove();
      if (!area.value.trim()) return status.replaceChildren();
      try {
        const diagnosis = diagnose(area.value, outputs);
        status.replaceChildren(...verdict(diagnosis, outputs[0].rows));
        status.after(table(diagnosis));
      } catch (error) {
        status.replaceChildren(element("p", error.message));
      }
    };
    area.addEventListener("input", update);
    update(); // for text that the browser restored
  };

  // Tests call `diagnose` in node, without a document.
  if (!globalThis.document) return Object.assign(globalThis, { diagnose });
  const prepareAll = () => document.querySelectorAll(".paste:not([data-ready])").forEach(prepare);
  new MutationObserver(prepareAll).observe(document.body, { childList: true, subtree: true });
  prepareAll();
})();

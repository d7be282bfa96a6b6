// Diagnose a pasted output, by the outputs that the page knows. Pasted text never
// leaves the page.
(() => {
  // Largest error of a float32 output that is printed with all its digits.
  const FLOAT32_TOLERANCE = 4e-6;
  // Rounding to the last decimal errs by up to half of that decimal; the rest is for the error of this sum.
  const ROUNDING_ERROR = 0.51;
  // Largest error of a 16-bit output, for a number x as a part of 1 + |x|.
  const TOLERANCE_OF_16_BITS = 0.004;
  // For example dtype=torch.float64, grad_fn=<MmBackward0>, size=(4, 3), torch.Size([4, 3]).
  const KEYWORD_ARGUMENT = /\w+\s*=\s*(?:<[^>]*>|\([^)]*\)|[^,()[\]\n]*)|Size\([^)]*\)/g;
  // For example np.float64( before a number.
  const CALL = /[A-Za-z_][\w.]*\(/g;
  const ROW = /\[([^[\]]*)\]/g;
  const NUMBER = /[-+]?(?:\d+\.?(?<decimals>\d*)(?:[eE](?<power>[-+]?\d+))?|(?:nan|inf)\b)/g;

  // Parse rows of numbers, each with the tolerance that its printed digits imply.
  const parseRows = (text) => {
    const normalised = text
      .replaceAll("−", "-").replaceAll("NaN", "nan").replaceAll("Infinity", "inf")
      .replace(KEYWORD_ARGUMENT, "").replace(CALL, "(");
    if (/\.\.\.|…/.test(normalised)) throw new Error("Some numbers are left out (...): print all of them.");
    const hasBrackets = normalised.includes("[");
    const lines = hasBrackets ? Array.from(normalised.matchAll(ROW), ([, row]) => row) : normalised.split("\n");
    const rows = lines.map((line) => [...line.matchAll(NUMBER)]).filter((matches) => matches.length);
    const rowLengths = new Set(rows.map((row) => row.length));
    if (rowLengths.size !== 1)
      throw new Error("The text has no rows of equal length: paste a printed array.");
    // NumPy omits trailing zeros, so the longest number gives the decimals of all.
    const decimals = Math.max(...rows.flat().map((match) => (match.groups.decimals ?? "").length));
    const parseNumber = ({ 0: printed, groups: { power = 0 } }) => ({
      printed: printed.replace("+", ""),
      number: Number(printed),
      tolerance: ROUNDING_ERROR * 10 ** (power - decimals) + FLOAT32_TOLERANCE,
    });
    return rows.map((row) => row.map(parseNumber));
  };

  // In the data, inf and nan are strings.
  const isClose = ({ printed, number, tolerance }, expected, relative) =>
    typeof expected === "string"
      ? printed === expected
      : Number.isFinite(number) && Math.abs(number - expected) <= tolerance + relative * (1 + Math.abs(expected));

  // Row and column of the first difference within the common shape.
  const firstDifference = (rows, expected, relative = 0) => {
    for (let i = 0; i < Math.min(rows.length, expected.length); i++) {
      const columns = Math.min(rows[i].length, expected[i].length);
      for (let j = 0; j < columns; j++) if (!isClose(rows[i][j], expected[i][j], relative)) return [i, j];
    }
    return null;
  };

  const shapeOf = (rows) => `${rows.length} × ${rows[0].length}`;

  const diagnose = (text, outputs) => {
    const [correct] = outputs;
    const rows = parseRows(text);
    const find = (relative) =>
      outputs.find((output) => shapeOf(rows) === shapeOf(output.rows) && !firstDifference(rows, output.rows, relative));
    const exact = find(0);
    const match = exact ?? find(TOLERANCE_OF_16_BITS) ?? null;
    return { rows, match, isExact: match === exact, difference: firstDifference(rows, correct.rows) };
  };

  const createElement = (name, content, properties) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...[content].flat());
    return element;
  };

  // Paragraphs that say what the output is, where it is wrong, and how to fix it.
  const describe = ({ rows, match, isExact, difference }, expected) => {
    const start = isExact ? "This is" : "To the precision of 16-bit numbers, this is";
    if (match?.right) return [createElement("p", `${start} ${match.summary}.`)];
    const sentences = [match ? `${start} the output of ${match.summary}.` : "No known mistake gives this."];
    if (shapeOf(rows) !== shapeOf(expected)) sentences.push(`It is ${shapeOf(rows)}; expected ${shapeOf(expected)}.`);
    if (difference) {
      const [i, j] = difference;
      sentences.push(`The first wrong number is ${rows[i][j].printed}, in row ${i + 1} and column ${j + 1}; expected ${expected[i][j].toFixed(4)}.`);
    }
    const paragraphs = [createElement("p", sentences.join(" "))];
    if (match) {
      const link = createElement("a", "what it does and how to notice it", {
        href: document.getElementById(match.anchor)?.href,
      });
      const fix = createElement("code", match.fix);
      paragraphs.push(createElement("p", ["The line that fixes it: ", fix, ". Read ", link, "."]));
    }
    return paragraphs;
  };

  // The parsed numbers, with the first wrong one marked.
  const createTable = ({ rows, match, difference }) => {
    const createCell = ({ printed }, i, j) => {
      const isMarked = !match?.right && difference?.[0] === i && difference[1] === j;
      return createElement("td", isMarked ? createElement("mark", printed) : printed);
    };
    const tableRows = rows.map((row, i) => createElement("tr", row.map((cell, j) => createCell(cell, i, j))));
    return createElement("table", createElement("tbody", tableRows));
  };

  const prepare = (box) => {
    box.dataset.ready = "";
    const outputs = JSON.parse(box.querySelector("template").content.textContent);
    const area = box.querySelector("textarea");
    const status = box.querySelector("[role=status]");
    const update = () => {
      box.querySelector("table")?.remove();
      if (!area.value.trim()) return status.replaceChildren();
      try {
        const diagnosis = diagnose(area.value, outputs);
        status.replaceChildren(...describe(diagnosis, outputs[0].rows));
        status.after(createTable(diagnosis));
      } catch (error) {
        status.replaceChildren(createElement("p", error.message));
      }
    };
    area.addEventListener("input", update);
    update(); // for text that the browser restored
  };

  // Tests call `diagnose` in node, without a document.
  if (!globalThis.document) return Object.assign(globalThis, { diagnose });
  const prepareAll = () => document.querySelectorAll(".paste:not([data-ready])").forEach(prepare);
  window.attentionDocs.onArrival(prepareAll);
  prepareAll();
})();

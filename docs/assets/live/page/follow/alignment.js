// The columns of a matrix, with their decimal points one below the other: as in
// attention_docs/render/table.py.

/** @type {Record<string, number>} widths in KaTeX's main font, in em */
const WIDTHS = { ".": 0.278, "−": 0.778, "×": 0.778, " ": 0.25 };
const [DIGIT, SMALLER] = [0.5, 0.7];

/** @param {string} text */
const width = (text) => [...text].reduce((sum, character) => sum + (WIDTHS[character] ?? DIGIT), 0);

/** @param {string} shown a number in HTML @returns {number} the width of what follows its integer part */
const fraction = (shown) => {
  const [, whole, exponent = ""] = /** @type {string[]} */ (/^(.*?)(?:<sup>(.*)<\/sup>)?$/.exec(shown));
  const point = whole.indexOf(".");
  return (point < 0 ? 0 : width(whole.slice(point))) + SMALLER * width(exponent);
};

/**
 * Align the cells of a table.
 *
 * @param {HTMLTableElement} table
 */
export const align = (table) => {
  const rows = [...table.rows].map(({ cells }) => [...cells]);
  rows[0].forEach((_, column) => {
    const cells = rows.map((row) => row[column]);
    const fractions = cells.map((cell) => fraction(cell.innerHTML));
    const widest = Math.max(...fractions);
    cells.forEach((cell, i) => {
      const hasDigits = /\d/.test(cell.innerHTML);
      cell.classList.remove("whole");
      cell.classList.toggle("centred", !hasDigits);
      cell.style.paddingRight = hasDigits ? `${widest - fractions[i]}em` : "";
    });
  });
};

// Align the columns of a matrix as attention_docs/render/table.py does.

import { rowsOf } from "../elements.js";

/** @type {Record<string, number>} widths in KaTeX's main font, in em */
const WIDTHS = { ".": 0.278, "−": 0.778, "×": 0.778, " ": 0.25 };
const [DIGIT_WIDTH, EXPONENT_SCALE] = [0.5, 0.7];

/** Estimate the width of a text, in em. @param {string} text */
const width = (text) => [...text].reduce((sum, character) => sum + (WIDTHS[character] ?? DIGIT_WIDTH), 0);

/** Estimate the width of what follows the integer part of a number. @param {string} html @returns {number} */
const fractionWidth = (html) => {
  const [, mantissa, exponent = ""] = /** @type {string[]} */ (/^(.*?)(?:<sup>(.*)<\/sup>)?$/.exec(html));
  const point = mantissa.indexOf(".");
  return (point < 0 ? 0 : width(mantissa.slice(point))) + EXPONENT_SCALE * width(exponent);
};

/** Align the cells of a table. @param {HTMLTableElement} table */
export const align = (table) => {
  const rows = rowsOf(table);
  const hasInfinity = table.textContent.includes("∞");
  rows[0].forEach((_, column) => {
    const cells = rows.map((row) => row[column]);
    const fractions = cells.map((cell) => (hasInfinity ? 0 : fractionWidth(cell.innerHTML)));
    const widest = Math.max(...fractions);
    cells.forEach((cell, i) => {
      const isNumber = /[\d∞]/.test(cell.innerHTML);
      cell.classList.remove("whole");
      cell.classList.toggle("centred", !isNumber);
      cell.style.paddingRight = isNumber ? `${widest - fractions[i]}em` : "";
    });
  });
};

// Names of steps and explanations as elements of the page.

import * as show from "../show.js";
import { valueOf } from "./examples.js";

/** @typedef {import("../explain.js").Text} Text */

/**
 * Make an element.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties] `class`, `data-...` and `aria-...` are attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElement}
 */
export const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (/^(class|role|for|data-|aria-)/.test(name)) element.setAttribute(name, value);
    else Object.assign(element, { [name]: value });
  }
  element.append(...children);
  return element;
};

/** @param {string} text @param {() => void} onclick @returns {HTMLElement} a button */
export const tool = (text, onclick) => make("button", { type: "button", onclick }, text);

/**
 * Lay out the cells of an array as a matrix; those of more axes stand one below the other.
 *
 * @param {number[]} shape @param {HTMLElement[]} cells @returns {HTMLTableElement}
 */
export const matrixOf = (shape, cells) => {
  const columns = shape.at(-1) ?? 1;
  const rows = Array.from({ length: cells.length / columns }, (_, row) =>
    make("tr", {}, ...cells.slice(row * columns, (row + 1) * columns))
  );
  return /** @type {HTMLTableElement} */ (make("table", { class: "matrix" }, ...rows));
};

const DIFFERENTIAL = /^d[A-Z]$/;

/**
 * Write the name of a step, or of a literal of another example: a symbol with its index, or words.
 *
 * @param {string} step @returns {HTMLElement}
 */
export const nameOf = (step) => {
  const name = step.slice(step.indexOf(".") + 1);
  const [base, ...parts] = name.split("_");
  if (base.length > 1 && !DIFFERENTIAL.test(base)) return make("span", {}, name.replaceAll("_", " "));
  return make("i", {}, base, ...(parts.length ? [make("sub", {}, parts.join(","))] : []));
};

/**
 * Write the numbers of a place that shows several, to choose from.
 *
 * @param {Example} example @param {Cell[]} cells @param {(cell: Cell) => void} choose
 * @returns {(Node | string)[]}
 */
export const choices = (example, cells, choose) => {
  const numbers = cells.map((cell) => ({ ...valueOf(example, cell), cell }));
  return [nameOf(cells[0].step), ": ", ...written(numbers.flatMap((number, i) => (i ? [", ", number] : [number])), choose)];
};

/**
 * Write where a number comes from, a line for each form of its formula, down to the number itself.
 *
 * @param {import("../explain.js").Explanation} explanation
 * @param {(cell: Cell) => void} follow is called when a reader chooses a number in it
 * @returns {HTMLElement[]}
 */
export const linesOf = ({ formula, numbers, note }, follow) => {
  const lines = [
    ...(formula.length ? [written(formula, follow)] : []),
    ...numbers.map((line) => ["= ", ...written(line, follow)]),
    ...(note.length ? [written(note, follow)] : []),
  ];
  return lines.map((line) => make("p", { class: "live-line" }, ...line));
};

/**
 * Write an explanation.
 *
 * @param {Text} text
 * @param {(cell: Cell) => void} follow is called when a reader chooses one of its numbers
 * @returns {(Node | string)[]}
 */
const written = (text, follow) =>
  text.map((piece) => {
    if (typeof piece === "string") return piece;
    if ("step" in piece) return nameOf(piece.step);
    const { value, dtype, cell } = piece;
    const shown = make("span", { innerHTML: show.html(value, dtype) });
    if (!cell) return shown;
    return make("button", { type: "button", class: "live-follow", onclick: () => follow(cell) }, shown);
  });

// Create elements: buttons, matrices, names of steps, explanations.

import * as show from "../show.js";
import { valueOf } from "./examples.js";

/** @typedef {import("../explain.js").RichText} RichText */

/**
 * Create an element.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties] `class`, `data-...` and `aria-...` are attributes
 * @param {(Node | string)[]} children
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

/** Create a button. @param {string} text @param {() => void} onclick @returns {HTMLElement} */
export const button = (text, onclick) => make("button", { type: "button", onclick }, text);

/**
 * Create the first line of a box, which ends in a button that closes the box.
 *
 * @param {(() => void) | null} onclick closes the box; null if the page's own listener does
 * @param {...(Node | string)} content
 */
export const headerOf = (onclick, ...content) =>
  make("div", { class: "live-head" },
    ...content,
    make("button", { type: "button", class: "live-close", "aria-label": "Close", onclick }, "×")
  );

/**
 * Lay out the cells of an array as a matrix; matrices of further axes are stacked.
 *
 * @param {number[]} shape @param {HTMLElement[]} cells @returns {HTMLTableElement}
 */
export const matrixOf = (shape, cells) => {
  const columns = shape.at(-1) ?? 1;
  const rows = Array.from({ length: cells.length / columns }, (_, row) =>
    make("tr", {}, ...cells.slice(row * columns, (row + 1) * columns))
  );
  return /** @type {HTMLTableElement} */ (make("table", { class: "matrix" }, make("tbody", {}, ...rows)));
};

/**
 * List the cells of a matrix, row by row, without the words at its rows and columns.
 *
 * @param {HTMLTableElement} table @returns {HTMLTableCellElement[][]}
 */
export const rowsOf = (table) => [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);

/**
 * Find the row and the column of a cell of a matrix, counted from 0.
 *
 * @param {HTMLTableCellElement[][]} rows @param {HTMLTableCellElement} cell @returns {[number, number]}
 */
export const positionOf = (rows, cell) => {
  const row = rows.findIndex((cells) => cells.includes(cell));
  return [row, rows[row].indexOf(cell)];
};

// The gradient with respect to a matrix, as in dQ or dW_Q.
const DIFFERENTIAL = /^d[A-Z]$/;

/** Render the name of a step or shared literal: a symbol with its index, or words. @param {string} step */
export const nameOf = (step) => {
  const name = step.slice(step.indexOf(".") + 1);
  const [symbol, ...indices] = name.split("_");
  if (symbol.length > 1 && !DIFFERENTIAL.test(symbol)) return make("span", {}, name.replaceAll("_", " "));
  return make("i", {}, symbol, ...(indices.length ? [make("sub", {}, indices.join(","))] : []));
};

/**
 * Render the numbers of a spot that shows several, to choose from.
 *
 * @param {Example} example @param {Cell[]} cells @param {(cell: Cell) => void} choose
 */
export const choices = (example, cells, choose) => {
  const numbers = cells.map((cell) => ({ ...valueOf(example, cell), cell }));
  const list = numbers.flatMap((number, i) => (i ? [", ", number] : [number]));
  return [nameOf(example.graph.names[cells[0].step] ?? cells[0].step), ": ", ...render(list, choose)];
};

/**
 * Render an explanation, a line for each form of the formula, and the number itself.
 *
 * @param {import("../explain.js").Explanation} explanation
 * @param {(cell: Cell) => void} follow is called with the cell of a number that a reader clicks
 */
export const linesOf = ({ formula, numbers, value, note }, follow) => {
  const results = (numbers.length ? numbers : [[value]]).map((line) => (formula.length ? ["= ", ...line] : line));
  return [formula, ...results, note]
    .filter(({ length }) => length)
    .map((line) => make(line === results.at(-1) ? "output" : "p", { class: "live-line" }, ...render(line, follow)));
};

/**
 * Render rich text.
 *
 * @param {RichText} text
 * @param {(cell: Cell) => void} follow is called with the cell of a number that a reader clicks
 */
const render = (text, follow) =>
  text.map((piece) => {
    if (typeof piece === "string") return piece;
    if ("step" in piece) return nameOf(piece.step);
    const { value, dtype, cell } = piece;
    if (piece.isRest) return "…";
    const number = make("span", { innerHTML: show.html(value, dtype) });
    if (!cell) return number;
    return make("button", { type: "button", class: "live-follow", onclick: () => follow(cell) }, number);
  });

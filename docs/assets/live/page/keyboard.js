// The numbers of a page by keyboard: one stop of the Tab key for each matrix, and one for the numbers of
// each paragraph, formula or figure. The arrow keys go on from there.

import { spotsIn } from "./spots.js";
import { make } from "./elements.js";

/** @typedef {(spot: Element) => void} Show */

// A number within a picture or a formula cannot take the focus: for a screen reader it is hidden, or
// part of an image.
const BLOCKS = "p, li, dd, figcaption, summary, h1, h2, h3, h4";
const BOXES = ".md-typeset__scrollwrap, .figure-box, .formula";
const HELP = "The arrow keys go from one number to the next, Enter opens the card.";
/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * Make the numbers of the page reachable. What is reachable already stays as it is.
 *
 * @param {Show} show is called with the number that is reached
 */
export const makeReachable = (show) => {
  for (const table of document.querySelectorAll("table")) {
    if (!table.dataset.val) continue;
    if (!table.role) makeGrid(table, show);
    const [stop = table.rows[0].cells[0]] = [...table.querySelectorAll("td")].filter((cell) => cell.tabIndex === 0);
    // Where the cells are fields, these are the stops.
    stop.tabIndex = table.querySelector("input") ? -1 : 0;
  }
  /** @type {Map<Element, Element[]>} */ const groups = new Map();
  for (const carrier of document.querySelectorAll("[data-val]:not(table)")) {
    const table = carrier.closest(".md-typeset__scrollwrap");
    const group = table ?? carrier.closest(BLOCKS) ?? carrier.closest(BOXES);
    if (group) groups.set(group, [...(groups.get(group) ?? []), ...spotsIn(carrier)]);
  }
  for (const [group, spots] of groups) {
    if (group.querySelector(":scope > .live-stop")) continue;
    if (group.matches(BOXES)) group.prepend(stop(spots, show));
    else group.append(stop(spots, show));
  }
};

/** @type {WeakMap<Element, () => HTMLElement>} the stop of a number outside of tables, which goes to it */
const stops = new WeakMap();

/**
 * Find what takes the focus for a number.
 *
 * @param {Element} spot @param {Show} show @returns {HTMLElement | undefined}
 */
export const stopOf = (spot, show) => {
  makeReachable(show);
  if (!(spot instanceof HTMLTableCellElement)) return stops.get(spot)?.();
  spot.closest("table")?.querySelectorAll("td").forEach((cell) => (cell.tabIndex = -1));
  const field = spot.querySelector("input");
  if (!field) spot.tabIndex = 0;
  return field ?? spot;
};

/** @param {HTMLTableElement} table @param {Show} show */
const makeGrid = (table, show) => {
  const [example, step] = (table.dataset.val ?? "").split(/[.[]/);
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", `${step.replaceAll("_", " ")} of ${example.replaceAll("_", " ")}`);
  table.querySelectorAll("td").forEach((cell) => (cell.tabIndex = -1));
  table.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLTableCellElement) show(target);
  });
  table.addEventListener("keydown", (event) => {
    const cell = event.target;
    if (!(cell instanceof HTMLTableCellElement)) return;
    const next = neighbour(table, cell, event.key);
    if (!next) return;
    event.preventDefault();
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
};

/** @param {HTMLTableElement} table @param {HTMLTableCellElement} cell @param {string} pressed */
const neighbour = (table, cell, pressed) => {
  const { rowIndex } = /** @type {HTMLTableRowElement} */ (cell.parentElement);
  const last = { row: table.rows.length - 1, column: table.rows[0].cells.length - 1 };
  /** @type {Record<string, [row: number, column: number]>} */
  const places = {
    ArrowRight: [rowIndex, cell.cellIndex + 1],
    ArrowLeft: [rowIndex, cell.cellIndex - 1],
    ArrowDown: [rowIndex + 1, cell.cellIndex],
    ArrowUp: [rowIndex - 1, cell.cellIndex],
    Home: [rowIndex, 0],
    End: [rowIndex, last.column],
  };
  const [row, column] = places[pressed] ?? [];
  return row === undefined ? null : table.rows[row]?.cells[column];
};

/** @param {Element[]} spots @param {Show} show @returns {HTMLElement} */
const stop = (spots, show) => {
  let at = 0;
  const count = spots.length === 1 ? "1 number" : `${spots.length} numbers`;
  const properties = { type: "button", class: "live-stop", "aria-live": "polite", "aria-description": HELP };
  const button = make("button", properties, count);
  /** @param {number} next */
  const go = (next) => {
    at = Math.min(Math.max(next, 0), spots.length - 1);
    const text = (spots[at].querySelector("title") ?? spots[at]).textContent;
    button.textContent = spots.length === 1 ? `${text}` : `${text} (${at + 1} of ${spots.length})`;
    spots[at].scrollIntoView({ block: "nearest", behavior: "instant" });
    show(spots[at]);
  };
  spots.forEach((spot, i) => stops.set(spot, () => {
    at = i;
    return button;
  }));
  button.onfocus = () => go(at);
  // The number that it says may change before the keyboard comes back.
  button.onblur = () => (button.textContent = count);
  button.onkeydown = (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    go(at + step);
  };
  return button;
};

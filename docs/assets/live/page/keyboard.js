// Keyboard access to numbers: one tab stop for each matrix, and one for the numbers of each paragraph,
// formula or figure. The arrow keys move between the numbers of a stop.

import { spotsIn } from "./spots.js";
import { make, positionOf, rowsOf } from "./elements.js";

/** @typedef {(spot: Element) => void} Show */

// Numbers in figures and formulas cannot be focused themselves: screen readers see an image, or nothing.
const BLOCKS = "p, li, dd, figcaption, summary, h1, h2, h3, h4";
const BOXES = ".md-typeset__scrollwrap, .figure-box, .formula";
const HELP = "The arrow keys go from one number to the next, Enter opens the card.";
/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * Add the tab stops that the page does not have yet.
 *
 * @param {Show} show is called with each spot that is reached
 */
export const makeReachable = (show) => {
  for (const table of document.querySelectorAll("table")) {
    if (!table.dataset.val) continue;
    if (!table.role) makeGrid(table, show);
    const cells = rowsOf(table).flat();
    const stop = cells.find((cell) => cell.tabIndex === 0) ?? cells[0];
    // Fields in the cells are tab stops themselves.
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
    if (group.matches(BOXES)) group.prepend(makeStop(spots, show));
    else group.append(makeStop(spots, show));
  }
};

/** @type {WeakMap<Element, () => HTMLElement>} moves a stop to a spot outside tables, and returns it */
const stops = new WeakMap();

/**
 * Find the element to focus for a spot.
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
  rowsOf(table).flat().forEach((cell) => (cell.tabIndex = -1));
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

/** @param {HTMLTableElement} table @param {HTMLTableCellElement} cell @param {string} key */
const neighbour = (table, cell, key) => {
  const rows = rowsOf(table);
  const [i, j] = positionOf(rows, cell);
  /** @type {Record<string, [row: number, column: number]>} */
  const targets = {
    ArrowRight: [i, j + 1],
    ArrowLeft: [i, j - 1],
    ArrowDown: [i + 1, j],
    ArrowUp: [i - 1, j],
    Home: [i, 0],
    End: [i, rows[i].length - 1],
  };
  const [row, column] = targets[key] ?? [];
  return row === undefined ? null : rows[row]?.[column];
};

/** @param {Element[]} spots @param {Show} show @returns {HTMLElement} */
const makeStop = (spots, show) => {
  let current = 0;
  const count = spots.length === 1 ? "1 number" : `${spots.length} numbers`;
  const properties = { type: "button", class: "live-stop", "aria-live": "polite", "aria-description": HELP };
  const button = make("button", properties, count);
  /** @param {number} next */
  const moveTo = (next) => {
    current = Math.min(Math.max(next, 0), spots.length - 1);
    const text = (spots[current].querySelector("title") ?? spots[current]).textContent;
    button.textContent = spots.length === 1 ? `${text}` : `${text} (${current + 1} of ${spots.length})`;
    spots[current].scrollIntoView({ block: "nearest", behavior: "instant" });
    show(spots[current]);
  };
  spots.forEach((spot, i) => stops.set(spot, () => {
    current = i;
    return button;
  }));
  button.onfocus = () => moveTo(current);
  // The number may change before the focus returns.
  button.onblur = () => (button.textContent = count);
  button.onkeydown = (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    moveTo(current + step);
  };
  return button;
};

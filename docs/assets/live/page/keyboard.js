// Keyboard access to numbers: one tab stop for each matrix, and one for the numbers of each paragraph,
// formula or figure. The arrow keys move between the numbers of a stop.

import { spotsIn } from "./spots.js";
import { make, positionOf, rowsOf } from "./elements.js";

/** @typedef {(spot: Element) => void} OnFocus is called with each spot that is reached */

// The elements that get one tab stop for all their numbers. Numbers in figures and formulas cannot be focused
// themselves: screen readers see an image, or nothing.
const BLOCKS = "p, li, dd, figcaption, summary, h1, h2, h3, h4";
const BOXES = ".md-typeset__scrollwrap, .figure-box, .formula";
const HELP = "The arrow keys go from one number to the next, Enter opens the card.";
/** @type {Record<string, number>} */
const DIRECTIONS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Add the tab stops that the page does not have yet. @param {OnFocus} onFocus */
export const addTabStops = (onFocus) => {
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table[data-val]"))) {
    if (!table.role) makeGrid(table, onFocus);
    const cells = rowsOf(table).flat();
    const tabStop = cells.find((cell) => cell.tabIndex === 0) ?? cells[0];
    // Fields in the cells are tab stops themselves.
    tabStop.tabIndex = table.querySelector("input") ? -1 : 0;
  }
  /** @type {Map<Element, Element[]>} the spots that share a tab stop */ const groups = new Map();
  for (const carrier of document.querySelectorAll("[data-val]:not(table)")) {
    const table = carrier.closest(".md-typeset__scrollwrap");
    const group = table ?? carrier.closest(BLOCKS) ?? carrier.closest(BOXES);
    if (group) groups.set(group, [...(groups.get(group) ?? []), ...spotsIn(carrier)]);
  }
  for (const [group, spots] of groups) {
    if (group.querySelector(":scope > .live-stop")) continue;
    if (group.matches(BOXES)) group.prepend(createTabStop(spots, onFocus));
    else group.append(createTabStop(spots, onFocus));
  }
};

/** @type {WeakMap<Element, () => HTMLElement>} for each spot outside tables, moves its tab stop to it and returns the tab stop */
const tabStops = new WeakMap();

/** Find the element to focus for a spot. @param {Element} spot @param {OnFocus} onFocus */
export const tabStopOf = (spot, onFocus) => {
  addTabStops(onFocus);
  if (!(spot instanceof HTMLTableCellElement)) return tabStops.get(spot)?.();
  spot.closest("table")?.querySelectorAll("td").forEach((cell) => (cell.tabIndex = -1));
  const field = spot.querySelector("input");
  if (!field) spot.tabIndex = 0;
  return field ?? spot;
};

/** Let the arrow keys move between the cells of a table. @param {HTMLTableElement} table @param {OnFocus} onFocus */
const makeGrid = (table, onFocus) => {
  const [example, step] = (table.dataset.val ?? "").split(/[.[]/);
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", `${step.replaceAll("_", " ")} of ${example.replaceAll("_", " ")}`);
  rowsOf(table).flat().forEach((cell) => (cell.tabIndex = -1));
  table.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLTableCellElement) onFocus(target);
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

/** Find the cell that a key leads to. @param {HTMLTableElement} table @param {HTMLTableCellElement} cell @param {string} key */
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

/** Create a button that stands for the visible spots, one at a time. @param {Element[]} allSpots @param {OnFocus} onFocus @returns {HTMLElement} */
const createTabStop = (allSpots, onFocus) => {
  // On the home page, the shares of other words are hidden.
  const isVisible = (/** @type {Element} */ spot) => spot.checkVisibility({ visibilityProperty: true });
  let spots = allSpots;
  let current = 0;
  const count = spots.length === 1 ? "1 number" : `${spots.length} numbers`;
  const properties = { type: "button", class: "live-stop", "aria-live": "polite", "aria-description": HELP };
  const button = make("button", properties, count);
  /** @param {number} position */
  const moveTo = (position) => {
    spots = allSpots.filter(isVisible);
    current = Math.min(Math.max(position, 0), spots.length - 1);
    const spot = spots[current];
    const text = (spot.querySelector("title") ?? spot).textContent;
    button.textContent = spots.length === 1 ? text : `${text} (${current + 1} of ${spots.length})`;
    spot.scrollIntoView({ block: "nearest", behavior: "instant" });
    onFocus(spot);
  };
  allSpots.forEach((spot) => tabStops.set(spot, () => {
    current = allSpots.filter(isVisible).indexOf(spot);
    return button;
  }));
  button.onfocus = () => moveTo(current);
  // The number may change before the focus returns.
  button.onblur = () => (button.textContent = count);
  button.onkeydown = (event) => {
    const direction = DIRECTIONS[event.key];
    if (!direction) return;
    event.preventDefault();
    moveTo(current + direction);
  };
  return button;
};

// Where numbers stand on a page: in tables, in text, in formulas and in the cells of figures.

import { ravel } from "../arrays.js";
import { exampleOf, resolve } from "../reference.js";
import { number } from "../show.js";

/** @param {Cell} cell @returns {string} */
export const key = ({ step, index }) => `${step}[${index}]`;

/**
 * Find the number at a place of the page, if there is one.
 *
 * @param {EventTarget | null} target @returns {HTMLElement | SVGElement | null} its element
 */
export const spotAt = (target) => {
  const element = /** @type {Element | null} */ (target instanceof Element ? target : null);
  const carrier = element?.closest("[data-val]");
  if (!element || !carrier) return null;
  if (carrier.matches("table")) {
    const cell = element.closest("td");
    return cell && !/[⋯⋮⋱]/.test(cell.textContent ?? "") ? cell : null;
  }
  return /** @type {SVGElement} */ (carrier.matches("g") ? element.closest("[data-at]") : carrier);
};

// A finger is wider than a digit or a thin line: it means what lies up to 12 px from its middle.
const EIGHTHS = [...Array(8).keys()].map((i) => (i * Math.PI) / 4);
const AROUND = [4, 8, 12].flatMap((far) => EIGHTHS.map((angle) => [far * Math.cos(angle), far * Math.sin(angle)]));

/**
 * Find the number that is pressed, or in a matrix or a picture the nearest one.
 *
 * @param {MouseEvent} press
 */
export const spotNear = ({ target, clientX, clientY }) => {
  const found = spotAt(target);
  const box = target instanceof Element && target.closest(".matrix, svg");
  if (found || !box) return found;
  // Between two places that are tried, a thin line would be missed.
  box.classList.add("live-pressed");
  const near = AROUND.map(([x, y]) => spotAt(document.elementFromPoint(clientX + x, clientY + y))).find(Boolean);
  box.classList.remove("live-pressed");
  return near ?? null;
};

/** @param {Element} spot @returns {string} what its carrier says that it shows */
const referenceOf = (spot) =>
  /** @type {string} */ (spot.closest("[data-val]")?.getAttribute("data-val"));

/** @returns {string[]} the examples that the page has numbers of */
export const examplesOnPage = () => {
  const carriers = [...document.querySelectorAll("[data-val]")];
  return [...new Set(carriers.map(exampleAt))];
};

/** @param {Element} spot @returns {string} the name of the example that its number is from */
export const exampleAt = (spot) => exampleOf(referenceOf(spot));

/**
 * Tell which elements of which step a spot shows.
 *
 * @param {Element} spot @param {Example} example
 * @returns {Cell[]} several of a point in space; none of a shape
 */
export const cellsAt = (spot, { graph }) => {
  const place = spot.getAttribute("data-at");
  const { step, shape, cells } = resolve(referenceOf(spot), graph);
  if (place !== null) return [{ step, index: place ? place.split(",").map(Number) : [] }];
  if (!(spot instanceof HTMLTableCellElement)) return cells.map((index) => ({ step, index }));
  const columns = shape.at(-1) ?? 1;
  const rows = cells.length / columns;
  const row = /** @type {HTMLTableRowElement} */ (spot.parentElement);
  const table = /** @type {HTMLTableElement} */ (spot.closest("table"));
  // The last row and column of an excerpt are the last ones of the matrix.
  const i = row.rowIndex === table.rows.length - 1 ? rows - 1 : row.rowIndex;
  const j = row.cells.length - 1 === spot.cellIndex ? columns - 1 : spot.cellIndex;
  return [{ step, index: cells[i * columns + j] }];
};

/**
 * @typedef {object} Found a place that shows a number
 * @property {Element} spot
 * @property {Cell} cell
 * @property {Element} carrier what says which numbers these are: a table, a figure or the spot itself
 * @property {string} original the number that the page was built with
 * @property {string} shown the one that stands there now
 */

/** @type {Map<Example, Found[]>} */
const found = new Map();

/** Look anew when asked again, because the page has other places now. */
export const forget = () => found.clear();

/**
 * List all places of the page that show a number of an example.
 *
 * @param {Example} example @returns {Found[]}
 */
export const spotsOf = (example) => {
  const known = found.get(example);
  if (known) return known;
  const carriers = [...document.querySelectorAll(`[data-val^="${example.name}."]`)];
  const spots = carriers.flatMap((carrier) => foundIn(carrier, example));
  found.set(example, spots);
  return spots;
};

/** @param {Element} carrier @param {Example} example @returns {Found[]} */
const foundIn = (carrier, example) =>
  spotsIn(carrier).flatMap((spot) =>
    cellsAt(spot, example).map((cell) => {
      const original = originalText(example, cell);
      return { spot, cell, carrier, original, shown: original };
    })
  );

/** @param {Example} example @param {Cell} cell @returns {string} */
const originalText = ({ graph }, { step, index }) => {
  const { data, shape, dtype } = graph.values[/** @type {number} */ (graph.steps.get(step))];
  return number(data[ravel(index, shape)], dtype);
};

/**
 * List the places that show one cell.
 *
 * @param {Example} example @param {Cell} cell @returns {Element[]}
 */
export const spotsOfCell = (example, cell) =>
  spotsOf(example).filter((found) => key(found.cell) === key(cell)).map(({ spot }) => spot);

/** @param {Element} carrier @returns {Element[]} the numbers of a table, of a figure or of itself */
export const spotsIn = (carrier) => {
  if (carrier.matches("g")) return [...carrier.querySelectorAll("[data-at]")];
  if (!carrier.matches("table")) return [carrier];
  return [...carrier.querySelectorAll("td")].filter((cell) => spotAt(cell));
};

// The spots of a page: the elements that show numbers, in tables, text, formulas and figures. The attribute
// `data-val` has the reference; the element that carries it is a table, a group of a figure, or the spot itself.

import { ravel } from "../arrays.js";
import { exampleOf, resolve } from "../reference.js";
import { number } from "../show.js";
import { positionOf, rowsOf } from "./elements.js";

/** Return a string that identifies a cell of an example. @param {Cell} cell @returns {string} */
export const key = ({ step, index }) => `${step}[${index}]`;

/** Find the spot at an event's target. @param {EventTarget | null} target */
export const spotAt = (target) => {
  const element = /** @type {Element | null} */ (target instanceof Element ? target : null);
  const carrier = element?.closest("[data-val]");
  if (!element || !carrier) return null;
  if (carrier.matches("table")) {
    const cell = /** @type {HTMLTableCellElement | null} */ (element.closest("tbody td"));
    return cell && !/[⋯⋮⋱]/.test(cell.textContent ?? "") ? cell : null;
  }
  return /** @type {SVGElement} */ (carrier.matches("g") ? element.closest("[data-at]") : carrier);
};

// A finger is wider than a digit or a thin line, so a tap reaches spots up to 12 px away.
const ANGLES = [...Array(8).keys()].map((i) => (i * Math.PI) / 4);
const OFFSETS = [4, 8, 12].flatMap((radius) => ANGLES.map((angle) => [radius * Math.cos(angle), radius * Math.sin(angle)]));

/** Find the clicked spot, or the nearest one within a matrix or a figure. @param {MouseEvent} click */
export const spotNear = ({ target, clientX, clientY }) => {
  const spot = spotAt(target);
  const box = target instanceof Element && target.closest(".matrix, svg");
  if (spot || !box) return spot;
  // Thicken thin lines, which could lie between two sampled points.
  box.classList.add("live-pressed");
  const nearby = OFFSETS.map(([x, y]) => spotAt(document.elementFromPoint(clientX + x, clientY + y)));
  box.classList.remove("live-pressed");
  return nearby.find((candidate) => candidate !== null) ?? null;
};

/** Return the reference of a spot's carrier. @param {Element} spot @returns {string} */
const referenceOf = (spot) =>
  /** @type {string} */ (spot.closest("[data-val]")?.getAttribute("data-val"));

/** List the names of the examples on the page. @returns {string[]} */
export const examplesOnPage = () => {
  const carriers = [...document.querySelectorAll("[data-val]")];
  return [...new Set(carriers.map(exampleAt))];
};

/** Return the name of a spot's example. @param {Element} spot @returns {string} */
export const exampleAt = (spot) => exampleOf(referenceOf(spot));

/**
 * Return the cells that a spot shows.
 *
 * @param {Element} spot @param {Example} example
 * @returns {Cell[]} several for a point in space; none for a shape
 */
export const cellsAt = (spot, { graph }) => {
  const { step, shape, cells } = resolve(referenceOf(spot), graph);
  const index = spot.getAttribute("data-at");
  if (index !== null) return [{ step, index: index ? index.split(",").map(Number) : [] }];
  if (!(spot instanceof HTMLTableCellElement)) return cells.map((index) => ({ step, index }));
  const columns = shape.at(-1) ?? 1;
  const rows = cells.length / columns;
  const shown = rowsOf(/** @type {HTMLTableElement} */ (spot.closest("table")));
  const [row, column] = positionOf(shown, spot);
  // In an abridged matrix, only the last row and column are out of place.
  const i = row === shown.length - 1 ? rows - 1 : row;
  const j = column === shown[0].length - 1 ? columns - 1 : column;
  return [{ step, index: cells[i * columns + j] }];
};

/**
 * @typedef {object} SpotCell a spot and a cell that it shows
 * @property {Element} spot
 * @property {Cell} cell
 * @property {Element} carrier has the reference: a table, a group of a figure, or the spot itself
 * @property {string} original the number on the page as built
 * @property {string} shown the number on the page now
 */

/** @type {Map<Example, SpotCell[]>} the results of `spotsOf` */
const cache = new Map();

/** Clear the cache after the page has changed. */
export const forgetSpots = () => cache.clear();

/** List all spots of an example on the page, cell by cell. @param {Example} example */
export const spotsOf = (example) => {
  const cached = cache.get(example);
  if (cached) return cached;
  const carriers = [...document.querySelectorAll(`[data-val^="${example.name}."]`)];
  const spots = carriers.flatMap((carrier) => spotCellsIn(carrier, example));
  cache.set(example, spots);
  return spots;
};

/** List the spots of a carrier, cell by cell. @param {Element} carrier @param {Example} example @returns {SpotCell[]} */
const spotCellsIn = (carrier, example) =>
  spotsIn(carrier).flatMap((spot) =>
    cellsAt(spot, example).map((cell) => {
      const { data, shape, dtype } = example.graph.values[/** @type {number} */ (example.graph.steps.get(cell.step))];
      const original = number(data[ravel(cell.index, shape)], dtype);
      return { spot, cell, carrier, original, shown: original };
    })
  );

/** List the spots that show a cell. @param {Example} example @param {Cell} cell */
export const spotsOfCell = (example, cell) =>
  spotsOf(example).filter((spotCell) => key(spotCell.cell) === key(cell)).map(({ spot }) => spot);

/** List the spots of a carrier: its cells if it is a table or a figure, or else itself. @param {Element} carrier @returns {Element[]} */
export const spotsIn = (carrier) => {
  if (carrier.matches("g")) return [...carrier.querySelectorAll("[data-at]")];
  if (!carrier.matches("table")) return [carrier];
  return rowsOf(/** @type {HTMLTableElement} */ (carrier)).flat().filter((cell) => spotAt(cell));
};

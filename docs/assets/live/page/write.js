// Write the values of an example into the page, where they differ from those that it was built with.

import { align } from "./alignment.js";
import { drawFigure } from "./figures.js";
import { valueOf } from "./examples.js";
import { spotsOf } from "./spots.js";
import { html, number } from "../show.js";

/** @typedef {import("../arrays.js").Dtype} Dtype */
/** @typedef {import("./examples.js").Example} Example */

/** @type {WeakMap<Element, string>} what the page was built with, where something else stands now */
const originals = new WeakMap();

/**
 * Bring the numbers of the page up to date.
 *
 * @param {Example} example
 * @param {Set<Element>} [waiting] the figures that may wait
 * @returns {Element[]} the places whose number differs from the page's own
 */
export const write = (example, waiting = new Set()) => {
  /** @type {Element[]} */ const changed = [];
  /** @type {Set<Element>} */ const carriers = new Set();
  for (const place of spotsOf(example)) {
    const { spot, cell, carrier, original, shown } = place;
    const { value, dtype } = valueOf(example, cell);
    const told = number(value, dtype);
    const differs = told !== original;
    if (differs) changed.push(spot);
    // A point in space and the hand of a clock stay as they are drawn.
    if (told === shown || waiting.has(carrier) || carrier.matches("path, line")) continue;
    place.shown = told;
    carriers.add(carrier);
    if (!carrier.matches("g")) writeNumber(spot, value, dtype, differs);
    spot.classList.toggle("live-changed", differs);
  }
  for (const carrier of carriers) {
    if (carrier instanceof HTMLTableElement && !carrier.querySelector("input")) align(carrier);
    else if (carrier.matches("g")) drawFigure(carrier, (cell) => valueOf(example, cell));
  }
  return changed;
};

/** @param {Element} spot @param {number} value @param {Dtype} dtype @param {boolean} differs */
const writeNumber = (spot, value, dtype, differs) => {
  if (spot.querySelector("input")) return;
  if (!differs && originals.has(spot)) put(spot, /** @type {string} */ (originals.get(spot)));
  if (!differs) return originals.delete(spot);
  if (!originals.has(spot)) originals.set(spot, spot.innerHTML);
  put(spot, spot.closest("svg") ? number(value, dtype) : html(value, dtype));
};

/** Replace a text alone where that is possible: it is styled no more. @param {Element} spot @param {string} content */
const put = (spot, content) => {
  const { firstChild: text, childNodes } = spot;
  if (text instanceof Text && childNodes.length === 1 && !/[<&]/.test(content)) text.data = content;
  else spot.innerHTML = content;
};

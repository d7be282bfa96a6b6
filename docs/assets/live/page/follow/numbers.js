// Write the values of an example into the page, where they differ from those that it was built with.

import { align } from "./alignment.js";
import { drawFigure } from "./figures.js";
import { valueOf } from "../examples.js";
import { spotsOf } from "../spots.js";
import { html, mathml, number } from "../../show.js";

const LEFT_OUT =
  "You have changed numbers of this figure. Its description was of the original ones, so it is left out. The Tab key leads to the numbers as they are now.";

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
    if (told === shown || waiting.has(carrier)) continue;
    place.shown = told;
    carriers.add(carrier);
    // A point in space and the hand of a clock stay as they are drawn.
    if (carrier.matches("path, line")) continue;
    if (!carrier.matches("g")) writeNumber(spot, value, dtype, differs);
    spot.classList.toggle("live-changed", differs);
  }
  for (const carrier of carriers) {
    if (carrier instanceof HTMLTableElement && !carrier.querySelector("input")) align(carrier);
    else if (carrier.matches("g")) drawFigure(carrier, (cell) => valueOf(example, cell));
    else if (carrier.matches("path, line"))
      namePoint(carrier, spotsOf(example).filter(({ spot }) => spot === carrier));
  }
  const figures = new Set([...carriers].map((carrier) => carrier.closest("svg")));
  for (const figure of figures) if (figure) describe(figure);
  return changed;
};

/** @param {Element} spot @param {number} value @param {Dtype} dtype @param {boolean} differs */
const writeNumber = (spot, value, dtype, differs) => {
  if (spot.querySelector("input")) return;
  replace(spot, differs, spot.closest("svg") ? number(value, dtype) : html(value, dtype));
  const spoken = `[data-spoken="${spot.getAttribute("data-val")}"]`;
  for (const copy of spot.closest(".katex")?.querySelectorAll(spoken) ?? [])
    replace(copy, differs, mathml(value, dtype));
};

/** Name a point by its numbers. @param {Element} point @param {import("../spots.js").Found[]} places */
const namePoint = (point, places) => {
  point.classList.toggle("live-changed", places.some(({ shown, original }) => shown !== original));
  const title = point.querySelector("title");
  const name = title?.textContent?.split(": ")[0];
  if (title) title.textContent = `${name}: ${places.map(({ shown }) => shown).join(", ")}`;
};

/** Leave out a description of other numbers than a figure has. @param {SVGSVGElement} figure */
const describe = (figure) => {
  const description = figure.querySelector("desc");
  if (description) replace(description, figure.querySelector(".live-changed") !== null, LEFT_OUT);
};

/** Write what differs from the page's own, or its own again. @param {Element} element @param {boolean} differs @param {string} content */
const replace = (element, differs, content) => {
  const original = originals.get(element) ?? element.innerHTML;
  if (differs) originals.set(element, original);
  else originals.delete(element);
  put(element, differs ? content : original);
};

/** Replace a text alone where that is possible: it is styled no more. @param {Element} spot @param {string} content */
const put = (spot, content) => {
  const { firstChild: text, childNodes } = spot;
  if (text instanceof Text && childNodes.length === 1 && !/[<&]/.test(content)) text.data = content;
  else spot.innerHTML = content;
};

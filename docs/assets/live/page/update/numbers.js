// Write the values of an example into the page, where they have changed.

import { align } from "./alignment.js";
import { drawFigure, joinPoints, moveInPlane } from "./figures.js";
import { valueOf } from "../examples.js";
import { spotsOf } from "../spots.js";
import { drawn, html, mathml, number, short } from "../../show.js";

const STALE_DESCRIPTION = "This figure shows your numbers. The Tab key leads to them.";

/** @type {WeakMap<Element, string>} the original HTML of changed elements */
const originals = new WeakMap();

/**
 * Update the numbers of the page.
 *
 * @param {Example} example
 * @param {Set<Element>} [deferred] groups of figures to skip
 * @returns {Element[]} the spots whose number differs from the page's own
 */
export const writeNumbers = (example, deferred = new Set()) => {
  /** @type {Element[]} */ const changed = [];
  /** @type {Set<Element>} */ const carriers = new Set();
  for (const spotCell of spotsOf(example)) {
    const { spot, cell, carrier, original, shown } = spotCell;
    const { value, dtype } = valueOf(example, cell);
    const digits = number(value, dtype);
    const isChanged = digits !== original;
    if (isChanged) changed.push(spot);
    if (digits === shown || deferred.has(carrier)) continue;
    spotCell.shown = digits;
    carriers.add(carrier);
    // Points and arrows are moved below; those in space and the hands of clocks are not.
    if (carrier.matches("path, line")) continue;
    if (!carrier.matches("g")) writeNumber(spot, value, dtype, isChanged);
    spot.classList.toggle("live-changed", isChanged);
  }
  for (const carrier of carriers) {
    if (carrier instanceof HTMLTableElement && !carrier.querySelector("input")) align(carrier);
    else if (carrier.matches("g")) drawFigure(/** @type {SVGElement} */ (carrier), example);
    else if (carrier.matches("path, line")) {
      const cells = spotsOf(example).filter(({ spot }) => spot === carrier);
      const point = cells.map(({ cell }) => valueOf(example, cell).value);
      updateTitle(carrier, cells, point);
      moveInPlane(carrier, point);
    }
  }
  const figures = new Set([...carriers].map((carrier) => carrier.closest("svg")));
  for (const figure of figures) {
    if (!figure) continue;
    joinPoints(figure);
    // The description is no longer true.
    const description = figure.querySelector("desc");
    if (description) replace(description, figure.querySelector(".live-changed") !== null, STALE_DESCRIPTION);
  }
  return changed;
};

/** Write a number into a spot, and into the MathML of its formula. @param {Element} spot @param {number} value @param {Dtype} dtype @param {boolean} isChanged */
const writeNumber = (spot, value, dtype, isChanged) => {
  if (spot.querySelector("input")) return;
  const isShort = spot.closest("[data-short]") && dtype !== "bool" && Number.isFinite(value);
  const format = isShort ? short : spot.closest("svg") ? drawn : html;
  // A number may stand for one of some words.
  const digits = spot.getAttribute("data-words")?.split(" ")[value] ?? format(value, dtype);
  replace(spot, isChanged, digits);
  /** @type {HTMLElement | null} */ (spot.closest("[style*='--share']"))?.style.setProperty("--share", value.toFixed(4));
  const mathmlNumber = `[data-spoken="${spot.getAttribute("data-val")}"]`;
  for (const element of spot.closest(".katex")?.querySelectorAll(mathmlNumber) ?? [])
    replace(element, isChanged, mathml(digits));
};

/** Update the title of a point. @param {Element} point @param {import("../spots.js").SpotCell[]} cells @param {number[]} coordinates */
const updateTitle = (point, cells, coordinates) => {
  point.classList.toggle("live-changed", cells.some(({ shown, original }) => shown !== original));
  const title = point.querySelector("title");
  const name = title?.textContent?.split(": ")[0];
  if (title) title.textContent = `${name}: ${coordinates.map((value) => drawn(value)).join(", ")}`;
};

/** Set the content of an element, or restore the original. @param {Element} element @param {boolean} isChanged @param {string} content */
const replace = (element, isChanged, content) => {
  const original = originals.get(element) ?? element.innerHTML;
  if (isChanged) originals.set(element, original);
  else originals.delete(element);
  setContent(element, isChanged ? content : original);
};

/** Set the content, by the text node alone if possible, to avoid restyling. @param {Element} spot @param {string} content */
const setContent = (spot, content) => {
  const { firstChild: text, childNodes } = spot;
  if (text instanceof Text && childNodes.length === 1 && !/[<&]/.test(content)) text.data = content;
  else spot.innerHTML = content;
};

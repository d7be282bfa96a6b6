// Names of steps and explanations as elements of the page.

import * as show from "./show.js";

/** @typedef {import("./explain.js").Text} Text */
/** @typedef {import("./terms.js").Cell} Cell */

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

/**
 * Write the name of a step: a symbol with its index, or words.
 *
 * @param {string} step @returns {HTMLElement}
 */
export const nameOf = (step) => {
  const [base, ...parts] = step.split("_");
  if (base.length > 1) return make("span", {}, step.replaceAll("_", " "));
  return make("i", {}, base, ...(parts.length ? [make("sub", {}, parts.join(","))] : []));
};

/**
 * Write an explanation.
 *
 * @param {Text} text
 * @param {(cell: Cell) => void} follow is called when a reader chooses one of its numbers
 * @returns {(Node | string)[]}
 */
export const written = (text, follow) =>
  text.map((piece) => {
    if (typeof piece === "string") return piece;
    if ("step" in piece) return nameOf(piece.step);
    const { value, dtype, cell } = piece;
    const shown = make("span", { innerHTML: show.html(value, dtype) });
    if (!cell) return shown;
    return make("button", { type: "button", class: "live-follow", onclick: () => follow(cell) }, shown);
  });

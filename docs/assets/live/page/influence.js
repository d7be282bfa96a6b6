// Show the derivative with respect to an input number: as a colour, a sign and a sentence.

import { number } from "../show.js";

const SIGNS = ["▼", "○", "▲"];
// The strongest colour, in percent; above this, text has too little contrast.
const MAX_STRENGTH = 50;

/**
 * Describe how a number changes when an input is raised.
 *
 * @param {number} derivative @param {(size: number) => string} format
 */
export const describeEffect = (derivative, format) => {
  if (Number.isNaN(derivative)) return "has no derivative";
  if (derivative === 0) return "stays as it is";
  return `${derivative < 0 ? "falls" : "rises"} ${format(Math.abs(derivative))} times as much`;
};

/**
 * Give an element the colour, the sign and a description of a derivative.
 *
 * @param {HTMLElement | SVGElement} element @param {number} derivative
 * @param {number} largest magnitude of all derivatives, which gets the strongest colour
 * @returns {() => void} removes all of it
 */
export const markInfluence = (element, derivative, largest) => {
  const fraction = Math.min(Math.abs(derivative) / largest || 0, 1);
  const sign = SIGNS[Math.sign(derivative) + 1] ?? "?";
  element.dataset.influence = sign;
  element.style.setProperty("--live-strength", `${MAX_STRENGTH * fraction}%`);
  const remove = element instanceof SVGElement ? addSign(element, sign) : addTitle(element, derivative);
  return () => {
    delete element.dataset.influence;
    element.style.removeProperty("--live-strength");
    remove();
  };
};

/** Describe a derivative in the title of a cell, or of its field. @param {HTMLElement} element @param {number} derivative @returns {() => void} */
const addTitle = (element, derivative) => {
  const target = element.querySelector("input") ?? element;
  target.title = `Raise it a little, and the chosen number ${describeEffect(derivative, number)}.`;
  return () => target.removeAttribute("title");
};

/** Write a sign into the corner of a figure's cell. @param {SVGElement} cell @param {string} sign @returns {() => void} */
const addSign = (cell, sign) => {
  const box = cell.querySelector("rect");
  const [x, y, width] = ["x", "y", "width"].map((name) => Number(box?.getAttribute(name)));
  const place = `x="${x + width - 1}" y="${y + 8}" text-anchor="end"`;
  cell.insertAdjacentHTML("afterend", `<text ${place} fill="currentColor" class="live-sign">${sign}</text>`);
  const text = cell.nextElementSibling;
  return () => text?.remove();
};

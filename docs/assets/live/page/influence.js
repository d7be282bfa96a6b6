// How much one input number matters, on the page: its colour, its sign, and its words.

import { number } from "../show.js";

const SIGNS = ["▼", "○", "▲"];
// Text stands out from a stronger colour no more.
const STRONGEST = 50;

/**
 * Say what a number does when an input is raised.
 *
 * @param {number} derivative @param {(size: number) => string} write how its size is written
 */
export const effect = (derivative, write) => {
  if (Number.isNaN(derivative)) return "has no derivative";
  if (derivative === 0) return "stays as it is";
  return `${derivative < 0 ? "falls" : "rises"} ${write(Math.abs(derivative))} times as much`;
};

/**
 * Give an element the colour and the sign of a derivative, and say in words what it means.
 *
 * @param {HTMLElement | SVGElement} element @param {number} derivative
 * @param {number} largest the size of the derivative with the strongest colour
 * @returns {() => void} takes all of it away again
 */
export const colour = (element, derivative, largest) => {
  const share = Math.min(Math.abs(derivative) / largest || 0, 1);
  const sign = SIGNS[Math.sign(derivative) + 1] ?? "?";
  element.dataset.influence = sign;
  element.style.setProperty("--live-strength", `${STRONGEST * share}%`);
  const remove = element instanceof SVGElement ? marked(element, sign) : described(element, derivative);
  return () => {
    delete element.dataset.influence;
    element.style.removeProperty("--live-strength");
    remove();
  };
};

/** @param {HTMLElement} element perhaps around a field @param {number} derivative @returns {() => void} */
const described = (element, derivative) => {
  const carrier = element.querySelector("input") ?? element;
  carrier.title = `Raise it a little, and the chosen number ${effect(derivative, number)}.`;
  return () => carrier.removeAttribute("title");
};

/** @param {SVGElement} cell of a figure, in whose corner the sign is written @param {string} sign @returns {() => void} */
const marked = (cell, sign) => {
  const box = cell.querySelector("rect");
  const [x, y, width] = ["x", "y", "width"].map((name) => Number(box?.getAttribute(name)));
  const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  const places = { class: "live-sign", x: x + width - 1, y: y + 8, "text-anchor": "end", fill: "currentColor" };
  for (const [name, value] of Object.entries(places)) text.setAttribute(name, String(value));
  text.textContent = sign;
  cell.after(text);
  return () => text.remove();
};

// Draw the cells and lines of a figure with other numbers, as attention_docs/render/figures does.

import { number } from "../../show.js";

/** @typedef {{value: number, dtype: Dtype}} Valued */

const [THICKEST, THINNEST, UNDER_TEXT, ALONE] = [9, 0.4, 0.5, 0.8];
const BELOW_THE_MIDDLE = 4; // the base line of a text
const [PLUS, MINUS] = ["var(--figure-plus, #8f63d2)", "var(--figure-minus, #c77a12)"];

/**
 * Draw a matrix anew.
 *
 * @param {Element} group of the cells or lines
 * @param {(cell: Cell) => Valued} valueOf
 */
export const drawFigure = (group, valueOf) => {
  const step = /** @type {string} */ (group.getAttribute("data-val")).split(".")[1];
  const cells = [...group.querySelectorAll("[data-at]")].map((cell) => {
    const place = /** @type {string} */ (cell.getAttribute("data-at"));
    return { cell, ...valueOf({ step, index: place ? place.split(",").map(Number) : [] }) };
  });
  const axis = group.getAttribute("data-axis");
  if (axis) return drawPoints(group, cells, axis);
  const sizes = cells.map(({ value }) => Math.abs(value)).filter(Number.isFinite);
  const largest = Math.max(...sizes);
  for (const { cell, value, dtype } of cells) drawCell(cell, value, dtype, largest);
  drawScale(group, largest);
};

/** @param {Element} cell @param {number} value @param {Dtype} dtype @param {number} largest */
const drawCell = (cell, value, dtype, largest) => {
  const [box, line, old, title] = ["rect", "path", "text", "title"].map((tag) => cell.querySelector(tag));
  const shown = number(value, dtype);
  if (title) setText(title, `${title.textContent?.replace(/: [^:]*$/, "")}: ${shown}`);
  // Where no number fits, at least its minus sign does.
  const told = title && box ? (value < 0 ? "−" : "") : shown;
  const text = old ?? (box && told === "−" ? cell.appendChild(textIn(box)) : null);
  if (text && dtype !== "bool") setText(text, told);
  // Positive cells have the colour of their group.
  const fill = box?.closest("[fill]")?.getAttribute("fill");
  if (box && fill && fill !== "none" && dtype !== "bool") paint(box, fill, value, largest, title ? ALONE : UNDER_TEXT);
  if (line) put(line, "stroke-width", thickness(value / Math.max(1, largest)));
};

/** Change a text, which is laid out anew then. @param {Element} element @param {string} text */
const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

/** Make the text of a cell that had no number to show. @param {Element} box @returns {Element} */
const textIn = (box) => {
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
  const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  put(text, "x", x + width / 2);
  put(text, "y", y + height / 2 + BELOW_THE_MIDDLE);
  text.setAttribute("fill", "currentColor");
  return text;
};

/**
 * Set an attribute, with two decimals as in Python. Browsers remember each style that they come
 * across, so they get slower with more digits.
 *
 * @param {Element} element @param {string} name @param {number} value
 */
const put = (element, name, value) => {
  const text = String(Number(value.toFixed(2)));
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
};

/** @param {number} share of the thickest line */
const thickness = (share) => (share ? Math.max(THINNEST, THICKEST * share) : 0);

/** @param {Element} box @param {string} fill @param {number} value @param {number} largest @param {number} strength */
const paint = (box, fill, value, largest, strength) => {
  const end = isSequential(fill) ? Math.max(1, largest) : largest || 1;
  put(box, "fill-opacity", strength * Math.min(Math.abs(value) / end, 1));
  const colour = value < 0 ? MINUS : PLUS;
  if (!isSequential(fill) && fill !== colour) box.setAttribute("fill", colour);
};

/** @param {string} fill */
const isSequential = (fill) => fill.includes("--figure-weight");

/** Write the ends of the scale. @param {Element} group @param {number} largest */
const drawScale = (group, largest) => {
  const scale = group.closest("svg")?.querySelector(`[data-scale="${group.getAttribute("data-val")}"]`);
  const labels = [...(scale?.querySelectorAll("text") ?? [])];
  if (labels.length === 3) labels[0].textContent = number(-(largest || 1));
  if (labels.length > 1) {
    const end = labels.length === 3 ? largest || 1 : Math.max(1, largest);
    labels[labels.length - 1].textContent = number(end);
  }
};

/**
 * Move the points of a chart to other heights, and the line that joins them. What has no place on a
 * logarithmic axis stands at its lower end.
 *
 * @param {Element} group @param {(Valued & {cell: Element})[]} points
 * @param {string} axis its ends: the numbers, in their unit, and where they stand
 */
const drawPoints = (group, points, axis) => {
  const [low, high, unit, bottom, top] = axis.split(" ").map(Number);
  const measure = axis.endsWith("logarithmic") ? Math.log : Number;
  const places = points.map(({ cell, value }) => {
    const share = (measure(value / unit) - measure(low)) / (measure(high) - measure(low));
    const y = (bottom + (top - bottom) * (Number.isFinite(share) ? share : 0)).toFixed(1);
    const [x] = /** @type {string[]} */ (/[\d.]+/.exec(cell.getAttribute("transform") ?? ""));
    cell.setAttribute("transform", `translate(${x} ${y})`);
    const title = /** @type {Element} */ (cell.querySelector("title"));
    title.textContent = `${title.textContent}`.replace(/: .* at /, `: ${number(value / unit)} at `);
    return `${x} ${y}`;
  });
  group.querySelector("path:not([data-at])")?.setAttribute("d", `M${places.join("L")}`);
};

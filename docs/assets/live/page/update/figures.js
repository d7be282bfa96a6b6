// Redraw the cells, lines, bars and points of a figure with new numbers, as attention_docs/render/figures does.

import { drawn, short } from "../../show.js";
import { stepOf, valueOf } from "../examples.js";

/** @typedef {{value: number, dtype: Dtype}} NumberValue */

// The widths of lines, in pixels.
const [MAX_WIDTH, MIN_WIDTH] = [9, 0.4];
// The opacity of the cell with the largest magnitude, with and without digits in it.
const [OPACITY_UNDER_TEXT, OPACITY] = [0.5, 0.8];
const BASELINE = 4; // below the middle of a text
const MINUS = "var(--fill-minus, #988400)";

/** Redraw a matrix or the points of a chart. @param {Element} group of the cells or lines @param {Example} example */
export const drawFigure = (group, example) => {
  const step = /** @type {string} */ (group.getAttribute("data-val")).split(".")[1];
  const cells = [...group.querySelectorAll("[data-at]")].map((cell) => {
    const at = /** @type {string} */ (cell.getAttribute("data-at"));
    return { cell, ...valueOf(example, { step, index: at ? at.split(",").map(Number) : [] }) };
  });
  const axis = group.getAttribute("data-axis");
  if (axis) return drawPoints(group, cells, axis);
  // The states of a player share one scale.
  const numbers = group.closest(".player") ? [...stepOf(example, step).data] : cells.map(({ value }) => value);
  const values = numbers.filter(Number.isFinite);
  // A scale of weights goes to one at least.
  const end = roundUp(Math.max(Number(group.matches("[data-from-zero]")), ...values.map(Math.abs))) || 1;
  for (const { cell, value, dtype } of cells) drawCell(cell, value, dtype, end);
  drawScale(group, end, Math.min(...values) < 0);
};

/**
 * Redraw a cell with digits, a small cell, whose digits are in its title, a bar or a line.
 *
 * @param {Element} cell @param {number} value @param {Dtype} dtype @param {number} end of the scale
 */
const drawCell = (cell, value, dtype, end) => {
  const [box, line, text, title] = ["rect", "path", "text", "title"].map((tag) => cell.querySelector(tag));
  const digits = drawn(value, dtype);
  if (title) setText(title, `${title.textContent}`.replace(/[^:]*$/, ` ${digits}`));
  if (line) setNumber(line, "stroke-width", strokeWidth(value / end));
  if (dtype === "bool") return;
  // Cells too small for a number show its minus sign.
  const sign = value < 0 ? "−" : "";
  const isSmallCell = title && box;
  if (text) setText(text, isSmallCell ? sign : cell.closest("[data-short]") ? short(value) : digits);
  else if (isSmallCell && sign) writeSign(box);
  const full = box?.getAttribute("data-full");
  if (box && full) return setNumber(box, "width", Number(full) * value);
  if (box && box.getAttribute("fill") !== "none") paint(box, value, end, title ? OPACITY : OPACITY_UNDER_TEXT);
};

/** Round the end of a scale up to two digits, as in Python. @param {number} end */
const roundUp = (end) => Number((end + 0.04999 * 10 ** Math.floor(Math.log10(end))).toPrecision(2));

/** Set a text only if it differs, to avoid layout. @param {Element} element @param {string} text */
const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

/** Write the minus sign into a cell that had none. @param {Element} box */
const writeSign = (box) => {
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
  const place = `x="${x + width / 2}" y="${y + height / 2 + BASELINE}"`;
  box.insertAdjacentHTML("afterend", `<text ${place} fill="currentColor">−</text>`);
};

/**
 * Set an attribute, with two decimals as in Python. Browsers cache a style for each value, so more digits
 * would be slower.
 *
 * @param {Element} element @param {string} name @param {number} value
 */
const setNumber = (element, name, value) => {
  const text = String(Number(value.toFixed(2)));
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
};

/** Return the width of a line. @param {number} fraction of the maximum */
const strokeWidth = (fraction) => (fraction ? Math.max(MIN_WIDTH, MAX_WIDTH * fraction) : 0);

/** Colour a cell; positive cells have the colour of their group. @param {Element} box @param {number} value @param {number} end of the scale @param {number} opacity at the end */
const paint = (box, value, end, opacity) => {
  setNumber(box, "fill-opacity", opacity * Math.min(Math.abs(value) / end, 1));
  if (value < 0) box.setAttribute("fill", MINUS);
  else box.removeAttribute("fill");
};

/** Redraw the colour scale, which begins at 0 if no number is negative. @param {Element} group @param {number} high @param {boolean} hasNegative */
const drawScale = (group, high, hasNegative) => {
  const scale = group.closest("svg")?.querySelector(`[data-scale="${group.getAttribute("data-val")}"]`);
  const labels = [...(scale?.querySelectorAll("text") ?? [])];
  const last = labels.pop();
  if (!last) return;
  last.textContent = `${high}`;
  // A scale of weights has no negative numbers, and thus no tick in the middle.
  const [first, middle] = labels;
  if (!middle) return;
  first.textContent = hasNegative ? `−${high}` : "0";
  middle.textContent = hasNegative ? "0" : "";
  const swatches = [...(scale?.querySelectorAll("rect") ?? [])];
  const opacity = Number(swatches[4].getAttribute("fill-opacity"));
  swatches.forEach((swatch, i) => paint(swatch, hasNegative ? i - 2 : i / 2, 2, opacity));
};

/**
 * Move a mark of a plane to its position: the tip of an arrow, or a point. Elements at the position have
 * a transform too, and a name is beyond it. See attention_docs/render/figures/plane.py.
 *
 * @param {Element} mark @param {number[]} point
 */
export const moveInPlane = (mark, [x, y]) => {
  const group = /** @type {SVGElement | null} */ (mark.closest("[data-plane]"));
  if (!group || !Number.isFinite(x + y)) return;
  const [left, bottom, unit] = (group.dataset.plane ?? "").split(" ").map(Number);
  const { width, height } = /** @type {SVGSVGElement} */ (group.ownerSVGElement).viewBox.baseVal;
  const [dx, dy] = [unit * x, -unit * y];
  // The tip of a long arrow stays in the drawing.
  const excess = Math.max(1, dx / (width - left), -dx / left, dy / (height - bottom), -dy / bottom);
  const [tipX, tipY] = [left + dx / excess, bottom + dy / excess];
  const angle = Math.atan2(-y, x);
  for (const part of /** @type {NodeListOf<SVGElement>} */ (group.querySelectorAll("[transform], line"))) {
    const [right, down] = (part.dataset.beyond ?? "0 0").split(" ").map(Number);
    const [partX, partY] = [tipX + right * Math.cos(angle), tipY + down * Math.sin(angle)];
    if (part.matches("line")) {
      setNumber(part, "x2", partX);
      setNumber(part, "y2", partY);
    } else {
      const isHead = part.matches("[transform^=rotate]");
      part.setAttribute("transform", isHead ? `rotate(${(angle * 180) / Math.PI})` : `translate(${partX} ${partY})`);
    }
  }
};

/**
 * Move the points of a chart and the line that joins them. Values without a point on a logarithmic axis go
 * to its lower end.
 *
 * @param {Element} group @param {(NumberValue & {cell: Element})[]} points
 * @param {string} axis low, high, unit, bottom, top and perhaps "logarithmic", separated by spaces
 */
const drawPoints = (group, points, axis) => {
  const [low, high, unit, bottom, top] = axis.split(" ").map(Number);
  const scale = axis.endsWith("logarithmic") ? Math.log : Number;
  const coordinates = points.map(({ cell, value }) => {
    const fraction = (scale(value / unit) - scale(low)) / (scale(high) - scale(low));
    const y = (bottom + (top - bottom) * (Number.isFinite(fraction) ? fraction : 0)).toFixed(1);
    const [x] = /** @type {string[]} */ (/[\d.]+/.exec(cell.getAttribute("transform") ?? ""));
    cell.setAttribute("transform", `translate(${x} ${y})`);
    const title = /** @type {Element} */ (cell.querySelector("title"));
    title.textContent = `${title.textContent}`.replace(/: .* at /, `: ${drawn(value / unit)} at `);
    return `${x} ${y}`;
  });
  group.querySelector("path:not([data-at])")?.setAttribute("d", `M${coordinates.join("L")}`);
};

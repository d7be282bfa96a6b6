// Draw a figure again with new numbers. What changes with them is written in the figure, in the attributes of
// attention_docs/live/attributes.json: the `data-set` of a group has rules such as `rect width 110`.

import { drawn, short } from "../../show.js";
import { stepOf, valueOf } from "../examples.js";

/** @typedef {{element: SVGElement, value: number, dtype: Dtype, fraction: number}} DrawnNumber by the scale of its group */

/** @type {Record<string, (value: number, dtype: Dtype) => string>} how a text shows a number */
const TEXTS = {
  number: drawn,
  short,
  sign: (value) => (value < 0 ? "−" : ""),
  exact: (value) => (Number.isNaN(value) ? "" : String(value).replace("-", "−")),
};
const BASELINE = 4; // of a text below its middle, as in svg.py
// All of a text, or what stands between the name and the place in a title.
const NUMBER = /^[^:]*$|(?<=: )[^:]*?(?= at |$)/;

/** Draw the numbers of a group again, and its colour scale. @param {SVGElement} group @param {Example} example */
export const drawFigure = (group, example) => {
  const { val = "", scaled, axis } = group.dataset;
  const step = val.split(".")[1];
  const numbers = elementsIn(group, "[data-at]").map((element) => {
    const { at } = element.dataset;
    return { element, ...valueOf(example, { step, index: at ? at.split(",").map(Number) : [] }) };
  });
  // The states of a player share one scale.
  const all = group.closest(".player") ? [...stepOf(example, step).data] : numbers.map(({ value }) => value);
  const finite = all.filter(Number.isFinite);
  const end = scaled ? roundUp(Math.max(Number(scaled), ...finite.map(Math.abs))) || 1 : 1;
  /** @param {number} value */
  const fractionOf = (value) => (Number.isFinite(value) ? Math.abs(value / end) : 1);
  setAll(group, numbers.map((number) => ({ ...number, fraction: axis ? placeOn(axis, number.value) : fractionOf(number.value) })));
  const side = Number(Math.min(...finite) < 0);
  for (const scale of elementsIn(group.ownerSVGElement, `[data-scale="${val}"]`))
    setAll(scale, elementsIn(scale, "[data-ends]").map((element) => {
      const fraction = Number(element.dataset.ends?.split(" ")[side]);
      return { element, value: end * fraction, dtype: "float64", fraction: Math.abs(fraction) };
    }));
};

/** @param {Element | null} element @param {string} selector */
const elementsIn = (element, selector) => [.../** @type {NodeListOf<SVGElement>} */ (element?.querySelectorAll(selector) ?? [])];

/** Round the end of a scale up to two digits, as in Python. @param {number} end */
const roundUp = (end) => Number((end + 0.04999 * 10 ** Math.floor(Math.log10(end))).toPrecision(2));

/** Return where a number is on an axis; without a logarithm, at its end. @param {string} axis @param {number} value */
const placeOn = (axis, value) => {
  const [slope, start, end, isLogarithmic] = axis.split(" ");
  const place = Number(slope) * (isLogarithmic ? Math.log(value) : value) + Number(start);
  return Number.isFinite(place) ? place : Number(end);
};

/** Follow the rules of a group. @param {SVGElement} group @param {DrawnNumber[]} numbers */
const setAll = (group, numbers) => {
  for (const rule of group.dataset.set?.split("; ") ?? []) {
    const [selector, name, ...rest] = rule.split(" ");
    const [factor = 1, least = 0] = rest.map(Number);
    for (const { element, value, dtype, fraction } of numbers) {
      if (name === "sign" && value < 0) addSign(element);
      for (const part of element.matches(selector) ? [element] : elementsIn(element, selector)) {
        if (name in TEXTS) setText(part, TEXTS[name](value * factor, dtype));
        else if (factor) setNumber(part, name, fraction && Math.max(least, factor * fraction));
        // Only negative numbers have this attribute.
        else if (value < 0) part.setAttribute(name, rest.join(" "));
        else part.removeAttribute(name);
      }
    }
  }
};

/** Give a small cell that becomes negative a text for its sign. @param {Element} cell */
const addSign = (cell) => {
  const box = cell.querySelector("rect:not([fill=none])");
  if (!box || cell.querySelector("text")) return;
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
  const place = `x="${x + width / 2}" y="${y + height / 2 + BASELINE}"`;
  box.insertAdjacentHTML("afterend", `<text ${place} fill="currentColor"></text>`);
};

/** Set the number of a text only if it differs, to avoid layout. @param {Element} element @param {string} number */
const setText = (element, number) => {
  const text = `${element.textContent}`.replace(NUMBER, number);
  if (element.textContent !== text) element.textContent = text;
};

/**
 * Set the last number of an attribute, with two decimals as in Python. Browsers cache a style for each value, so
 * more digits would be slower.
 *
 * @param {Element} element @param {string} name @param {number} value
 */
const setNumber = (element, name, value) => {
  const before = element.getAttribute(name) ?? "";
  const text = before.replace(/[-\d.]+(?=\)?$)/, String(Number(value.toFixed(2))));
  if (text !== before) element.setAttribute(name, text);
};

/** Let lines follow the points that they join. @param {SVGElement} figure */
export const joinPoints = (figure) => {
  for (const line of elementsIn(figure, "[data-joins]")) {
    const points = elementsIn(line.parentElement, `${line.dataset.joins}`);
    const places = points.map((point) => point.getAttribute("transform")?.slice("translate(".length, -1));
    line.setAttribute("d", `M${places.join("L")}${/z?$/.exec(`${line.getAttribute("d")}`)}`);
  }
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
  for (const part of elementsIn(group, "[transform], line")) {
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

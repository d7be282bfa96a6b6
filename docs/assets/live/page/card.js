// The card of a number: what it is, its value, its formula, and the numbers that it is made of.

import { explain } from "../explain.js";
import { htmlOf } from "./examples.js";
import { spotsOfCell } from "./spots.js";
import { linesOf, make, nameOf } from "./words.js";

/** @typedef {import("./examples.js").Example} Example */
/** @typedef {import("../terms.js").Cell} Cell */

/**
 * @typedef {object} Shown what the card is about
 * @property {Example} example
 * @property {Cell} cell
 * @property {Element} spot where on the page the reader asked
 */

const card = make("div", { class: "live-card", role: "dialog", "aria-label": "Where this number comes from" });
/** @type {Shown | null} */
let shown = null;
/** @type {Cell[]} where the reader came from */
let trail = [];
/** @type {() => HTMLElement[]} */
let toolsOf = () => [];

/** @returns {Shown | null} */
export const current = () => shown;

/**
 * Show where a number comes from.
 *
 * @param {Shown} about
 * @param {() => HTMLElement[]} tools what else the reader can do with the example
 */
export const open = (about, tools) => {
  trail = [];
  toolsOf = tools;
  draw(about);
};

/** @param {Shown} about */
const draw = (about) => {
  const { example, cell, spot } = about;
  const { graph, values } = example;
  const found = explain(graph, values, cell.step, cell.index);
  /** @param {Cell} next */
  const follow = (next) => {
    trail.push(cell);
    draw({ example, cell: next, spot: nearest(example, next, spot) });
    card.focus();
  };
  const back = make("button", { type: "button", class: "live-back", onclick: () => retreat(about) }, "← Back");
  shown = about;
  card.replaceChildren(
    make("div", { class: "live-head" },
      make("strong", {}, nameOf(cell.step)),
      make("span", {}, found.place),
      make("button", { type: "button", class: "live-close", "aria-label": "Close" }, "×"),
    ),
    make("output", {}, found.value),
    ...linesOf(found, htmlOf(example, cell), follow),
    make("div", { class: "live-tools" }, ...(trail.length ? [back] : []), ...toolsOf()),
  );
  card.tabIndex = -1;
  document.body.append(card);
  light(example, found.parts, spot);
  place(spot);
};

/** @param {Shown} about */
const retreat = ({ example, spot }) => {
  const cell = /** @type {Cell} */ (trail.pop());
  draw({ example, cell, spot: nearest(example, cell, spot) });
  card.focus();
};

/**
 * Choose the place of a number on the page that lies nearest to another, if it has one.
 *
 * @param {Example} example @param {Cell} cell @param {Element} spot
 */
const nearest = (example, cell, spot) => {
  const { top } = spot.getBoundingClientRect();
  /** @param {Element} other */
  const distance = (other) => Math.abs(other.getBoundingClientRect().top - top);
  const visible = spotsOfCell(example, cell).filter((other) => other.getClientRects().length);
  return visible.toSorted((one, other) => distance(one) - distance(other))[0] ?? spot;
};

/** Light up a number and those it is made of. @param {Example} example @param {Cell[]} parts @param {Element} spot */
const light = (example, parts, spot) => {
  darken();
  parts
    .flatMap((part) => spotsOfCell(example, part))
    .forEach((each) => each.classList.add("live-part"));
  spot.classList.add("live-here");
};

const darken = () => {
  for (const name of ["live-part", "live-here"])
    document.querySelectorAll(`.${name}`).forEach((each) => each.classList.remove(name));
};

/** Put the card below a number, or above it where there is more room. @param {Element} spot */
const place = (spot) => {
  const { left, top, bottom } = spot.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  const below = bottom + height + 8 < innerHeight || top < height + 8;
  const x = Math.max(8, Math.min(left, document.documentElement.clientWidth - width - 8));
  card.style.left = `${x + scrollX}px`;
  card.style.top = `${(below ? bottom + 6 : top - height - 6) + scrollY}px`;
};

/** Draw the card anew after the values have changed. */
export const refresh = () => {
  if (shown) draw(shown);
};

/** Put the keyboard into the card. */
export const enter = () => card.focus();

/** @param {EventTarget | null} target @returns {boolean} whether it lies in the card */
export const contains = (target) => target instanceof Node && card.contains(target);

/** Say in the card's place why there is nothing to show. @param {Element} spot @param {(Node | string)[]} text */
export const say = (spot, ...text) => {
  darken();
  shown = null;
  card.replaceChildren(make("p", {}, ...text));
  document.body.append(card);
  place(spot);
};

export const close = () => {
  card.remove();
  darken();
  shown = null;
};

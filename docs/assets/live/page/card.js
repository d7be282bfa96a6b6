// The card of a number: what it is, its value, its formula, and the numbers that it is made of.

import { explain } from "../explain.js";
import { spotsOfCell } from "./spots.js";
import { linesOf, make, nameOf, tool } from "./elements.js";

/**
 * @typedef {object} Shown what the card is about
 * @property {Example} example
 * @property {Cell} cell
 * @property {Element} spot where on the page the reader asked
 */

const GAP = 8;
const card = make("div", { class: "live-card", role: "dialog", "aria-label": "Where this number comes from", tabIndex: -1 });
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
    goTo(about, next);
  };
  const back = () => goTo(about, /** @type {Cell} */ (trail.pop()));
  shown = about;
  card.replaceChildren(
    make("div", { class: "live-head" },
      make("strong", {}, nameOf(cell.step)),
      make("span", {}, found.place),
      make("button", { type: "button", class: "live-close", "aria-label": "Close" }, "×"),
    ),
    make("output", {}, found.value),
    ...linesOf(found, follow),
    make("div", { class: "live-tools" }, ...(trail.length ? [tool("← Back", back)] : []), ...toolsOf()),
  );
  document.body.append(card);
  light(example, found.parts, spot);
  place(spot);
};

/** Show another number, beside its place on the page. @param {Shown} from @param {Cell} cell */
const goTo = ({ example, spot }, cell) => {
  const next = nearest(example, cell, spot);
  next.scrollIntoView({ block: "nearest", behavior: "instant" });
  draw({ example, cell, spot: next });
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

/**
 * Put the card below or above the matrix or the picture of a number, which it leaves in sight, or
 * where there is no room below or above the number itself.
 *
 * @param {Element} spot
 */
const place = (spot) => {
  const { offsetWidth: width, offsetHeight: height } = card;
  const end = document.querySelector(".live-bar")?.getBoundingClientRect().top ?? innerHeight;
  const tops = [spot.closest(".matrix, .figure-box") ?? spot, spot].flatMap((box) => {
    const { top, bottom } = box.getBoundingClientRect();
    return [bottom + GAP, top - height - GAP];
  });
  const y = tops.find((top) => top >= 0 && top + height <= end) ?? tops[2];
  const { left } = spot.getBoundingClientRect();
  const x = Math.max(GAP, Math.min(left, document.documentElement.clientWidth - width - GAP));
  card.style.left = `${x + scrollX}px`;
  card.style.top = `${y + scrollY}px`;
};

/** Draw the card anew after the values have changed. */
export const refresh = () => {
  if (shown) draw(shown);
};

/** @returns {boolean} */
export const isOpen = () => card.isConnected;

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
  spot.classList.add("live-here");
  place(spot);
};

export const close = () => {
  card.remove();
  darken();
  shown = null;
};

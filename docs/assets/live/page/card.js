// The card of a number: its name, value and formula, with links to the numbers it is computed from.

import { explain } from "../explain.js";
import { spotsOfCell } from "./spots.js";
import { button, headerOf, linesOf, make, nameOf } from "./elements.js";

/**
 * @typedef {object} Shown the number on the card
 * @property {Example} example
 * @property {Cell} cell
 * @property {Element} spot where the reader opened it
 */

const GAP = 8; // pixels between the card and the matrix
const card = make("div", { class: "live-card", role: "dialog", "aria-label": "Where this number comes from", tabIndex: -1 });
/** @type {Shown | null} */
let shown = null;
/** @type {Cell[]} for the Back button, latest last */
let visitedCells = [];
/** @type {() => HTMLElement[]} creates the buttons at the bottom */
let createButtons = () => [];

/** @returns {Shown | null} null if the card is closed or shows a message */
export const current = () => shown;

/**
 * Show where a number comes from.
 *
 * @param {Shown} number
 * @param {() => HTMLElement[]} buttons creates those at the bottom
 */
export const open = (number, buttons) => {
  visitedCells = [];
  createButtons = buttons;
  draw(number);
};

/** @param {Shown} number */
const draw = (number) => {
  const { example, cell, spot } = number;
  const { graph, values } = example;
  const explanation = explain(graph, values, cell.step, cell.index);
  /** @param {Cell} next */
  const follow = (next) => {
    visitedCells.push(cell);
    goTo(number, next);
  };
  const back = () => goTo(number, /** @type {Cell} */ (visitedCells.pop()));
  shown = number;
  card.replaceChildren(
    headerOf(null, make("strong", {}, nameOf(graph.names[cell.step] ?? cell.step)), make("span", {}, explanation.description)),
    ...linesOf(explanation, follow),
    make("div", { class: "live-tools" }, ...(visitedCells.length ? [button("← Back", back)] : []), ...createButtons()),
  );
  document.body.append(card);
  highlight(example, explanation.dependencies, spot);
  moveTo(spot);
};

/** Show another number, next to its nearest spot. @param {Shown} from @param {Cell} cell */
const goTo = ({ example, spot }, cell) => {
  const nextSpot = nearestSpot(example, cell, spot);
  nextSpot.scrollIntoView({ block: "nearest", behavior: "instant" });
  draw({ example, cell, spot: nextSpot });
  card.focus();
};

/**
 * Find the visible spot of a cell that is nearest to another spot, or return that other one.
 *
 * @param {Example} example @param {Cell} cell @param {Element} spot
 */
const nearestSpot = (example, cell, spot) => {
  const { top } = spot.getBoundingClientRect();
  /** @param {Element} other */
  const distance = (other) => Math.abs(other.getBoundingClientRect().top - top);
  const visible = spotsOfCell(example, cell).filter((other) => other.getClientRects().length);
  return visible.toSorted((a, b) => distance(a) - distance(b))[0] ?? spot;
};

/** Highlight a spot and those of its dependencies. @param {Example} example @param {Cell[]} dependencies @param {Element} spot */
const highlight = (example, dependencies, spot) => {
  removeHighlights();
  dependencies
    .flatMap((cell) => spotsOfCell(example, cell))
    .forEach((element) => element.classList.add("live-part"));
  spot.classList.add("live-here");
};

const removeHighlights = () => {
  for (const name of ["live-part", "live-here"])
    document.querySelectorAll(`.${name}`).forEach((element) => element.classList.remove(name));
};

/**
 * Position the card below or above the matrix or figure of a spot, so as not to cover it, or without
 * room there, below or above the spot itself. A docked side panel counts as a figure.
 *
 * @param {Element} spot
 */
const moveTo = (spot) => {
  const { offsetWidth: width, offsetHeight: height } = card;
  const sidePanel = document.querySelector(".panel");
  const dock = sidePanel && getComputedStyle(sidePanel).position === "fixed" ? sidePanel : null;
  const lowest = dock ?? document.querySelector(".live-bar");
  const visibleBottom = lowest?.getBoundingClientRect().top ?? innerHeight;
  /** @param {Element} box */
  const belowAndAbove = (box) => {
    const { top, bottom } = box.getBoundingClientRect();
    return [bottom + GAP, top - height - GAP];
  };
  const belowSpot = belowAndAbove(spot)[0];
  const block = dock?.contains(spot) ? dock : spot.closest(".matrix, .figure-box");
  const box = block ?? spot;
  // A box to try has its controls above its figure.
  const tops = [belowAndAbove(box)[0], ...belowAndAbove(spot.closest(".try") ?? box), ...belowAndAbove(spot)];
  const y = tops.find((top) => top >= 0 && top + height <= visibleBottom) ?? belowSpot;
  const { left } = spot.getBoundingClientRect();
  const x = Math.max(GAP, Math.min(left, document.documentElement.clientWidth - width - GAP));
  card.style.left = `${x + scrollX}px`;
  card.style.top = `${y + scrollY}px`;
};

/** Redraw the card after the values have changed. */
export const refresh = () => {
  if (shown) draw(shown);
};

/** @returns {boolean} */
export const isOpen = () => card.isConnected;

export const focus = () => card.focus();

/** @param {EventTarget | null} target @returns {boolean} */
export const contains = (target) => target instanceof Node && card.contains(target);

/** Show a message instead of a number. @param {Element} spot @param {(Node | string)[]} text */
export const showMessage = (spot, ...text) => {
  removeHighlights();
  shown = null;
  card.replaceChildren(make("p", {}, ...text));
  document.body.append(card);
  spot.classList.add("live-here");
  moveTo(spot);
};

export const close = () => {
  card.remove();
  removeHighlights();
  shown = null;
};

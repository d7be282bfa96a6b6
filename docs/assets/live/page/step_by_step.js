// An example step by step, cell by cell, large enough for a projector.

import { explain } from "../explain.js";
import { ravel, unravel } from "../arrays.js";
import { align } from "./follow/alignment.js";
import { stepOf } from "./examples.js";
import { html } from "../show.js";
import { linesOf, make, matrixOf, nameOf, tool } from "./elements.js";

const dialog = /** @type {HTMLDialogElement} */ (
  make("dialog", { class: "live-walk", "aria-label": "The example step by step", tabIndex: -1 })
);
const where = make("span");
const content = make("div");

/**
 * Walk through an example.
 *
 * @param {Example} example @param {Cell} start the number to begin with
 */
export const walk = (example, start) => {
  const steps = stepsOf(example);
  let at = placeOf(example, steps, start.step);
  let position = positionOf(example, start);

  /** @param {number} by how many cells to go on, over the ends of steps */
  const goOn = (by) => {
    const { length } = stepOf(example, steps[at]).data;
    if (position + by >= 0 && position + by < length) position += by;
    else if (steps[at + by]) {
      at += by;
      position = by > 0 ? 0 : stepOf(example, steps[at]).data.length - 1;
    }
    draw();
  };
  /** @param {number} by */
  const goToStep = (by) => {
    at = Math.min(Math.max(at + by, 0), steps.length - 1);
    position = 0;
    draw();
  };
  /** @param {Cell} cell */
  const goTo = ({ step, index }) => {
    at = placeOf(example, steps, step);
    position = positionOf(example, { step, index });
    draw();
  };
  const draw = () => {
    const { shape } = stepOf(example, steps[at]);
    const found = explain(example.graph, example.values, steps[at], unravel(position, shape));
    where.textContent = `Step ${at + 1} of ${steps.length}`;
    content.replaceChildren(
      make("h2", {}, nameOf(steps[at]), shape.length ? ` ${shape.join(" × ")}` : ""),
      matrix(example, steps[at], position, (chosen) => {
        position = chosen;
        draw();
      }),
      make("div", { "aria-live": "polite" },
        make("p", {}, make("strong", {}, found.place || "The number"), ` is ${found.value}`),
        ...linesOf(found, goTo)
      )
    );
    // A number that was followed is not there any more.
    if (!dialog.contains(document.activeElement)) dialog.focus();
  };
  dialog.onkeydown = (event) => {
    const moves = {
      ArrowRight: () => goOn(1),
      ArrowLeft: () => goOn(-1),
      PageDown: () => goToStep(1),
      PageUp: () => goToStep(-1),
      " ": () => goOn(1),
    };
    const move = moves[/** @type {keyof typeof moves} */ (event.key)];
    if (!move || (event.key === " " && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    move();
  };
  dialog.onclose = () => dialog.remove();
  const close = { type: "button", class: "live-close", "aria-label": "Close", onclick: () => dialog.close() };
  // Above what changes its size, so a button stays under the pointer.
  dialog.replaceChildren(
    make("div", { class: "live-head" },
      where,
      tool("⇤ Step", () => goToStep(-1)),
      tool("← Cell", () => goOn(-1)),
      tool("Cell →", () => goOn(1)),
      tool("Step ⇥", () => goToStep(1)),
      make("button", close, "×")
    ),
    content
  );
  document.body.append(dialog);
  dialog.showModal();
  // Not its first button, which the space bar would press.
  dialog.focus();
  draw();
};

/** @param {Example} example @returns {string[]} the literals that it takes from others, and its steps */
const stepsOf = ({ graph: { named, steps } }) => {
  const own = new Set(steps.values());
  const taken = [...named].filter(([, node]) => !own.has(node)).map(([name]) => name);
  return [...taken, ...steps.keys()];
};

/**
 * Find a step, or one that is the same under another name.
 *
 * @param {Example} example @param {string[]} steps @param {string} step
 */
const placeOf = ({ graph: { named } }, steps, step) =>
  steps.includes(step) ? steps.indexOf(step) : steps.findIndex((each) => named.get(each) === named.get(step));

/** @param {Example} example @param {Cell} cell */
const positionOf = (example, { step, index }) => ravel(index, stepOf(example, step).shape);

/**
 * @param {Example} example @param {string} step @param {number} chosen
 * @param {(position: number) => void} choose
 */
const matrix = (example, step, chosen, choose) => {
  const { shape, data, dtype } = stepOf(example, step);
  const cells = [...data].map((value, position) => {
    const properties = { class: position === chosen ? "live-here" : "", onclick: () => choose(position) };
    return make("td", { ...properties, innerHTML: html(value, dtype) });
  });
  const table = matrixOf(shape, cells);
  align(table);
  return make("div", { class: "live-matrix" }, table);
};

// Walk through an example cell by cell, in a dialog large enough for a projector.

import { explain } from "../explain.js";
import { ravel, unravel } from "../arrays.js";
import { align } from "./update/alignment.js";
import { stepOf } from "./examples.js";
import { html } from "../show.js";
import { button, linesOf, make, matrixOf, nameOf } from "./elements.js";

const dialog = /** @type {HTMLDialogElement} */ (
  make("dialog", { class: "live-walk", "aria-label": "The example step by step", tabIndex: -1 })
);
const progress = make("span");
const content = make("div");

/**
 * Walk through an example.
 *
 * @param {Example} example @param {Cell} start
 */
export const walk = (example, start) => {
  const steps = stepsOf(example);
  let at = stepIndex(example, steps, start.step);
  let position = positionOf(example, start);

  /** @param {number} by how many cells, across steps */
  const moveBy = (by) => {
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
    at = stepIndex(example, steps, step);
    position = positionOf(example, { step, index });
    draw();
  };
  const draw = () => {
    const { shape } = stepOf(example, steps[at]);
    const explanation = explain(example.graph, example.values, steps[at], unravel(position, shape));
    progress.textContent = `Step ${at + 1} of ${steps.length}`;
    content.replaceChildren(
      make("h2", {}, nameOf(steps[at]), shape.length ? ` ${shape.join(" × ")}` : ""),
      matrix(example, steps[at], position, (chosen) => {
        position = chosen;
        draw();
      }),
      make("div", { "aria-live": "polite" },
        make("p", {}, make("strong", {}, explanation.description || "The number"), ` is ${explanation.value}`),
        ...linesOf(explanation, goTo)
      )
    );
    // Redrawing removes a number that was clicked, and its focus.
    if (!dialog.contains(document.activeElement)) dialog.focus();
  };
  dialog.onkeydown = (event) => {
    const moves = {
      ArrowRight: () => moveBy(1),
      ArrowLeft: () => moveBy(-1),
      PageDown: () => goToStep(1),
      PageUp: () => goToStep(-1),
      " ": () => moveBy(1),
    };
    const move = moves[/** @type {keyof typeof moves} */ (event.key)];
    if (!move || (event.key === " " && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    move();
  };
  dialog.onclose = () => dialog.remove();
  const close = { type: "button", class: "live-close", "aria-label": "Close", onclick: () => dialog.close() };
  // The buttons are on top so that they stay under the pointer as the content changes its size.
  dialog.replaceChildren(
    make("div", { class: "live-head" },
      progress,
      button("⇤ Step", () => goToStep(-1)),
      button("← Cell", () => moveBy(-1)),
      button("Cell →", () => moveBy(1)),
      button("Step ⇥", () => goToStep(1)),
      make("button", close, "×")
    ),
    content
  );
  document.body.append(dialog);
  dialog.showModal();
  // Focus the dialog, not its first button, which the space bar would press.
  dialog.focus();
  draw();
};

/** @param {Example} example @returns {string[]} literals shared with other examples, then its steps */
const stepsOf = ({ graph: { nodesByName, steps } }) => {
  const own = new Set(steps.values());
  const shared = [...nodesByName].filter(([, node]) => !own.has(node)).map(([name]) => name);
  return [...shared, ...steps.keys()];
};

/**
 * Find a step, or one with another name for the same node.
 *
 * @param {Example} example @param {string[]} steps @param {string} step
 */
const stepIndex = ({ graph: { nodesByName } }, steps, step) =>
  steps.includes(step) ? steps.indexOf(step) : steps.findIndex((each) => nodesByName.get(each) === nodesByName.get(step));

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

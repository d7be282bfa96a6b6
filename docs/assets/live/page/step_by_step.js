// Walk through an example cell by cell, in a dialog large enough for a projector.

import { explain } from "../explain.js";
import { ravel, unravel } from "../arrays.js";
import { align } from "./update/alignment.js";
import { stepOf } from "./examples.js";
import { html } from "../show.js";
import { button, headerOf, linesOf, make, matrixOf, nameOf } from "./elements.js";

const dialog = /** @type {HTMLDialogElement} */ (
  make("dialog", { class: "live-walk", "aria-label": "The example step by step", tabIndex: -1 })
);
const progress = make("span");
const content = make("div");

/** @typedef {1 | -1} Direction */

/** Open the dialog. @param {Example} example @param {Cell} start */
export const openWalkthrough = (example, start) => {
  const steps = stepsOf(example);
  let current = stepNumber(example, steps, start.step);
  let position = positionOf(example, start);

  /** Go to the next or previous cell, across steps. @param {Direction} direction */
  const moveCell = (direction) => {
    const { length } = stepOf(example, steps[current]).data;
    const next = position + direction;
    if (next >= 0 && next < length) position = next;
    else if (steps[current + direction]) {
      current += direction;
      position = direction > 0 ? 0 : stepOf(example, steps[current]).data.length - 1;
    }
    draw();
  };
  /** @param {Direction} direction */
  const moveStep = (direction) => {
    current = Math.min(Math.max(current + direction, 0), steps.length - 1);
    position = 0;
    draw();
  };
  /** @param {Cell} cell */
  const goTo = (cell) => {
    current = stepNumber(example, steps, cell.step);
    position = positionOf(example, cell);
    draw();
  };
  const draw = () => {
    const step = steps[current];
    const { shape } = stepOf(example, step);
    const explanation = explain(example.graph, example.values, step, unravel(position, shape));
    progress.textContent = `Step ${current + 1} of ${steps.length}`;
    content.replaceChildren(
      make("h2", {}, nameOf(example.graph.names[step] ?? step), shape.length ? ` ${shape.join(" × ")}` : ""),
      createMatrix(example, step, position, (chosen) => {
        position = chosen;
        draw();
      }),
      make("div", { "aria-live": "polite" },
        make("p", {}, make("strong", {}, explanation.description)),
        ...linesOf(explanation, goTo)
      )
    );
    // Redrawing removes a number that was clicked, and its focus.
    if (!dialog.contains(document.activeElement)) dialog.focus();
  };
  dialog.onkeydown = (event) => {
    const moves = {
      ArrowRight: () => moveCell(1),
      ArrowLeft: () => moveCell(-1),
      PageDown: () => moveStep(1),
      PageUp: () => moveStep(-1),
      " ": () => moveCell(1),
    };
    const move = moves[/** @type {keyof typeof moves} */ (event.key)];
    // The space bar presses a focused button.
    if (!move || (event.key === " " && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    move();
  };
  dialog.onclose = () => dialog.remove();
  // The buttons are on top so that they stay under the pointer as the content changes its size.
  dialog.replaceChildren(
    headerOf(() => dialog.close(),
      progress,
      button("⇤ Step", () => moveStep(-1)),
      button("← Cell", () => moveCell(-1)),
      button("Cell →", () => moveCell(1)),
      button("Step ⇥", () => moveStep(1))
    ),
    content
  );
  document.body.append(dialog);
  dialog.showModal();
  // Focus the dialog, not its first button, which the space bar would press.
  dialog.focus();
  draw();
};

/** List the literals shared with other examples, then the steps. @param {Example} example @returns {string[]} */
const stepsOf = ({ graph: { nodesByName, steps } }) => {
  const stepNodes = new Set(steps.values());
  const shared = [...nodesByName].filter(([, node]) => !stepNodes.has(node)).map(([name]) => name);
  return [...shared, ...steps.keys()];
};

/**
 * Find the number of a step, or of one with another name for the same node.
 *
 * @param {Example} example @param {string[]} steps @param {string} step
 */
const stepNumber = ({ graph: { nodesByName } }, steps, step) => {
  if (steps.includes(step)) return steps.indexOf(step);
  return steps.findIndex((name) => nodesByName.get(name) === nodesByName.get(step));
};

/** @param {Example} example @param {Cell} cell */
const positionOf = (example, { step, index }) => ravel(index, stepOf(example, step).shape);

/**
 * Create the matrix of a step, with a cell marked.
 *
 * @param {Example} example @param {string} step @param {number} chosen position of the marked cell
 * @param {(position: number) => void} choose is called when a cell is clicked
 */
const createMatrix = (example, step, chosen, choose) => {
  const { shape, data, dtype } = stepOf(example, step);
  const cells = [...data].map((value, position) => {
    const properties = { class: position === chosen ? "live-here" : "", onclick: () => choose(position) };
    return make("td", { ...properties, innerHTML: html(value, dtype) });
  });
  const table = matrixOf(shape, cells);
  align(table);
  return make("div", { class: "live-matrix" }, table);
};

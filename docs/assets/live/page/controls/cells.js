// Masks: a button for each cell, buttons for whole masks, and a status that names the pairs that leak. A choice has
// only the buttons, each for a row of numbers.

import { connectEach, editInput } from "../site.js";

// The status names this many leaks and counts the others.
const NAMED_LEAKS = 2;
/** @type {Record<string, [down: number, right: number]>} */
const DIRECTIONS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @typedef {HTMLElement} Control */

/** @param {Control} control @returns {HTMLElement[]} the buttons of the cells, row by row */
const cellsOf = (control) => [...control.querySelectorAll(/** @type {"button"} */ ("td button"))];
/** @param {Element} cell */
const isPressed = (cell) => cell.getAttribute("aria-pressed") === "true";

/** Show a mask. @param {Control} control @param {boolean[]} mask */
const show = (control, mask) => {
  const cells = cellsOf(control);
  cells.forEach((cell, i) => cell.setAttribute("aria-pressed", String(mask[i])));
  const bits = mask.map(Number).join("");
  for (const choice of /** @type {NodeListOf<HTMLElement>} */ (control.querySelectorAll("[data-cells]")))
    choice.setAttribute("aria-pressed", String(choice.dataset.cells === bits));
  if (!cells.length) return;
  const leaks = cells.filter((cell) => isPressed(cell) && cell.matches("[data-later]"));
  const status = /** @type {HTMLElement} */ (control.querySelector("[role=status]"));
  status.textContent = leaks.length ? describe(leaks) : "No word sees a later one.";
};

/** Name the pairs in which a word sees a later one. @param {Element[]} leaks @returns {string} */
const describe = (leaks) => {
  const names = leaks.slice(0, NAMED_LEAKS).map((cell) => cell.getAttribute("aria-label"));
  const count = leaks.length - names.length;
  return `The future leaks: ${names.join(", ")}${count ? `, and ${count} more` : ""}.`;
};

/** Edit the mask. @param {Control} control @param {boolean[]} mask */
const edit = (control, mask) => {
  show(control, mask);
  editInput(control, mask.map(Number));
};

/** Move the focus between cells, which share one tab stop. @param {Control} control @param {KeyboardEvent} event */
const move = (control, event) => {
  const cells = cellsOf(control);
  const position = cells.indexOf(/** @type {HTMLElement} */ (event.target));
  const direction = DIRECTIONS[event.key];
  if (position < 0 || !direction) return;
  event.preventDefault();
  const size = Math.sqrt(cells.length);
  const [row, column] = [Math.floor(position / size) + direction[0], (position % size) + direction[1]];
  if (Math.min(row, column) < 0 || Math.max(row, column) >= size) return;
  cells.forEach((cell, i) => (cell.tabIndex = i === row * size + column ? 0 : -1));
  cells[row * size + column].focus();
};

/** Let a mask edit its input, and follow it. @param {Control} control */
const connect = (control) => {
  control.onclick = ({ target }) => {
    const button = target instanceof Element ? target.closest("button") : null;
    if (!button) return;
    const bits = button.getAttribute("data-cells");
    if (bits) edit(control, [...bits].map((bit) => bit === "1"));
    else edit(control, cellsOf(control).map((cell) => isPressed(cell) !== (cell === button)));
  };
  control.onkeydown = (event) => move(control, event);
  control.addEventListener("numbers", (event) =>
    show(control, /** @type {CustomEvent} */ (event).detail.map(Boolean))
  );
  if (cellsOf(control).length) show(control, cellsOf(control).map(isPressed));
};

connectEach("[data-control=cells]", connect);

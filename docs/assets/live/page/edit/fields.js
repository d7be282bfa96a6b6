// A field for one number of an input: typed into, stepped with the arrow keys, or dragged sideways.

import { read, typed } from "./entries.js";
import { make } from "../elements.js";

/** @typedef {{value: number, problem: ""} | {value: null, problem: string}} Entry */

const [STEP, SMALL_STEP, PIXELS] = [1, 0.1, 8];

/**
 * Make a field.
 *
 * @param {string} label what a screen reader says
 * @param {string} text what it holds
 * @param {Dtype} dtype
 * @param {() => number} shown the number that the page shows, also while the text is none
 * @param {(entry: Entry) => void} entered is called whenever its text changes
 * @returns {HTMLInputElement}
 */
export const fieldOf = (label, text, dtype, shown, entered) => {
  const field = /** @type {HTMLInputElement} */ (
    make("input", { class: "live-field", "aria-label": label, autocomplete: "off", value: text })
  );
  const enter = () => {
    const { value, problem } = read(field.value, dtype);
    clear(field);
    if (value === null) {
      const complaint = `${problem} The page shows ${typed(shown(), dtype).replaceAll("-", "−")}.`;
      complain(field, complaint);
      entered({ value, problem: complaint });
    } else entered({ value, problem: "" });
    fit(field);
  };
  /** @param {number} value */
  const put = (value) => {
    field.value = String(Number(value.toFixed(9)));
    enter();
  };
  field.oninput = enter;
  field.onkeydown = (event) => {
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    put((read(field.value, dtype).value ?? 0) + direction * (event.shiftKey ? SMALL_STEP : STEP));
  };
  field.onpointerdown = (event) => drag(field, event, read(field.value, dtype).value, put);
  fit(field);
  return field;
};

/**
 * Put a number into a field, unless what stands there means it, as "12." does while somebody types.
 *
 * @param {HTMLInputElement} field @param {number} value @param {Dtype} dtype
 */
export const fill = (field, value, dtype) => {
  if (Object.is(read(field.value, dtype).value, value)) return;
  field.value = typed(value, dtype);
  clear(field);
  fit(field);
};

/** @type {WeakMap<HTMLInputElement, HTMLElement>} what is written below a field whose text is no number */
const complaints = new WeakMap();
let count = 0;

/** Write below the matrix of a field what is wrong with its text. @param {HTMLInputElement} field @param {string} text */
const complain = (field, text) => {
  const line = make("p", { id: `live-complaint-${count++}` }, text);
  const box = field.closest(".formula") ?? field.closest("table");
  const next = box?.nextElementSibling;
  const lines = next?.matches(".live-complaints") ? next : make("div", { class: "live-complaints" });
  lines.append(line);
  box?.after(lines);
  complaints.set(field, line);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", line.id);
};

/** Take back what is written about a field. @param {HTMLInputElement} field */
export const clear = (field) => {
  const line = complaints.get(field);
  const lines = line?.parentElement;
  line?.remove();
  if (!lines?.childElementCount) lines?.remove();
  complaints.delete(field);
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-describedby");
};

/** Make a field as wide as its text. @param {HTMLInputElement} field */
const fit = (field) => {
  const width = `${Math.max(1, field.value.length) + 1}ch`;
  if (field.style.width !== width) field.style.width = width;
};

/**
 * Follow the pointer sideways; a press without a movement only puts the cursor there.
 *
 * @param {HTMLInputElement} field @param {PointerEvent} press @param {number | null} start
 * @param {(value: number) => void} put
 */
const drag = (field, { clientX, pointerId }, start, put) => {
  if (start === null || field === document.activeElement) return;
  field.onpointermove = (event) => {
    const steps = Math.round((event.clientX - clientX) / PIXELS);
    if (!steps && !field.hasPointerCapture(pointerId)) return;
    field.setPointerCapture(pointerId);
    put(start + steps * SMALL_STEP);
  };
  field.onpointerup = field.onpointercancel = () => (field.onpointermove = null);
};

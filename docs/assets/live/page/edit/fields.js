// A field for one number of an input: type, step with the arrow keys, or drag sideways.

import { format, parse } from "./entries.js";
import { make } from "../elements.js";

/** @typedef {{value: number, problem: ""} | {value: null, problem: string}} Entry */

// An arrow key changes a number by STEP; with Shift, or per 8 pixels of a drag, by SMALL_STEP.
const [STEP, SMALL_STEP, PIXELS_PER_STEP] = [1, 0.1, 8];
// Results are rounded to this many decimals, because adding 0.1 repeatedly accumulates rounding errors.
const DECIMALS = 9;

/**
 * Create a field.
 *
 * @param {string} label for screen readers
 * @param {string} text initial content
 * @param {Dtype} dtype
 * @param {() => number} currentNumber returns the number that the page shows, even while the text is invalid
 * @param {(entry: Entry) => void} onEntry is called whenever the text changes
 */
export const createField = (label, text, dtype, currentNumber, onEntry) => {
  const field = /** @type {HTMLInputElement} */ (
    make("input", { class: "live-field", "aria-label": label, autocomplete: "off", value: text })
  );
  const update = () => {
    const { value, problem } = parse(field.value, dtype);
    clearError(field);
    if (value === null) {
      const message = `${problem} The page shows ${format(currentNumber(), dtype).replaceAll("-", "−")}.`;
      showError(field, message);
      onEntry({ value, problem: message });
    } else onEntry({ value, problem: "" });
    fitWidth(field);
  };
  /** @param {number} value */
  const setNumber = (value) => {
    field.value = String(Number(value.toFixed(DECIMALS)));
    update();
  };
  field.oninput = update;
  field.onkeydown = (event) => {
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    setNumber((parse(field.value, dtype).value ?? 0) + direction * (event.shiftKey ? SMALL_STEP : STEP));
  };
  field.onpointerdown = (event) => drag(field, event, parse(field.value, dtype).value, setNumber);
  fitWidth(field);
  return field;
};

/**
 * Set the number of a field, unless its text means the same, as "12." does during typing.
 *
 * @param {HTMLInputElement} field @param {number} value @param {Dtype} dtype
 */
export const setFieldNumber = (field, value, dtype) => {
  if (Object.is(parse(field.value, dtype).value, value)) return;
  field.value = format(value, dtype);
  clearError(field);
  fitWidth(field);
};

/** @type {WeakMap<HTMLInputElement, HTMLElement>} the messages below fields with invalid text */
const errors = new WeakMap();
let errorCount = 0;

/** Show below the matrix of a field why its text is invalid. @param {HTMLInputElement} field @param {string} text */
const showError = (field, text) => {
  const error = make("p", { id: `live-complaint-${errorCount++}` }, text);
  const matrix = field.closest(".formula") ?? field.closest("table");
  const next = matrix?.nextElementSibling;
  const list = next?.matches(".live-complaints") ? next : make("div", { class: "live-complaints" });
  list.append(error);
  matrix?.after(list);
  errors.set(field, error);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", error.id);
};

/** Remove the error of a field. @param {HTMLInputElement} field */
export const clearError = (field) => {
  const error = errors.get(field);
  const list = error?.parentElement;
  error?.remove();
  if (!list?.childElementCount) list?.remove();
  errors.delete(field);
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-describedby");
};

/** Make a field as wide as its text. @param {HTMLInputElement} field */
const fitWidth = (field) => {
  const width = `${Math.max(1, field.value.length) + 1}ch`;
  if (field.style.width !== width) field.style.width = width;
};

/**
 * Change a number as the pointer moves sideways; a press without movement only places the cursor.
 *
 * @param {HTMLInputElement} field @param {PointerEvent} press @param {number | null} start
 * @param {(value: number) => void} setNumber
 */
const drag = (field, { clientX, pointerId }, start, setNumber) => {
  if (start === null || field === document.activeElement) return;
  field.onpointermove = (event) => {
    const steps = Math.round((event.clientX - clientX) / PIXELS_PER_STEP);
    if (!steps && !field.hasPointerCapture(pointerId)) return;
    field.setPointerCapture(pointerId);
    setNumber(start + steps * SMALL_STEP);
  };
  field.onpointerup = field.onpointercancel = () => (field.onpointermove = null);
};

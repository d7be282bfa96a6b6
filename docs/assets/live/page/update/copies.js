// Update the code of "Copy as NumPy" and "Copy as LaTeX", written as in attention_docs/render/code.py and
// latex.py.

import { latex, python } from "../../show.js";
import { stepOf } from "../examples.js";

/** @typedef {{dtype: Dtype, before: ArrayLike<number>, now: ArrayLike<number>}} StepNumbers */

const ASSIGNMENT = /^(.+? = )(.+)$/gm;
const SIGNIFICANT_DIGITS = 15;
/** @type {Record<string, {numberPattern: RegExp, write: (value: number, dtype: Dtype) => string}>} */
const FORMATS = {
  numpy: {
    numberPattern: /-?(?:np\.inf|np\.nan|True|False|\d[\d.e+-]*)/g,
    // Rounding would lose the sign of a negative zero.
    write: (value, dtype) => python(value && Number(value.toPrecision(SIGNIFICANT_DIGITS)), dtype).replace(/inf|nan/, "np.$&"),
  },
  latex: { numberPattern: /-?(?:\\infty|\\text\{\w+\}|\d[\d.{,}]*(?: \\times 10\^\{-?\d+\})?)/g, write: latex },
};

/**
 * Replace the numbers that have changed.
 *
 * @param {string} text code, each step on a line of its own
 * @param {string} format `numpy` or `latex`
 * @param {StepNumbers[]} steps in their order
 */
export const withNumbers = (text, format, steps) => {
  const { numberPattern, write } = FORMATS[format];
  const remainingSteps = [...steps];
  return text.replace(ASSIGNMENT, (_, start, numbers) => {
    const { dtype, before, now } = /** @type {StepNumbers} */ (remainingSteps.shift());
    let count = 0;
    return start + numbers.replace(numberPattern, (/** @type {string} */ digits) => {
      const position = count++;
      return Object.is(now[position], before[position]) ? digits : write(now[position], dtype);
    });
  });
};

/** @type {WeakMap<Element, string>} the code as built */
const originals = new WeakMap();

/** Update the code to copy. @param {Example} example */
export const writeCopies = (example) => {
  const { graph, name } = example;
  const steps = [...graph.steps].map(([step, node]) => {
    const { data, dtype } = stepOf(example, step);
    return { dtype, before: graph.values[node].data, now: data };
  });
  for (const code of document.querySelectorAll(`[data-of="${name}"] [data-format] code`)) {
    const format = code.closest("[data-format]")?.getAttribute("data-format") ?? "";
    const original = originals.get(code) ?? code.textContent ?? "";
    originals.set(code, original);
    code.textContent = withNumbers(original, format, steps);
  }
};

// "Copy as NumPy" and "Copy as LaTeX" copy the numbers that the page shows, written as
// attention_docs/render/code.py and latex.py write them.

import { latex, python } from "../../show.js";
import { stepOf } from "../examples.js";

/** @typedef {{dtype: Dtype, before: ArrayLike<number>, now: ArrayLike<number>}} Numbers of a step */

const STEP = /^(.+? = )(.+)$/gm;
const DIGITS = 15;
/** @type {Record<string, {number: RegExp, write: (value: number, dtype: Dtype) => string}>} */
const FORMS = {
  numpy: {
    number: /-?(?:np\.inf|np\.nan|True|False|\d[\d.e+-]*)/g,
    // A negative zero has no digits to round, and would lose its sign.
    write: (value, dtype) => python(value && Number(value.toPrecision(DIGITS)), dtype).replace(/inf|nan/, "np.$&"),
  },
  latex: { number: /-?(?:\\infty|\\text\{\w+\}|\d[\d.]*(?: \\times 10\^\{-?\d+\})?)/g, write: latex },
};

/**
 * Replace the numbers that are others now.
 *
 * @param {string} text code that has each step on a line of its own
 * @param {string} form `numpy` or `latex`
 * @param {Numbers[]} steps in their order
 * @returns {string}
 */
export const withNumbers = (text, form, steps) => {
  const { number, write } = FORMS[form];
  const lines = steps.values();
  return text.replace(STEP, (_, name, numbers) => {
    const { dtype, before, now } = /** @type {Numbers} */ (lines.next().value);
    let at = -1;
    return name + numbers.replace(number, (/** @type {string} */ digits) =>
      Object.is(now[++at], before[at]) ? digits : write(now[at], dtype)
    );
  });
};

/** @type {WeakMap<Element, string>} the code that the page was built with */
const originals = new WeakMap();

/** Bring the code to copy up to date. @param {Example} example */
export const writeCopies = (example) => {
  const { graph, name } = example;
  const steps = [...graph.steps].map(([step, node]) => {
    const { data, dtype } = stepOf(example, step);
    return { dtype, before: graph.values[node].data, now: data };
  });
  for (const code of document.querySelectorAll(`[data-of="${name}"] [data-copy] code`)) {
    const form = code.closest("[data-copy]")?.getAttribute("data-copy") ?? "";
    const original = originals.get(code) ?? code.textContent ?? "";
    originals.set(code, original);
    code.textContent = withNumbers(original, form, steps);
  }
};

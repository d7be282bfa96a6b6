// The code to copy below an example, NumPy or LaTeX, with other numbers: they are written as
// attention_docs/render/code.py and latex.py write them.

import { latex, python } from "./show.js";

/** @typedef {import("./arrays.js").Dtype} Dtype */
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

// "Copy as NumPy" and "Copy as LaTeX" copy the numbers that the page shows.

import { withNumbers } from "../code.js";
import { stepOf } from "./examples.js";

/** @typedef {import("./examples.js").Example} Example */

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

// The examples of the site: their graphs, fetched when somebody asks for one, and their values, which
// edits of the inputs change.

import { evaluate, parse } from "./graph.js";

/** @typedef {import("./arrays.js").NDArray} NDArray */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./graph.js").Refusal} Refusal */
/** @typedef {Map<string, NDArray>} Edits by the name of the input */

/**
 * @typedef {object} Example
 * @property {string} name
 * @property {Graph} graph
 * @property {Edits} edits
 * @property {NDArray[]} values the last ones that Python would give too
 * @property {Refusal | null} refusal why it would not give those of the edits
 */

/** @typedef {{graphs: Record<string, any>}} Fetched what the scripts of the graphs write into */

const script = /** @type {HTMLScriptElement} */ (document.currentScript);
const folder = new URL("live/", script.src);
/** @type {Map<string, Promise<Example | null>>} */
const known = new Map();

/**
 * Fetch an example, once.
 *
 * @param {string} name
 * @returns {Promise<Example | null>} null if its inputs are drawn at random in bulk, so it has no graph
 */
export const load = (name) => {
  const found = known.get(name) ?? fetched(name).then((json) => json && example(name, parse(json)));
  known.set(name, found);
  // The network may be back when somebody asks again.
  found.catch(() => known.delete(name));
  return found;
};

/** @param {string} name @param {Graph} graph @returns {Example} */
const example = (name, graph) => ({ name, graph, edits: new Map(), values: graph.values, refusal: null });

/**
 * A script, because from a file browsers refuse to fetch anything else.
 *
 * @param {string} name @returns {Promise<any>}
 */
const fetched = (name) =>
  new Promise((resolve, reject) => {
    const { graphs } = /** @type {{attentionDocs: Fetched}} */ (/** @type {unknown} */ (window)).attentionDocs;
    const element = document.createElement("script");
    element.src = new URL(`${name}.js`, folder).href;
    element.onload = () => resolve(graphs[name]);
    element.onerror = () => {
      element.remove();
      reject(new Error(`the numbers of ${name} could not be fetched`));
    };
    document.head.append(element);
  });

/**
 * Compute an example with other inputs. If Python would refuse them, the values stay as they are.
 *
 * @param {Example} example @param {Edits} edits
 */
export const compute = (example, edits) => {
  const { values, refusal } = evaluate(example.graph, edits);
  example.edits = edits;
  example.refusal = refusal;
  if (!refusal) example.values = values;
};

/** @param {Example} example @param {string} step @returns {NDArray} its values as they are now */
export const stepOf = ({ graph, values }, step) => values[/** @type {number} */ (graph.steps.get(step))];

/** @param {Example} example @param {string} step @returns {NDArray} its values in the example as written */
export const originalOf = ({ graph }, step) =>
  graph.values[/** @type {number} */ (graph.steps.get(step))];

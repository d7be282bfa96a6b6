// Load the graphs of examples on demand, and recompute their values after edits.

import { ravel } from "../arrays.js";
import { evaluate, parse } from "../graph.js";
import { attentionDocs, loadScript } from "./site.js";

/** The message if a graph cannot be loaded. */
export const LOAD_ERROR = "Could not fetch the numbers. Are you online?";

/** @type {Map<string, Promise<Example>>} */
const examples = new Map();

/**
 * Load an example, at most once.
 *
 * @param {string} name
 * @returns {Promise<Example>}
 */
export const load = (name) => {
  const example = examples.get(name) ?? fetchExample(name);
  examples.set(name, example);
  // Retry a failed request the next time.
  example.catch(() => examples.delete(name));
  return example;
};

/** Load the graph of an example. @param {string} name @returns {Promise<Example>} */
const fetchExample = async (name) => {
  await loadScript(`live/${name}.js`);
  const graph = parse(attentionDocs.graphs[name]);
  return { name, graph, edits: new Map(), state: new Map(), values: graph.values, refusal: null };
};

/**
 * Recompute an example with edits. If Python would refuse them, the values stay as they are.
 *
 * @param {Example} example @param {Edits} edits
 */
export const recompute = (example, edits) => {
  const { values, refusal } = evaluate(example.graph, edits, example.state);
  example.edits = edits;
  example.refusal = refusal;
  if (!refusal) example.values = values;
};

/** Return the current value of a step. @param {Example} example @param {string} step @returns {NDArray} */
export const stepOf = ({ graph, values }, step) => values[/** @type {number} */ (graph.nodesByName.get(step))];

/** Return the current value of a cell. @param {Example} example @param {Cell} cell @returns {{value: number, dtype: Dtype}} */
export const valueOf = (example, { step, index }) => {
  const { data, shape, dtype } = stepOf(example, step);
  return { value: data[ravel(index, shape)], dtype };
};

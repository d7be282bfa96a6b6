// Load the graphs of examples on demand, and recompute their values after edits.

import { ravel } from "../arrays.js";
import { evaluate, parse } from "../graph.js";
import { resolve } from "../reference.js";
import { attentionDocs, loadScript } from "./site.js";

/** The message if a graph cannot be loaded. */
export const LOAD_ERROR = "Could not fetch the numbers. Are you online?";

/** @type {Map<string, Promise<Example | null>>} */
const examples = new Map();

/**
 * Load an example, at most once.
 *
 * @param {string} name
 * @returns {Promise<Example | null>} null if it could not be fetched; the next call tries again
 */
export const load = (name) => {
  const example = examples.get(name) ?? fetchExample(name).catch(() => {
    examples.delete(name);
    return null;
  });
  examples.set(name, example);
  return example;
};

/** Load examples, except those that could not be fetched. @param {string[]} names @returns {Promise<Example[]>} */
export const loadAll = async (names) => {
  const loaded = await Promise.all(names.map(load));
  return loaded.filter((example) => example !== null);
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

/** Return the current numbers that a reference is to. @param {Example} example @param {string} reference @returns {number[]} */
export const numbersAt = (example, reference) => {
  const { step, cells } = resolve(reference, example.graph);
  return cells.map((index) => valueOf(example, { step, index }).value);
};

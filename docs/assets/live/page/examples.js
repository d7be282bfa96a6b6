// The examples of the site: their graphs, fetched when somebody asks for one, and their values, which
// edits of the inputs change.

import { ravel } from "../arrays.js";
import { evaluate, parse } from "../graph.js";
import { attentionDocs } from "./site.js";

/** What is said when a graph did not come. */
export const LOST = "This could not be fetched. Is there a network?";

/** @type {Map<string, Promise<Example>>} */
const known = new Map();

/**
 * Fetch an example, once.
 *
 * @param {string} name
 * @returns {Promise<Example>}
 */
export const load = (name) => {
  const found = known.get(name) ?? fetched(name);
  known.set(name, found);
  // The network may be back when somebody asks again.
  found.catch(() => known.delete(name));
  return found;
};

/** Run the script that brings a graph: from a file, browsers refuse data. @param {string} name @returns {Promise<Example>} */
const fetched = async (name) => {
  const script = Object.assign(document.createElement("script"), { src: `${attentionDocs.folder}live/${name}.js` });
  await new Promise((onload, onerror) => {
    document.head.append(Object.assign(script, { onload, onerror }));
  }).finally(() => script.remove());
  const graph = parse(attentionDocs.graphs[name]);
  return { name, graph, edits: new Map(), values: graph.values, refusal: null };
};

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
export const stepOf = ({ graph, values }, step) => values[/** @type {number} */ (graph.named.get(step))];

/** @param {Example} example @param {Cell} cell @returns {{value: number, dtype: Dtype}} */
export const valueOf = (example, { step, index }) => {
  const { data, shape, dtype } = stepOf(example, step);
  return { value: data[ravel(index, shape)], dtype };
};

// What a reference on a page names: `self_attention.weights[0,1]`, `[:,1]`, `[-1]`, `.shape[0]`.

import { filled, getitem, unravel } from "./arrays.js";

/**
 * @typedef {object} Resolved
 * @property {string} step
 * @property {number[]} shape of what is named; of a single number []
 * @property {number[][]} cells the index in the step of each of its elements, in order
 * @property {number[] | null} sizes the numbers themselves, if it names a shape, which has no cells
 */

const REFERENCE = /^(?<example>\w+)\.(?<step>\w+)(?<sizes>\.shape)?(?:\[(?<index>[-\d:,]+)\])?$/;

/** @param {string} reference @returns {string} the example that it names */
export const exampleOf = (reference) => reference.slice(0, reference.indexOf("."));

/** @type {WeakMap<Graph, Map<string, Resolved>>} each cell of a table asks for the table's reference */
const resolved = new WeakMap();

/**
 * Find out what a reference names.
 *
 * @param {string} reference
 * @param {Graph} graph of the example that it names
 * @returns {Resolved}
 */
export const resolve = (reference, graph) => {
  const memory = resolved.get(graph) ?? new Map();
  resolved.set(graph, memory);
  if (!memory.has(reference)) memory.set(reference, resolveAnew(reference, graph));
  return memory.get(reference);
};

/** @param {string} reference @param {Graph} graph @returns {Resolved} */
const resolveAnew = (reference, graph) => {
  const found = REFERENCE.exec(reference.replaceAll(" ", ""))?.groups;
  const node = graph.steps.get(found?.step ?? "");
  if (!found || node === undefined)
    throw new Error(`${graph.example} has nothing called ${reference}`);
  const array = graph.values[node];
  const named = found.sizes ? { ...array, shape: [array.shape.length] } : array;
  const positions = filled(named.shape, "int64", (position) => position);
  const { shape, data } = getitem(positions, entries(found.index));
  const cells = [...data].map((position) => unravel(position, array.shape));
  return found.sizes
    ? { step: found.step, shape, cells: [], sizes: [...data].map((axis) => array.shape[axis]) }
    : { step: found.step, shape, cells, sizes: null };
};

/** @param {string} [index] as in `[0,1]`, `[:,1]` or `[0,5:7]` @returns {Index[]} */
const entries = (index) =>
  index?.split(",").map((entry) => {
    const [first, last = null] = entry.split(":").map((end) => (end ? Number(end) : null));
    return entry.includes(":") ? { slice: [first, last, null] } : first;
  }) ?? [];

// Resolve references such as `self_attention.weights[0,1]`, `[:,1]`, `[-1]` or `.shape[0]`.

import { fromFunction, getitem, unravel } from "./arrays.js";

/**
 * @typedef {object} Resolved
 * @property {string} step
 * @property {number[]} shape of the selection; [] for a single number
 * @property {number[][]} cells the index in the step of each selected element, in order
 * @property {number[] | null} sizes the selected lengths of a `.shape`, which has no cells
 */

const REFERENCE = /^(?<example>\w+)\.(?<step>\w+)(?<sizes>\.shape)?(?:\[(?<index>[-\d:,]+)\])?$/;

/** Return the name of a reference's example. @param {string} reference @returns {string} */
export const exampleOf = (reference) => reference.slice(0, reference.indexOf("."));

/** @type {WeakMap<Graph, Map<string, Resolved>>} because each cell of a table resolves the reference of the table */
const caches = new WeakMap();

/** Resolve a reference. @param {string} reference @param {Graph} graph of its example @returns {Resolved} */
export const resolve = (reference, graph) => {
  const cache = caches.get(graph) ?? new Map();
  caches.set(graph, cache);
  if (!cache.has(reference)) cache.set(reference, resolveUncached(reference, graph));
  return cache.get(reference);
};

/** @param {string} reference @param {Graph} graph @returns {Resolved} */
const resolveUncached = (reference, graph) => {
  const groups = REFERENCE.exec(reference.replaceAll(" ", ""))?.groups;
  const node = graph.steps.get(groups?.step ?? "");
  if (!groups || node === undefined) throw new Error(`${graph.example} has nothing called ${reference}`);
  const { step, sizes, index } = groups;
  const array = graph.values[node];
  // Select positions instead of values: of elements, or of axes for `.shape`.
  const indexedShape = sizes ? [array.shape.length] : array.shape;
  const positions = fromFunction(indexedShape, "int64", (position) => position);
  const { shape, data: selected } = getitem(positions, parseIndex(index));
  if (sizes) return { step, shape, cells: [], sizes: Array.from(selected, (axis) => array.shape[axis]) };
  return { step, shape, cells: Array.from(selected, (position) => unravel(position, array.shape)), sizes: null };
};

/** @param {string} [index] as in `0,1`, `:,1` or `0,5:7` @returns {Index[]} */
const parseIndex = (index) => {
  if (!index) return [];
  return index.split(",").map((entry) => {
    const [start, stop = null] = entry.split(":").map((bound) => (bound ? Number(bound) : null));
    return entry.includes(":") ? { slice: [start, stop, null] } : start;
  });
};

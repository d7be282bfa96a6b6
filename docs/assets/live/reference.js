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

/** @param {string} reference @returns {string} its example */
export const exampleOf = (reference) => reference.slice(0, reference.indexOf("."));

/** @type {WeakMap<Graph, Map<string, Resolved>>} every cell of a table resolves the table's reference */
const caches = new WeakMap();

/**
 * Resolve a reference.
 *
 * @param {string} reference
 * @param {Graph} graph of its example
 * @returns {Resolved}
 */
export const resolve = (reference, graph) => {
  const cache = caches.get(graph) ?? new Map();
  caches.set(graph, cache);
  if (!cache.has(reference)) cache.set(reference, resolveUncached(reference, graph));
  return cache.get(reference);
};

/** @param {string} reference @param {Graph} graph @returns {Resolved} */
const resolveUncached = (reference, graph) => {
  const match = REFERENCE.exec(reference.replaceAll(" ", ""))?.groups;
  const node = graph.steps.get(match?.step ?? "");
  if (!match || node === undefined)
    throw new Error(`${graph.example} has nothing called ${reference}`);
  const array = graph.values[node];
  const target = match.sizes ? { ...array, shape: [array.shape.length] } : array;
  const positions = fromFunction(target.shape, "int64", (position) => position);
  const { shape, data } = getitem(positions, parseIndex(match.index));
  const cells = [...data].map((position) => unravel(position, array.shape));
  return match.sizes
    ? { step: match.step, shape, cells: [], sizes: [...data].map((axis) => array.shape[axis]) }
    : { step: match.step, shape, cells, sizes: null };
};

/** @param {string} [index] as in `[0,1]`, `[:,1]` or `[0,5:7]` @returns {Index[]} */
const parseIndex = (index) =>
  index?.split(",").map((entry) => {
    const [start, stop = null] = entry.split(":").map((bound) => (bound ? Number(bound) : null));
    return entry.includes(":") ? { slice: [start, stop, null] } : start;
  }) ?? [];

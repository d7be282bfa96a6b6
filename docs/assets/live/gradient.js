// How a number depends on those that it is computed from: its derivatives, by the reverse mode. From
// the number back to the inputs, each element hands its derivative on to the elements that it was
// computed from, multiplied by the slope of its operation; what arrives at one element adds up.

import { ravel } from "./arrays.js";
import { operations } from "./operations.js";
import { originsOf, sourcesOf } from "./terms.js";

/** @typedef {[node: number, position: number, slope: number]} Link an element, and the derivative by it */
// Where terms cancel but for this share of their sizes, what is left of their sum is rounding.
const ROUNDING = 1e-13;

/**
 * Differentiate one number by all those that it is computed from.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values what `evaluate` gave
 * @param {Cell} cell the number
 * @returns {Float64Array[]} by node, the derivative by each of its elements
 */
export const gradient = (graph, values, { step, index }) => {
  const root = /** @type {number} */ (graph.named.get(step));
  const derivatives = values.map(({ data }) => new Float64Array(data.length));
  const sizes = values.map(({ data }) => new Float64Array(data.length));
  derivatives[root][ravel(index, values[root].shape)] = 1;
  for (let node = root; node >= 0; node--) {
    const own = derivatives[node].map((sum, i) => (Math.abs(sum) <= ROUNDING * sizes[node][i] ? 0 : sum));
    derivatives[node] = own;
    // Whole numbers and truths do not change by a little.
    if (values[node].dtype !== "float64" || own.every((derivative) => derivative === 0)) continue;
    const links = linksOf({ ...graph, values }, node);
    own.forEach((derivative, position) => {
      // Nothing is handed on, not even by a slope that is infinite.
      if (derivative === 0) return;
      for (const [input, place, slope] of links(position)) {
        derivatives[input][place] += derivative * slope;
        sizes[input][place] += Math.abs(derivative * slope);
      }
    });
  }
  return derivatives;
};

/**
 * @param {Graph} graph with the values to differentiate at
 * @param {number} node
 * @returns {(position: number) => Link[]} what each of its elements was computed from
 */
const linksOf = (graph, node) => {
  const { nodes, values } = graph;
  const origins = originsOf(graph, node);
  if (origins) return (at) => [[origins[at].node, origins[at].position, 1]];
  const { slopes } = operations[nodes[node].operation];
  if (!slopes) return () => [];
  const placesAt = sourcesOf(graph, node);
  return (position) => {
    const places = placesAt(position);
    const found = slopes(...places.map(({ node, position }) => values[node].data[position]));
    return places.map(({ node, position }, i) => [node, position, found[i]]);
  };
};

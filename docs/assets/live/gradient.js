// Reverse-mode differentiation of one number. Going back from it through the graph, each element adds its
// derivative, times the slope of its operation, to the derivatives of its operands.

import { ravel } from "./arrays.js";
import { operations } from "./operations.js";
import { operandsOf, originsOf } from "./terms.js";

/** @typedef {[node: number, position: number, slope: number]} Link an operand and its slope */
// A sum below this fraction of its terms' magnitudes is rounding error, and counts as 0.
const ROUNDING = 1e-13;

/**
 * Differentiate one number with respect to every element of the graph.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values from `evaluate`
 * @param {Cell} cell the number
 * @returns {Float64Array[]} by node, the derivative with respect to each element
 */
export const gradient = (graph, values, { step, index }) => {
  const root = /** @type {number} */ (graph.nodesByName.get(step));
  const derivatives = values.map(({ data }) => new Float64Array(data.length));
  const magnitudes = values.map(({ data }) => new Float64Array(data.length));
  derivatives[root][ravel(index, values[root].shape)] = 1;
  for (let node = root; node >= 0; node--) {
    derivatives[node] = derivatives[node].map((sum, i) => (Math.abs(sum) <= ROUNDING * magnitudes[node][i] ? 0 : sum));
    // Integers and booleans are not differentiable.
    if (values[node].dtype !== "float64" || derivatives[node].every((derivative) => derivative === 0)) continue;
    const linksAt = linksOf({ ...graph, values }, node);
    derivatives[node].forEach((derivative, position) => {
      // 0 times an infinite slope would be NaN.
      if (derivative === 0) return;
      for (const [operand, operandPosition, slope] of linksAt(position)) {
        derivatives[operand][operandPosition] += derivative * slope;
        magnitudes[operand][operandPosition] += Math.abs(derivative * slope);
      }
    });
  }
  return derivatives;
};

/**
 * Find the operands and slopes of the elements of a node.
 *
 * @param {Graph} graph with the values at which to differentiate
 * @param {number} node
 * @returns {(position: number) => Link[]} the links of the element at a position
 */
const linksOf = (graph, node) => {
  const { nodes, values } = graph;
  const origins = originsOf(graph, node);
  // A copied element has its original as only operand.
  if (origins) return (position) => [[origins[position].node, origins[position].position, 1]];
  const { slopes } = operations[nodes[node].operation];
  if (!slopes) return () => [];
  const operandsAt = operandsOf(graph, node);
  return (position) => {
    const operands = operandsAt(position);
    const operandSlopes = slopes(...operands.map(({ node, position }) => values[node].data[position]));
    return operands.map(({ node, position }, i) => [node, position, operandSlopes[i]]);
  };
};

// How a number depends on those that it is computed from: its derivatives, by the reverse mode. From
// the number back to the inputs, each element hands its derivative on to the elements that it was
// computed from, multiplied by the slope of its operation; what arrives at one element adds up.

import { grouped, ravel, unravel } from "./arrays.js";
import { broadcastPosition, factors, originsOf, positions } from "./terms.js";

/** @typedef {import("./arrays.js").NDArray} NDArray */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./terms.js").Cell} Cell */
/** @typedef {[node: number, position: number, slope: number]} Link an element, and the derivative by it */
/** @typedef {(...numbers: number[]) => number[]} Slopes the derivatives of an operation by its inputs */

/**
 * @callback Share the derivative of a reduction by one of the numbers that it takes together
 * @param {Float64Array} numbers @param {number} i which of them @param {number} result
 * @returns {number}
 */

/** @type {Record<string, Slopes>} */
const SLOPES = {
  add: () => [1, 1],
  subtract: () => [1, -1],
  multiply: (a, b) => [b, a],
  divide: (a, b) => [1 / b, -a / (b * b)],
  remainder: (a, b) => [1, -Math.floor(a / b)],
  pow: (a, b) => [b && b * a ** (b - 1), a ? a ** b * Math.log(a) : 0],
  // Of equal numbers the first counts as the largest, as in `argmax`.
  maximum: (a, b) => (a >= b ? [1, 0] : [0, 1]),
  negative: () => [-1],
  abs: (a) => [Math.sign(a)],
  sqrt: (a) => [0.5 / Math.sqrt(a)],
  exp: (a) => [Math.exp(a)],
  log: (a) => [1 / a],
  sin: (a) => [Math.cos(a)],
  cos: (a) => [-Math.sin(a)],
  acos: (a) => [-1 / Math.sqrt(1 - a * a)],
  tanh: (a) => [Math.cosh(a) ** -2],
  // Examples round to nine decimals, to take off what floats leave. The derivative of these small
  // jumps is 0, and so nothing would seem to matter.
  round: () => [1],
  where: (condition) => (condition ? [0, 1, 0] : [0, 0, 1]),
};

/** @type {Share} */
const ofFirst = (numbers, i, result) => Number(i === numbers.indexOf(result));

/** @type {Record<string, Share>} */
const SHARES = { sum: () => 1, mean: ({ length }) => 1 / length, max: ofFirst, min: ofFirst };

/** The operations whose result only jumps, besides those that give whole numbers or truths. */
const STEPWISE = new Set(["ceil", "floor_divide"]);

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
  const { operation, inputs } = graph.nodes[node];
  const origins = originsOf(graph, node);
  if (origins) return (at) => [[origins[at].node, origins[at].position, 1]];
  if (!inputs.length || STEPWISE.has(operation)) return () => [];
  if (operation === "matmul") return product(graph, node);
  if (operation in SLOPES) return elementwise(graph, node, SLOPES[operation]);
  if (operation in SHARES) return reduction(graph, node, SHARES[operation]);
  throw new Error(`${graph.example} uses ${operation}, which the page cannot differentiate`);
};

/** @param {Graph} graph @param {number} node @returns {(position: number) => Link[]} */
const product = ({ nodes, values }, node) => {
  const { inputs } = nodes[node];
  const arrays = inputs.map((input) => values[input]);
  return (position) => {
    const places = factors(unravel(position, values[node].shape), arrays.map(({ shape }) => shape));
    // In turns an element of the one factor and an element of the other: each is the other's slope.
    return places.map((place, i) => [inputs[i % 2], place, arrays[1 - (i % 2)].data[places[i ^ 1]]]);
  };
};

/** @param {Graph} graph @param {number} node @param {Slopes} slopes @returns {(position: number) => Link[]} */
const elementwise = ({ nodes, values }, node, slopes) => {
  const { inputs } = nodes[node];
  const arrays = inputs.map((input) => values[input]);
  return (position) => {
    const index = unravel(position, values[node].shape);
    const places = arrays.map(({ shape }) => broadcastPosition(index, shape));
    const found = slopes(...arrays.map(({ data }, i) => data[places[i]]));
    return inputs.map((input, i) => [input, places[i], found[i]]);
  };
};

/** @param {Graph} graph @param {number} node @param {Share} shareOf @returns {(position: number) => Link[]} */
const reduction = ({ nodes, values }, node, shareOf) => {
  const { inputs: [input], attributes } = nodes[node];
  const { groups } = grouped(positions(values[input].shape), attributes);
  return (position) => {
    const group = groups[position];
    const numbers = group.map((place) => values[input].data[place]);
    return Array.from(group, (place, i) => [input, place, shareOf(numbers, i, values[node].data[position])]);
  };
};

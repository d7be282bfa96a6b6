// Compare derivatives with finite differences.

import { unravel } from "../../../docs/assets/live/arrays.js";
import { gradient } from "../../../docs/assets/live/gradient.js";
import { evaluate, parse } from "../../../docs/assets/live/graph.js";

// A power of two, so that inputs up to 10^9 change by exactly this step.
const STEP = 2 ** -14;
// Relative tolerance of a finite difference, and absolute tolerance for the rounding of values.
const [RELATIVE, ROUNDING] = [1e-6, 1e-9];
// Two examples round to nine decimals.
const ROUNDED = 1e-9 / STEP;
// Relative tolerance of a one-sided difference.
const FROM_ONE_SIDE = 1e-3;

/** Return evenly spaced positions of an array, at most `count`, whose elements are finite. */
const sample = ({ data }, count) => {
  const spacing = Math.max(1, (data.length - 1) / (count - 1));
  const positions = Array.from({ length: Math.min(count, data.length) }, (_, i) => Math.round(i * spacing));
  return positions.filter((position) => Number.isFinite(data[position]));
};

/** Return the values of all nodes with an input shifted by -2, -1, 1 and 2 steps. */
const shifted = (graph, key, array, position) =>
  [-2, -1, 1, 2].map((steps) => {
    const data = array.data.with(position, array.data[position] + steps * STEP);
    return evaluate(graph, new Map([[key, { ...array, data }]])).values;
  });

/** Compare a derivative: return "same", "one side" at a kink, or a message with the differences. */
const compare = (derivative, value, [a, b, c, d], rounding) => {
  const near = (quotient, share) =>
    Math.abs(derivative - quotient) <= share * Math.abs(quotient) + rounding * Math.max(1, Math.abs(value));
  const quotient = (8 * (c - b) - (d - a)) / (12 * STEP);
  if (near(quotient, RELATIVE)) return "same";
  const sides = [3 * value - 4 * b + a, 4 * c - 3 * value - d].map((sum) => sum / (2 * STEP));
  const isKink = Math.abs(sides[0] - sides[1]) > FROM_ONE_SIDE * Math.abs(quotient);
  if (isKink && sides.some((side) => near(side, FROM_ONE_SIDE))) return "one side";
  return `${derivative}, not ${quotient}; from below ${sides[0]}, from above ${sides[1]}`;
};

/**
 * Check the derivatives of elements of every step with respect to elements of every input.
 *
 * @param json a graph @param count how many elements of an array are checked
 * @returns how many agree on both sides or at a kink, and the faults
 */
export const check = (json, count) => {
  const graph = parse(json);
  const rounding = graph.nodes.some(({ operation }) => operation === "round") ? 2 * ROUNDED : ROUNDING;
  const isFloat = (node) => graph.values[node].dtype === "float64";
  const numbers = [...graph.steps].filter(([, node]) => isFloat(node)).flatMap(([step, node]) =>
    sample(graph.values[node], count).map((position) => {
      const index = unravel(position, graph.values[node].shape);
      return { step, node, position, derivatives: gradient(graph, graph.values, { step, index }) };
    })
  );
  const keys = [...graph.inputs, ...[...graph.nodesByName.keys()].filter((key) => key.includes("."))];
  const counts = { same: 0, "one side": 0 };
  const faults = [];
  for (const [input, key] of new Map(keys.map((key) => [graph.nodesByName.get(key), key]))) {
    for (const place of isFloat(input) ? sample(graph.values[input], count) : []) {
      const changed = shifted(graph, key, graph.values[input], place);
      for (const { step, node, position, derivatives } of numbers) {
        const [value, ...values] = [graph.values, ...changed].map((values) => values[node].data[position]);
        const verdict = compare(derivatives[input][place], value, values, rounding);
        if (verdict in counts) counts[verdict]++;
        else faults.push(`${step}, element ${position}, by ${key}, element ${place}: ${verdict}`);
      }
    }
  }
  return { counts, faults };
};

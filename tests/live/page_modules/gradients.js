// Compare derivatives with finite differences.

import { unravel } from "../../../docs/assets/live/arrays.js";
import { gradient } from "../../../docs/assets/live/gradient.js";
import { evaluate, parse } from "../../../docs/assets/live/graph.js";

// A power of two, so that inputs up to 10^9 change by exactly this step.
const STEP = 2 ** -14;
// Relative tolerances of a central difference, which has an error of STEP^4, and of a one-sided one, with STEP^2.
const [CENTRAL_TOLERANCE, ONE_SIDED_TOLERANCE] = [1e-6, 1e-3];
// Absolute tolerance for rounding errors; larger where an example rounds its values to 13 decimals.
const ROUNDING = 1e-9;
const ROUNDING_OF_ROUNDED = 2 * (1e-13 / STEP);

/** Return evenly spaced positions of an array, at most `count`, whose elements are finite. */
const sample = ({ data }, count) => {
  const spacing = Math.max(1, (data.length - 1) / (count - 1));
  const positions = Array.from({ length: Math.min(count, data.length) }, (_, i) => Math.round(i * spacing));
  return positions.filter((position) => Number.isFinite(data[position]));
};

/** Return the values of all nodes with an input shifted by -2, -1, 1 and 2 steps. */
const valuesAfterShifts = (graph, key, array, position) =>
  [-2, -1, 1, 2].map((steps) => {
    const data = array.data.with(position, array.data[position] + steps * STEP);
    return evaluate(graph, new Map([[key, { ...array, data }]])).values;
  });

/**
 * Compare a derivative with the differences of a value and of its neighbours at -2, -1, 1 and 2 steps.
 *
 * Return "same", "one side" at a kink, "tie" where no side agrees, or a message with the differences.
 */
const compare = (derivative, value, [minus2, minus1, plus1, plus2], rounding) => {
  const isClose = (difference, tolerance) =>
    Math.abs(derivative - difference) <= tolerance * Math.abs(difference) + rounding * Math.max(1, Math.abs(value));
  const central = (8 * (plus1 - minus1) - (plus2 - minus2)) / (12 * STEP);
  if (isClose(central, CENTRAL_TOLERANCE)) return "same";
  const fromBelow = (3 * value - 4 * minus1 + minus2) / (2 * STEP);
  const fromAbove = (4 * plus1 - 3 * value - plus2) / (2 * STEP);
  const isKink = Math.abs(fromBelow - fromAbove) > ONE_SIDED_TOLERANCE * Math.abs(central);
  if (isKink && [fromBelow, fromAbove].some((side) => isClose(side, ONE_SIDED_TOLERANCE))) return "one side";
  // A tie between keys of which only some are chosen has no derivative.
  if (isKink) return "tie";
  return `${derivative}, not ${central}; from below ${fromBelow}, from above ${fromAbove}`;
};

/**
 * Check the derivatives of elements of every step with respect to elements of every input.
 *
 * @param json a graph @param count how many elements of an array are checked
 * @returns how many agree on both sides, at a kink or at a tie, and the faults
 */
export const check = (json, count) => {
  const graph = parse(json);
  const isRounded = graph.nodes.some(({ operation }) => operation === "round");
  const rounding = isRounded ? ROUNDING_OF_ROUNDED : ROUNDING;
  const isFloat = (node) => graph.values[node].dtype === "float64";
  const numbers = [...graph.steps].filter(([, node]) => isFloat(node)).flatMap(([step, node]) =>
    sample(graph.values[node], count).map((position) => {
      const index = unravel(position, graph.values[node].shape);
      return { step, node, position, derivatives: gradient(graph, graph.values, { step, index }) };
    })
  );
  const keys = [...graph.inputs, ...[...graph.nodesByName.keys()].filter((key) => key.includes("."))];
  // Several inputs may be the same node.
  const keysByNode = new Map(keys.map((key) => [graph.nodesByName.get(key), key]));
  const counts = { same: 0, "one side": 0, tie: 0 };
  const faults = [];
  for (const [input, key] of keysByNode) {
    if (!isFloat(input)) continue;
    for (const inputPosition of sample(graph.values[input], count)) {
      const shiftedValues = valuesAfterShifts(graph, key, graph.values[input], inputPosition);
      for (const { step, node, position, derivatives } of numbers) {
        const value = graph.values[node].data[position];
        const neighbours = shiftedValues.map((values) => values[node].data[position]);
        const verdict = compare(derivatives[input][inputPosition], value, neighbours, rounding);
        if (verdict in counts) counts[verdict]++;
        else faults.push(`${step}, element ${position}, by ${key}, element ${inputPosition}: ${verdict}`);
      }
    }
  }
  return { counts, faults };
};

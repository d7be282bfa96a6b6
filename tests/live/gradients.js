// Hold derivatives to the differences that small changes of the inputs make.

import { unravel } from "../../docs/assets/live/arrays.js";
import { gradient } from "../../docs/assets/live/gradient.js";
import { evaluate, parse } from "../../docs/assets/live/graph.js";

// A power of two, so that an input as large as 10^9 changes by exactly as much.
const STEP = 2 ** -14;
// How far a quotient of differences may be off: as a share of itself, and by the rounding of values.
const [RELATIVE, ROUNDING] = [1e-6, 1e-9];
// Two examples round to nine decimals, so a value of theirs may be off by half of the last.
const ROUNDED = 1e-9 / STEP;
// Those from one side alone are less exact.
const FROM_ONE_SIDE = 1e-3;

/** At most as many elements of an array as asked for, from the first to the last, that are finite. */
const picked = ({ data }, count) => {
  const apart = Math.max(1, (data.length - 1) / (count - 1));
  const positions = Array.from({ length: Math.min(count, data.length) }, (_, i) => Math.round(i * apart));
  return positions.filter((position) => Number.isFinite(data[position]));
};

/** The values of all nodes when an input is two steps lower, one lower, one higher, two higher. */
const around = (graph, key, array, place) =>
  [-2, -1, 1, 2].map((steps) => {
    const data = array.data.with(place, array.data[place] + steps * STEP);
    return evaluate(graph, new Map([[key, { ...array, data }]])).values;
  });

/** Compare a derivative: "same", "one side" where the number has a kink, or the quotients that it is not. */
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
 * Differentiate elements of every step by elements of every input.
 *
 * @param json a graph @param count how many elements of an array are taken
 * @returns how many were the same, or on one side of a kink, and the faults
 */
export const examine = (json, count) => {
  const graph = parse(json);
  const rounding = graph.nodes.some(({ operation }) => operation === "round") ? 2 * ROUNDED : ROUNDING;
  const isFloat = (node) => graph.values[node].dtype === "float64";
  const numbers = [...graph.steps].filter(([, node]) => isFloat(node)).flatMap(([step, node]) =>
    picked(graph.values[node], count).map((position) => {
      const index = unravel(position, graph.values[node].shape);
      return { step, node, position, derivatives: gradient(graph, graph.values, { step, index }) };
    })
  );
  const keys = [...graph.inputs, ...[...graph.nodesByName.keys()].filter((key) => key.includes("."))];
  const counts = { same: 0, "one side": 0 };
  const faults = [];
  for (const [input, key] of new Map(keys.map((key) => [graph.nodesByName.get(key), key]))) {
    for (const place of isFloat(input) ? picked(graph.values[input], count) : []) {
      const changed = around(graph, key, graph.values[input], place);
      for (const { step, node, position, derivatives } of numbers) {
        const [value, ...values] = [graph.values, ...changed].map((values) => values[node].data[position]);
        const found = compare(derivatives[input][place], value, values, rounding);
        if (found in counts) counts[found]++;
        else faults.push(`${step}, element ${position}, by ${key}, element ${place}: ${found}`);
      }
    }
  }
  return { counts, faults };
};

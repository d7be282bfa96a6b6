// Check every explanation: its numbers give the value, and its parts are all that the value depends on.

import * as arrays from "../../../docs/assets/live/arrays.js";
import { explain } from "../../../docs/assets/live/explain.js";
import * as graph from "../../../docs/assets/live/graph.js";
import * as show from "../../../docs/assets/live/show.js";

const SAMPLE = 6;

/** A seeded linear congruential generator of numbers between 0 and 1. */
const seeded = (seed) => () => {
  seed = (seed * 1664525 + 1013904223) % 2 ** 32;
  return seed / 2 ** 32;
};

const SYMBOLS = [
  [" × ", "*"],
  [" − ", " - "],
  ["−", "-1*"],
  [" = ", "==="],
  [" ≠ ", "!=="],
  [" ≤ ", "<="],
  [" ≥ ", ">="],
  [" // ", "/"],
  [" mod ", "%"],
  [" and ", "&&"],
  [" or ", "||"],
  ["not (", "!("],
  ["²", "**2"],
  ["exp(", "Math.exp("],
  ["^(", "**("],
  ["√(", "Math.sqrt("],
  ["⌈", "Math.ceil("],
  ["⌉", ")"],
  ["argmax(", "largest("],
  ["max(", "Math.max("],
  ["min(", "Math.min("],
  ["tanh(", "Math.tanh("],
  ["log(", "Math.log("],
  ["sin(", "Math.sin("],
  ["acos(", "Math.ACOS("],
  ["cos(", "Math.cos("],
  ["Math.ACOS(", "Math.acos("],
  ["round(", "Math.round("],
];

/** Return a number with all its digits, in the displayed notation and without parentheses. */
const literalOf = ({ value, dtype }) => {
  if (Object.is(value, -0)) return "-0";
  return show.html(value, dtype).includes("×") ? value.toExponential().replace("e", " * 10 ** ") : value;
};

/** Evaluate a line of numbers. */
const calculate = (line) => {
  let bars = 0;
  const code = line.map((piece) => {
    if (typeof piece === "object") return literalOf(piece);
    if (piece === "|") return bars++ % 2 ? ")" : "Math.abs(";
    return SYMBOLS.reduce((text, [symbol, code]) => text.replaceAll(symbol, code), piece);
  });
  const largest = (...numbers) => numbers.indexOf(Math.max(...numbers));
  return Number(new Function("largest", `return ${code.join("")}`)(largest));
};

const same = (one, other) =>
  Object.is(one, other) || one === other || Math.abs(one - other) <= 1e-9 * Math.abs(other) + 1e-15;

/** The text of a line. */
const displayed = (line) =>
  line.map((piece) => (typeof piece === "string" ? piece : piece.step ?? show.html(piece.value, piece.dtype))).join("");

const name = ({ step, index }) => `${step}[${index}]`;

/** Return the faults in the explanations of an example, and what was checked. */
export const check = (json) => {
  const parsed = graph.parse(json);
  const { values, steps, nodesByName: named } = parsed;
  const inputs = [...parsed.inputs, ...[...named.keys()].filter((name) => !steps.has(name))];
  // A literal has the first of its names.
  const nameOf = new Map([...named].toReversed().map(([name, node]) => [node, name]));
  const draw = seeded(17);
  const faults = [];
  const counts = { explained: 0, lines: 0, edited: 0 };
  const explanations = new Map();

  const explained = (cell) => {
    const key = name(cell);
    if (!explanations.has(key)) explanations.set(key, explain(parsed, values, cell.step, cell.index));
    return explanations.get(key);
  };

  /** Return the numbers without parts that a number is ultimately made of. */
  const inputsOf = (cell, path, ends, seen) => {
    const key = name(cell);
    if (path.has(key)) faults.push(`${key} is made of itself`);
    if (path.has(key) || seen.has(key)) return ends;
    seen.add(key);
    const { dependencies: parts } = explained(cell);
    if (!parts.length) ends.add(key);
    path.add(key);
    for (const part of parts) inputsOf(part, path, ends, seen);
    path.delete(key);
    return ends;
  };

  const sample = [...steps].flatMap(([step, node]) => {
    const { shape, data } = values[node];
    const positions = new Set(Array.from({ length: SAMPLE }, () => Math.floor(draw() * data.length)));
    return [...positions].map((position) => ({ step, index: arrays.unravel(position, shape) }));
  });

  for (const cell of sample) {
    counts.explained++;
    const key = name(cell);
    const { shape, data } = values[steps.get(cell.step)];
    const value = data[arrays.ravel(cell.index, shape)];
    const { numbers, dependencies: parts, formula, note, description } = explained(cell);
    for (const line of numbers) {
      counts.lines++;
      if (!same(calculate(line), value)) faults.push(`${key} is ${value}, not ${calculate(line)}`);
    }
    const readings = [formula.slice(2), ...numbers].map(displayed);
    readings.forEach((text, i) => text === readings[i - 1] && faults.push(`${key} says “= ${text}” twice`));
    if (/ at $/.test(readings[0])) faults.push(`${key} is at no place`);
    if (!formula.length && !note.length) faults.push(`${key} says nothing`);
    if (shape.length && !description) faults.push(`${key} has no place`);
    for (const part of parts) {
      const array = values[named.get(part.step)];
      const isCell = array && part.index.every((position, axis) => position < array.shape[axis]);
      if (!isCell || part.index.length !== array.shape.length) faults.push(`${name(part)} of ${key} is no cell`);
    }
    const shown = numbers.flat().filter((piece) => piece.cell);
    const listed = new Set(parts.map(name));
    for (const piece of shown) if (!listed.has(name(piece.cell))) faults.push(`${name(piece.cell)} is no part of ${key}`);

    // Changing all other inputs must not change the number.
    const ends = inputsOf(cell, new Set(), new Set(), new Set());
    const first = inputs.filter((input, i) => inputs.findIndex((other) => named.get(other) === named.get(input)) === i);
    const edits = first.map((input) => {
      const array = values[named.get(input)];
      const edited = array.data.map((value, position) =>
        ends.has(name({ step: nameOf.get(named.get(input)), index: arrays.unravel(position, array.shape) })) ? value : draw() * 4 - 2
      );
      return [input, { ...array, data: edited }];
    });
    const after = graph.evaluate(parsed, new Map(edits)).values[steps.get(cell.step)];
    counts.edited++;
    if (!Object.is(after.data[arrays.ravel(cell.index, shape)], value))
      faults.push(`${key} depends on an input that it does not lead to`);
  }
  return { faults, counts };
};

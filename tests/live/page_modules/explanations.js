// Check explanations: their arithmetic gives the value, and their dependencies are all that it depends on.

import * as arrays from "../../../docs/assets/live/arrays.js";
import { explain } from "../../../docs/assets/live/explain.js";
import * as graph from "../../../docs/assets/live/graph.js";
import * as show from "../../../docs/assets/live/show.js";

// How many numbers of each step are checked.
const SAMPLE_SIZE = 6;
// What the first line of a card holds at the most: some 80 characters, and nothing that only a program says.
const [CARD_WIDTH, JARGON] = [84, /…|\[\d+ × |10¹³|axis=|_mask\(/];

/** Return a generator of random numbers between 0 and 1, a linear congruential one. */
const seededRandom = (seed) => () => {
  seed = (seed * 1664525 + 1013904223) % 2 ** 32;
  return seed / 2 ** 32;
};

// The notation of formulas, and the same in JavaScript, replaced in this order.
const SYMBOLS = [
  [" × ", "*"],
  [" − ", " - "],
  ["−", "-1*"],
  [" = ", "==="],
  [" ≤ ", "<="],
  [" ≥ ", ">="],
  [" and ", "&&"],
  [" or ", "||"],
  ["²", "**2"],
  ["exp(", "Math.exp("],
  ["^(", "**("],
  ["√(", "Math.sqrt("],
  [/√(\d+)/g, "Math.sqrt($1)"],
  ["⌈", "Math.ceil("],
  ["⌉", ")"],
  ["argmax(", "ARGMAX("],
  ["max(", "Math.max("],
  ["maximum(", "Math.max("],
  ["ARGMAX(", "argmax("],
  ["min(", "Math.min("],
  [" mod ", " % "],
  ["tanh(", "Math.tanh("],
  ["log(", "Math.log("],
  ["sin(", "Math.sin("],
  ["acos(", "Math.ACOS("],
  ["cos(", "Math.cos("],
  ["Math.ACOS(", "Math.acos("],
];

/**
 * Write a number with all its digits in JavaScript. A power of ten has no parentheses, as on the page, so that a
 * formula that lacks them gives another value.
 */
const literalOf = ({ value, dtype }) => {
  if (Object.is(value, -0)) return "-0";
  return show.html(value, dtype).includes("×") ? value.toExponential().replace("e", " * 10 ** ") : value;
};

/** Calculate a line of an explanation. */
const calculate = (line) => {
  let isInsideBars = false;
  const code = line.map((piece) => {
    if (typeof piece === "object") return literalOf(piece);
    if (piece === "|") {
      isInsideBars = !isInsideBars;
      return isInsideBars ? "Math.abs(" : ")";
    }
    return SYMBOLS.reduce((text, [symbol, code]) => text.replaceAll(symbol, code), piece);
  });
  const argmax = (...numbers) => numbers.indexOf(Math.max(...numbers));
  return Number(new Function("argmax", `return ${code.join("")}`)(argmax));
};

const isClose = (actual, expected) =>
  Object.is(actual, expected) ||
  actual === expected ||
  Math.abs(actual - expected) <= 1e-9 * Math.abs(expected) + 1e-15;

/** Return the text of a line as a page displays it. */
const displayed = (line) => {
  const textOf = (piece) => (typeof piece === "string" ? piece : piece.step ?? show.html(piece.value, piece.dtype));
  return line.map(textOf).join("");
};

const cellName = ({ step, index }) => `${step}[${index}]`;

/** List the faults of an explanation's texts. */
const textFaults = ({ numbers, formula, note, description }, name, isSingleNumber) => {
  const faults = [];
  const rightSides = [formula.slice(2), ...numbers].map(displayed);
  rightSides.forEach((text, i) => {
    if (text === rightSides[i - 1]) faults.push(`${name} says “= ${text}” twice`);
  });
  const line = displayed(formula).replace(/\b[a-z_]+\.(?=\w)/g, "");
  if (line.length > CARD_WIDTH || JARGON.test(line)) faults.push(`${name} is written “${line}”`);
  if (/ at $/.test(rightSides[0])) faults.push(`${name} is at no position`);
  if (!formula.length && !note.length) faults.push(`${name} has neither formula nor note`);
  if (!isSingleNumber && !description) faults.push(`${name} has no description`);
  return faults;
};

/** List the dependencies that are no cells, and the cells of the formula that are no dependencies. */
const dependencyFaults = ({ numbers, dependencies }, name, { values, nodesByName }) => {
  const isCell = ({ step, index }) => {
    const shape = values[nodesByName.get(step)]?.shape;
    return index.length === shape?.length && index.every((at, axis) => at < shape[axis]);
  };
  const notCells = dependencies.filter((cell) => !isCell(cell));
  const names = new Set(dependencies.map(cellName));
  const unlisted = numbers.flat().filter(({ cell }) => cell && !names.has(cellName(cell)));
  return [
    ...notCells.map((cell) => `${cellName(cell)}, a dependency of ${name}, is no cell`),
    ...unlisted.map(({ cell }) => `${cellName(cell)} is no dependency of ${name}`),
  ];
};

/** Check the explanations of an example: return their faults, and counts of what was checked. */
export const check = (json) => {
  const parsed = graph.parse(json);
  const { values, steps, nodesByName } = parsed;
  const random = seededRandom(17);
  const faults = [];
  const counts = { explained: 0, lines: 0 };
  const explanations = new Map();

  const explainCell = (cell) => {
    const name = cellName(cell);
    if (!explanations.has(name)) explanations.set(name, explain(parsed, values, cell.step, cell.index));
    return explanations.get(name);
  };

  /** Return the names of the cells without dependencies that a cell ultimately depends on. */
  const ultimateDependencies = (cell) => {
    const [names, visited, path] = [new Set(), new Set(), new Set()];
    const visit = (cell) => {
      const name = cellName(cell);
      if (path.has(name)) faults.push(`${name} depends on itself`);
      if (visited.has(name)) return;
      visited.add(name);
      const { dependencies } = explainCell(cell);
      if (!dependencies.length) names.add(name);
      path.add(name);
      dependencies.forEach(visit);
      path.delete(name);
    };
    visit(cell);
    return names;
  };

  // A literal with several names is edited once, and explanations name it by its first step.
  const inputs = [...parsed.inputs, ...[...nodesByName.keys()].filter((name) => !steps.has(name))];
  const inputsByNode = new Map(inputs.map((input) => [nodesByName.get(input), input]));
  const firstNames = new Map([...nodesByName].toReversed().map(([name, node]) => [node, name]));

  /** Return an edit of all input numbers, except some, at random. */
  const editAllExcept = (names) =>
    new Map([...inputsByNode].map(([node, input]) => {
      const { shape, data } = values[node];
      const isKept = (position) =>
        names.has(cellName({ step: firstNames.get(node), index: arrays.unravel(position, shape) }));
      const edited = data.map((value, position) => (isKept(position) ? value : random() * 4 - 2));
      return [input, { ...values[node], data: edited }];
    }));

  const sample = [...steps].flatMap(([step, node]) => {
    const { shape, data } = values[node];
    const positions = new Set(Array.from({ length: SAMPLE_SIZE }, () => Math.floor(random() * data.length)));
    return [...positions].map((position) => ({ step, index: arrays.unravel(position, shape) }));
  });

  for (const cell of sample) {
    counts.explained++;
    const name = cellName(cell);
    const node = steps.get(cell.step);
    const { shape, data } = values[node];
    const position = arrays.ravel(cell.index, shape);
    const value = data[position];
    const explanation = explainCell(cell);
    for (const line of explanation.numbers) {
      counts.lines++;
      if (!isClose(calculate(line), value)) faults.push(`${name} is ${value}, not ${calculate(line)}`);
    }
    faults.push(...textFaults(explanation, name, shape.length === 0));
    faults.push(...dependencyFaults(explanation, name, parsed));
    const { values: valuesAfter } = graph.evaluate(parsed, editAllExcept(ultimateDependencies(cell)));
    if (!Object.is(valuesAfter[node].data[position], value))
      faults.push(`${name} depends on an input that its explanation does not lead to`);
  }
  return { faults, counts };
};

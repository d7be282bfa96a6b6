// Generate a NumPy program that computes an example, with any edits, and prints the same digits.

import { asarray } from "./arrays.js";
import { ATOM, COMPARISON, POWER, PREFIX, SUM, operations } from "./operations.js";
import { python } from "./show.js";

/** @typedef {{code: string, level: number}} Expression Python code and its precedence */
/** @typedef {Map<number, Record<string, any>>} SoftmaxCalls the arguments of softmax, by the node of its result */

const POSITIONAL = new Set(["shape", "axes", "repeats"]);
// Operations that are written where they are used, even if more than once, because they read more easily there.
const INLINE = new Set(["getitem", "matrix_transpose", "full"]);
// Longer expressions are assigned to a variable; longer matrices get a line for each row.
const [LONGEST_EXPRESSION, LONGEST_LITERAL] = [60, 80];

const HEAD = `import numpy as np

np.seterr(all="ignore")`;

const SOFTMAX = `

def softmax(scores, axis=-1):
    peak = np.max(scores, axis=axis, keepdims=True)
    powers = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    return powers / np.maximum(np.sum(powers, axis=axis, keepdims=True), 1)
`;

const SHOW = `

def number(x):
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    x = float(x)
    if not np.isfinite(x):
        return str(x)
    if abs(x) >= 1e9:
        return f"{x:.4e}"
    if x.is_integer():
        return str(int(x))
    fixed = f"{x:.4f}"
    return fixed if float(fixed) else f"{x:.1e}"


def show(**steps):
    for name, array in steps.items():
        print(name)
        print(np.array2string(np.asarray(array), 200, threshold=10**6, formatter={"all": number}))

`;

/**
 * Write an example as a NumPy program.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values from `evaluate`, including edited literals
 * @returns {string}
 */
export const program = (graph, values) => {
  const calls = softmaxCalls(graph);
  const lines = assignments(graph, values, calls);
  const keywords = [...graph.steps.keys()].map((step) => `    ${step}=${step},\n`).join("");
  const functions = `${calls.size ? SOFTMAX : ""}${SHOW}`;
  return `${HEAD}\n${functions}\n# The example ${graph.example}.\n${lines.join("\n")}\n\nshow(\n${keywords})\n`;
};

/** @param {Graph} graph @returns {SoftmaxCalls} */
const softmaxCalls = ({ scopes }) =>
  new Map(scopes.filter(({ call }) => call === "softmax").map((scope) => [scope.results[""], scope.arguments]));

/**
 * Write an assignment for each step, literal, repeated result and long expression.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {SoftmaxCalls} calls
 * @returns {string[]}
 */
const assignments = (graph, values, calls) => {
  const { nodes, steps } = graph;
  const variables = nameVariables(graph);
  /** @param {number} node @returns {number[]} the scores alone for a softmax */
  const inputsOf = (node) => {
    const call = calls.get(node);
    return call ? [call.scores.node] : nodes[node].inputs;
  };
  const uses = countUses(nodes.length, [...steps.values()], inputsOf);
  /** @type {Expression[]} */ const expressions = [];
  /** @type {string[]} */ const lines = [];

  /** @param {number} node */
  const isConstant = (node) => nodes[node].operation === "full";
  /** @param {number} input @param {number} node */
  const hasShapeOf = (input, node) => String(values[input].shape) === String(values[node].shape);
  /** @param {number} node @returns {Expression} */
  const expressionAt = (node) => {
    const { operation, attributes } = nodes[node];
    const inputs = inputsOf(node);
    const call = calls.get(node);
    if (call) return callOf("softmax", [expressions[inputs[0]].code], call.axis === undefined ? {} : { axis: call.axis });
    if (operation === "asarray") return literal(values[node]);
    const operands = inputs.map((input) => expressions[input]);
    // Where another operand has the shape of the result, a constant array can be written as a number.
    const isBroadcasting = operation === "where" || "python" in operations[operation];
    if (isBroadcasting && inputs.some((input) => hasShapeOf(input, node) && !isConstant(input)))
      inputs.forEach((input, i) => {
        if (isConstant(input)) operands[i] = literal({ ...values[input], shape: [] });
      });
    const ranks = inputs.map((input) => values[input].shape.length);
    return operationOf(operation, attributes, operands, ranks);
  };
  for (const node of nodes.keys()) {
    if (!uses[node]) continue;
    const expression = expressionAt(node);
    const isArray = values[node].shape.length > 0;
    const isRepeated = uses[node] > 1 && isArray && !INLINE.has(nodes[node].operation);
    const isLong = expression.code.length > LONGEST_EXPRESSION;
    if (!variables.has(node) && (isRepeated || isLong)) variables.set(node, freeName(graph, variables, node));
    const variable = variables.get(node);
    if (variable) lines.push(`${variable} = ${expression.code}`);
    expressions[node] = variable ? { code: variable, level: ATOM } : expression;
  }
  // Several steps may be the same node, whose variable has the name of the first.
  for (const [step, node] of steps) {
    const variable = variables.get(node);
    if (variable !== step) lines.push(`${step} = ${variable}`);
  }
  return lines;
};

/** @param {Graph} graph @returns {Map<number, string>} variables for steps and shared literals, by node */
const nameVariables = ({ steps, nodesByName }) => {
  const variables = new Map();
  for (const [step, node] of steps) if (!variables.has(node)) variables.set(node, step);
  for (const [name, node] of nodesByName) {
    const shortName = lastPart(name);
    if (!variables.has(node) && !steps.has(shortName)) variables.set(node, shortName);
  }
  return variables;
};

/**
 * Choose a variable for an intermediate result: its name among the results of a public function, or `t` and a number.
 *
 * @param {Graph} graph @param {Map<number, string>} variables that are taken @param {number} node
 */
const freeName = ({ scopes, steps }, variables, node) => {
  const taken = new Set([...steps.keys(), ...variables.values()]);
  const results = scopes.flatMap((scope) => Object.entries(scope.results));
  const names = results.filter(([, result]) => result === node).map(([name]) => lastPart(name));
  return names.find((name) => name && !taken.has(name)) ?? `t${node}`;
};

/** Return the part of a name after its last dot: `X` of `course_sentence.X`. @param {string} name */
const lastPart = (name) => name.slice(name.lastIndexOf(".") + 1);

/**
 * Count how often each node is used, directly by the program or by other nodes in use.
 *
 * @param {number} length the number of nodes @param {number[]} outputs @param {(node: number) => number[]} inputsOf
 */
const countUses = (length, outputs, inputsOf) => {
  const uses = Array(length).fill(0);
  for (const node of outputs) uses[node]++;
  for (let node = length - 1; node >= 0; node--)
    if (uses[node]) for (const input of inputsOf(node)) uses[input]++;
  return uses;
};

/** Write an array as nested lists, or a single number. @param {NDArray} array @returns {Expression} */
const literal = ({ shape, data, dtype }) => {
  if (!shape.length) return { code: digits(data[0], dtype), level: data[0] < 0 ? PREFIX : ATOM };
  let lists = Array.from(data, (value) => digits(value, dtype));
  for (const length of shape.toReversed()) {
    const count = lists.length / length;
    lists = Array.from({ length: count }, (_, i) => `[${lists.slice(i * length, (i + 1) * length).join(", ")}]`);
  }
  const [code] = lists;
  const isLong = shape.length > 1 && code.length > LONGEST_LITERAL;
  const rows = isLong ? code.replaceAll("], [", "],\n    [").replace(/^\[(.*)\]$/s, "[\n    $1,\n]") : code;
  return callOf("array", [rows], dtypeOption(dtype), "np.");
};

/** @param {Dtype} dtype @returns {Record<string, string>} nothing for those that NumPy infers */
const dtypeOption = (dtype) => (dtype === "float64" ? { dtype: "float" } : {});

/** Write a number with all its digits. @param {number} value @param {Dtype} [dtype] */
const digits = (value, dtype) => {
  const text = python(value, dtype).replace(/(inf|nan)/, "np.$1");
  return text.replace(/\.0$/, "");
};

/**
 * Write an operation as an infix operator, a method or a call.
 *
 * @param {string} operation @param {Record<string, any>} attributes
 * @param {Expression[]} inputs @param {number[]} ranks how many axes each input has
 * @returns {Expression}
 */
const operationOf = (operation, attributes, inputs, ranks) => {
  const [first, second] = inputs;
  const codes = inputs.map(({ code }) => code);
  const { python: infix, numpy = operation } = operations[operation];
  if (infix) {
    const [symbol, level] = infix;
    const [left, right] = operandLevels(level);
    return { code: `${parenthesised(first, left)} ${symbol} ${parenthesised(second, right)}`, level };
  }
  switch (operation) {
    case "negative":
      return { code: `-${parenthesised(first, PREFIX)}`, level: PREFIX };
    case "bitwise_invert":
      return { code: `~${parenthesised(first, ATOM)}`, level: PREFIX };
    case "matrix_transpose":
      return { code: `${parenthesised(first, ATOM)}.${ranks[0] > 2 ? "mT" : "T"}`, level: ATOM };
    case "getitem": {
      const array = ranks[0] ? parenthesised(first, ATOM) : `np.asarray(${first.code})`;
      return { code: `${array}[${attributes.index.map(indexEntry).join(", ")}]`, level: ATOM };
    }
    case "astype":
      return { code: `${parenthesised(first, ATOM)}.astype("${attributes.dtype}")`, level: ATOM };
    case "full": {
      const { shape, fill_value, dtype } = attributes;
      const value = digits(asarray(fill_value, dtype).data[0], dtype);
      return callOf("full", [pythonValue(shape), value], dtypeOption(dtype), "np.");
    }
    case "eye":
      return callOf("eye", [attributes.n_rows, attributes.n_cols], { k: attributes.k }, "np.");
    case "arange": {
      const { start, stop, step, dtype } = attributes;
      return callOf("arange", [start, stop, step].map(String), dtypeOption(dtype), "np.");
    }
    case "concat":
    case "stack":
      return callOf(numpy, [`[${codes.join(", ")}]`], attributes, "np.");
    default:
      return callOf(numpy, codes, attributes, "np.");
  }
};

/**
 * Return the lowest precedence that the operands of an infix operator may have without parentheses.
 *
 * @param {number} level of the operator
 */
const operandLevels = (level) => {
  // Python's powers are right-associative, and its comparisons bind less tightly than & and |.
  if (level === POWER) return [ATOM, ATOM];
  if (level <= COMPARISON) return [SUM, SUM];
  return [level, level + 1];
};

/** Write a call of a function. @param {string} name @param {string[]} inputs @param {Record<string, any>} options @returns {Expression} */
const callOf = (name, inputs, options, prefix = "") => {
  const entries = Object.entries(options);
  const positional = entries.filter(([option]) => POSITIONAL.has(option)).map(([, value]) => pythonValue(value));
  const keywords = entries
    .filter(([option]) => !POSITIONAL.has(option))
    .map(([option, value]) => `${option}=${pythonValue(value)}`);
  return { code: `${prefix}${name}(${[...inputs, ...positional, ...keywords].join(", ")})`, level: ATOM };
};

/** Write a list as a tuple, and a boolean as True or False. @param {any} value @returns {string} */
const pythonValue = (value) => {
  if (Array.isArray(value)) return `(${value.join(", ")}${value.length === 1 ? "," : ""})`;
  if (typeof value === "boolean") return value ? "True" : "False";
  return String(value);
};

/** Write an entry of an index: `1`, `None` or `0:2`. @param {Index} entry @returns {string} */
const indexEntry = (entry) => {
  if (entry === null) return "None";
  if (typeof entry !== "object") return String(entry);
  const [start, stop, step] = entry.slice.map((bound) => bound ?? "");
  return `${start}:${stop}${step === "" ? "" : `:${step}`}`;
};

/** Add parentheses below a precedence. @param {Expression} expression @param {number} minimum */
const parenthesised = ({ code, level }, minimum) => (level >= minimum ? code : `(${code})`);

// Generate a NumPy program that computes an example, with any edits, and prints the same digits.

import { asarray } from "./arrays.js";
import { ATOM, COMPARISON, POWER, PREFIX, SUM, operations } from "./operations.js";
import { number, python } from "./show.js";

/** @typedef {{code: string, level: number}} Expression Python code and its precedence */

const POSITIONAL = new Set(["shape", "axes", "repeats"]);
// Read more easily where they are used, even if more than once.
const INLINE = new Set(["getitem", "matrix_transpose", "full"]);
// Longer expressions are assigned to a variable; longer matrices get a line for each row.
const [LONGEST, LINE] = [60, 80];

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
  const { nodes, scopes, steps } = graph;
  const softmaxes = new Map(
    scopes.filter(({ call }) => call === "softmax").map((scope) => [scope.results[""], scope.arguments])
  );
  /** @type {Map<number, string>} */
  const variables = new Map();
  for (const [step, node] of steps) if (!variables.has(node)) variables.set(node, step);
  const taken = new Set(steps.keys());
  for (const [name, node] of graph.nodesByName) {
    const short = name.split(".").at(-1) ?? name;
    if (!variables.has(node) && !taken.has(short)) variables.set(node, short);
  }
  /** @param {number} node @returns {string} the name that a public function gives this result, if free */
  const variableFor = (node) => {
    const results = scopes.flatMap((scope) => Object.entries(scope.results));
    const names = results.filter((result) => result[1] === node).map(([name]) => name.split(".").at(-1) ?? "");
    const name = names.find((name) => name && !taken.has(name)) ?? `t${node}`;
    taken.add(name);
    return name;
  };
  /** @param {number} node */
  const inputsOf = (node) => {
    const call = softmaxes.get(node);
    return call ? [call.scores.node] : nodes[node].inputs;
  };
  /** @param {string} operation @param {number} input @param {number} node @returns {boolean} */
  const broadcastsTo = (operation, input, node) =>
    (nodes[node].operation === "where" || "python" in operations[nodes[node].operation]) &&
    operation !== "full" &&
    String(values[input].shape) === String(values[node].shape);
  const uses = countUses(nodes.length, [...steps.values()], inputsOf);
  /** @type {Expression[]} */
  const expressions = [];
  /** @type {string[]} */
  const lines = [];
  nodes.forEach(({ operation, attributes }, node) => {
    if (!uses[node]) return;
    const operands = inputsOf(node);
    const hasFullShape = operands.some((input) => broadcastsTo(nodes[input].operation, input, node));
    const inputs = operands.map((input) =>
      hasFullShape && nodes[input].operation === "full"
        ? literal({ ...values[input], shape: [] })
        : expressions[input]
    );
    const ranks = operands.map((input) => values[input].shape.length);
    const axis = softmaxes.get(node)?.axis;
    const expression = softmaxes.has(node)
      ? callOf("softmax", [inputs[0].code], axis === undefined ? {} : { axis })
      : operation === "asarray"
        ? literal(values[node])
        : expressionOf(operation, attributes, inputs, ranks);
    const isRepeated = uses[node] > 1 && values[node].shape.length && !INLINE.has(operation);
    const name = variables.get(node) ?? (isRepeated || expression.code.length > LONGEST ? variableFor(node) : null);
    if (name) lines.push(`${name} = ${expression.code}`);
    expressions[node] = name ? { code: name, level: ATOM } : expression;
  });
  for (const [step, node] of steps) {
    const name = variables.get(node);
    if (name !== step) lines.push(`${step} = ${name}`);
  }
  const keywords = [...steps.keys()].map((step) => `    ${step}=${step},\n`).join("");
  const head = `${HEAD}\n${softmaxes.size ? SOFTMAX : ""}${SHOW}`;
  return `${head}\n# The example ${graph.example}.\n${lines.join("\n")}\n\nshow(\n${keywords})\n`;
};

/**
 * Count how often each node is used.
 *
 * @param {number} length @param {number[]} outputs @param {(node: number) => number[]} inputsOf
 */
const countUses = (length, outputs, inputsOf) => {
  const uses = Array(length).fill(0);
  for (const node of outputs) uses[node]++;
  for (let node = length - 1; node >= 0; node--)
    if (uses[node]) for (const input of inputsOf(node)) uses[input]++;
  return uses;
};

/** @param {NDArray} array @returns {Expression} */
const literal = ({ shape, data, dtype }) => {
  if (!shape.length) return { code: digits(data[0], dtype), level: data[0] < 0 ? PREFIX : ATOM };
  const nested = shape.reduceRight(
    (/** @type {string[]} */ rows, length) =>
      Array.from({ length: rows.length / length }, (_, i) =>
        `[${rows.slice(i * length, (i + 1) * length).join(", ")}]`
      ),
    [...data].map((value) => digits(value, dtype))
  );
  const [code] = nested;
  const isLong = shape.length > 1 && code.length > LINE;
  const rows = isLong ? code.replaceAll("], [", "],\n    [").replace(/^\[(.*)\]$/s, "[\n    $1,\n]") : code;
  return callOf("array", [rows], dtype === "float64" ? { dtype: "float" } : {}, "np.");
};

/** @param {number} value @param {Dtype} [dtype] */
const digits = (value, dtype) => {
  const text = python(value, dtype).replace(/(inf|nan)/, "np.$1");
  return text.replace(/\.0$/, "");
};

/**
 * @param {string} operation @param {Record<string, any>} attributes
 * @param {Expression[]} inputs @param {number[]} ranks how many axes each input has
 * @returns {Expression}
 */
const expressionOf = (operation, attributes, inputs, ranks) => {
  const [first, second] = inputs;
  const codes = inputs.map(({ code }) => code);
  const { python: infix, numpy = operation } = operations[operation];
  if (infix) {
    const [symbol, level] = infix;
    // In Python, comparisons bind less tightly than & and |, and powers are right-associative.
    const [left, right] = level === POWER ? [ATOM, ATOM] : level <= COMPARISON ? [SUM, SUM] : [level, level + 1];
    return { code: `${parenthesised(first, left)} ${symbol} ${parenthesised(second, right)}`, level };
  }
  switch (operation) {
    case "negative":
      return { code: `-${parenthesised(first, PREFIX)}`, level: PREFIX };
    case "bitwise_invert":
      return { code: `~${parenthesised(first, ATOM)}`, level: PREFIX };
    case "matrix_transpose":
      return { code: `${parenthesised(first, ATOM)}.${ranks[0] > 2 ? "mT" : "T"}`, level: ATOM };
    case "getitem":
      return {
        code: `${ranks[0] ? parenthesised(first, ATOM) : `np.asarray(${first.code})`}[${attributes.index.map(indexEntry).join(", ")}]`,
        level: ATOM,
      };
    case "astype":
      return { code: `${parenthesised(first, ATOM)}.astype("${attributes.dtype}")`, level: ATOM };
    case "full": {
      const { shape, fill_value, dtype } = attributes;
      const value = digits(asarray(fill_value, dtype).data[0], dtype);
      return callOf("full", [pythonValue(shape), value], dtype === "float64" ? { dtype: "float" } : {}, "np.");
    }
    case "eye":
      return callOf("eye", [attributes.n_rows, attributes.n_cols], { k: attributes.k }, "np.");
    case "arange":
      return callOf(
        "arange",
        [attributes.start, attributes.stop, attributes.step].map(String),
        attributes.dtype === "float64" ? { dtype: "float" } : {},
        "np."
      );
    case "concat":
    case "stack":
      return callOf(numpy, [`[${codes.join(", ")}]`], attributes, "np.");
    default:
      return callOf(numpy, codes, attributes, "np.");
  }
};

/** @param {string} name @param {string[]} inputs @param {Record<string, any>} options @returns {Expression} */
const callOf = (name, inputs, options, prefix = "") => {
  const isKeyword = (/** @type {string} */ option) => !POSITIONAL.has(option);
  const rest = Object.entries(options)
    .sort(([a], [b]) => Number(isKeyword(a)) - Number(isKeyword(b)))
    .map(([option, value]) => `${isKeyword(option) ? `${option}=` : ""}${pythonValue(value)}`);
  return { code: `${prefix}${name}(${[...inputs, ...rest].join(", ")})`, level: ATOM };
};

/** @param {any} value @returns {string} a list as a tuple, a boolean as True or False */
const pythonValue = (value) => {
  if (Array.isArray(value)) return `(${value.join(", ")}${value.length === 1 ? "," : ""})`;
  return typeof value === "boolean" ? number(Number(value), "bool") : String(value);
};

/** @param {Index} entry @returns {string} */
const indexEntry = (entry) => {
  if (entry === null) return "None";
  if (typeof entry !== "object") return String(entry);
  const [start, stop, step] = entry.slice.map((bound) => bound ?? "");
  return `${start}:${stop}${step === "" ? "" : `:${step}`}`;
};

/** @param {Expression} expression @param {number} minimum precedence without parentheses */
const parenthesised = ({ code, level }, minimum) => (level >= minimum ? code : `(${code})`);

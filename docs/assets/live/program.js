// An example, perhaps with edited inputs, as a NumPy program that prints the same digits.

import { asarray } from "./arrays.js";
import { ATOM, COMPARISON, POWER, PREFIX, SUM, operations } from "./operations.js";
import { number, python } from "./show.js";

/** @typedef {{code: string, level: number}} Expression a piece of Python, and how tightly it is bound */

const POSITIONAL = new Set(["shape", "axes", "repeats"]);
// What is read more easily where it is used, even if that is twice.
const INLINE = new Set(["getitem", "matrix_transpose", "full"]);
// A longer expression gets a line of its own.
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
 * Write an example as a program.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values what `evaluate` gave: the literals are written as they are there
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
  for (const [name, node] of graph.named) {
    const short = name.split(".").at(-1) ?? name;
    if (!variables.has(node) && !taken.has(short)) variables.set(node, short);
  }
  /** @param {number} node @returns {string} the name that a public function gives its result */
  const named = (node) => {
    const results = scopes.flatMap((scope) => Object.entries(scope.results));
    const names = results.filter((each) => each[1] === node).map(([name]) => name.split(".").at(-1) ?? "");
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
  const isOfShape = (operation, input, node) =>
    (nodes[node].operation === "where" || "python" in operations[nodes[node].operation]) &&
    operation !== "full" &&
    String(values[input].shape) === String(values[node].shape);
  const uses = counted(nodes.length, [...steps.values()], inputsOf);
  /** @type {Expression[]} */
  const expressions = [];
  /** @type {string[]} */
  const lines = [];
  nodes.forEach(({ operation, attributes }, node) => {
    if (!uses[node]) return;
    const sources = inputsOf(node);
    const isShaped = sources.some((input) => isOfShape(nodes[input].operation, input, node));
    const inputs = sources.map((input) =>
      isShaped && nodes[input].operation === "full"
        ? literal({ ...values[input], shape: [] })
        : expressions[input]
    );
    const ranks = sources.map((input) => values[input].shape.length);
    const axis = softmaxes.get(node)?.axis;
    const found = softmaxes.has(node)
      ? called("softmax", [inputs[0].code], axis === undefined ? {} : { axis })
      : operation === "asarray"
        ? literal(values[node])
        : written(operation, attributes, inputs, ranks);
    const isRepeated = uses[node] > 1 && values[node].shape.length && !INLINE.has(operation);
    const name = variables.get(node) ?? (isRepeated || found.code.length > LONGEST ? named(node) : null);
    if (name) lines.push(`${name} = ${found.code}`);
    expressions[node] = name ? { code: name, level: ATOM } : found;
  });
  for (const [step, node] of steps) {
    const name = variables.get(node);
    if (name !== step) lines.push(`${step} = ${name}`);
  }
  const shown = [...steps.keys()].map((step) => `    ${step}=${step},\n`).join("");
  const head = `${HEAD}\n${softmaxes.size ? SOFTMAX : ""}${SHOW}`;
  return `${head}\n# The example ${graph.example}.\n${lines.join("\n")}\n\nshow(\n${shown})\n`;
};

/**
 * Count how often each node is needed.
 *
 * @param {number} length @param {number[]} wanted @param {(node: number) => number[]} inputsOf
 */
const counted = (length, wanted, inputsOf) => {
  const uses = Array(length).fill(0);
  for (const node of wanted) uses[node]++;
  for (let node = length - 1; node >= 0; node--)
    if (uses[node]) for (const input of inputsOf(node)) uses[input]++;
  return uses;
};

/** @param {NDArray} array @returns {Expression} numbers as they are written in Python */
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
  return called("array", [rows], dtype === "float64" ? { dtype: "float" } : {}, "np.");
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
const written = (operation, attributes, inputs, ranks) => {
  const [one, other] = inputs;
  const codes = inputs.map(({ code }) => code);
  const { python: infix, numpy = operation } = operations[operation];
  if (infix) {
    const [symbol, level] = infix;
    // A comparison binds less tightly than & and | there, and powers go from right to left.
    const [left, right] = level === POWER ? [ATOM, ATOM] : level <= COMPARISON ? [SUM, SUM] : [level, level + 1];
    return { code: `${bound(one, left)} ${symbol} ${bound(other, right)}`, level };
  }
  switch (operation) {
    case "negative":
      return { code: `-${bound(one, PREFIX)}`, level: PREFIX };
    case "bitwise_invert":
      return { code: `~${bound(one, ATOM)}`, level: PREFIX };
    case "matrix_transpose":
      return { code: `${bound(one, ATOM)}.${ranks[0] > 2 ? "mT" : "T"}`, level: ATOM };
    case "getitem":
      return {
        code: `${ranks[0] ? bound(one, ATOM) : `np.asarray(${one.code})`}[${attributes.index.map(entry).join(", ")}]`,
        level: ATOM,
      };
    case "astype":
      return { code: `${bound(one, ATOM)}.astype("${attributes.dtype}")`, level: ATOM };
    case "full": {
      const { shape, fill_value, dtype } = attributes;
      const value = digits(asarray(fill_value, dtype).data[0], dtype);
      return called("full", [tuple(shape), value], dtype === "float64" ? { dtype: "float" } : {}, "np.");
    }
    case "eye":
      return called("eye", [attributes.n_rows, attributes.n_cols], { k: attributes.k }, "np.");
    case "arange":
      return called(
        "arange",
        [attributes.start, attributes.stop, attributes.step].map(String),
        attributes.dtype === "float64" ? { dtype: "float" } : {},
        "np."
      );
    case "concat":
    case "stack":
      return called(numpy, [`[${codes.join(", ")}]`], attributes, "np.");
    default:
      return called(numpy, codes, attributes, "np.");
  }
};

/** @param {string} name @param {string[]} inputs @param {Record<string, any>} options @returns {Expression} */
const called = (name, inputs, options, prefix = "") => {
  const place = (/** @type {string} */ option) => (POSITIONAL.has(option) ? 0 : 1);
  const named = Object.entries(options)
    .sort(([one], [other]) => place(one) - place(other))
    .map(([option, value]) => `${place(option) ? `${option}=` : ""}${tuple(value)}`);
  return { code: `${prefix}${name}(${[...inputs, ...named].join(", ")})`, level: ATOM };
};

/** @param {any} value @returns {string} a list as a tuple, a flag as Python writes it */
const tuple = (value) => {
  if (Array.isArray(value)) return `(${value.join(", ")}${value.length === 1 ? "," : ""})`;
  return typeof value === "boolean" ? number(Number(value), "bool") : String(value);
};

/** @param {Index} entry @returns {string} of an index */
const entry = (entry) => {
  if (entry === null) return "None";
  if (typeof entry !== "object") return String(entry);
  const [start, stop, step] = entry.slice.map((bound) => bound ?? "");
  return `${start}:${stop}${step === "" ? "" : `:${step}`}`;
};

/** @param {Expression} expression @param {number} least */
const bound = ({ code, level }, least) => (level >= least ? code : `(${code})`);

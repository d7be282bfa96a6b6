// The operations of the Python array API that a page can compute, by their names in the standard: what
// they compute, with NumPy's rules, by which slopes they are differentiated, and how they are written,
// in words and in Python. attention_docs/live/library.py records the same ones, and a build that finds
// others stops.

import {
  asarray, broadcasted, common, concat, expanded, filled, flip, getitem, grouped, matmul, parsed, permuted,
  reshape, take, whole,
} from "./arrays.js";

/** @typedef {Record<string, any>} Attributes the keyword arguments of an operation */
/** @typedef {(inputs: NDArray[], attributes: Attributes) => NDArray} Compute */
/** @typedef {((...numbers: number[]) => number[]) | null} Slopes derivatives by all numbers that make one; null if it only jumps */

/**
 * How it is written, if not as `name(...)`.
 *
 * @typedef {object} Words
 * @property {[symbol: string, level: number]} [reads] between two numbers
 * @property {[before: string, after: string]} [around] around one
 * @property {[symbol: string, level: number]} [python] between two arrays
 * @property {string} [numpy] NumPy's name where an older NumPy lacks the standard's
 */

/** @typedef {Words & {kind: "made" | "moves" | "elementwise" | "reduces" | "product", compute: Compute, slopes: Slopes}} Operation */

/** How tightly an expression is bound; matrices side by side, as in X W, as tightly as after a sign. */
export const [OR, AND, COMPARISON, SUM, PRODUCT, PREFIX, POWER, ATOM] = [1, 2, 3, 4, 5, 6, 7, 8];

/** @param {Compute} compute @param {Words} [words] @returns {Operation} that has no inputs */
const made = (compute, words) => ({ kind: "made", compute, slopes: null, ...words });

/** @param {Compute} compute @param {Words} [words] @returns {Operation} each element of whose result is one of an input's */
const moves = (compute, words) => ({ kind: "moves", compute, slopes: null, ...words });

/**
 * Make an operation on arrays from one on numbers.
 *
 * @param {(a: number, b: number, c: number) => number | boolean} compute
 * @param {Slopes} slopes
 * @param {Words & {dtype?: Dtype}} [words] with the dtype of the result if it is not that of the inputs
 * @returns {Operation}
 */
const elementwise = (compute, slopes, { dtype, ...words } = {}) => ({
  kind: "elementwise",
  compute: (inputs) => {
    const [a, b = a, c = a] = broadcasted(inputs);
    const data = a.data.map((_, i) => Number(compute(a.data[i], b.data[i], c.data[i])));
    // The condition of `where` does not count.
    return { shape: a.shape, data, dtype: dtype ?? common(inputs.slice(-2)) };
  },
  slopes,
  ...words,
});

/** @param {string} reads @param {string} python @param {number} level @returns {Words} */
const infix = (reads, python, level) => ({ reads: [reads, level], python: [python, level] });

/** @param {(a: number, b: number) => boolean} compute @param {string} reads @param {string} python */
const comparison = (compute, reads, python) =>
  elementwise(compute, null, { dtype: "bool", ...infix(reads, python, COMPARISON) });

/**
 * @param {(group: Float64Array) => number | boolean} compute
 * @param {(dtype: Dtype) => Dtype} dtypeOf
 * @param {Slopes} slopes
 * @returns {Operation}
 */
const reduces = (compute, dtypeOf, slopes) => ({
  kind: "reduces",
  compute: ([array], attributes) => {
    const { shape, groups } = grouped(array, attributes);
    const data = Float64Array.from(groups, (group) => Number(compute(group)));
    return { shape, data, dtype: dtypeOf(array.dtype) };
  },
  slopes,
});

/** Python's remainder has the sign of the divisor. @param {number} a @param {number} b */
const remainder = (a, b) => {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
};

/** In C, as in NumPy, 1 to the power of NaN is 1. @param {number} a @param {number} b */
const power = (a, b) => {
  if (b === 2) return a * a;
  return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
};

/** Round half to even. @param {number} x */
const round = (x) => {
  const up = Math.round(x);
  return Math.abs(x % 1) === 0.5 && up % 2 !== 0 ? up - 1 : up;
};

/** @param {Float64Array} group */
const total = (group) => group.reduce((sum, element) => sum + element, 0);

/** @param {Float64Array} group @returns {number} where the largest is; NaN counts as larger than all */
const argmax = (group) => {
  const nan = group.findIndex(Number.isNaN);
  return nan < 0 ? group.indexOf(Math.max(...group)) : nan;
};

/** Of equal numbers only the first counts, as in `argmax`. @param {number[]} numbers @param {number} number */
const firstOf = (numbers, number) => {
  const first = numbers.indexOf(number);
  return numbers.map((_, i) => Number(i === first));
};

/** @param {Dtype} dtype */
const same = (dtype) => dtype;
/** @param {Dtype} dtype @returns {Dtype} booleans are counted in integers */
const counting = (dtype) => (dtype === "bool" ? "int64" : dtype);
/** @type {() => Dtype} */ const float64 = () => "float64";
/** @type {() => Dtype} */ const int64 = () => "int64";
/** @type {() => Dtype} */ const bool = () => "bool";
/** @type {{dtype: Dtype}} */ const toFloat = { dtype: "float64" };

/** @type {Record<string, Operation>} */
export const operations = {
  asarray: made((_, { value, dtype }) => asarray(value, dtype)),
  arange: made((_, { start, stop, step = 1, dtype = "int64" }) => {
    const [from, to] = stop == null ? [0, start] : [start, stop];
    const length = Math.max(0, Math.ceil((to - from) / step));
    return filled([length], dtype, (i) => from + i * step);
  }),
  eye: made((_, { n_rows, n_cols, k = 0, dtype = "float64" }) => {
    const columns = n_cols ?? n_rows;
    return filled([n_rows, columns], dtype, (i) => Number(Math.floor(i / columns) + k === i % columns));
  }),
  full: made((_, { shape, fill_value, dtype = "float64" }) =>
    filled([shape].flat(), dtype, () => parsed(fill_value))
  ),

  add: elementwise((a, b) => a + b, () => [1, 1], infix("+", "+", SUM)),
  subtract: elementwise((a, b) => a - b, () => [1, -1], infix("−", "-", SUM)),
  multiply: elementwise((a, b) => a * b, (a, b) => [b, a], infix("×", "*", PRODUCT)),
  divide: elementwise((a, b) => a / b, (a, b) => [1 / b, -a / (b * b)], {
    ...toFloat,
    ...infix("/", "/", PRODUCT),
  }),
  floor_divide: elementwise((a, b) => Math.floor(a / b), null, infix("//", "//", PRODUCT)),
  remainder: elementwise(remainder, (a, b) => [1, -Math.floor(a / b)], infix("mod", "%", PRODUCT)),
  pow: elementwise(power, (a, b) => [b && b * a ** (b - 1), a ? a ** b * Math.log(a) : 0], {
    python: ["**", POWER],
  }),
  maximum: elementwise((a, b) => Math.max(a, b), (a, b) => (a >= b ? [1, 0] : [0, 1])),
  negative: elementwise((a) => -a, () => [-1]),
  abs: elementwise((a) => Math.abs(a), (a) => [Math.sign(a)], { around: ["|", "|"] }),
  sqrt: elementwise((a) => Math.sqrt(a), (a) => [0.5 / Math.sqrt(a)], { ...toFloat, around: ["√(", ")"] }),
  exp: elementwise((a) => Math.exp(a), (a) => [Math.exp(a)], toFloat),
  log: elementwise((a) => Math.log(a), (a) => [1 / a], toFloat),
  sin: elementwise((a) => Math.sin(a), (a) => [Math.cos(a)], toFloat),
  cos: elementwise((a) => Math.cos(a), (a) => [-Math.sin(a)], toFloat),
  acos: elementwise((a) => Math.acos(a), (a) => [-1 / Math.sqrt(1 - a * a)], { ...toFloat, numpy: "arccos" }),
  tanh: elementwise((a) => Math.tanh(a), (a) => [Math.cosh(a) ** -2], toFloat),
  ceil: elementwise((a) => Math.ceil(a), null, { around: ["⌈", "⌉"] }),
  // Examples round to nine decimals, to take off what floats leave. The derivative of these small
  // jumps is 0, and so nothing would seem to matter.
  round: elementwise(round, () => [1]),
  isfinite: elementwise((a) => Number.isFinite(a), null, { dtype: "bool" }),
  equal: comparison((a, b) => a === b, "=", "=="),
  not_equal: comparison((a, b) => a !== b, "≠", "!="),
  less: comparison((a, b) => a < b, "<", "<"),
  less_equal: comparison((a, b) => a <= b, "≤", "<="),
  greater: comparison((a, b) => a > b, ">", ">"),
  greater_equal: comparison((a, b) => a >= b, "≥", ">="),
  bitwise_and: elementwise((a, b) => a && b, null, { dtype: "bool", ...infix("and", "&", AND) }),
  bitwise_or: elementwise((a, b) => a || b, null, { dtype: "bool", ...infix("or", "|", OR) }),
  bitwise_invert: elementwise((a) => !a, null, { dtype: "bool", around: ["not (", ")"] }),
  where: elementwise(
    (chosen, a, b) => (chosen ? a : b),
    (chosen) => (chosen ? [0, 1, 0] : [0, 0, 1])
  ),

  sum: reduces(total, counting, (...numbers) => numbers.map(() => 1)),
  mean: reduces((group) => total(group) / group.length, float64, (...numbers) =>
    numbers.map(() => 1 / numbers.length)
  ),
  max: reduces((group) => Math.max(...group), same, (...numbers) => firstOf(numbers, Math.max(...numbers))),
  min: reduces((group) => Math.min(...group), same, (...numbers) => firstOf(numbers, Math.min(...numbers))),
  argmax: reduces(argmax, int64, null),
  all: reduces((group) => group.every(Boolean), bool, null),
  any: reduces((group) => group.some(Boolean), bool, null),
  // In turns an element of the one factor and an element of the other: each is the other's slope.
  matmul: {
    kind: "product",
    compute: matmul,
    slopes: (...numbers) => numbers.map((_, i) => numbers[i ^ 1]),
    python: ["@", PRODUCT],
  },

  astype: moves(([array], { dtype }) => ({
    ...array,
    data: dtype === "bool" ? array.data.map((x) => Number(x !== 0)) : array.data,
    dtype,
  })),
  getitem: moves(([array], { index }) => getitem(array, index)),
  reshape: moves(([array], { shape }) => reshape(array, shape)),
  permute_dims: moves(([array], { axes }) => permuted(array, axes), { numpy: "transpose" }),
  matrix_transpose: moves(([array]) => {
    const axes = array.shape.map((_, axis) => axis);
    return permuted(array, [...axes.slice(0, -2), axes.length - 1, axes.length - 2]);
  }),
  flip: moves(([array], { axis }) => flip(array, axis)),
  take: moves(([array, places], { axis }) => take(array, places.data, axis ?? 0)),
  repeat: moves(([array], { repeats, axis }) => {
    const flat = axis == null ? reshape(array, [-1]) : array;
    const length = flat.shape[whole(axis ?? 0, flat.shape.length)] * repeats;
    return take(flat, Array.from({ length }, (_, i) => Math.floor(i / repeats)), axis ?? 0);
  }),
  concat: moves(
    (arrays, { axis = 0 }) =>
      axis === null ? concat(arrays.map((array) => reshape(array, [-1])), 0) : concat(arrays, axis),
    { numpy: "concatenate" }
  ),
  stack: moves((arrays, { axis = 0 }) => concat(arrays.map((array) => expanded(array, axis)), axis)),
};

// The operations of the Python array API that a page can compute, by their standard names: how to compute
// them (as NumPy does), their slopes, and how to write them in formulas. The build checks
// that attention_docs/live/library.py records the same operations.

import {
  asarray, broadcastArrays, concat, expandDims, flip, fromFunction, getitem, groupByAxis, matmul,
  normaliseIndex, parseNumber, permuteDims, reshape, resultType, take,
} from "./arrays.js";

/** @typedef {Record<string, any>} Attributes the keyword arguments of an operation */
/** @typedef {(inputs: NDArray[], attributes: Attributes) => NDArray} Compute */
/** @typedef {((...operands: number[]) => number[]) | null} Slopes the partial derivative with respect to each operand; null if piecewise constant */

/**
 * How to write an operation, if not as `name(...)`.
 *
 * @typedef {object} Notation
 * @property {[symbol: string, level: number]} [infix] in formulas, between two numbers
 * @property {[before: string, after: string]} [around] in formulas, around one number
 */

/** @typedef {Notation & {kind: "creation" | "rearrangement" | "elementwise" | "reduction" | "product", compute: Compute, slopes: Slopes}} Operation */

/** Operator precedence, the loosest first; a product of matrices, as in X W, binds like a sign. */
export const [OR, AND, COMPARISON, SUM, PRODUCT, PREFIX, POWER, ATOM] = [1, 2, 3, 4, 5, 6, 7, 8];

/** Describe an operation without inputs. @param {Compute} compute @returns {Operation} */
const creation = (compute) => ({ kind: "creation", compute, slopes: null });

/** Describe an operation that only copies elements. @param {Compute} compute @returns {Operation} */
const rearrangement = (compute) => ({ kind: "rearrangement", compute, slopes: null });

/**
 * Describe an operation that applies a function of numbers to each element of broadcast arrays.
 *
 * @param {(a: number, b: number, c: number) => number | boolean} compute
 * @param {Slopes} slopes
 * @param {Notation & {dtype?: Dtype}} [notation] and the result's dtype, if not that of the inputs
 * @returns {Operation}
 */
const elementwise = (compute, slopes, { dtype, ...notation } = {}) => ({
  kind: "elementwise",
  compute: (inputs) => {
    const [a, b = a, c = a] = broadcastArrays(inputs);
    const data = new Float64Array(a.data.length);
    for (let i = 0; i < data.length; i++) data[i] = Number(compute(a.data[i], b.data[i], c.data[i]));
    // The condition of `where` does not affect the dtype.
    return { shape: a.shape, data, dtype: dtype ?? resultType(inputs.slice(-2)) };
  },
  slopes,
  ...notation,
});

/** Write an operation as an infix operator. @param {string} symbol @param {number} level @returns {Notation} */
const infix = (symbol, level) => ({ infix: [symbol, level] });

/** Describe a comparison of elements. @param {(a: number, b: number) => boolean} compute @param {string} symbol */
const comparison = (compute, symbol) => elementwise(compute, null, { dtype: "bool", ...infix(symbol, COMPARISON) });

/**
 * Describe an operation that combines elements along axes into one.
 *
 * @param {(group: Float64Array) => number | boolean} compute
 * @param {(dtype: Dtype) => Dtype} dtypeOf the dtype of the result
 * @param {Slopes} slopes
 * @returns {Operation}
 */
const reduction = (compute, dtypeOf, slopes) => ({
  kind: "reduction",
  compute: ([array], attributes) => {
    const { shape, groups } = groupByAxis(array, attributes);
    const data = Float64Array.from(groups, (group) => Number(compute(group)));
    return { shape, data, dtype: dtypeOf(array.dtype) };
  },
  slopes,
});

/** As in Python, the remainder has the sign of the divisor. @param {number} a @param {number} b */
const remainder = (a, b) => {
  const truncated = a % b;
  return truncated !== 0 && truncated < 0 !== b < 0 ? truncated + b : truncated;
};

/** As in C and NumPy, 1 to the power of NaN is 1. @param {number} a @param {number} b */
const power = (a, b) => {
  if (b === 2) return a * a;
  return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
};

/** Round half to even. @param {number} x */
const round = (x) => {
  const rounded = Math.round(x); // rounds halves up
  const isTie = Math.abs(x % 1) === 0.5;
  return isTie && rounded % 2 !== 0 ? rounded - 1 : rounded;
};

/** @param {Float64Array} group */
const total = (group) => {
  let sum = 0;
  for (const element of group) sum += element;
  return sum;
};

/** As in NumPy, NaN counts as the largest. @param {Float64Array} group */
const argmax = (group) => {
  const firstNaN = group.findIndex(Number.isNaN);
  return firstNaN < 0 ? group.indexOf(Math.max(...group)) : firstNaN;
};

/** Slopes of `max` and `min`: 1 for the first of equal numbers. @param {number[]} operands @param {number} extreme */
const extremeSlopes = (operands, extreme) => {
  const position = operands.indexOf(extreme);
  return operands.map((_, i) => Number(i === position));
};

/** Slopes of a matrix product, whose operands alternate between the factors: each has its partner as slope. @param {number[]} operands */
const productSlopes = (...operands) => operands.map((_, i) => operands[i % 2 === 0 ? i + 1 : i - 1]);

/** @param {Dtype} dtype */
const sameDtype = (dtype) => dtype;
/** @param {Dtype} dtype @returns {Dtype} NumPy sums booleans as integers */
const sumDtype = (dtype) => (dtype === "bool" ? "int64" : dtype);
/** @type {() => Dtype} */ const float64 = () => "float64";
/** @type {() => Dtype} */ const int64 = () => "int64";
/** @type {() => Dtype} */ const bool = () => "bool";
/** @type {{dtype: Dtype}} */ const toFloat = { dtype: "float64" };

/** @type {Record<string, Operation>} */
export const operations = {
  asarray: creation((_, { value, dtype }) => asarray(value, dtype)),
  arange: creation((_, { start, stop, step = 1, dtype = "int64" }) => {
    const [from, to] = stop == null ? [0, start] : [start, stop];
    const length = Math.max(0, Math.ceil((to - from) / step));
    return fromFunction([length], dtype, (i) => from + i * step);
  }),
  eye: creation((_, { n_rows, n_cols, k = 0, dtype = "float64" }) => {
    const columns = n_cols ?? n_rows;
    return fromFunction([n_rows, columns], dtype, (i) => Number(Math.floor(i / columns) + k === i % columns));
  }),
  full: creation((_, { shape, fill_value, dtype = "float64" }) =>
    fromFunction([shape].flat(), dtype, () => parseNumber(fill_value))
  ),

  add: elementwise((a, b) => a + b, () => [1, 1], infix("+", SUM)),
  subtract: elementwise((a, b) => a - b, () => [1, -1], infix("−", SUM)),
  multiply: elementwise((a, b) => a * b, (a, b) => [b, a], infix("×", PRODUCT)),
  divide: elementwise((a, b) => a / b, (a, b) => [1 / b, -a / (b * b)], {
    ...toFloat,
    ...infix("/", PRODUCT),
  }),
  floor_divide: elementwise((a, b) => Math.floor(a / b), null, infix("//", PRODUCT)),
  remainder: elementwise(remainder, (a, b) => [1, -Math.floor(a / b)], infix("mod", PRODUCT)),
  pow: elementwise(power, (a, b) => [b && b * a ** (b - 1), a ? a ** b * Math.log(a) : 0]),
  maximum: elementwise((a, b) => Math.max(a, b), (a, b) => (a >= b ? [1, 0] : [0, 1])),
  negative: elementwise((a) => -a, () => [-1]),
  abs: elementwise((a) => Math.abs(a), (a) => [Math.sign(a)], { around: ["|", "|"] }),
  sqrt: elementwise((a) => Math.sqrt(a), (a) => [0.5 / Math.sqrt(a)], { ...toFloat, around: ["√(", ")"] }),
  exp: elementwise((a) => Math.exp(a), (a) => [Math.exp(a)], toFloat),
  log: elementwise((a) => Math.log(a), (a) => [1 / a], toFloat),
  sin: elementwise((a) => Math.sin(a), (a) => [Math.cos(a)], toFloat),
  cos: elementwise((a) => Math.cos(a), (a) => [-Math.sin(a)], toFloat),
  acos: elementwise((a) => Math.acos(a), (a) => [-1 / Math.sqrt(1 - a * a)], toFloat),
  tanh: elementwise((a) => Math.tanh(a), (a) => [Math.cosh(a) ** -2], toFloat),
  ceil: elementwise((a) => Math.ceil(a), null, { around: ["⌈", "⌉"] }),
  // Examples round to 13 decimals to remove rounding errors. A slope of 0, though correct, would
  // make every derivative vanish.
  round: elementwise(round, () => [1]),
  isfinite: elementwise((a) => Number.isFinite(a), null, { dtype: "bool" }),
  equal: comparison((a, b) => a === b, "="),
  not_equal: comparison((a, b) => a !== b, "≠"),
  less: comparison((a, b) => a < b, "<"),
  less_equal: comparison((a, b) => a <= b, "≤"),
  greater: comparison((a, b) => a > b, ">"),
  greater_equal: comparison((a, b) => a >= b, "≥"),
  bitwise_and: elementwise((a, b) => a && b, null, { dtype: "bool", ...infix("and", AND) }),
  bitwise_or: elementwise((a, b) => a || b, null, { dtype: "bool", ...infix("or", OR) }),
  bitwise_invert: elementwise((a) => !a, null, { dtype: "bool", around: ["not (", ")"] }),
  where: elementwise(
    (condition, a, b) => (condition ? a : b),
    (condition) => (condition ? [0, 1, 0] : [0, 0, 1])
  ),

  sum: reduction(total, sumDtype, (...operands) => operands.map(() => 1)),
  mean: reduction((group) => total(group) / group.length, float64, (...operands) =>
    operands.map(() => 1 / operands.length)
  ),
  max: reduction((group) => Math.max(...group), sameDtype, (...operands) => extremeSlopes(operands, Math.max(...operands))),
  min: reduction((group) => Math.min(...group), sameDtype, (...operands) => extremeSlopes(operands, Math.min(...operands))),
  argmax: reduction(argmax, int64, null),
  all: reduction((group) => group.every(Boolean), bool, null),
  any: reduction((group) => group.some(Boolean), bool, null),
  matmul: { kind: "product", compute: matmul, slopes: productSlopes },

  astype: rearrangement(([array], { dtype }) => ({
    ...array,
    data: dtype === "bool" ? array.data.map((x) => Number(x !== 0)) : array.data,
    dtype,
  })),
  getitem: rearrangement(([array], { index }) => getitem(array, index)),
  reshape: rearrangement(([array], { shape }) => reshape(array, shape)),
  permute_dims: rearrangement(([array], { axes }) => permuteDims(array, axes)),
  matrix_transpose: rearrangement(([array]) => {
    const axes = array.shape.map((_, axis) => axis);
    return permuteDims(array, [...axes.slice(0, -2), axes.length - 1, axes.length - 2]);
  }),
  flip: rearrangement(([array], { axis }) => flip(array, axis)),
  take: rearrangement(([array, indices], { axis }) => take(array, indices.data, axis ?? 0)),
  repeat: rearrangement(([array], { repeats, axis }) => {
    const flat = axis == null ? reshape(array, [-1]) : array;
    const length = flat.shape[normaliseIndex(axis ?? 0, flat.shape.length)] * repeats;
    return take(flat, Array.from({ length }, (_, i) => Math.floor(i / repeats)), axis ?? 0);
  }),
  concat: rearrangement((arrays, { axis = 0 }) =>
    axis === null ? concat(arrays.map((array) => reshape(array, [-1])), 0) : concat(arrays, axis)
  ),
  stack: rearrangement((arrays, { axis = 0 }) => concat(arrays.map((array) => expandDims(array, axis)), axis)),
};

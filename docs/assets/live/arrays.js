// Small n-dimensional arrays, and the operations of the Python array API that the graphs of the
// examples use, with NumPy's rules for dtypes, broadcasting, NaN and infinities.

/** @typedef {"bool" | "int64" | "float64"} Dtype */

/**
 * @typedef {object} NDArray
 * @property {number[]} shape
 * @property {Float64Array} data the elements, the last axis varying fastest; true is 1
 * @property {Dtype} dtype
 */

/** @typedef {number | null | "..." | {slice: (number | null)[]}} Index one entry of NumPy's index */
/** @typedef {Record<string, any>} Attributes the keyword arguments of an operation */
/** @typedef {(inputs: NDArray[], attributes: Attributes) => NDArray} Operation */

/** @type {Dtype[]} each can represent those before it */
const DTYPES = ["bool", "int64", "float64"];

/** @param {number[]} shape */
export const size = (shape) => shape.reduce((product, length) => product * length, 1);

/** @param {number[]} shape @returns {number[]} how far apart neighbours along each axis lie */
const contiguous = (shape) => shape.map((_, axis) => size(shape.slice(axis + 1)));

/** @param {number} position in the data @param {number[]} shape @returns {number[]} its index */
export const unravel = (position, shape) =>
  contiguous(shape).map((stride, axis) => Math.floor(position / stride) % shape[axis]);

/** @param {number[]} index @param {number[]} shape @returns {number} its position in the data */
export const ravel = (index, shape) =>
  contiguous(shape).reduce((position, stride, axis) => position + index[axis] * stride, 0);

/** @param {number} axis perhaps negative @param {number} axes how many there are */
const whole = (axis, axes) => (axis < 0 ? axis + axes : axis);

/** @param {NDArray[]} arrays @returns {Dtype} the one that all of them fit into */
const common = (arrays) =>
  DTYPES[Math.max(...arrays.map(({ dtype }) => DTYPES.indexOf(dtype)))];

/**
 * Copy the elements of an array to another shape: the one at index (i, j, ...) is found at
 * `offset + i * strides[0] + j * strides[1] + ...`.
 *
 * @param {NDArray} array @param {number[]} shape @param {number[]} strides
 * @returns {NDArray}
 */
const view = ({ data, dtype }, shape, strides, offset = 0) => {
  const copy = new Float64Array(size(shape));
  const index = shape.map(() => 0);
  let position = offset;
  for (let i = 0; i < copy.length; i++) {
    copy[i] = data[position];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      position += strides[axis];
      if (++index[axis] < shape[axis]) break;
      position -= shape[axis] * strides[axis];
      index[axis] = 0;
    }
  }
  return { shape, data: copy, dtype };
};

/** @param {NDArray} array @param {number[]} shape @returns {NDArray} */
const broadcastTo = (array, shape) => {
  const missing = shape.length - array.shape.length;
  const strides = contiguous(array.shape).map((stride, i) => (array.shape[i] === 1 ? 0 : stride));
  return view(array, shape, [...Array(missing).fill(0), ...strides]);
};

/** @param {number[][]} shapes @returns {number[]} the shape that all of them broadcast to */
const broadcast = (shapes) => {
  const axes = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: axes }, (_, axis) => {
    const lengths = shapes.map((shape) => shape[axis - axes + shape.length] ?? 1);
    const length = lengths.find((length) => length !== 1) ?? 1;
    if (lengths.some((other) => other !== 1 && other !== length))
      throw new RangeError(`shapes ${JSON.stringify(shapes)} do not broadcast`);
    return length;
  });
};

/** @param {NDArray[]} arrays @returns {NDArray[]} all of one shape */
export const broadcasted = (arrays) => {
  const shape = broadcast(arrays.map(({ shape }) => shape));
  return arrays.map((array) => broadcastTo(array, shape));
};

/**
 * Make an operation on arrays from one on numbers.
 *
 * @param {(a: number, b: number, c: number) => number | boolean} compute
 * @param {Dtype} [dtype] of the result; that of the inputs if left out
 * @returns {Operation}
 */
const elementwise = (compute, dtype) => (inputs) => {
  const [a, b = a, c = a] = broadcasted(inputs);
  const data = a.data.map((_, i) => Number(compute(a.data[i], b.data[i], c.data[i])));
  return { shape: a.shape, data, dtype: dtype ?? common(inputs) };
};

/** @param {NDArray} array @param {number[]} axes @returns {NDArray} */
const permuted = (array, axes) => {
  const strides = contiguous(array.shape);
  const shape = axes.map((axis) => array.shape[axis]);
  return view(array, shape, axes.map((axis) => strides[axis]));
};

/**
 * Gather what a reduction takes together: the elements along some axes, for each element of the
 * result.
 *
 * @param {NDArray} array @param {Attributes} attributes `axis`: one, several or all; `keepdims`
 * @returns {{shape: number[], groups: Float64Array[]}} the shape of the result, and its groups
 */
export const grouped = (array, { axis, keepdims }) => {
  const all = array.shape.map((_, i) => i);
  const reduced = axis == null ? all : [axis].flat().map((i) => whole(i, all.length));
  const kept = all.filter((i) => !reduced.includes(i));
  const { data } = permuted(array, [...kept, ...reduced]);
  const length = size(reduced.map((i) => array.shape[i]));
  const lengths = kept.map((i) => array.shape[i]);
  return {
    shape: keepdims ? array.shape.map((n, i) => (reduced.includes(i) ? 1 : n)) : lengths,
    groups: Array.from({ length: size(lengths) }, (_, i) =>
      data.subarray(i * length, (i + 1) * length)
    ),
  };
};

/**
 * @param {(group: Float64Array) => number | boolean} compute
 * @param {(dtype: Dtype) => Dtype} dtypeOf
 * @returns {Operation}
 */
const reduction =
  (compute, dtypeOf) =>
  ([array], attributes) => {
    const { shape, groups } = grouped(array, attributes);
    return {
      shape,
      data: Float64Array.from(groups, (group) => Number(compute(group))),
      dtype: dtypeOf(array.dtype),
    };
  };

/** @param {Float64Array} group */
const total = (group) => group.reduce((sum, element) => sum + element, 0);

/** @type {Operation} */
const matmul = ([one, other]) => {
  const left = one.shape.length === 1 ? reshape(one, [1, one.shape[0]]) : one;
  const right = other.shape.length === 1 ? reshape(other, [other.shape[0], 1]) : other;
  const [m, k] = left.shape.slice(-2);
  const [inner, n] = right.shape.slice(-2);
  if (inner !== k) throw new RangeError(`${one.shape} and ${other.shape} have no product`);
  const batch = broadcast([left.shape.slice(0, -2), right.shape.slice(0, -2)]);
  const [rows, columns] = [broadcastTo(left, [...batch, m, k]), broadcastTo(right, [...batch, k, n])];
  const data = new Float64Array(size(batch) * m * n);
  for (let element = 0; element < data.length; element++) {
    const [row, column] = [Math.floor(element / n), element % n];
    const matrix = Math.floor(row / m) * k * n;
    for (let i = 0; i < k; i++) {
      const [a, b] = [rows.data[row * k + i], columns.data[matrix + i * n + column]];
      // NumPy's processor rounds a product only with the sum, so an infinite sum remains one.
      const isLost = Math.abs(data[element]) === Infinity && Number.isFinite(a) && Number.isFinite(b);
      if (!isLost) data[element] += a * b;
    }
  }
  const shape = [...batch, ...(left === one ? [m] : []), ...(right === other ? [n] : [])];
  return { shape, data, dtype: common([one, other]) };
};

/** @param {NDArray} array @param {number[]} shape one length may be -1 @returns {NDArray} */
const reshape = (array, shape) => {
  const rest = array.data.length / -size(shape);
  return { ...array, shape: shape.map((length) => (length < 0 ? rest : length)) };
};

/**
 * @param {NDArray} array @param {Index[]} index
 * @returns {NDArray}
 */
export const getitem = (array, index) => {
  const strides = contiguous(array.shape);
  const named = index.filter((entry) => entry !== null && entry !== "...").length;
  /** @type {Index[]} */
  const others = Array(array.shape.length - named).fill({ slice: [null, null, null] });
  const ellipsis = index.includes("...") ? index.indexOf("...") : index.length;
  const entries = [...index.slice(0, ellipsis), ...others, ...index.slice(ellipsis + 1)];
  /** @type {number[]} */ const shape = [];
  /** @type {number[]} */ const steps = [];
  let [axis, offset] = [0, 0];
  for (const entry of entries) {
    if (entry === null || entry === "...") {
      shape.push(1);
      steps.push(0);
      continue;
    }
    const [length, stride] = [array.shape[axis], strides[axis++]];
    if (typeof entry === "number") {
      if (entry < -length || entry >= length)
        throw new RangeError(`index ${entry} is outside an axis of ${length}`);
      offset += whole(entry, length) * stride;
      continue;
    }
    const { start, count, step } = sliced(entry.slice, length);
    shape.push(count);
    steps.push(step * stride);
    offset += start * stride;
  }
  return view(array, shape, steps, offset);
};

/** @param {(number | null)[]} slice start, stop and step, as in Python @param {number} length */
const sliced = ([from, to, by], length) => {
  const step = by ?? 1;
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  /** @param {number | null} bound @param {number} otherwise */
  const bounded = (bound, otherwise) =>
    bound === null ? otherwise : Math.min(Math.max(whole(bound, length), least), most);
  const start = bounded(from, step > 0 ? least : most);
  const stop = bounded(to, step > 0 ? most : least);
  return { start, step, count: Math.max(0, Math.ceil((stop - start) / step)) };
};

/** @param {NDArray[]} arrays @param {number} at the axis along which they follow one another */
const concat = (arrays, at) => {
  const [{ shape }] = arrays;
  const axis = whole(at, shape.length);
  const lengths = arrays.map((array) => array.shape[axis]);
  const together = lengths.reduce((sum, length) => sum + length, 0);
  const inner = size(shape.slice(axis + 1));
  const data = new Float64Array((size(shape) / shape[axis]) * together);
  let start = 0;
  arrays.forEach((array, i) => {
    const run = lengths[i] * inner;
    for (let block = 0; block * run < array.data.length; block++)
      data.set(array.data.subarray(block * run, (block + 1) * run), block * together * inner + start);
    start += run;
  });
  return { shape: shape.with(axis, together), data, dtype: common(arrays) };
};

/** @param {NDArray} array @param {number} axis where a new axis of length 1 goes */
const expanded = (array, axis) =>
  reshape(array, array.shape.toSpliced(whole(axis, array.shape.length + 1), 0, 1));

/** @param {NDArray} array @param {ArrayLike<number>} places @param {number} at */
const take = (array, places, at) => {
  const axis = whole(at, array.shape.length);
  const front = Array(axis).fill({ slice: [null, null, null] });
  const parts = Array.from(places, (place) => expanded(getitem(array, [...front, place]), axis));
  return concat(parts, axis);
};

/** @param {NDArray} array @param {number | null | undefined} axis all if left out */
const flip = (array, axis) =>
  getitem(
    array,
    array.shape.map((n, i) => ({
      slice: [null, null, axis == null || whole(axis, array.shape.length) === i ? -1 : 1],
    }))
  );

/**
 * Make an array by a rule.
 *
 * @param {number[]} shape @param {Dtype} dtype @param {(position: number) => number} element
 * @returns {NDArray}
 */
export const filled = (shape, dtype, element) => ({
  shape,
  data: Float64Array.from({ length: size(shape) }, (_, position) => element(position)),
  dtype,
});

/** @param {any} value numbers, booleans, and "inf", "-inf", "nan", in lists @param {Dtype} dtype */
export const asarray = (value, dtype) => {
  /** @type {number[]} */ const shape = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  const flat = Array.isArray(value) ? value.flat(Infinity) : [value];
  return filled(shape, dtype, (i) => parsed(flat[i]));
};

/** @param {number | boolean | string} value */
const parsed = (value) =>
  typeof value === "string" ? Number(value.replace("inf", "Infinity")) : Number(value);

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

/** @param {Float64Array} group @returns {number} where the largest is; NaN counts as larger than all */
const argmax = (group) => {
  const nan = group.findIndex(Number.isNaN);
  return nan < 0 ? group.indexOf(Math.max(...group)) : nan;
};

/** @param {Dtype} dtype */
const same = (dtype) => dtype;
/** @param {Dtype} dtype @returns {Dtype} booleans are counted in integers */
const counting = (dtype) => (dtype === "bool" ? "int64" : dtype);

/** @type {Record<string, Operation>} by their names in the standard */
export const operations = {
  // Made from nothing.
  asarray: (_, { value, dtype }) => asarray(value, dtype),
  arange: (_, { start, stop, step = 1, dtype = "int64" }) => {
    const [from, to] = stop == null ? [0, start] : [start, stop];
    const length = Math.max(0, Math.ceil((to - from) / step));
    return filled([length], dtype, (i) => from + i * step);
  },
  eye: (_, { n_rows, n_cols, k = 0, dtype = "float64" }) => {
    const columns = n_cols ?? n_rows;
    return filled([n_rows, columns], dtype, (i) => Number(Math.floor(i / columns) + k === i % columns));
  },
  full: (_, { shape, fill_value, dtype = "float64" }) =>
    filled([shape].flat(), dtype, () => parsed(fill_value)),

  // Element by element.
  add: elementwise((a, b) => a + b),
  subtract: elementwise((a, b) => a - b),
  multiply: elementwise((a, b) => a * b),
  divide: elementwise((a, b) => a / b, "float64"),
  floor_divide: elementwise((a, b) => Math.floor(a / b)),
  remainder: elementwise(remainder),
  pow: elementwise(power),
  maximum: elementwise((a, b) => Math.max(a, b)),
  negative: elementwise((a) => -a),
  abs: elementwise((a) => Math.abs(a)),
  sqrt: elementwise((a) => Math.sqrt(a), "float64"),
  exp: elementwise((a) => Math.exp(a), "float64"),
  log: elementwise((a) => Math.log(a), "float64"),
  sin: elementwise((a) => Math.sin(a), "float64"),
  cos: elementwise((a) => Math.cos(a), "float64"),
  acos: elementwise((a) => Math.acos(a), "float64"),
  tanh: elementwise((a) => Math.tanh(a), "float64"),
  ceil: elementwise((a) => Math.ceil(a)),
  round: elementwise(round),
  isfinite: elementwise((a) => Number.isFinite(a), "bool"),
  equal: elementwise((a, b) => a === b, "bool"),
  not_equal: elementwise((a, b) => a !== b, "bool"),
  less: elementwise((a, b) => a < b, "bool"),
  less_equal: elementwise((a, b) => a <= b, "bool"),
  greater: elementwise((a, b) => a > b, "bool"),
  greater_equal: elementwise((a, b) => a >= b, "bool"),
  bitwise_and: elementwise((a, b) => a && b, "bool"),
  bitwise_or: elementwise((a, b) => a || b, "bool"),
  bitwise_invert: elementwise((a) => !a, "bool"),
  astype: ([array], { dtype }) => ({
    ...array,
    data: dtype === "bool" ? array.data.map((x) => Number(x !== 0)) : array.data,
    dtype,
  }),
  where: ([condition, ...inputs]) =>
    elementwise((chosen, a, b) => (chosen ? a : b), common(inputs))([condition, ...inputs], {}),

  // Several elements to one.
  sum: reduction(total, counting),
  mean: reduction((group) => total(group) / group.length, () => "float64"),
  max: reduction((group) => Math.max(...group), same),
  min: reduction((group) => Math.min(...group), same),
  argmax: reduction(argmax, () => "int64"),
  all: reduction((group) => group.every(Boolean), () => "bool"),
  any: reduction((group) => group.some(Boolean), () => "bool"),
  matmul,

  // Elements to other places.
  getitem: ([array], { index }) => getitem(array, index),
  reshape: ([array], { shape }) => reshape(array, shape),
  permute_dims: ([array], { axes }) => permuted(array, axes),
  matrix_transpose: ([array]) => {
    const axes = array.shape.map((_, axis) => axis);
    return permuted(array, [...axes.slice(0, -2), axes.length - 1, axes.length - 2]);
  },
  flip: ([array], { axis }) => flip(array, axis),
  take: ([array, places], { axis }) => take(array, places.data, axis ?? 0),
  repeat: ([array], { repeats, axis }) => {
    const flat = axis == null ? reshape(array, [-1]) : array;
    const length = flat.shape[whole(axis ?? 0, flat.shape.length)] * repeats;
    return take(flat, Array.from({ length }, (_, i) => Math.floor(i / repeats)), axis ?? 0);
  },
  concat: (arrays, { axis = 0 }) =>
    axis === null ? concat(arrays.map((array) => reshape(array, [-1])), 0) : concat(arrays, axis),
  stack: (arrays, { axis = 0 }) => concat(arrays.map((array) => expanded(array, axis)), axis),
};

/** The operations that only move elements: each element of the result is one of an input's. */
export const MOVES = new Set([
  ...["getitem", "reshape", "permute_dims", "matrix_transpose", "flip"],
  ...["take", "repeat", "concat", "stack", "astype"],
]);

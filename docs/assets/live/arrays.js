// Small n-dimensional arrays with NumPy's rules for dtypes, broadcasting and indexing.

/** @type {Dtype[]} in order of promotion */
const DTYPES = ["bool", "int64", "float64"];

/** @param {number[]} shape */
export const size = (shape) => shape.reduce((product, length) => product * length, 1);

/** @param {number[]} shape @returns {number[]} the strides of a C-contiguous array */
const stridesOf = (shape) => shape.map((_, axis) => size(shape.slice(axis + 1)));

/** @param {number} position in the data @param {number[]} shape @returns {number[]} its index */
export const unravel = (position, shape) =>
  stridesOf(shape).map((stride, axis) => Math.floor(position / stride) % shape[axis]);

/** @param {number[]} index @param {number[]} shape @returns {number} its position in the data */
export const ravel = (index, shape) =>
  stridesOf(shape).reduce((position, stride, axis) => position + index[axis] * stride, 0);

/** @param {number} index of an element or axis, may be negative @param {number} length @returns {number} from 0 */
export const normaliseIndex = (index, length) => (index < 0 ? index + length : index);

/** @param {NDArray[]} arrays @returns {Dtype} the dtype that can represent all of theirs */
export const resultType = (arrays) =>
  DTYPES[Math.max(...arrays.map(({ dtype }) => DTYPES.indexOf(dtype)))];

/**
 * Copy a strided view: element (i, j, ...) is read at `offset + i * strides[0] + j * strides[1] + ...`.
 *
 * @param {NDArray} array @param {number[]} shape @param {number[]} strides
 * @returns {NDArray}
 */
const copyStrided = ({ data, dtype }, shape, strides, offset = 0) => {
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
  const strides = stridesOf(array.shape).map((stride, i) => (array.shape[i] === 1 ? 0 : stride));
  return copyStrided(array, shape, [...Array(missing).fill(0), ...strides]);
};

/** @param {number[][]} shapes @returns {number[]} their common broadcast shape */
const broadcastShapes = (shapes) => {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, axis) => {
    const lengths = shapes.map((shape) => shape[axis - rank + shape.length] ?? 1);
    const length = lengths.find((length) => length !== 1) ?? 1;
    if (lengths.some((other) => other !== 1 && other !== length))
      throw new RangeError(`shapes ${JSON.stringify(shapes)} do not broadcast`);
    return length;
  });
};

/** @param {NDArray[]} arrays @returns {NDArray[]} broadcast to one shape */
export const broadcastArrays = (arrays) => {
  const shape = broadcastShapes(arrays.map(({ shape }) => shape));
  return arrays.map((array) => broadcastTo(array, shape));
};

/** @param {NDArray} array @param {number[]} axes @returns {NDArray} */
export const permuteDims = (array, axes) => {
  const strides = stridesOf(array.shape);
  const shape = axes.map((axis) => array.shape[axis]);
  return copyStrided(array, shape, axes.map((axis) => strides[axis]));
};

/**
 * Group the elements that a reduction combines into each element of its result.
 *
 * @param {NDArray} array @param {Record<string, any>} attributes `axis`: a number, a list, or null for all; `keepdims`
 * @returns {{shape: number[], groups: Float64Array[]}} the shape of the result, and a group for each element
 */
export const groupByAxis = (array, { axis, keepdims }) => {
  const all = array.shape.map((_, i) => i);
  const reduced = axis == null ? all : [axis].flat().map((i) => normaliseIndex(i, all.length));
  const remaining = all.filter((i) => !reduced.includes(i));
  const { data } = permuteDims(array, [...remaining, ...reduced]);
  const groupSize = size(reduced.map((i) => array.shape[i]));
  const outer = remaining.map((i) => array.shape[i]);
  return {
    shape: keepdims ? array.shape.map((n, i) => (reduced.includes(i) ? 1 : n)) : outer,
    groups: Array.from({ length: size(outer) }, (_, i) =>
      data.subarray(i * groupSize, (i + 1) * groupSize)
    ),
  };
};

/** @param {NDArray[]} factors @returns {NDArray} */
export const matmul = ([a, b]) => {
  const left = a.shape.length === 1 ? reshape(a, [1, a.shape[0]]) : a;
  const right = b.shape.length === 1 ? reshape(b, [b.shape[0], 1]) : b;
  const [m, k] = left.shape.slice(-2);
  const [inner, n] = right.shape.slice(-2);
  if (inner !== k) throw new RangeError(`${a.shape} and ${b.shape} have no product`);
  const batch = broadcastShapes([left.shape.slice(0, -2), right.shape.slice(0, -2)]);
  const [rows, columns] = [broadcastTo(left, [...batch, m, k]), broadcastTo(right, [...batch, k, n])];
  const data = new Float64Array(size(batch) * m * n);
  for (let element = 0; element < data.length; element++) {
    const [row, column] = [Math.floor(element / n), element % n];
    const matrix = Math.floor(row / m) * k * n;
    for (let i = 0; i < k; i++) {
      const [x, y] = [rows.data[row * k + i], columns.data[matrix + i * n + column]];
      // NumPy's fused multiply-add keeps an infinite sum, even where the product alone overflows.
      const isAbsorbed = Math.abs(data[element]) === Infinity && Number.isFinite(x) && Number.isFinite(y);
      if (!isAbsorbed) data[element] += x * y;
    }
  }
  const shape = [...batch, ...(left === a ? [m] : []), ...(right === b ? [n] : [])];
  return { shape, data, dtype: resultType([a, b]) };
};

/** @param {NDArray} array @param {number[]} shape one length may be -1: inferred @returns {NDArray} */
export const reshape = (array, shape) => {
  const inferred = array.data.length / -size(shape);
  return { ...array, shape: shape.map((length) => (length < 0 ? inferred : length)) };
};

/**
 * @param {NDArray} array @param {Index[]} index
 * @returns {NDArray}
 */
export const getitem = (array, index) => {
  const strides = stridesOf(array.shape);
  const indexed = index.filter((entry) => entry !== null && entry !== "...").length;
  /** @type {Index[]} */
  const fullSlices = Array(array.shape.length - indexed).fill({ slice: [null, null, null] });
  const ellipsis = index.includes("...") ? index.indexOf("...") : index.length;
  const entries = [...index.slice(0, ellipsis), ...fullSlices, ...index.slice(ellipsis + 1)];
  /** @type {number[]} */ const shape = [];
  /** @type {number[]} */ const newStrides = [];
  let [axis, offset] = [0, 0];
  for (const entry of entries) {
    if (entry === null || entry === "...") {
      shape.push(1);
      newStrides.push(0);
      continue;
    }
    const [length, stride] = [array.shape[axis], strides[axis++]];
    if (typeof entry === "number") {
      if (entry < -length || entry >= length)
        throw new RangeError(`index ${entry} is outside an axis of ${length}`);
      offset += normaliseIndex(entry, length) * stride;
      continue;
    }
    const { start, count, step } = sliceRange(entry.slice, length);
    shape.push(count);
    newStrides.push(step * stride);
    offset += start * stride;
  }
  return copyStrided(array, shape, newStrides, offset);
};

/** @param {(number | null)[]} slice start, stop and step, as in Python @param {number} length */
const sliceRange = ([from, to, by], length) => {
  const step = by ?? 1;
  const [lower, upper] = step > 0 ? [0, length] : [-1, length - 1];
  /** @param {number | null} bound @param {number} fallback */
  const clamped = (bound, fallback) =>
    bound === null ? fallback : Math.min(Math.max(normaliseIndex(bound, length), lower), upper);
  const start = clamped(from, step > 0 ? lower : upper);
  const stop = clamped(to, step > 0 ? upper : lower);
  return { start, step, count: Math.max(0, Math.ceil((stop - start) / step)) };
};

/** @param {NDArray[]} arrays @param {number} at the axis to join along */
export const concat = (arrays, at) => {
  const [{ shape }] = arrays;
  const axis = normaliseIndex(at, shape.length);
  const lengths = arrays.map((array) => array.shape[axis]);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const inner = size(shape.slice(axis + 1));
  const data = new Float64Array((size(shape) / shape[axis]) * total);
  let start = 0;
  arrays.forEach((array, i) => {
    const run = lengths[i] * inner;
    for (let block = 0; block * run < array.data.length; block++)
      data.set(array.data.subarray(block * run, (block + 1) * run), block * total * inner + start);
    start += run;
  });
  return { shape: shape.with(axis, total), data, dtype: resultType(arrays) };
};

/** @param {NDArray} array @param {number} axis the position of the new axis of length 1 */
export const expandDims = (array, axis) =>
  reshape(array, array.shape.toSpliced(normaliseIndex(axis, array.shape.length + 1), 0, 1));

/** @param {NDArray} array @param {ArrayLike<number>} indices @param {number} at the axis */
export const take = (array, indices, at) => {
  const axis = normaliseIndex(at, array.shape.length);
  const leading = Array(axis).fill({ slice: [null, null, null] });
  const slices = Array.from(indices, (index) => expandDims(getitem(array, [...leading, index]), axis));
  return concat(slices, axis);
};

/** @param {NDArray} array @param {number | null | undefined} axis default: all */
export const flip = (array, axis) =>
  getitem(
    array,
    array.shape.map((n, i) => ({
      slice: [null, null, axis == null || normaliseIndex(axis, array.shape.length) === i ? -1 : 1],
    }))
  );

/**
 * Make an array from a function of the position.
 *
 * @param {number[]} shape @param {Dtype} dtype @param {(position: number) => number} element
 * @returns {NDArray}
 */
export const fromFunction = (shape, dtype, element) => ({
  shape,
  data: Float64Array.from({ length: size(shape) }, (_, position) => element(position)),
  dtype,
});

/** @param {any} value nested lists of numbers, booleans, "inf", "-inf" and "nan" @param {Dtype} dtype */
export const asarray = (value, dtype) => {
  /** @type {number[]} */ const shape = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  const flat = Array.isArray(value) ? value.flat(Infinity) : [value];
  return fromFunction(shape, dtype, (i) => parseNumber(flat[i]));
};

/** @param {number | boolean | string} value */
export const parseNumber = (value) =>
  typeof value === "string" ? Number(value.replace("inf", "Infinity")) : Number(value);

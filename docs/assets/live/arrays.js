// Small n-dimensional arrays with NumPy's rules for dtypes, broadcasting and indexing.

/** @type {Dtype[]} in order of promotion */
const DTYPES = ["bool", "int64", "float64"];

/** @param {number[]} shape @returns {number} of elements */
export const size = (shape) => shape.reduce((product, length) => product * length, 1);

/** Return the strides of a C-contiguous array. @param {number[]} shape @returns {number[]} */
const stridesOf = (shape) => shape.map((_, axis) => size(shape.slice(axis + 1)));

/** Convert a position in the data to an index. @param {number} position @param {number[]} shape @returns {number[]} */
export const unravel = (position, shape) =>
  stridesOf(shape).map((stride, axis) => Math.floor(position / stride) % shape[axis]);

/** Convert an index to a position in the data. @param {number[]} index @param {number[]} shape @returns {number} */
export const ravel = (index, shape) =>
  stridesOf(shape).reduce((position, stride, axis) => position + index[axis] * stride, 0);

/** Count a negative index from the end, as Python does. @param {number} index @param {number} length @returns {number} */
export const normaliseIndex = (index, length) => (index < 0 ? index + length : index);

/** Return the dtype that can represent those of all arrays. @param {NDArray[]} arrays @returns {Dtype} */
export const resultType = (arrays) =>
  DTYPES[Math.max(...arrays.map(({ dtype }) => DTYPES.indexOf(dtype)))];

/**
 * Copy a strided view: element (i, j, ...) is read at `offset + i * strides[0] + j * strides[1] + ...`.
 *
 * @param {NDArray} array @param {number[]} shape @param {number[]} strides
 */
const copyStrided = ({ data, dtype }, shape, strides, offset = 0) => {
  const copy = new Float64Array(size(shape));
  const index = shape.map(() => 0);
  const [length, stride] = [shape.at(-1) ?? 1, strides.at(-1) ?? 0];
  let position = offset;
  for (let i = 0; i < copy.length; ) {
    for (let j = 0; j < length; j++) copy[i++] = data[position + j * stride];
    for (let axis = shape.length - 2; axis >= 0; axis--) {
      position += strides[axis];
      if (++index[axis] < shape[axis]) break;
      position -= shape[axis] * strides[axis];
      index[axis] = 0;
    }
  }
  return { shape, data: copy, dtype };
};

/** Broadcast an array to a shape. @param {NDArray} array @param {number[]} shape @returns {NDArray} */
const broadcastTo = (array, shape) => {
  if (String(array.shape) === String(shape)) return array;
  const missing = shape.length - array.shape.length;
  const strides = stridesOf(array.shape).map((stride, i) => (array.shape[i] === 1 ? 0 : stride));
  return copyStrided(array, shape, [...Array(missing).fill(0), ...strides]);
};

/** Return the shape that arrays have after broadcasting. @param {number[][]} shapes @returns {number[]} */
const broadcastShapes = (shapes) => {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, axis) => {
    // Shapes are aligned at their last axis.
    const lengths = shapes.map((shape) => shape[axis - rank + shape.length] ?? 1);
    return lengths.find((length) => length !== 1) ?? 1;
  });
};

/** Broadcast arrays to one shape. @param {NDArray[]} arrays @returns {NDArray[]} */
export const broadcastArrays = (arrays) => {
  const shape = broadcastShapes(arrays.map(({ shape }) => shape));
  return arrays.map((array) => broadcastTo(array, shape));
};

/** Reorder the axes of an array. @param {NDArray} array @param {number[]} axes in their new order @returns {NDArray} */
export const permuteDims = (array, axes) => {
  if (axes.every((axis, i) => axis === i)) return array;
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
  const axes = array.shape.map((_, i) => i);
  const reduced = axis == null ? axes : [axis].flat().map((i) => normaliseIndex(i, axes.length));
  const kept = axes.filter((i) => !reduced.includes(i));
  const { data } = permuteDims(array, [...kept, ...reduced]);
  const groupSize = size(reduced.map((i) => array.shape[i]));
  const keptShape = kept.map((i) => array.shape[i]);
  return {
    shape: keepdims ? array.shape.map((length, i) => (reduced.includes(i) ? 1 : length)) : keptShape,
    groups: Array.from({ length: size(keptShape) }, (_, i) => data.subarray(i * groupSize, (i + 1) * groupSize)),
  };
};

/**
 * Multiply two arrays as NumPy's `matmul` does: vectors as a row or column, and batches broadcast.
 *
 * @param {NDArray[]} factors @returns {NDArray}
 */
export const matmul = ([a, b]) => {
  const left = a.shape.length === 1 ? reshape(a, [1, a.shape[0]]) : a;
  const right = b.shape.length === 1 ? reshape(b, [b.shape[0], 1]) : b;
  const [m, k] = left.shape.slice(-2);
  const n = /** @type {number} */ (right.shape.at(-1));
  // One matrix for the whole batch need not be copied.
  if (b.shape.length === 2 && a.shape.length > 2)
    return reshape(matmul([reshape(a, [-1, k]), b]), [...a.shape.slice(0, -1), n]);
  const batch = broadcastShapes([left.shape.slice(0, -2), right.shape.slice(0, -2)]);
  const [rows, columns] = [broadcastTo(left, [...batch, m, k]), broadcastTo(right, [...batch, k, n])];
  const data = new Float64Array(size(batch) * m * n);
  for (let element = 0; element < data.length; element++) {
    const row = Math.floor(element / n);
    const x = row * k;
    const y = Math.floor(row / m) * k * n + (element % n);
    let sum = 0;
    for (let i = 0; i < k; i++) {
      const product = rows.data[x + i] * columns.data[y + i * n];
      // NumPy's fused multiply-add keeps an infinite sum, even where the product alone overflows.
      const isAbsorbed = !isFinite(sum + product) && Math.abs(sum) === Infinity
        && isFinite(rows.data[x + i]) && isFinite(columns.data[y + i * n]);
      if (!isAbsorbed) sum += product;
    }
    data[element] = sum;
  }
  const shape = [...batch, ...(left === a ? [m] : []), ...(right === b ? [n] : [])];
  return { shape, data, dtype: resultType([a, b]) };
};

/** @param {NDArray} array @param {number[]} shape with one length of -1 if it is to be inferred @returns {NDArray} */
export const reshape = (array, shape) => {
  const inferred = array.data.length / -size(shape); // the size is negative: one length is -1
  return { ...array, shape: shape.map((length) => (length < 0 ? inferred : length)) };
};

/** Select elements as NumPy's basic indexing does. @param {NDArray} array @param {Index[]} index */
export const getitem = (array, index) => {
  const strides = stridesOf(array.shape);
  /** @type {number[]} */ const shape = [];
  /** @type {number[]} */ const newStrides = [];
  let [axis, offset] = [0, 0];
  for (const entry of expandEllipsis(index, array.shape.length)) {
    if (entry === null || entry === "...") {
      shape.push(1);
      newStrides.push(0);
      continue;
    }
    const [length, stride] = [array.shape[axis], strides[axis]];
    axis++;
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

const FULL_SLICE = { slice: [null, null, null] };

/**
 * Add full slices for the axes that an index leaves out: in place of its ellipsis, or at its end.
 *
 * @param {Index[]} index @param {number} rank of the array @returns {Index[]}
 */
const expandEllipsis = (index, rank) => {
  const indexed = index.filter((entry) => entry !== null && entry !== "...").length;
  const ellipsis = index.includes("...") ? index.indexOf("...") : index.length;
  return [...index.slice(0, ellipsis), ...Array(rank - indexed).fill(FULL_SLICE), ...index.slice(ellipsis + 1)];
};

/** Clip a slice to an axis. @param {(number | null)[]} slice start, stop and step, as in Python @param {number} length */
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

/** Join arrays along an axis. @param {NDArray[]} arrays @param {number} signedAxis may be negative @returns {NDArray} */
export const concat = (arrays, signedAxis) => {
  const [{ shape }] = arrays;
  const axis = normaliseIndex(signedAxis, shape.length);
  const total = arrays.reduce((sum, array) => sum + array.shape[axis], 0);
  const innerSize = size(shape.slice(axis + 1));
  const resultShape = shape.with(axis, total);
  const data = new Float64Array(size(resultShape));
  // For each index of the outer axes, an array holds one contiguous block.
  let start = 0;
  for (const array of arrays) {
    const blockSize = array.shape[axis] * innerSize;
    for (let i = 0; i * blockSize < array.data.length; i++)
      data.set(array.data.subarray(i * blockSize, (i + 1) * blockSize), i * total * innerSize + start);
    start += blockSize;
  }
  return { shape: resultShape, data, dtype: resultType(arrays) };
};

/** Insert an axis of length 1. @param {NDArray} array @param {number} axis its index in the new shape */
export const expandDims = (array, axis) =>
  reshape(array, array.shape.toSpliced(normaliseIndex(axis, array.shape.length + 1), 0, 1));

/** Select slices along an axis. @param {NDArray} array @param {ArrayLike<number>} indices @param {number} signedAxis */
export const take = (array, indices, signedAxis) => {
  const axis = normaliseIndex(signedAxis, array.shape.length);
  const leading = Array(axis).fill(FULL_SLICE);
  const slices = Array.from(indices, (index) => expandDims(getitem(array, [...leading, index]), axis));
  return concat(slices, axis);
};

/** Reverse the order of elements. @param {NDArray} array @param {number | null | undefined} axis default: all axes */
export const flip = (array, axis) => {
  const { shape } = array;
  const isFlipped = (/** @type {number} */ i) => axis == null || normaliseIndex(axis, shape.length) === i;
  return getitem(array, shape.map((_, i) => ({ slice: [null, null, isFlipped(i) ? -1 : 1] })));
};

/**
 * Make an array from a function of the position.
 *
 * @param {number[]} shape @param {Dtype} dtype @param {(position: number) => number} element
 */
export const fromFunction = (shape, dtype, element) => ({
  shape,
  data: Float64Array.from({ length: size(shape) }, (_, position) => element(position)),
  dtype,
});

/** Convert nested lists of numbers, booleans, "inf", "-inf" and "nan". @param {any} value @param {Dtype} dtype */
export const asarray = (value, dtype) => {
  /** @type {number[]} */ const shape = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  const flat = Array.isArray(value) ? value.flat(Infinity) : [value];
  return fromFunction(shape, dtype, (i) => parseNumber(flat[i]));
};

/** @param {number | boolean | string} value */
export const parseNumber = (value) =>
  typeof value === "string" ? Number(value.replace("inf", "Infinity")) : Number(value);

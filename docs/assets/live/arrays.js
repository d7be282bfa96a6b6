// Small n-dimensional arrays, with NumPy's rules for dtypes, broadcasting and indices.

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
export const whole = (axis, axes) => (axis < 0 ? axis + axes : axis);

/** @param {NDArray[]} arrays @returns {Dtype} the one that all of them fit into */
export const common = (arrays) =>
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

/** @param {NDArray} array @param {number[]} axes @returns {NDArray} */
export const permuted = (array, axes) => {
  const strides = contiguous(array.shape);
  const shape = axes.map((axis) => array.shape[axis]);
  return view(array, shape, axes.map((axis) => strides[axis]));
};

/**
 * Gather what a reduction takes together: the elements along some axes, for each element of the
 * result.
 *
 * @param {NDArray} array @param {Record<string, any>} attributes `axis`: one, several or all; `keepdims`
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

/** @param {NDArray[]} factors @returns {NDArray} */
export const matmul = ([one, other]) => {
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
export const reshape = (array, shape) => {
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
export const concat = (arrays, at) => {
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
export const expanded = (array, axis) =>
  reshape(array, array.shape.toSpliced(whole(axis, array.shape.length + 1), 0, 1));

/** @param {NDArray} array @param {ArrayLike<number>} places @param {number} at */
export const take = (array, places, at) => {
  const axis = whole(at, array.shape.length);
  const front = Array(axis).fill({ slice: [null, null, null] });
  const parts = Array.from(places, (place) => expanded(getitem(array, [...front, place]), axis));
  return concat(parts, axis);
};

/** @param {NDArray} array @param {number | null | undefined} axis all if left out */
export const flip = (array, axis) =>
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
export const parsed = (value) =>
  typeof value === "string" ? Number(value.replace("inf", "Infinity")) : Number(value);

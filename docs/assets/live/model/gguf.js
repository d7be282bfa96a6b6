// Reads GGUF, the file format of llama.cpp: settings, and tensors whose rows stay in their 4 or 8 bits.

/** @typedef {{ shape: number[], type: number, offset: number }} Tensor the first axis varies fastest, so it is that of the inputs */

// The numbers of types in the file. Those of settings are indices of this list, but for strings and lists.
const NUMBERS = ["Uint8", "Int8", "Uint16", "Int16", "Uint32", "Int32", "Float32", "Uint8", "", "", "BigUint64", "BigInt64", "Float64"];
const STRING = 8;
const LIST = 9;
const UINT32 = 4;
const UINT64 = 10;
const FLOAT32 = 0;
const Q4_1 = 3;
const Q8_0 = 8;
// Blocks of so many numbers share a scale.
const BLOCK = 32;
const ALIGNMENT = 32; // of the tensors, in bytes
const HEADER = 8; // the bytes before the numbers of tensors and settings

// The values of all 65,536 numbers of 16 bits.
const halves = Float32Array.from({ length: 1 << 16 }, (_, bits) => {
  const [sign, exponent, mantissa] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, (bits & 1023) / 1024];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + mantissa) : 2 ** -14 * mantissa);
});

/** Read the settings of a file, and where its tensors begin. @param {Uint8Array} bytes */
export const readHeader = (bytes) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const utf8 = new TextDecoder();
  let position = HEADER;
  /** @param {number} type @returns {any} */
  const read = (type) => {
    if (type === LIST) {
      const [inner, length] = [read(UINT32), read(UINT64)];
      return Array.from({ length }, () => read(inner));
    }
    if (type === STRING) {
      const length = read(UINT64);
      position += length;
      return utf8.decode(bytes.subarray(position - length, position));
    }
    const name = NUMBERS[type];
    const value = /** @type {any} */ (view)[`get${name}`](position, true);
    position += Number(/\d+/.exec(name)) / 8;
    return Number(value);
  };
  const [tensorCount, settingCount] = [read(UINT64), read(UINT64)];
  /** @type {Record<string, any>} */
  const settings = {};
  for (let i = 0; i < settingCount; i++) {
    const name = read(STRING);
    settings[name] = read(read(UINT32));
  }
  /** @type {Record<string, Tensor>} */
  const tensors = {};
  for (let i = 0; i < tensorCount; i++) {
    const name = read(STRING);
    const shape = Array.from({ length: read(UINT32) }, () => read(UINT64));
    tensors[name] = { shape, type: read(UINT32), offset: read(UINT64) };
  }
  const start = Math.ceil(position / ALIGNMENT) * ALIGNMENT;
  for (const tensor of Object.values(tensors)) tensor.offset += start;
  return { settings, tensors };
};

/** Write a row of a tensor into an array of numbers. @param {Uint8Array} bytes @param {Tensor} tensor @param {number} index @param {Float32Array} row */
export const readRow = (bytes, { shape, type, offset }, index, row) => {
  const blocks = shape[0] / BLOCK;
  if (type === Q4_1) {
    // A scale, the smallest number, and 16 bytes with two numbers each: one of the first half, and one of the second.
    for (let block = 0, at = offset + index * blocks * 20; block < blocks; block++, at += 20) {
      const scale = halves[bytes[at] | (bytes[at + 1] << 8)];
      const smallest = halves[bytes[at + 2] | (bytes[at + 3] << 8)];
      for (let i = 0, to = block * BLOCK; i < 16; i++, to++) {
        const pair = bytes[at + 4 + i];
        row[to] = scale * (pair & 15) + smallest;
        row[to + 16] = scale * (pair >> 4) + smallest;
      }
    }
  } else if (type === Q8_0) {
    // A scale, and 32 whole numbers.
    for (let block = 0, at = offset + index * blocks * 34; block < blocks; block++, at += 34) {
      const scale = halves[bytes[at] | (bytes[at + 1] << 8)];
      for (let i = 0, to = block * BLOCK; i < BLOCK; i++, to++) row[to] = scale * ((bytes[at + 2 + i] << 24) >> 24);
    }
  } else if (type === FLOAT32) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + offset + 4 * index * shape[0]);
    for (let i = 0; i < shape[0]; i++) row[i] = view.getFloat32(4 * i, true);
  } else throw new Error(`a tensor has the type ${type}; expected F32, Q4_1 or Q8_0`);
  return row;
};

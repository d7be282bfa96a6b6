// A language model of the Llama family, as in attention_docs/model/llama.py, straight from the bytes of its file.
// Arrays are flat: rows of tokens, each with the features of its heads side by side.

import { readHeader, readRow } from "./gguf.js";

/** @typedef {{ query: Float32Array, key: Float32Array, value: Float32Array, weights: Float32Array, hidden: Float32Array }} LayerSteps
 * keys and values include those of earlier tokens; the weights are (heads, new tokens, all tokens) */

export class Llama {
  /** @param {Uint8Array} bytes of a GGUF file */
  constructor(bytes) {
    const { settings, tensors } = readHeader(bytes);
    this.bytes = bytes;
    this.settings = settings;
    this.tensors = tensors;
    this.heads = settings["llama.attention.head_count"];
    this.kvHeads = settings["llama.attention.head_count_kv"];
    this.width = settings["llama.embedding_length"];
    this.layers = settings["llama.block_count"];
    this.features = settings["llama.rope.dimension_count"] ?? this.width / this.heads;
    this.base = settings["llama.rope.freq_base"] ?? 10000;
    this.epsilon = settings["llama.attention.layer_norm_rms_epsilon"];
  }

  /** Yield the steps of each layer. @param {number[]} tokens @param {LayerSteps[]} cache of all earlier tokens @param {Set<number>} cut heads whose outputs become zero, as layer * heads + head @returns {Generator<LayerSteps>} */
  *run(tokens, cache = [], cut = new Set()) {
    const { width } = this;
    const keyWidth = this.kvHeads * this.features;
    const first = cache.length ? cache[0].key.length / keyWidth : 0;
    const x = new Float32Array(tokens.length * width);
    tokens.forEach((token, i) => readRow(this.bytes, this.tensors["token_embd.weight"], token, x.subarray(i * width, (i + 1) * width)));
    for (let layer = 0; layer < this.layers; layer++) {
      /** @param {string} name */
      const tensor = (name) => `blk.${layer}.${name}.weight`;
      const normed = this.#norm(x, tensor("attn_norm"));
      const query = this.#rotate(this.#multiply(normed, tensor("attn_q")), this.heads, first);
      const newKey = this.#rotate(this.#multiply(normed, tensor("attn_k")), this.kvHeads, first);
      const key = join(cache[layer]?.key, newKey);
      const value = join(cache[layer]?.value, this.#multiply(normed, tensor("attn_v")));
      const { weights, output } = this.#attend(query, key, value, first, (head) => cut.has(layer * this.heads + head));
      add(x, this.#multiply(output, tensor("attn_output")));
      const normedAgain = this.#norm(x, tensor("ffn_norm"));
      const gated = this.#multiply(normedAgain, tensor("ffn_gate"));
      const up = this.#multiply(normedAgain, tensor("ffn_up"));
      gated.forEach((gate, i) => (gated[i] = (gate / (1 + Math.exp(-gate))) * up[i]));
      add(x, this.#multiply(gated, tensor("ffn_down")));
      yield { query, key, value, weights, hidden: x };
    }
  }

  /** Return the logits of the token after the last one. @param {Float32Array} hidden the output of the last layer */
  logits(hidden) {
    const name = this.tensors["output.weight"] ? "output.weight" : "token_embd.weight";
    return this.#multiply(this.#norm(hidden.subarray(-this.width), "output_norm.weight"), name);
  }

  /** @param {Float32Array} x @param {string} name */
  #norm(x, name) {
    const { width } = this;
    const weights = readRow(this.bytes, this.tensors[name], 0, new Float32Array(width));
    const result = new Float32Array(x.length);
    for (let start = 0; start < x.length; start += width) {
      let squares = 0;
      for (let i = 0; i < width; i++) squares += x[start + i] ** 2;
      const factor = 1 / Math.sqrt(squares / width + this.epsilon);
      for (let i = 0; i < width; i++) result[start + i] = x[start + i] * factor * weights[i];
    }
    return result;
  }

  /** Multiply rows by a matrix, each of whose rows leaves its few bits once for all tokens. @param {Float32Array} rows @param {string} name */
  #multiply(rows, name) {
    const tensor = this.tensors[name];
    const [inputs, outputs] = tensor.shape;
    const weights = new Float32Array(inputs);
    const result = new Float32Array((rows.length / inputs) * outputs);
    for (let output = 0; output < outputs; output++) {
      readRow(this.bytes, tensor, output, weights);
      for (let start = 0, to = output; start < rows.length; start += inputs, to += outputs) {
        // Four sums at once, because a single one would wait for itself.
        let [a, b, c, d] = [0, 0, 0, 0];
        for (let i = 0; i < inputs; i += 4) {
          a += weights[i] * rows[start + i];
          b += weights[i + 1] * rows[start + i + 1];
          c += weights[i + 2] * rows[start + i + 2];
          d += weights[i + 3] * rows[start + i + 3];
        }
        result[to] = a + b + c + d;
      }
    }
    return result;
  }

  /** Turn neighbouring features by the positions, in place. @param {Float32Array} rows @param {number} heads @param {number} first the position of the first row */
  #rotate(rows, heads, first) {
    const { features } = this;
    const width = heads * features;
    for (let i = 0; i < rows.length; i += 2) {
      const position = first + Math.floor(i / width);
      const angle = position * this.base ** (-(i % features) / features);
      const [cos, sin, a, b] = [Math.cos(angle), Math.sin(angle), rows[i], rows[i + 1]];
      rows[i] = a * cos - b * sin;
      rows[i + 1] = a * sin + b * cos;
    }
    return rows;
  }

  /** Attend causally in all heads. @param {Float32Array} query @param {Float32Array} key @param {Float32Array} value @param {number} first @param {(head: number) => boolean} isCut */
  #attend(query, key, value, first, isCut) {
    const { heads, kvHeads, features } = this;
    const m = query.length / (heads * features);
    const n = first + m;
    const weights = new Float32Array(heads * m * n);
    const output = new Float32Array(query.length);
    for (let head = 0; head < heads; head++) {
      const keyStart = Math.floor((head * kvHeads) / heads) * features;
      for (let i = 0; i < m; i++) {
        const start = (i * heads + head) * features;
        const row = weights.subarray((head * m + i) * n, (head * m + i) * n + first + i + 1);
        row.forEach((_, j) => (row[j] = dot(query, start, key, j * kvHeads * features + keyStart, features) / Math.sqrt(features)));
        softmax(row);
        if (isCut(head)) continue;
        row.forEach((weight, j) => {
          const from = j * kvHeads * features + keyStart;
          for (let f = 0; f < features; f++) output[start + f] += weight * value[from + f];
        });
      }
    }
    return { weights, output };
  }
}

/** @param {Float32Array} a @param {number} startA @param {Float32Array} b @param {number} startB @param {number} length */
const dot = (a, startA, b, startB, length) => {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += a[startA + i] * b[startB + i];
  return sum;
};

/** Replace scores by their softmax. @param {Float32Array} row */
export const softmax = (row) => {
  const largest = row.reduce((a, b) => Math.max(a, b), -Infinity);
  let total = 0;
  for (let i = 0; i < row.length; i++) total += row[i] = Math.exp(row[i] - largest);
  for (let i = 0; i < row.length; i++) row[i] /= total;
  return row;
};

/** @param {Float32Array} x @param {Float32Array} y is added to it */
const add = (x, y) => y.forEach((number, i) => (x[i] += number));

/** @param {Float32Array | undefined} before @param {Float32Array} after */
const join = (before, after) => {
  if (!before) return after;
  const both = new Float32Array(before.length + after.length);
  both.set(before);
  both.set(after, before.length);
  return both;
};

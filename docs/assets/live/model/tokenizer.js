// Byte pairs, as in attention_docs/model/tokenizer.py.

// GPT-2's pattern. Each number is a piece of its own, and white space leaves its last space to the word after it.
const NUMBER = /(\p{N})/u;
const WORD = /'(?:[sdmt]|ll|ve|re)| ?[\p{L}\p{N}]+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
// Types of special tokens, which are matched literally.
const SPECIAL = [3, 4];

// The printable character that stands for each byte.
const characters = (() => {
  let substitute = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCodePoint(isPrintable ? byte : substitute++);
  });
})();
const bytesOf = new Map(characters.map((character, byte) => [character, byte]));

export class Tokenizer {
  /** @param {Record<string, any>} settings of a GGUF file */
  constructor(settings) {
    /** @type {string[]} */
    this.tokens = settings["tokenizer.ggml.tokens"];
    this.ids = new Map(this.tokens.map((token, id) => [token, id]));
    /** @type {Map<string, number>} */
    this.ranks = new Map(settings["tokenizer.ggml.merges"].map((/** @type {string} */ pair, /** @type {number} */ rank) => [pair, rank]));
    const kinds = settings["tokenizer.ggml.token_type"];
    this.special = new Set(this.tokens.filter((_, id) => SPECIAL.includes(kinds[id])));
  }

  /** @param {string} text @returns {number[]} */
  encode(text) {
    const special = [...this.special].sort((a, b) => b.length - a.length).find((token) => text.includes(token));
    if (special) {
      const at = text.indexOf(special);
      return [...this.encode(text.slice(0, at)), this.ids.get(special) ?? 0, ...this.encode(text.slice(at + special.length))];
    }
    return text.split(NUMBER).flatMap((part, i) => (i % 2 ? [part] : (part.match(WORD) ?? []))).flatMap((piece) => this.#encodePiece(piece));
  }

  /** Convert ids to text; incomplete UTF-8 becomes U+FFFD. @param {number[]} ids */
  decode(ids) {
    const bytes = ids.flatMap((id) => {
      const token = this.tokens[id];
      return this.special.has(token) ? [...new TextEncoder().encode(token)] : [...token].map((character) => bytesOf.get(character) ?? 0);
    });
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
  }

  /** Join the adjacent pair with the lowest rank, wherever it occurs, until no pair has a rank. @param {string} piece */
  #encodePiece(piece) {
    let parts = [...new TextEncoder().encode(piece)].map((byte) => characters[byte]);
    for (;;) {
      const pairs = parts.slice(1).map((part, i) => `${parts[i]} ${part}`).filter((pair) => this.ranks.has(pair));
      if (!pairs.length) break;
      const [first, second] = pairs.reduce((a, b) => (this.#rank(b) < this.#rank(a) ? b : a)).split(" ");
      /** @type {string[]} */
      const merged = [];
      for (const part of parts)
        if (part === second && merged.at(-1) === first) merged[merged.length - 1] = first + second;
        else merged.push(part);
      parts = merged;
    }
    return parts.map((part) => {
      const id = this.ids.get(part);
      if (id === undefined) throw new Error(`“${piece}” has a byte that is not a token`);
      return id;
    });
  }

  /** @param {string} pair */
  #rank(pair) {
    return this.ranks.get(pair) ?? Infinity;
  }
}

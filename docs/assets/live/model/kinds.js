// What heads do, as in attention_docs/model/heads.py.

/** Return pairs of positions by kind: a head is of this kind if the first gives much weight to the second. @param {string[]} texts of the tokens @param {number[]} ids @returns {Record<string, [number, number][]>} */
const pairsByKind = (texts, ids) => {
  /** The position of the first token of each token's word. @type {number[]} */
  const starts = [];
  texts.forEach((text, i) => starts.push(i && /^\p{L}/u.test(text) && /\p{L}$/u.test(texts[i - 1]) ? starts[i - 1] : i));
  /** @param {(i: number) => number} partner @returns {[number, number][]} */
  const pairs = (partner) => ids.slice(1).map((_, i) => [i + 1, partner(i + 1)]);
  return {
    "Previous token": pairs((i) => i - 1),
    // The token after the last earlier copy.
    Induction: pairs((i) => ids.lastIndexOf(ids[i], i - 1) + 1).filter(([, j]) => j > 0),
    // Not the second token of a word, where this would be the previous token.
    "First of a word": pairs((i) => starts[i]).filter(([i, j]) => j > 0 && j <= i - 2),
    Sink: pairs(() => 0),
  };
};

/** Return the strongest head of each kind that the sentence can show. @param {Float32Array[]} layers weights, (heads, n, n) @param {number} heads @param {string[]} texts of the tokens @param {number[]} ids */
export const strongestByKind = (layers, heads, texts, ids) => {
  const kinds = Object.entries(pairsByKind(texts, ids)).filter(([, pairs]) => pairs.length);
  return kinds.map(([kind, pairs]) => {
    let best = { kind, layer: 0, head: 0, score: -1 };
    layers.forEach((weights, layer) => {
      for (let head = 0; head < heads; head++) {
        const total = pairs.reduce((sum, [i, j]) => sum + weights[(head * ids.length + i) * ids.length + j], 0);
        const score = total / pairs.length;
        if (score > best.score) best = { kind, layer, head, score };
      }
    });
    return best;
  });
};

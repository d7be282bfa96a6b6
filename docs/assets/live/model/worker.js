// The real model, in a worker, so that the page stays alive while it computes. It answers three requests: read a
// sentence, explain a row of weights, and write on.

import { strongestByKind } from "./kinds.js";
import { Llama, softmax } from "./llama.js";
import { fetchParts } from "./parts.js";
import { Tokenizer } from "./tokenizer.js";

const [MAX_TOKENS, NEXT_TOKENS] = [40, 10];

/** @type {Llama} */
let model;
/** @type {Tokenizer} */
let tokenizer;
/** The sentence that was read last. @type {{ length: number, steps: import("./llama.js").LayerSteps[], cut: Set<number> }} */
let sentence;
/** The probabilities of the token after it if no head is cut. @type {Float32Array} */
let uncut;

/** @param {string} folder */
const load = async (folder) => {
  if (model) return;
  let shown = -1;
  const bytes = await fetchParts(folder, (fetched, total) => {
    const percent = Math.floor((100 * fetched) / total);
    if (percent > shown) postMessage({ kind: "fetched", percent });
    shown = percent;
  });
  model = new Llama(bytes);
  tokenizer = new Tokenizer(model.settings);
};

/** @param {number} id */
const isEnd = (id) => id === model.settings["tokenizer.ggml.eos_token_id"];

/** Return the text of a token without the space before it, or a name for what has none. @param {number} id */
const nameOf = (id) => {
  if (isEnd(id)) return "(end of text)";
  const text = tokenizer.decode([id]);
  return text.trim() || ({ " ": "(space)", "\n": "(line end)" }[text] ?? "(spaces)");
};

/** Return the probabilities of the next token. @param {import("./llama.js").LayerSteps[]} steps @param {number} temperature */
const nextProbabilities = (steps, temperature) => softmax(model.logits(steps[model.layers - 1].hidden).map((logit) => logit / temperature));

/** Read a sentence, and tell the weights of each layer as soon as they are computed. @param {{ folder: string, text: string, cut: { layer: number, head: number }[] }} request */
const readSentence = async ({ folder, text, cut }) => {
  await load(folder);
  const ids = tokenizer.encode(text);
  if (!ids.length || ids.length > MAX_TOKENS) throw new Error(`The text has ${ids.length} tokens, and at most ${MAX_TOKENS} are read here. Please shorten it.`);
  postMessage({ kind: "tokens", tokens: ids.map(nameOf), ids });
  sentence = { length: ids.length, steps: [], cut: new Set(cut.map(({ layer, head }) => layer * model.heads + head)) };
  for (const steps of model.run(ids, [], sentence.cut)) {
    postMessage({ kind: "layer", layer: sentence.steps.length, percent: packHeads(steps.weights, ids.length) });
    sentence.steps.push(steps);
  }
  const texts = ids.map((id) => tokenizer.decode([id]));
  const weights = sentence.steps.map((steps) => steps.weights);
  const shares = nextProbabilities(sentence.steps, 1);
  if (!cut.length) uncut = shares;
  /** @param {number} id */
  const change = (id) => [nameOf(id), uncut[id], shares[id]];
  const byChange = [...shares.keys()].sort((a, b) => shares[a] - uncut[a] - (shares[b] - uncut[b]));
  const [loser, winner] = [byChange[0], byChange[byChange.length - 1]].map(change);
  postMessage({ kind: "read", next: likeliest(shares), loser, winner, strongest: strongestByKind(weights, model.heads, texts, ids) });
};

/** Return for each head a byte for the percentage of each weight, in rows up to the diagonal, in base64. @param {Float32Array} weights @param {number} n */
const packHeads = (weights, n) =>
  Array.from({ length: model.heads }, (_, head) => {
    let bytes = "";
    for (let i = 0; i < n; i++)
      for (let j = 0; j <= i; j++) bytes += String.fromCharCode(Math.round(100 * weights[(head * n + i) * n + j]));
    return btoa(bytes);
  });

/** @param {Float32Array} shares @returns {[string, number][]} */
const likeliest = (shares) => {
  const ids = [...shares.keys()].sort((a, b) => shares[b] - shares[a]);
  return ids.slice(0, NEXT_TOKENS).map((id) => [nameOf(id), shares[id]]);
};

/** Tell the numbers from which a row of weights is computed. @param {{ layer: number, head: number, row: number }} request */
const explainRow = ({ layer, head, row }) => {
  const { heads, kvHeads, features } = model;
  const { query, key, weights } = sentence.steps[layer];
  const start = (head * sentence.length + row) * sentence.length;
  const keyHead = Math.floor((head * kvHeads) / heads);
  /** @param {Float32Array} rows @param {number} count of heads @param {number} i @param {number} index of the head */
  const part = (rows, count, i, index) => [...rows.slice((i * count + index) * features, (i * count + index + 1) * features)];
  const q = part(query, heads, row, head);
  const keys = Array.from({ length: row + 1 }, (_, j) => part(key, kvHeads, j, keyHead));
  const scores = keys.map((k) => k.reduce((sum, number, i) => sum + number * q[i], 0));
  postMessage({ kind: "row", layer, head, query: q, keys, scores, weights: [...weights.slice(start, start + row + 1)] });
};

/** Write tokens after the sentence, each drawn with a temperature, at most to the end of the text. @param {{ temperature: number, count: number }} request */
const write = ({ temperature, count }) => {
  let { steps } = sentence;
  for (let written = 1; ; written++) {
    const shares = nextProbabilities(steps, temperature);
    let rest = Math.random();
    const drawn = shares.findIndex((share) => (rest -= share) < 0);
    const id = drawn < 0 ? shares.length - 1 : drawn; // if the shares add up to a little less than one
    postMessage({ kind: "written", token: nameOf(id), share: shares[id] });
    if (isEnd(id) || written === count) break;
    steps = [...model.run([id], steps, sentence.cut)];
  }
  postMessage({ kind: "done" });
};

const requests = { read: readSentence, explain: explainRow, write };

onmessage = async ({ data }) => {
  try {
    await requests[/** @type {keyof typeof requests} */ (data.kind)](data);
  } catch (error) {
    postMessage({ kind: "failed", message: /** @type {Error} */ (error).message });
  }
};

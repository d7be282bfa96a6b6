// Shows how a weight is computed from a query and keys: its products, their sum, and the softmax of its row.

import { escapeText } from "./drawings.js";

/** @typedef {{ layer: number, head: number, query: number[], keys: number[][], scores: number[], weights: number[] }} Row of the token that asks */

/** @param {number} number */
const digits = (number) => number.toFixed(4).replace("-", "−");

/** Return a table whose headings are strings. @param {(string | number)[][]} rows @param {number} [marked] the index of a row */
const table = (rows, marked) => {
  /** @param {string | number} cell */
  const content = (cell) => (typeof cell === "string" ? `<th>${cell}</th>` : `<td>${digits(cell)}</td>`);
  const lines = rows.map((row, i) => `<tr${i === marked ? ' aria-current="true"' : ""}>${row.map(content).join("")}</tr>`);
  return `<table tabindex="0">${lines.join("")}</table>`; // tabindex, because it scrolls
};

/** Return the steps to a weight of a row as HTML. @param {Row} row @param {string[]} tokens up to the one that asks @param {number} asked the index of the other */
export const weightSteps = ({ layer, head, query, keys, scores, weights }, tokens, asked) => {
  const names = tokens.map((token) => `“${escapeText(token)}”`);
  const products = query.map((number, feature) => number * keys[asked][feature]);
  const scaled = scores.map((score) => score / Math.sqrt(query.length));
  const largest = Math.max(...scaled);
  const powers = scaled.map((score) => Math.exp(score - largest));
  const total = powers.reduce((sum, power) => sum + power);
  const headings = [
    "key of",
    "query · key",
    `divided by √${query.length}`,
    `e to the power of this − ${digits(largest)}`,
    `divided by their sum, ${digits(total)}`,
  ];
  const rows = powers.map((power, key) => [names[key], scores[key], scaled[key], power, weights[key]]);
  return [
    `<p>Layer ${layer}, head ${head}: the <a href="../projections/">query</a> of ${names.at(-1)} and the key of ${names[asked]}, `,
    `both <a href="../../mechanisms/rotary/">turned</a> by their positions, have ${query.length} features. Their products, which scroll sideways, add up to ${digits(scores[asked])}.</p>`,
    table([["query", ...query], ["key", ...keys[asked]], ["product", ...products]]),
    `<p>The weights of ${names.at(-1)} are the softmax of its scores. The largest of them is subtracted, so that no power is too large.</p>`,
    table([headings, ...rows], asked + 1),
  ].join("");
};

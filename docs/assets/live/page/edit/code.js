// Python code that computes an example with the reader's edits.

import { exampleOf } from "../../reference.js";
import { python } from "../../show.js";

/** Write an array as nested lists. @param {NDArray} array @returns {string} */
const listOf = ({ shape, data, dtype }) => {
  let items = Array.from(data, (value) => python(value, dtype).replace(/-?(inf|nan)/, 'float("$&")'));
  for (const length of shape.toReversed())
    items = Array.from({ length: items.length / length }, (_, i) => `[${items.slice(i * length, (i + 1) * length).join(", ")}]`);
  return items[0];
};

/**
 * Write code that replaces the literals in place, because several examples may use one of them.
 *
 * @param {Example} example
 */
export const codeOf = ({ name, graph, edits }) => {
  const changes = [...edits].map(([input, array]) => ({ constant: graph.constants[input], list: listOf(array) }));
  const modules = [...new Set([name, ...changes.map(({ constant }) => exampleOf(constant))])];
  return `from attention_docs import show
from attention_docs.examples import ${modules.join(", ")}

${changes.map(({ constant, list }) => `${constant}[:] = ${list}\n`).join("")}show(${name}.steps())
`;
};

// The inputs of examples. Examples may share an input, so each has one name on all pages, after the first
// example that defines it: `course_sentence.X`.

/**
 * List the inputs of an example, in reading order.
 *
 * @param {Example} example @returns {string[]} the names of its inputs
 */
export const inputsOf = (example) => {
  const { graph, name } = example;
  const shared = [...graph.nodesByName.keys()].filter(isShared);
  const own = graph.inputs.map((step) => inputAt(example, step) ?? `${name}.${step}`);
  return [...new Set([...own, ...shared])];
};

/** Shared literals have the name of another example before a dot. @param {string} key of `nodesByName` */
const isShared = (key) => key.includes(".");

/**
 * Find the input that a step shows.
 *
 * @param {Example} example @param {string} step @returns {string | null} null if it is computed
 */
export const inputAt = ({ graph, name }, step) => {
  const node = graph.steps.get(step);
  const [shared] = [...graph.nodesByName].find(([key, other]) => isShared(key) && other === node) ?? [];
  if (shared) return shared;
  // Several steps may show one literal, which is named after the first.
  const own = graph.inputs.find((input) => graph.steps.get(input) === node);
  return own ? `${name}.${own}` : null;
};

/**
 * Return the key of an input in an example's `nodesByName`.
 *
 * @param {Example} example @param {string} input @returns {string | null} null if it does not use the input
 */
export const keyIn = ({ graph, name }, input) => {
  if (graph.nodesByName.has(input)) return input;
  const [owner, step] = input.split(".");
  return owner === name && graph.inputs.includes(step) ? step : null;
};

/** Return the value of an input without edits. @param {Example} example @param {string} input @returns {NDArray} */
export const originalInput = (example, input) => {
  const node = example.graph.nodesByName.get(keyIn(example, input) ?? "");
  return example.graph.values[/** @type {number} */ (node)];
};

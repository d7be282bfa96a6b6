// The literal numbers that examples compute with. Several examples may compute with the same ones, so
// each has one name on all pages: that of the first example which gives it, like `course_sentence.X`.

/**
 * List what an example computes with, in its reading order.
 *
 * @param {Example} example @returns {string[]} the names of its inputs
 */
export const inputsOf = (example) => {
  const { graph, name } = example;
  const shared = [...graph.named.keys()].filter((key) => key.includes("."));
  const own = graph.inputs.map((step) => inputAt(example, step) ?? `${name}.${step}`);
  return [...new Set([...own, ...shared])];
};

/**
 * Find the input that a step of an example shows.
 *
 * @param {Example} example @param {string} step @returns {string | null} null if it is computed
 */
export const inputAt = ({ graph, name }, step) => {
  const node = graph.steps.get(step);
  const shared = [...graph.named].find(([key, other]) => key.includes(".") && other === node);
  if (shared) return shared[0];
  // Several steps can be one literal, whose name is that of the first.
  const own = graph.inputs.find((input) => graph.steps.get(input) === node);
  return own ? `${name}.${own}` : null;
};

/**
 * Tell what an example calls an input.
 *
 * @param {Example} example @param {string} input @returns {string | null} null if it has no use for it
 */
export const keyIn = ({ graph, name }, input) => {
  if (graph.named.has(input)) return input;
  const [owner, step] = input.split(".");
  return owner === name && graph.inputs.includes(step) ? step : null;
};

/** @param {Example} example @param {string} input @returns {NDArray} its numbers in the example as written */
export const writtenIn = (example, input) => {
  const node = example.graph.named.get(keyIn(example, input) ?? "");
  return example.graph.values[/** @type {number} */ (node)];
};

// The graph of an example, from its literal inputs to its named steps: read, checked and computed
// with other inputs.

import { unravel } from "./arrays.js";
import { operations } from "./operations.js";
import * as show from "./show.js";

/** @typedef {[operation: string, back: number[], attributes?: Record<string, any>]} WrittenNode */
/** @typedef {{operation: string, inputs: number[], attributes: Record<string, any>}} Node */

/**
 * Read a graph as JSON has it, version 1.
 *
 * @param {{version: number, example: string, nodes: WrittenNode[], steps: Record<string, number>,
 *   inputs: string[], shared?: Record<string, number>, scopes: Scope[], guards: Guard[],
 *   formulas?: Record<string, string>}} json
 * @returns {Graph}
 */
export const parse = ({ version, example, nodes, steps, inputs, shared = {}, scopes, guards, formulas = {} }) => {
  if (version !== 1) throw new Error(`${example} has a graph of version ${version}; expected 1`);
  const graph = {
    example,
    nodes: nodes.map(([operation, back, attributes = {}], node) => {
      return { operation, inputs: back.map((steps) => node - steps), attributes };
    }),
    steps: new Map(Object.entries(steps)),
    inputs,
    named: new Map(Object.entries({ ...steps, ...shared })),
    scopes,
    guards: guards.toSorted((one, other) => one.node - other.node),
    formulas,
  };
  return { ...graph, values: computed(graph.nodes, new Map()) };
};

/**
 * Compute an example with other inputs.
 *
 * @param {Graph} graph
 * @param {Map<string, NDArray>} edits by the name of the input
 * @returns {{values: NDArray[], refusal: Refusal | null}} the value of each node, and why Python
 *   would not have come to them: the error that it raises, or null where it takes another way
 */
export const evaluate = (graph, edits) => {
  const values = computed(graph.nodes, new Map([...edits].map((edit) => checked(graph, edit))));
  const turned = graph.guards.find(({ node, holds }) => values[node].data[0] !== Number(holds));
  return { values, refusal: turned ? refused(turned, values) : null };
};

/** @param {Node[]} nodes @param {Map<number, NDArray>} edited @returns {NDArray[]} */
const computed = (nodes, edited) => {
  /** @type {NDArray[]} */ const values = [];
  nodes.forEach(({ operation, inputs, attributes }, node) => {
    const { compute } = operations[operation];
    values.push(edited.get(node) ?? compute(inputs.map((input) => values[input]), attributes));
  });
  return values;
};

/** @param {Graph} graph @param {[string, NDArray]} edit @returns {[number, NDArray]} */
const checked = ({ example, inputs, steps, named, values }, [input, array]) => {
  const node = named.get(input);
  if (node === undefined || (steps.has(input) && !inputs.includes(input)))
    throw new Error(`${example} has no input ${input}; expected one of ${inputs.join(", ")}`);
  const expected = values[node];
  if (String(array.shape) !== String(expected.shape))
    throw new Error(`${input} has shape (${array.shape}); expected (${expected.shape})`);
  return [node, { ...array, dtype: expected.dtype }];
};

/** @param {Guard} guard @param {NDArray[]} values @returns {Refusal} */
const refused = ({ refusal }, values) => {
  if (!refusal) return { error: null, message: null };
  const [error, parts] = refusal;
  const phrases = parts.map((part) => (typeof part === "string" ? part : described(part, values)));
  return { error, message: phrases.join("") };
};

/** As `describe_first` in Python: `inf at [0, 0]`. @param {Phrase} phrase @param {NDArray[]} values */
const described = ({ first, of }, values) => {
  const { shape, data, dtype } = values[of];
  const position = Math.max(values[first].data.indexOf(1), 0);
  return `${show.python(data[position], dtype)} at [${unravel(position, shape).join(", ")}]`;
};

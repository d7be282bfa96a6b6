// Parse the graph of an example and evaluate it with edited inputs.

import { unravel } from "./arrays.js";
import { operations } from "./operations.js";
import * as show from "./show.js";

/** @typedef {[operation: string, offsets: number[], attributes?: Record<string, any>]} SerialisedNode */
/** @typedef {{operation: string, inputs: number[], attributes: Record<string, any>}} Node */

/**
 * Parse the JSON of a graph.
 *
 * @param {{example: string, nodes: SerialisedNode[], steps: Record<string, number>,
 *   inputs: string[], shared?: Record<string, number>, scopes: Scope[], guards: Guard[],
 *   constants?: Record<string, string>, formulas?: Record<string, string>, labels?: Record<string, string[][]>, names?: Record<string, string>, written?: Record<string, string>, carried?: [number, number][]}} json
 */
export const parse = ({ example, nodes, steps, inputs, shared = {}, scopes, guards, constants = {}, formulas = {}, labels = {}, names = {}, written = {}, carried = [] }) => {
  const graph = {
    example,
    nodes: nodes.map(([operation, offsets, attributes = {}], node) => {
      const inputs = offsets.map((offset) => node - offset);
      return { operation, inputs, attributes };
    }),
    steps: new Map(Object.entries(steps)),
    inputs,
    nodesByName: new Map(Object.entries({ ...steps, ...shared })),
    scopes,
    guards: guards.toSorted((a, b) => a.node - b.node),
    constants,
    formulas,
    labels,
    names,
    written,
    carried,
  };
  return { ...graph, values: computeNodes(graph.nodes, new Map()) };
};

/**
 * Evaluate a graph with edited inputs.
 *
 * @param {Graph} graph
 * @param {Map<string, NDArray>} edits by the name of the input
 * @param {Map<number, NDArray>} [state] what earlier iterations have handed on, by node
 * @returns {{values: NDArray[], refusal: Refusal | null}} the value of each node, and why they are not what
 *   Python computes: it raises an error, or (error null) takes another branch
 */
export const evaluate = (graph, edits, state = new Map()) => {
  const editsByNode = new Map(state);
  for (const [input, array] of edits) editsByNode.set(/** @type {number} */ (graph.nodesByName.get(input)), array);
  const values = computeNodes(graph.nodes, editsByNode, graph.values);
  const violated = graph.guards.find(({ node, holds }) => values[node].data[0] !== Number(holds));
  return { values, refusal: violated ? refusalOf(violated, values) : null };
};

/**
 * Compute all nodes, but take those whose inputs are unchanged from the original.
 *
 * @param {Node[]} nodes @param {Map<number, NDArray>} edits by node @param {NDArray[]} [original]
 */
const computeNodes = (nodes, edits, original = []) => {
  /** @type {NDArray[]} */ const values = [];
  nodes.forEach(({ operation, inputs, attributes }, node) => {
    const isUnchanged = original[node] && inputs.every((input) => values[input] === original[input]);
    const compute = () => operations[operation].compute(inputs.map((input) => values[input]), attributes);
    values.push(edits.get(node) ?? (isUnchanged ? original[node] : compute()));
  });
  return values;
};

/** Return what an iteration hands on to the next. @param {Graph} graph @param {NDArray[]} values @returns {Map<number, NDArray>} */
export const carry = ({ carried }, values) => new Map(carried.map(([before, after]) => [before, values[after]]));

/** Write the message of the error that Python would raise. @param {Guard} guard @param {NDArray[]} values @returns {Refusal} */
const refusalOf = ({ refusal }, values) => {
  if (!refusal) return { error: null, message: null };
  const [error, template] = refusal;
  const message = template.map((phrase) => (typeof phrase === "string" ? phrase : describeFirst(phrase, values)));
  return { error, message: message.join("") };
};

/** Describe an element as `describe_first` in Python does: `inf at [0, 0]`. @param {Phrase} phrase @param {NDArray[]} values */
const describeFirst = ({ first: mask, of: node }, values) => {
  const { shape, data, dtype } = values[node];
  const position = Math.max(values[mask].data.indexOf(1), 0);
  return `${show.python(data[position], dtype)} at [${unravel(position, shape).join(", ")}]`;
};

// Build the expression tree of one element, whose leaves are elements of other steps. Operations that only
// rearrange elements, such as a transpose or the split into heads, are skipped.

import { fromFunction, groupByAxis, ravel, unravel } from "./arrays.js";
import { operations } from "./operations.js";

/** @typedef {{node: number, position: number}} NodeElement an element of the value of a node */

/**
 * @typedef {object} Term a node of the expression tree
 * @property {number} node that computes the element, rather than copies it
 * @property {number} position of the element in the node's value
 * @property {string} operation of the node; "cell" for an element of a step, "literal" for a number
 *   without inputs, "softmax" for a result of that function
 * @property {Cell | null} cell the element of a step, for a leaf that is one
 * @property {Term[]} terms the operands; those of a matrix product in pairs
 * @property {Term[]} used the operands that the value depends on
 * @property {number[]} via the skipped nodes
 */

/** @param {number[]} shape @returns {NDArray} the position of each element, counted from `start` */
const positions = (shape, start = 0) => fromFunction(shape, "int64", (position) => start + position);

/**
 * Find the element of an input that is broadcast to an index of the result.
 *
 * @param {number[]} index in the result @param {number[]} shape of the input
 * @returns {number} its position in the input
 */
const broadcastPosition = (index, shape) => {
  const missing = index.length - shape.length;
  return ravel(shape.map((length, axis) => (length === 1 ? 0 : index[axis + missing])), shape);
};

/**
 * Find the elements that a rearrangement copies, by applying it to positions instead of values.
 *
 * @param {Graph} graph @param {number} node
 * @returns {NodeElement[] | null} the original of each element, by position; null for other operations
 */
export const originsOf = ({ nodes, values }, node) => {
  const { operation, inputs, attributes } = nodes[node];
  const { kind, compute } = operations[operation];
  if (kind !== "rearrangement") return null;
  // The second input of `take` has indices, which must keep their values.
  const [rearranged, indices] = operation === "take" ? [inputs.slice(0, 1), inputs.slice(1)] : [inputs, []];
  /** @type {NodeElement[]} */ const elements = [];
  const numbered = rearranged.map((node) => {
    const { shape, data } = values[node];
    const start = elements.length;
    for (let position = 0; position < data.length; position++) elements.push({ node, position });
    return positions(shape, start);
  });
  const result = compute([...numbered, ...indices.map((node) => values[node])], attributes);
  return Array.from(result.data, (number) => elements[number]);
};

/** @typedef {Cell & {order: number, isCopy: boolean}} StepName an element's name in a step; `order` is the step's */
/** @typedef {{element: NodeElement, distance: number, name: StepName}} Candidate a name after `distance` rearrangements */

/**
 * List the names of all elements: each element of a step also names those that it is copied from.
 *
 * @param {Graph} graph @param {(NodeElement[] | null)[]} origins by node
 */
const candidatesOf = ({ nodesByName, values }, origins) =>
  [...nodesByName].flatMap(([step, node], order) => {
    const { shape, data } = values[node];
    return [...data.keys()].flatMap((position) =>
      pathOf({ node, position }, origins).map((element, distance) => {
        const isCopy = distance > 0 || origins[node] !== null;
        return { element, distance, name: { step, index: unravel(position, shape), order, isCopy } };
      })
    );
  });

/**
 * Name the elements of all nodes by the steps that contain them. A step that selects from an array names
 * only rows that it contains completely.
 *
 * @param {Graph} graph @param {(NodeElement[] | null)[]} origins by node
 * @returns {StepName[][][]} by node and position, fewest rearrangements first
 */
const namesOf = (graph, origins) => {
  const candidates = candidatesOf(graph, origins);
  const key = (/** @type {NodeElement} */ { node, position }, /** @type {string} */ step) => `${node}:${position}:${step}`;
  const contained = new Set(candidates.map(({ element, name }) => key(element, name.step)));
  /** @type {StepName[][][]} */
  const names = graph.nodes.map(() => []);
  for (const { element, name } of candidates.sort((a, b) => a.distance - b.distance)) {
    const { node, position } = element;
    const length = graph.values[node].shape.at(-1) ?? 1;
    const start = position - (position % length);
    const row = Array.from({ length }, (_, i) => ({ node, position: start + i }));
    if (row.every((neighbour) => contained.has(key(neighbour, name.step))))
      (names[node][position] ??= []).push(name);
  }
  return names;
};

/**
 * Follow an element back through rearrangements to the node that computes it.
 *
 * @param {NodeElement} element @param {(NodeElement[] | null)[]} origins by node
 * @returns {NodeElement[]} the element, the one that it copies, and so on
 */
const pathOf = (element, origins) => {
  const path = [element];
  /** @param {NodeElement} copy */
  const originOf = (copy) => origins[copy.node]?.[copy.position];
  for (let origin = originOf(element); origin; origin = originOf(origin)) path.push(origin);
  return path;
};

/**
 * Find the elements that a matrix product multiplies for one element of its result.
 *
 * @param {number[]} index of the result @param {number[][]} shapes of the two factors
 * @returns {number[]} the positions in the row and in the column, alternating
 */
const multipliedPositions = (index, [left, right]) => {
  // NumPy leaves the row out of the result's index if the left factor is a vector, and the column likewise.
  const batch = [...index];
  const column = right.length > 1 ? batch.splice(-1) : [];
  const row = left.length > 1 ? batch.splice(-1) : [];
  return Array.from({ length: left[left.length - 1] }, (_, k) => [
    broadcastPosition([...batch, ...row, k], left),
    broadcastPosition([...batch, k, ...column], right),
  ]).flat();
};

/**
 * Find the operands of the elements of a node; those of a matrix product alternate between its factors.
 *
 * @param {Graph} graph @param {number} node that does not only rearrange
 * @returns {(position: number) => NodeElement[]} the operands of the element at a position
 */
export const operandsOf = ({ nodes, values }, node) => {
  const { operation, inputs, attributes } = nodes[node];
  const { kind } = operations[operation];
  const { shape } = values[node];
  const shapes = inputs.map((input) => values[input].shape);
  if (kind === "reduction") {
    const { groups } = groupByAxis(positions(shapes[0]), attributes);
    return (position) => Array.from(groups[position], (position) => ({ node: inputs[0], position }));
  }
  return (position) => {
    const index = unravel(position, shape);
    const operandPositions =
      kind === "product"
        ? multipliedPositions(index, shapes)
        : shapes.map((inputShape) => broadcastPosition(index, inputShape));
    return operandPositions.map((position, i) => ({ node: inputs[i % inputs.length], position }));
  };
};

/** @type {WeakMap<Graph, ReturnType<typeof analyse>>} */
const analyses = new WeakMap();

/** Find the origins, names and softmaxes of a graph, which do not depend on edits. @param {Graph} graph */
const analyse = (graph) => {
  const origins = graph.nodes.map((_, node) => originsOf(graph, node));
  /** @type {Map<number, Scope>} */
  const softmaxes = new Map();
  for (const scope of graph.scopes)
    if (scope.call === "softmax") softmaxes.set(scope.results[""], scope);
  return { origins, softmaxes, names: namesOf(graph, origins) };
};

/**
 * Return the expression tree of an element of a step.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values
 * @param {string} step
 * @param {number[]} index
 */
export const termOf = (graph, values, step, index) => {
  const analysis = analyses.get(graph) ?? analyse(graph);
  analyses.set(graph, analysis);
  const { origins, softmaxes, names } = analysis;
  /** @type {Map<string, Term>} */
  const cache = new Map();

  /** @param {NodeElement} element @returns {Term} */
  const termAt = (element) => {
    const key = `${element.node}:${element.position}`;
    const term = cache.get(key) ?? termAlong(pathOf(element, origins), { isRoot: false });
    cache.set(key, term);
    return term;
  };

  const root = /** @type {number} */ (graph.nodesByName.get(step));
  const rootOrder = [...graph.nodesByName.keys()].indexOf(step);
  /**
   * Return an element as a cell of a step, or null if no step may name it. A step that computes the element
   * may name it everywhere; a step that only copies it may do so in later steps alone.
   *
   * @param {NodeElement} element @param {boolean} isRoot only a step whose value is the node itself may name the root
   */
  const cellTerm = ({ node, position }, isRoot) => {
    const isAllowed = (/** @type {StepName} */ name) =>
      name.order < rootOrder || (!name.isCopy && node !== root);
    const name = names[node][position]?.find(isAllowed);
    if (!name || (isRoot && graph.nodesByName.get(name.step) !== node)) return null;
    const cell = { step: name.step, index: name.index };
    return { node, position, operation: "cell", cell, terms: [], used: [], via: [] };
  };

  /**
   * Return the first element of a path that a step names, or the operation that computes the last element.
   *
   * @param {NodeElement[]} path from `pathOf` @param {{isRoot: boolean}} options @returns {Term}
   */
  const termAlong = (path, { isRoot }) => {
    const nodes = path.map((element) => element.node);
    for (const element of path) {
      const term = cellTerm(element, isRoot);
      if (term) return { ...term, via: nodes.slice(0, nodes.indexOf(element.node)) };
    }
    const { node, position } = path[path.length - 1];
    const { operation, terms, used = terms } = operationAt(node, position);
    return { node, position, operation, cell: null, terms, used, via: nodes };
  };

  /** @typedef {{operation: string, terms: Term[], used?: Term[]}} OperationTerms `used` if not all terms are */

  /** @param {Scope} call @param {number} position @returns {OperationTerms} the score of the weight, then its whole row */
  const softmaxTerms = (call, position) => {
    const { scores, axis = -1 } = call.arguments;
    const { groups } = groupByAxis(positions(values[scores.node].shape), { axis });
    const row = groups.find((group) => group.includes(position)) ?? groups[0];
    const terms = Array.from(row, (position) => termAt({ node: scores.node, position }));
    return { operation: "softmax", terms: [terms[row.indexOf(position)], ...terms], used: terms };
  };

  /** @param {number} node @param {number} position @returns {OperationTerms} */
  const operationAt = (node, position) => {
    const { operation, inputs } = graph.nodes[node];
    const softmax = softmaxes.get(node);
    if (softmax) return softmaxTerms(softmax, position);
    if (!inputs.length) return { operation: "literal", terms: [] };
    const terms = operandsOf(graph, node)(position).map(termAt);
    if (operation !== "where") return { operation, terms };
    const [condition, ifTrue, ifFalse] = terms;
    return { operation, terms, used: [condition, valueOf(values, condition) ? ifTrue : ifFalse] };
  };

  const position = ravel(index, values[root].shape);
  return termAlong(pathOf({ node: root, position }, origins), { isRoot: true });
};

/** Return the value of a term. @param {NDArray[]} values @param {Term} term */
export const valueOf = (values, { node, position }) => values[node].data[position];

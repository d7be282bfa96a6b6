// The expression tree of one element, down to elements of steps. Operations that only rearrange elements,
// such as a transpose or the split into heads, are skipped.

import { fromFunction, groupByAxis, ravel, unravel } from "./arrays.js";
import { operations } from "./operations.js";

/** @typedef {{node: number, position: number}} NodeElement an element of the value of a node */

/**
 * @typedef {object} Term
 * @property {number} node that computes the element, rather than copies it
 * @property {number} position
 * @property {string} operation of the node; "cell" for an element of a step, "literal" for a number
 *   without inputs, "softmax" for a result of that function
 * @property {Cell | null} cell
 * @property {Term[]} terms the operands; those of a product in pairs
 * @property {Term[]} used the operands that the value depends on
 * @property {number[]} via the skipped nodes
 */

/** @param {number[]} shape @returns {NDArray} the position of each element, counted from `start` */
const positions = (shape, start = 0) => fromFunction(shape, "int64", (position) => start + position);

/**
 * @param {number[]} index in the result of an operation @param {number[]} shape of its input
 * @returns {number} the position of the input's element that is broadcast there
 */
const broadcastPosition = (index, shape) => {
  const missing = index.length - shape.length;
  return ravel(shape.map((length, axis) => (length === 1 ? 0 : index[axis + missing])), shape);
};

/**
 * Return where a rearrangement takes its elements from, by applying it to positions.
 *
 * @param {Graph} graph @param {number} node
 * @returns {NodeElement[] | null} by position; null for other operations
 */
export const originsOf = ({ nodes, values }, node) => {
  const { operation, inputs, attributes } = nodes[node];
  const { kind, compute } = operations[operation];
  if (kind !== "rearrangement") return null;
  const arrays = operation === "take" ? inputs.slice(0, 1) : inputs;
  const elements = arrays.flatMap((node) =>
    Array.from(values[node].data, (_, position) => ({ node, position }))
  );
  let start = 0;
  const numbered = inputs.map((input, i) => {
    if (i >= arrays.length) return values[input];
    const { shape, data } = values[input];
    start += data.length;
    return positions(shape, start - data.length);
  });
  return Array.from(compute(numbered, attributes).data, (number) => elements[number]);
};

/** @typedef {Cell & {order: number, isCopy: boolean}} StepName an element's name in a step; `order` is the step's */

/**
 * Name the elements of all nodes by the steps that contain them. A step that selects from an array names
 * only rows that it contains completely.
 *
 * @param {Graph} graph @param {(NodeElement[] | null)[]} origins by node
 * @returns {StepName[][][]} by node and position, fewest rearrangements first
 */
const namesOf = ({ nodes, nodesByName, values }, origins) => {
  /** @type {{element: NodeElement, distance: number, name: StepName}[]} */
  const candidates = [];
  [...nodesByName].forEach(([step, node], order) => {
    const { shape, data } = values[node];
    for (let position = 0; position < data.length; position++)
      pathOf({ node, position }, origins).forEach((element, distance) => {
        const isCopy = distance > 0 || origins[node] !== null;
        const name = { step, index: unravel(position, shape), order, isCopy };
        candidates.push({ element, distance, name });
      });
  });
  const key = (/** @type {NodeElement} */ { node, position }, /** @type {string} */ step) => `${node}:${position}:${step}`;
  const contained = new Set(candidates.map(({ element, name }) => key(element, name.step)));
  /** @type {StepName[][][]} */
  const names = nodes.map(() => []);
  for (const { element, name } of candidates.sort((a, b) => a.distance - b.distance)) {
    const { node, position } = element;
    const length = values[node].shape.at(-1) ?? 1;
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
 * @returns {NodeElement[]}
 */
const pathOf = (element, origins) => {
  const path = [element];
  for (let from = origins[element.node]?.[element.position]; from; from = origins[from.node]?.[from.position])
    path.push(from);
  return path;
};

/**
 * Return which elements a matrix product multiplies for one element of its result.
 *
 * @param {number[]} index of the result @param {number[][]} shapes of the two factors
 * @returns {number[]} the positions in the row and in the column, alternating
 */
const factors = (index, [left, right]) => {
  const column = right.length > 1 ? index.slice(-1) : [];
  const rest = index.slice(0, index.length - column.length);
  const row = left.length > 1 ? rest.slice(-1) : [];
  const batch = rest.slice(0, rest.length - row.length);
  return Array.from({ length: left[left.length - 1] }, (_, k) => [
    broadcastPosition([...batch, ...row, k], left),
    broadcastPosition([...batch, k, ...column], right),
  ]).flat();
};

/**
 * Return the operands of each element of a node; those of a product alternate between the factors.
 *
 * @param {Graph} graph @param {number} node that does not only rearrange
 * @returns {(position: number) => NodeElement[]}
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
    const operands =
      kind === "product" ? factors(index, shapes) : shapes.map((input) => broadcastPosition(index, input));
    return operands.map((position, i) => ({ node: inputs[i % inputs.length], position }));
  };
};

/** @type {WeakMap<Graph, ReturnType<typeof analysisOf>>} */
const analyses = new WeakMap();

/** Return what does not depend on edits. @param {Graph} graph */
const analysisOf = (graph) => {
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
 * @returns {Term}
 */
export const termOf = (graph, values, step, index) => {
  const analysis = analyses.get(graph) ?? analysisOf(graph);
  analyses.set(graph, analysis);
  const { origins, softmaxes, names } = analysis;
  /** @type {Map<string, Term>} */
  const cache = new Map();

  /** @param {NodeElement} element @returns {Term} */
  const termAt = (element) => {
    const key = `${element.node}:${element.position}`;
    const term = cache.get(key) ?? termFrom(pathOf(element, origins), false);
    cache.set(key, term);
    return term;
  };

  const root = /** @type {number} */ (graph.nodesByName.get(step));
  const order = [...graph.nodesByName.keys()].indexOf(step);
  /**
   * Return an element as a cell of a step. Steps that compute the element name it everywhere; steps that
   * only copy it name it in later steps alone.
   *
   * @param {NodeElement} element @param {boolean} isRoot whether the step must be the node itself
   * @returns {Term | null}
   */
  const cellTerm = ({ node, position }, isRoot) => {
    const isAllowed = (/** @type {StepName} */ name) =>
      name.order < order || (!name.isCopy && node !== root);
    const name = names[node][position]?.find(isAllowed);
    if (!name || (isRoot && graph.nodesByName.get(name.step) !== node)) return null;
    const cell = { step: name.step, index: name.index };
    return { node, position, operation: "cell", cell, terms: [], used: [], via: [] };
  };

  /** @param {NodeElement[]} path @param {boolean} isRoot @returns {Term} */
  const termFrom = (path, isRoot) => {
    const nodes = path.map((element) => element.node);
    for (const element of path) {
      const term = cellTerm(element, isRoot);
      if (term) return { ...term, via: nodes.slice(0, nodes.indexOf(element.node)) };
    }
    const { node, position } = path[path.length - 1];
    const { operation, terms, used = terms } = operationAt(node, position);
    return { node, position, operation, cell: null, terms, used, via: nodes };
  };

  /**
   * @param {number} node @param {number} position
   * @returns {{operation: string, terms: Term[], used?: Term[]}}
   */
  const operationAt = (node, position) => {
    const { operation, inputs } = graph.nodes[node];
    const softmax = softmaxes.get(node);
    if (softmax) {
      const scores = softmax.arguments.scores.node;
      const { groups } = groupByAxis(positions(values[scores].shape), { axis: softmax.arguments.axis ?? -1 });
      const group = groups.find((group) => group.includes(position)) ?? groups[0];
      const terms = Array.from(group, (position) => termAt({ node: scores, position }));
      const own = terms[group.indexOf(position)];
      return { operation: "softmax", terms: [own, ...terms], used: terms };
    }
    if (!inputs.length) return { operation: "literal", terms: [] };
    const terms = operandsOf(graph, node)(position).map(termAt);
    if (operation !== "where") return { operation, terms };
    const [condition, ifTrue, ifFalse] = terms;
    return { operation, terms, used: [condition, valueOf(values, condition) ? ifTrue : ifFalse] };
  };

  return termFrom(pathOf({ node: root, position: ravel(index, values[root].shape) }, origins), true);
};

/** @param {NDArray[]} values @param {Term} term */
export const valueOf = (values, { node, position }) => values[node].data[position];

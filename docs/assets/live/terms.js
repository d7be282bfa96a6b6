// How one element is computed: from which elements of named steps, by which operations. What only
// moves elements, such as a transpose or the split into heads, is looked through.

import { filled, grouped, ravel, unravel } from "./arrays.js";
import { operations } from "./operations.js";

/** @typedef {{node: number, position: number}} Place an element of the value of a node */

/**
 * @typedef {object} Term
 * @property {number} node where the element is made, and not only moved
 * @property {number} position
 * @property {string} operation that of the node; "cell" for an element of a named step, "literal"
 *   for a number without inputs, "softmax" for a result of that function
 * @property {Cell | null} cell
 * @property {Term[]} terms the elements that it is computed from; those of a product in pairs
 * @property {Term[]} used those of them that its value depends on
 * @property {number[]} via the nodes through which it was moved
 */

/** @param {number[]} shape @returns {NDArray} an array that holds the position of each element */
const positions = (shape, first = 0) => filled(shape, "int64", (position) => first + position);

/**
 * @param {number[]} index in the result of an operation @param {number[]} shape of its input
 * @returns {number} the position of the element that broadcasting puts there
 */
const broadcastPosition = (index, shape) => {
  const missing = index.length - shape.length;
  return ravel(shape.map((length, axis) => (length === 1 ? 0 : index[axis + missing])), shape);
};

/**
 * Tell where the elements of a node were moved from: the operation is applied to positions.
 *
 * @param {Graph} graph @param {number} node
 * @returns {Place[] | null} by position; null if the node computes
 */
export const originsOf = ({ nodes, values }, node) => {
  const { operation, inputs, attributes } = nodes[node];
  const { kind, compute } = operations[operation];
  if (kind !== "moves") return null;
  const moved = operation === "take" ? inputs.slice(0, 1) : inputs;
  const all = moved.flatMap((node) =>
    Array.from(values[node].data, (_, position) => ({ node, position }))
  );
  let first = 0;
  const numbered = inputs.map((input, i) => {
    if (i >= moved.length) return values[input];
    const { shape, data } = values[input];
    first += data.length;
    return positions(shape, first - data.length);
  });
  return Array.from(compute(numbered, attributes).data, (number) => all[number]);
};

/** @typedef {Cell & {order: number, isMoved: boolean}} Naming how a step names an element */

/**
 * Name the elements of all nodes by the steps that hold them. A step that holds a selection of an
 * array names the rows that it holds as a whole.
 *
 * @param {Graph} graph @param {(Place[] | null)[]} moves
 * @returns {Naming[][][]} by node and position; those with the fewest moves first
 */
const namesOf = ({ nodes, named, values }, moves) => {
  /** @type {{place: Place, distance: number, naming: Naming}[]} */
  const found = [];
  [...named].forEach(([step, node], order) => {
    const { shape, data } = values[node];
    for (let position = 0; position < data.length; position++)
      path({ node, position }, moves).forEach((place, distance) => {
        const isMoved = distance > 0 || moves[node] !== null;
        const naming = { step, index: unravel(position, shape), order, isMoved };
        found.push({ place, distance, naming });
      });
  });
  const key = (/** @type {Place} */ { node, position }, /** @type {string} */ step) => `${node}:${position}:${step}`;
  const held = new Set(found.map(({ place, naming }) => key(place, naming.step)));
  /** @type {Naming[][][]} */
  const names = nodes.map(() => []);
  for (const { place, naming } of found.sort((one, other) => one.distance - other.distance)) {
    const length = values[place.node].shape.at(-1) ?? 1;
    const first = place.position - (place.position % length);
    const row = Array.from({ length }, (_, i) => ({ node: place.node, position: first + i }));
    if (row.every((each) => held.has(key(each, naming.step))))
      (names[place.node][place.position] ??= []).push(naming);
  }
  return names;
};

/**
 * Follow an element back through what only moves it, to where it is made.
 *
 * @param {Place} place @param {(Place[] | null)[]} moves
 * @returns {Place[]}
 */
const path = (place, moves) => {
  const places = [place];
  for (let from = moves[place.node]?.[place.position]; from; from = moves[from.node]?.[from.position])
    places.push(from);
  return places;
};

/**
 * Tell which elements a product multiplies for one element of its result.
 *
 * @param {number[]} at its index @param {number[][]} shapes of the two factors
 * @returns {number[]} the positions of a row and of a column, in turns
 */
const factors = (at, [one, other]) => {
  const column = other.length > 1 ? at.slice(-1) : [];
  const rest = at.slice(0, at.length - column.length);
  const row = one.length > 1 ? rest.slice(-1) : [];
  const batch = rest.slice(0, rest.length - row.length);
  return Array.from({ length: one[one.length - 1] }, (_, k) => [
    broadcastPosition([...batch, ...row, k], one),
    broadcastPosition([...batch, k, ...column], other),
  ]).flat();
};

/**
 * Tell which elements an element of a node that computes is made from; those of a product in turns.
 *
 * @param {Graph} graph @param {number} node
 * @returns {(position: number) => Place[]}
 */
export const sourcesOf = ({ nodes, values }, node) => {
  const { operation, inputs, attributes } = nodes[node];
  const { kind } = operations[operation];
  const { shape } = values[node];
  const shapes = inputs.map((input) => values[input].shape);
  if (kind === "reduces") {
    const { groups } = grouped(positions(shapes[0]), attributes);
    return (position) => Array.from(groups[position], (position) => ({ node: inputs[0], position }));
  }
  return (position) => {
    const at = unravel(position, shape);
    const places = kind === "product" ? factors(at, shapes) : shapes.map((each) => broadcastPosition(at, each));
    return places.map((position, i) => ({ node: inputs[i % inputs.length], position }));
  };
};

/** @type {WeakMap<Graph, ReturnType<typeof studied>>} */
const studies = new WeakMap();

/** @param {Graph} graph what does not depend on the values */
const studied = (graph) => {
  const moves = graph.nodes.map((_, node) => originsOf(graph, node));
  /** @type {Map<number, Scope>} */
  const softmaxes = new Map();
  for (const scope of graph.scopes)
    if (scope.call === "softmax") softmaxes.set(scope.results[""], scope);
  return { moves, softmaxes, names: namesOf(graph, moves) };
};

/**
 * Tell how an element of a step is computed.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values
 * @param {string} step
 * @param {number[]} index
 * @returns {Term}
 */
export const termOf = (graph, values, step, index) => {
  const known = studies.get(graph) ?? studied(graph);
  studies.set(graph, known);
  const { moves, softmaxes, names } = known;
  /** @type {Map<string, Term>} */
  const memory = new Map();

  /** @param {Place} place @returns {Term} */
  const term = (place) => {
    const key = `${place.node}:${place.position}`;
    const found = memory.get(key) ?? made(path(place, moves), false);
    memory.set(key, found);
    return found;
  };

  const root = /** @type {number} */ (graph.named.get(step));
  const order = [...graph.named.keys()].indexOf(step);
  /**
   * Take an element as that of a named step. What a step only holds goes by its name in the steps
   * after it, in reading order; what it computes, in all.
   *
   * @param {Place} place @param {boolean} isOwn whether it is to be a node of the step itself
   * @returns {Term | null}
   */
  const named = ({ node, position }, isOwn) => {
    const fits = (/** @type {Naming} */ naming) =>
      naming.order < order || (!naming.isMoved && node !== root);
    const name = names[node][position]?.find(fits);
    if (!name || (isOwn && graph.named.get(name.step) !== node)) return null;
    const cell = { step: name.step, index: name.index };
    return { node, position, operation: "cell", cell, terms: [], used: [], via: [] };
  };

  /** @param {Place[]} places @param {boolean} isRoot @returns {Term} */
  const made = (places, isRoot) => {
    const nodes = places.map((place) => place.node);
    for (const place of places) {
      const cell = named(place, isRoot);
      if (cell) return { ...cell, via: nodes.slice(0, nodes.indexOf(place.node)) };
    }
    const { node, position } = places[places.length - 1];
    const { operation, terms, used = terms } = computed(node, position);
    return { node, position, operation, cell: null, terms, used, via: nodes };
  };

  /**
   * @param {number} node @param {number} position
   * @returns {{operation: string, terms: Term[], used?: Term[]}}
   */
  const computed = (node, position) => {
    const { operation, inputs } = graph.nodes[node];
    const softmax = softmaxes.get(node);
    if (softmax) {
      const scores = softmax.arguments.scores.node;
      const { groups } = grouped(positions(values[scores].shape), { axis: softmax.arguments.axis ?? -1 });
      const group = groups.find((group) => group.includes(position)) ?? groups[0];
      const terms = Array.from(group, (position) => term({ node: scores, position }));
      const own = terms[group.indexOf(position)];
      return { operation: "softmax", terms: [own, ...terms], used: terms };
    }
    if (!inputs.length) return { operation: "literal", terms: [] };
    const terms = sourcesOf(graph, node)(position).map(term);
    if (operation !== "where") return { operation, terms };
    const [condition, one, other] = terms;
    return { operation, terms, used: [condition, valueOf(values, condition) ? one : other] };
  };

  return made(path({ node: root, position: ravel(index, values[root].shape) }, moves), true);
};

/** @param {NDArray[]} values @param {Term} term */
export const valueOf = (values, { node, position }) => values[node].data[position];

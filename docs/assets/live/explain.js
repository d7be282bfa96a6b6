// Where a number comes from: its place in words, its formula, with names and with the numbers of
// this very element, and the elements of named steps that it is made of.

import { ravel, unravel } from "./arrays.js";
import { ATOM, POWER, PREFIX, PRODUCT, SUM, operations } from "./operations.js";
import * as show from "./show.js";
import { termOf, valueOf } from "./terms.js";

/** @typedef {import("./terms.js").Term} Term */

/** @typedef {{step: string}} Name the name of a step; `example.step` of a literal that examples share */
/** @typedef {{value: number, dtype: Dtype, cell: Cell | null}} Figure a number, and where it stands */
/** @typedef {(string | Name | Figure)[]} Text */

/**
 * @typedef {object} Explanation
 * @property {string} place in words: "weight of query 1 on key 2", "row 1, column 2"; "" of a
 *   single number
 * @property {string} value with all its digits
 * @property {Text} formula with names; empty for a literal input
 * @property {Text[]} numbers the same with numbers, in lines that are equal; the last is the value
 * @property {Text} note what the formula does not say
 * @property {Cell[]} parts the elements of named steps that it is made of
 */

/** @typedef {{text: Text, level: number}} Expression a text, and how tightly it is bound */

// A number within a sum or a product is spelled out only if it is made of so few others.
const [SPELLED_OUT, SPELLED_OUT_IN_SUM, LONGEST] = [16, 3, 60];
const DRAWN = "computed when this site is built, from numbers that are drawn at random";

/**
 * Say where a number comes from.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values what `evaluate` gave
 * @param {string} step
 * @param {number[]} index
 * @returns {Explanation}
 */
export const explain = (graph, values, step, index) => {
  const term = termOf(graph, values, step, index);
  const { shape, data, dtype } = values[/** @type {number} */ (graph.named.get(step))];
  const value = data[ravel(index, shape)];
  const isPlain = isGiven(graph, term) || isMask(graph, term);
  const formula = formulaOf(graph, values, term, step, index);
  const numbers = isPlain ? [] : numbersOf(values, term);
  const lines = numbers.length ? [...numbers, [figure(value, dtype)]] : [];
  return {
    place: placeOf(graph, values, term, index),
    value: show.python(value, dtype),
    formula,
    numbers: withoutRepetition(formula.slice(2), lines),
    note: graph.formulas[step] ? [DRAWN] : noteOf(graph, values, term),
    parts: partsOf(term),
  };
};

/**
 * Leave out each line that reads as the one before.
 *
 * @param {Text} before what stands on the right of the formula @param {Text[]} lines
 */
const withoutRepetition = (before, lines) => {
  const readings = [before, ...lines].map((line) => line.map(readingOf).join(""));
  return lines.filter((_, i) => readings[i + 1] !== readings[i]);
};

/** @param {string | Name | Figure} piece */
const readingOf = (piece) => {
  if (typeof piece === "string") return piece;
  return "step" in piece ? piece.step : show.html(piece.value, piece.dtype);
};

/** @param {Term} term @returns {Cell[]} */
const partsOf = (term) => {
  /** @type {Map<string, Cell>} */ const cells = new Map();
  const seen = new Set();
  /** @param {Term} term */
  const visit = (term) => {
    if (seen.has(term)) return;
    seen.add(term);
    if (term.cell) cells.set(JSON.stringify(term.cell), term.cell);
    term.used.forEach(visit);
  };
  visit(term);
  return [...cells.values()];
};

/** @type {WeakMap<Term, boolean>} */
const leading = new WeakMap();

/** @param {Term} term @returns {boolean} whether a named step is among what it is made of */
const leadsOn = (term) => {
  const leads = leading.get(term) ?? (term.cell !== null || term.used.some(leadsOn));
  leading.set(term, leads);
  return leads;
};

// ---------------------------------------------------------------------------------------------
// Names

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @param {string} step @param {number[]} index */
const formulaOf = (graph, values, term, step, index) => {
  if (graph.formulas[step]) return [{ step }, " = ", graph.formulas[step]];
  if (isGiven(graph, term)) return [];
  let { text } = names(graph, values, term, 1);
  for (let depth = 2; depth < 12; depth++) {
    const longer = names(graph, values, term, depth).text;
    if (longer.length > LONGEST) break;
    text = longer;
  }
  const at = located(values, term)?.slice(-2);
  const turns = term.via.filter((node) => graph.nodes[node].operation === "matrix_transpose").length;
  if (term.cell && turns % 2 && String(at?.toReversed()) === String(index))
    return [{ step }, " = ", ...text, "ᵀ"];
  const elsewhere = at?.length && String(at) !== String(index) ? ` at ${inWords(at)}` : "";
  return [{ step }, " = ", ...text, ...(elsewhere ? [elsewhere] : [])];
};

/**
 * Write a term with the names of steps.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term} term
 * @param {number} depth how many operations are spelled out
 * @returns {Expression}
 */
const names = (graph, values, term, depth) => {
  if (term.cell) return named(term.cell.step);
  const called = call(graph, term);
  if (called) return atom(called.text);
  if (term.operation === "literal") return literal(graph, values, term);
  if (depth === 0) return atom("…");
  /** @param {Term} term */
  const inner = (term) => names(graph, values, term, depth - 1);
  if (term.operation === "matmul") {
    const [left, right] = sides(term).map((side, i) => {
      const name = together(side, inner);
      const part = partOf(graph, values, side, i);
      const isColumn = along(values, side, i) === (i ? -1 : -2);
      const text = [...(part || isColumn ? wrapped(name, ATOM) : name.text), part, isColumn ? "ᵀ" : ""];
      return { text: text.filter((piece) => piece !== ""), level: part || isColumn ? ATOM : name.level };
    });
    return { text: [...wrapped(left, PREFIX), " ", ...wrapped(right, POWER)], level: PREFIX };
  }
  if (term.operation === "where") {
    const [condition, one, other] = term.terms.map(inner);
    return { text: [...one.text, " where ", ...condition.text, ", else ", ...other.text], level: 0 };
  }
  if (term.operation === "softmax" || isReduction(term)) {
    const axis = term.operation === "softmax" && along(values, term.used, 0) < -1 ? ", axis=0" : "";
    return { text: [`${term.operation}(`, ...together(term.used, inner).text, `${axis})`], level: ATOM };
  }
  return operation(term, isOfOneArray(term) ? term.terms.map(element) : term.terms.map(inner));
};

/** @param {Term} term @returns {boolean} whether it combines two elements of one array, as in z[1] − z[0] */
const isOfOneArray = ({ operation, terms: [one, other] }) => {
  if (!(operations[operation]?.reads && one.cell && other.cell)) return false;
  return one.cell.step === other.cell.step && String(one.cell.index) !== String(other.cell.index);
};

/** @param {Term} term @returns {Expression} */
const element = ({ cell }) => {
  const { step, index } = /** @type {Cell} */ (cell);
  return { text: [...wrapped(named(step), ATOM), `[${index.join(", ")}]`], level: ATOM };
};

// After another name, ² or ᵀ would seem to belong to its last word only: (weights 2)ᵀ, (dW_Q)².
const ONE_SYMBOL = /^(\w+\.)?([A-Za-z]\d?(_\w+)?|[a-z]+)$/;

/** @param {string} step @returns {Expression} */
const named = (step) => ({ text: [{ step }], level: ONE_SYMBOL.test(step) ? ATOM : POWER });

/**
 * Name the elements of a row: by one name, or by those of all the arrays that were joined.
 *
 * @param {Term[]} terms @param {(term: Term) => Expression} nameOf @returns {Expression}
 */
const together = (terms, nameOf) => {
  const kinds = [...new Map(terms.map((term) => [term.cell?.step ?? term.node, term])).values()];
  if (kinds.length === 1) return nameOf(kinds[0]);
  return { text: ["[", ...separated(kinds.map((term) => nameOf(term).text)), "]"], level: ATOM };
};

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @returns {Expression} */
const literal = (graph, values, { node, position }) => {
  const { shape, data, dtype } = values[node];
  const isMatrix = graph.nodes[node].operation === "asarray" && data.length > 1;
  return atom(isMatrix ? `[${shape.join(" × ")}]` : figure(data[position], dtype));
};

/**
 * Find the call of a public function that has no named step among its inputs: `causal_mask(...)`.
 *
 * @param {Graph} graph @param {Term} term
 */
const call = ({ scopes, nodes }, term) => {
  const scope = scopes.find(({ results }) => Object.values(results).some((node) => term.via.includes(node)));
  if (!scope || scope.call === "softmax" || leadsOn(term)) return null;
  const given = Object.entries(scope.arguments).flatMap(([name, value]) => {
    if (name === "device") return [];
    const number = value?.node === undefined ? value : nodes[value.node].attributes.value;
    return [[name, typeof number === "number" ? number : undefined]];
  });
  if (given.some(([, number]) => number === undefined)) return null;
  return { call: scope.call, text: `${scope.call}(${given.map((each) => each.join("=")).join(", ")})` };
};

/** @param {Term} term @returns {[Term[], Term[]]} the row and the column of a product */
const sides = ({ terms }) => [terms.filter((_, i) => i % 2 === 0), terms.filter((_, i) => i % 2 === 1)];

/**
 * Find the axis that the row or the column of a product follows in what it is named by.
 *
 * @param {NDArray[]} values @param {Term[]} terms @param {number} side 0 for the row, 1 for the column
 * @returns {number} from the end; -1 in a row and -2 in a column that is not transposed
 */
const along = (values, [one, other], side) => {
  const [from, to] = [one, other ?? one].map((term) => term.cell?.index ?? origin(values, term));
  const axis = from.findLastIndex((place, axis) => place !== to[axis]) - from.length;
  return axis < -from.length ? -1 - side : axis;
};

/**
 * Tell which part of a named matrix takes part in a product: `[4:8]`, or "" for all of it.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term[]} terms @param {number} side
 */
const partOf = ({ named }, values, terms, side) => {
  const [{ cell }] = terms;
  if (!cell || terms.some((term) => term.cell?.step !== cell.step)) return "";
  const { shape } = values[/** @type {number} */ (named.get(cell.step))];
  const axis = along(values, terms, side);
  const first = cell.index[shape.length + axis];
  if (terms.length === shape[shape.length + axis]) return "";
  return `[${axis === -1 && shape.length > 1 ? ":, " : ""}${first}:${first + terms.length}]`;
};

/** @param {NDArray[]} values @param {Term} term */
const origin = (values, { node, position }) => unravel(position, values[node].shape);

/**
 * Find the place of a number in what its formula names.
 *
 * @param {NDArray[]} values @param {Term} term
 * @returns {number[] | null} null if the formula does not tell
 */
const located = (values, term) => {
  if (term.cell) return term.cell.index;
  if (term.operation === "softmax") return located(values, term.terms[0]);
  if (term.operation === "where") return located(values, term.used[1]);
  if (term.operation === "matmul") {
    const [row, column] = sides(term).map((side, i) => {
      const index = side[0].cell?.index ?? origin(values, side[0]).slice(-2);
      const axis = along(values, side, i);
      return index.length < 2 ? [] : [index[index.length + (axis === -1 ? -2 : -1)]];
    });
    return [...row, ...column];
  }
  if (term.operation === "literal" || isReduction(term) || isOfOneArray(term)) return null;
  const axes = values[term.node].shape.filter((length) => length > 1).length;
  const isWhole = (/** @type {Term} */ { node }) => values[node].data.length === values[term.node].data.length;
  const places = [...term.used.filter(isWhole), ...term.used].map((each) => located(values, each) ?? []);
  return places.find(({ length }) => length >= Math.min(axes, 2)) ?? null;
};

// ---------------------------------------------------------------------------------------------
// Numbers

/** @param {NDArray[]} values @param {Term} term @returns {Text[]} */
const numbersOf = (values, term) => {
  if (term.operation === "softmax") return softmaxNumbers(values, term);
  if (term.operation === "where") return numbersOf(values, term.used[1]);
  if (term.operation === "all" || term.operation === "any") {
    const decisive = term.terms.find((each) => Boolean(valueOf(values, each)) === (term.operation === "any"));
    return decisive ? numbersOf(values, decisive) : [];
  }
  return [spelled(values, term, Infinity).text];
};

/** @param {NDArray[]} values @param {Term} term @returns {Text[]} the powers and their sum */
const softmaxNumbers = (values, { terms: [own, ...row] }) => {
  const scores = row.map((term) => valueOf(values, term));
  const largest = Math.max(...scores);
  if (largest === -Infinity) return [];
  /** @param {Term} term @returns {Text} */
  const power = (term) => {
    const score = spelled(values, term, SPELLED_OUT_IN_SUM);
    const shift = largest === 0 ? [] : [" − ", ...wrapped(atom(figure(largest)), PRODUCT)];
    return ["exp(", ...score.text, ...shift, ")"];
  };
  const powers = scores.map((score) => Math.exp(score - largest));
  const mine = figure(Math.exp(valueOf(values, own) - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return [
    [...power(own), " / (", ...separated(row.map(power), " + "), ")"],
    [mine, " / (", ...separated(powers.map((power) => [figure(power)]), " + "), ")"],
    [mine, " / ", figure(total)],
  ];
};

/**
 * Write a term with the numbers that it is computed from.
 *
 * @param {NDArray[]} values @param {Term} term
 * @param {number} limit if it is made of more numbers than these, its value is written instead
 * @returns {Expression}
 */
const spelled = (values, term, limit) => {
  const { data, dtype } = values[term.node];
  const value = figure(data[term.position], dtype, term.cell);
  const isWhole = ["literal", "cell", "where", "softmax", "all", "any"].includes(term.operation);
  if (isWhole || leaves(term) > limit) return atom(value);
  const rest = term.operation === "matmul" || isReduction(term) ? SPELLED_OUT_IN_SUM : SPELLED_OUT;
  const inner = term.terms.map((each) =>
    spelled(values, each, each.operation === term.operation ? limit : rest)
  );
  if (term.operation === "matmul") {
    const products = inner.flatMap((left, i) =>
      i % 2 ? [] : [[...wrapped(left, PRODUCT, i === 0), " × ", ...wrapped(inner[i + 1], PRODUCT + 1)]]
    );
    return { text: separated(products, " + "), level: SUM };
  }
  if (term.operation === "sum" || term.operation === "mean") {
    const sum = separated(inner.map((each, i) => wrapped(each, i ? SUM + 1 : SUM, i === 0)), " + ");
    return term.operation === "sum"
      ? { text: sum, level: SUM }
      : { text: ["(", ...sum, `) / ${inner.length}`], level: PRODUCT };
  }
  if (isReduction(term))
    return { text: [`${term.operation}(`, ...separated(inner.map(({ text }) => text)), ")"], level: ATOM };
  return operation(term, inner);
};

/** @type {WeakMap<Term, number>} */
const counts = new WeakMap();

/** @param {Term} term @returns {number} of how many numbers it is made */
const leaves = (term) => {
  const count = counts.get(term) ?? (term.terms.reduce((sum, each) => sum + leaves(each), 0) || 1);
  counts.set(term, count);
  return count;
};

// ---------------------------------------------------------------------------------------------
// Words

/** @type {Record<string, string[]>} what the last axes of the results of attention count */
const RESULTS = {
  scores: ["score of query ", " on key "],
  scaled: ["scaled score of query ", " on key "],
  masked: ["masked score of query ", " on key "],
  weights: ["weight of query ", " on key "],
  output: ["output of query ", ", feature "],
};

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @param {number[]} index */
const placeOf = ({ scopes }, values, term, index) => {
  for (const { call, results } of scopes) {
    if (call !== "attention_steps" && call !== "scaled_dot_product_attention") continue;
    for (const [result, node] of Object.entries(results)) {
      if (node !== term.node || term.cell) continue;
      const [row, column, ...batch] = origin(values, term).toReversed();
      const lengths = values[node].shape.toReversed().slice(2);
      const heads = scopes.some(({ call, arguments: { enable_gqa } }) => call === "split_heads" || enable_gqa);
      const others = batch.map((place, i) =>
        lengths[i] > 1 ? `, ${heads && i === 0 ? "head" : "sequence"} ${place + 1}` : ""
      );
      const [of, on] = RESULTS[result] ?? RESULTS.output;
      return `${of}${column + 1}${on}${row + 1}${others.join("")}`;
    }
  }
  return inWords(index);
};

/** @param {number[]} index @returns {string} */
export const inWords = (index) => {
  const [column, row, ...others] = index.map((place) => place + 1).toReversed();
  if (column === undefined) return "";
  if (row === undefined) return `element ${column}`;
  return `${others.map((place) => `matrix ${place}, `).join("")}row ${row}, column ${column}`;
};

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @returns {Text} */
const noteOf = (graph, values, term) => {
  if (isGiven(graph, term)) {
    const [shared] = [...graph.named].find(([name, node]) => node === term.node && name.includes(".")) ?? [];
    const example = shared?.split(".")[0] ?? graph.example;
    return [`a literal input, given in attention_docs/examples/${example}.py`];
  }
  const value = valueOf(values, term);
  if (isMask(graph, term)) return [takesPart(value)];
  if (term.operation === "softmax" && term.used.every((score) => valueOf(values, score) === -Infinity))
    return ["every score of the row is −∞: nothing takes part, and its weights are 0"];
  if (term.operation === "all" || term.operation === "any") {
    const true_ = term.terms.filter((each) => valueOf(values, each)).length;
    return [`true for ${true_} of ${term.terms.length}`];
  }
  if (term.operation.startsWith("arg")) return ["counted from 0"];
  if (term.operation !== "where") return [];
  const [condition, , other] = term.terms;
  const holds = valueOf(values, condition);
  if (valueOf(values, other) === -Infinity && term.terms[2].operation === "literal")
    return [...(condition.cell ? [...spelled(values, condition, 0).text, ": "] : []), takesPart(holds)];
  if (!leadsOn(condition)) return [];
  const tested = spelled(values, condition, SPELLED_OUT).text;
  if (condition.cell) return [{ step: condition.cell.step }, " is ", ...tested];
  return [...tested, holds ? " is true" : " is false"];
};

/** @param {number} holds what a mask says */
const takesPart = (holds) => `the position takes ${holds ? "part" : "no part"}`;

// ---------------------------------------------------------------------------------------------
// Expressions

/** @param {Graph} graph @param {Term} term @returns {boolean} whether it is a number written in the example */
const isGiven = ({ nodes }, { node, operation }) =>
  operation === "literal" && nodes[node].operation === "asarray";

/** @param {Graph} graph @param {Term} term */
const isMask = (graph, term) => Boolean(call(graph, term)?.call.endsWith("_mask"));

/** @param {Term} term */
const isReduction = ({ operation }) => operations[operation]?.kind === "reduces";

/** @param {number} value @param {Dtype} dtype @param {Cell | null} cell @returns {Figure} */
const figure = (value, dtype = "float64", cell = null) => ({ value, dtype, cell });

/** @param {string | Figure} piece @returns {Expression} */
const atom = (piece) => {
  if (typeof piece === "string") return { text: [piece], level: ATOM };
  // 1.5 × 10⁻⁶ reads as a product.
  const level = show.html(piece.value, piece.dtype).includes("×") ? PRODUCT : ATOM;
  return { text: [piece], level: piece.value < 0 ? 0 : level };
};

/** Put what is bound less tightly into parentheses. @param {Expression} expression @param {number} least */
const wrapped = ({ text, level }, least, isFirst = false) => {
  const isNumber = text.length === 1;
  return level >= least || (isFirst && isNumber) ? text : ["(", ...text, ")"];
};

/** @param {Text[]} texts @returns {Text} */
const separated = (texts, separator = ", ") =>
  texts.flatMap((text, i) => (i ? [separator, ...text] : text));

/** @param {Term} term @param {Expression[]} inner @returns {Expression} an operation on single numbers */
const operation = ({ operation }, inner) => {
  const [one, other] = inner;
  const { reads, around } = operations[operation];
  if (reads) {
    const [symbol, level] = reads;
    return { text: [...wrapped(one, level, true), ` ${symbol} `, ...wrapped(other, level + 1)], level };
  }
  if (operation === "pow") {
    const [exponent] = other.text;
    const isSquare = typeof exponent === "object" && "value" in exponent && exponent.value === 2;
    const raised = isSquare && other.text.length === 1 ? ["²"] : ["^(", ...other.text, ")"];
    return { text: [...wrapped(one, ATOM), ...raised], level: POWER };
  }
  if (operation === "negative") return { text: ["−", ...wrapped(one, PRODUCT)], level: SUM };
  const [before, after] = around ?? [`${operation}(`, ")"];
  return { text: [before, ...separated(inner.map(({ text }) => text)), after], level: ATOM };
};

// Explain a number: its position in words, its formula with names and with numbers, and the cells it
// depends on.

import { ravel, unravel } from "./arrays.js";
import { ATOM, POWER, PREFIX, PRODUCT, SUM, operations } from "./operations.js";
import * as show from "./show.js";
import { termOf, valueOf } from "./terms.js";

/** @typedef {import("./terms.js").Term} Term */

/** @typedef {{step: string}} StepName `example.step` for a shared literal */
/** @typedef {{value: number, dtype: Dtype, cell: Cell | null}} NumberToken a number, and its cell if any */
/** @typedef {(string | StepName | NumberToken)[]} RichText */

/**
 * @typedef {object} Explanation
 * @property {string} description of the position: "weight of query 1 on key 2", "row 1, column 2"; ""
 *   for a single number
 * @property {string} value with all its digits
 * @property {RichText} formula with names; empty for a literal input
 * @property {RichText[]} numbers the formula with numbers: a chain of equal lines that ends with the value
 * @property {RichText} note on what the formula does not show
 * @property {Cell[]} dependencies the cells that it is computed from
 */

/** @typedef {{text: RichText, level: number}} Expression a text and its precedence */

// How many numbers an operand may expand to, alone or within a sum; how many pieces a formula may have.
const [SPELLED_OUT, SPELLED_OUT_IN_SUM, LONGEST] = [16, 3, 60];
const RANDOM = "computed when this site is built, from numbers that are drawn at random";

/**
 * Explain where a number comes from.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values from `evaluate`
 * @param {string} step
 * @param {number[]} index
 * @returns {Explanation}
 */
export const explain = (graph, values, step, index) => {
  const term = termOf(graph, values, step, index);
  const { shape, data, dtype } = values[/** @type {number} */ (graph.nodesByName.get(step))];
  const value = data[ravel(index, shape)];
  const hasNoNumbers = isLiteral(graph, term) || isMask(graph, term);
  const formula = formulaOf(graph, values, term, step, index);
  const numbers = hasNoNumbers ? [] : numbersOf(values, term);
  const lines = numbers.length ? [...numbers, [numberToken(value, dtype)]] : [];
  return {
    description: descriptionOf(graph, values, term, index),
    value: show.python(value, dtype),
    formula,
    numbers: dropRepeated(formula.slice(2), lines),
    note: graph.formulas[step] ? [RANDOM] : noteOf(graph, values, term),
    dependencies: dependenciesOf(term),
  };
};

/**
 * Drop lines that look like their predecessor.
 *
 * @param {RichText} right side of the formula @param {RichText[]} lines
 */
const dropRepeated = (right, lines) => {
  const texts = [right, ...lines].map((line) => line.map(pieceText).join(""));
  return lines.filter((_, i) => texts[i + 1] !== texts[i]);
};

/** @param {string | StepName | NumberToken} piece */
const pieceText = (piece) => {
  if (typeof piece === "string") return piece;
  return "step" in piece ? piece.step : show.html(piece.value, piece.dtype);
};

/** @param {Term} term @returns {Cell[]} */
const dependenciesOf = (term) => {
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
const cellDependence = new WeakMap();

/** @param {Term} term @returns {boolean} */
const dependsOnCell = (term) => {
  const depends = cellDependence.get(term) ?? (term.cell !== null || term.used.some(dependsOnCell));
  cellDependence.set(term, depends);
  return depends;
};

// ---------------------------------------------------------------------------------------------
// Names

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @param {string} step @param {number[]} index */
const formulaOf = (graph, values, term, step, index) => {
  if (graph.formulas[step]) return [{ step }, " = ", graph.formulas[step]];
  if (isLiteral(graph, term)) return [];
  let { text } = symbolic(graph, values, term, 1);
  for (let depth = 2; depth < 12; depth++) {
    const longer = symbolic(graph, values, term, depth).text;
    if (longer.length > LONGEST) break;
    text = longer;
  }
  const at = indexInFormula(values, term)?.slice(-2);
  const transposes = term.via.filter((node) => graph.nodes[node].operation === "matrix_transpose").length;
  if (term.cell && transposes % 2 && String(at?.toReversed()) === String(index))
    return [{ step }, " = ", ...text, "ᵀ"];
  const elsewhere = at?.length && String(at) !== String(index) ? ` at ${describeIndex(at)}` : "";
  return [{ step }, " = ", ...text, ...(elsewhere ? [elsewhere] : [])];
};

/**
 * Write a term with the names of steps.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term} term
 * @param {number} depth how many nested operations to write out
 * @returns {Expression}
 */
const symbolic = (graph, values, term, depth) => {
  if (term.cell) return stepName(term.cell.step);
  const call = constantCall(graph, term);
  if (call) return atom(call.text);
  if (term.operation === "literal") return literal(graph, values, term);
  if (depth === 0) return atom("…");
  /** @param {Term} term */
  const inner = (term) => symbolic(graph, values, term, depth - 1);
  if (term.operation === "matmul") {
    const [left, right] = factorsOf(term).map((factor, i) => {
      const name = rowName(factor, inner);
      const slice = sliceOf(graph, values, factor, i);
      const isTransposed = axisOf(values, factor, i) === (i ? -1 : -2);
      const text = [...(slice || isTransposed ? parenthesised(name, ATOM) : name.text), slice, isTransposed ? "ᵀ" : ""];
      return { text: text.filter((piece) => piece !== ""), level: slice || isTransposed ? ATOM : name.level };
    });
    return { text: [...parenthesised(left, PREFIX), " ", ...parenthesised(right, POWER)], level: PREFIX };
  }
  if (term.operation === "where") {
    const [condition, ifTrue, ifFalse] = term.terms.map(inner);
    return { text: [...ifTrue.text, " where ", ...condition.text, ", else ", ...ifFalse.text], level: 0 };
  }
  if (term.operation === "softmax" || isReduction(term)) {
    const axis = term.operation === "softmax" && axisOf(values, term.used, 0) < -1 ? ", axis=0" : "";
    return { text: [`${term.operation}(`, ...rowName(term.used, inner).text, `${axis})`], level: ATOM };
  }
  return operationText(term, combinesOneArray(term) ? term.terms.map(cellName) : term.terms.map(inner));
};

/** @param {Term} term @returns {boolean} whether it combines two elements of one array, as in z[1] − z[0] */
const combinesOneArray = ({ operation, terms: [left, right] }) => {
  if (!(operations[operation]?.infix && left.cell && right.cell)) return false;
  return left.cell.step === right.cell.step && String(left.cell.index) !== String(right.cell.index);
};

/** @param {Term} term @returns {Expression} */
const cellName = ({ cell }) => {
  const { step, index } = /** @type {Cell} */ (cell);
  return { text: [...parenthesised(stepName(step), ATOM), `[${index.join(", ")}]`], level: ATOM };
};

// Names of several words need parentheses before ² or ᵀ: (weights 2)ᵀ, (dW_Q)².
const ONE_SYMBOL = /^(\w+\.)?([A-Za-z]\d?(_\w+)?|[a-z]+)$/;

/** @param {string} step @returns {Expression} */
const stepName = (step) => ({ text: [{ step }], level: ONE_SYMBOL.test(step) ? ATOM : POWER });

/**
 * Name a row: by its array, or by all the arrays that were concatenated.
 *
 * @param {Term[]} terms @param {(term: Term) => Expression} nameOf @returns {Expression}
 */
const rowName = (terms, nameOf) => {
  const arrays = [...new Map(terms.map((term) => [term.cell?.step ?? term.node, term])).values()];
  if (arrays.length === 1) return nameOf(arrays[0]);
  return { text: ["[", ...joined(arrays.map((term) => nameOf(term).text)), "]"], level: ATOM };
};

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @returns {Expression} */
const literal = (graph, values, { node, position }) => {
  const { shape, data, dtype } = values[node];
  const isMatrix = graph.nodes[node].operation === "asarray" && data.length > 1;
  return atom(isMatrix ? `[${shape.join(" × ")}]` : numberToken(data[position], dtype));
};

/**
 * Find the public function called with constants alone that gives a term: `causal_mask(...)`.
 *
 * @param {Graph} graph @param {Term} term
 */
const constantCall = ({ scopes, nodes }, term) => {
  const scope = scopes.find(({ results }) => Object.values(results).some((node) => term.via.includes(node)));
  if (!scope || scope.call === "softmax" || dependsOnCell(term)) return null;
  const constants = Object.entries(scope.arguments).flatMap(([name, value]) => {
    if (name === "device") return [];
    const number = value?.node === undefined ? value : nodes[value.node].attributes.value;
    return [[name, typeof number === "number" ? number : undefined]];
  });
  if (constants.some(([, number]) => number === undefined)) return null;
  return { call: scope.call, text: `${scope.call}(${constants.map((argument) => argument.join("=")).join(", ")})` };
};

/** @param {Term} term @returns {[Term[], Term[]]} the row and the column of a product */
const factorsOf = ({ terms }) => [terms.filter((_, i) => i % 2 === 0), terms.filter((_, i) => i % 2 === 1)];

/**
 * Find the axis of its array along which the row or the column of a product lies.
 *
 * @param {NDArray[]} values @param {Term[]} terms @param {number} factor 0 for the row, 1 for the column
 * @returns {number} from the end; -1 for a row and -2 for a column that is not transposed
 */
const axisOf = (values, [first, second], factor) => {
  const [from, to] = [first, second ?? first].map((term) => term.cell?.index ?? indexOf(values, term));
  const axis = from.findLastIndex((at, axis) => at !== to[axis]) - from.length;
  return axis < -from.length ? -1 - factor : axis;
};

/**
 * Write the slice of a step that a product uses: `[4:8]`, or "" for all of it.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term[]} terms @param {number} factor
 */
const sliceOf = ({ nodesByName }, values, terms, factor) => {
  const [{ cell }] = terms;
  if (!cell || terms.some((term) => term.cell?.step !== cell.step)) return "";
  const { shape } = values[/** @type {number} */ (nodesByName.get(cell.step))];
  const axis = axisOf(values, terms, factor);
  const first = cell.index[shape.length + axis];
  if (terms.length === shape[shape.length + axis]) return "";
  return `[${axis === -1 && shape.length > 1 ? ":, " : ""}${first}:${first + terms.length}]`;
};

/** @param {NDArray[]} values @param {Term} term */
const indexOf = (values, { node, position }) => unravel(position, values[node].shape);

/**
 * Find the index of a number in the arrays that its formula names.
 *
 * @param {NDArray[]} values @param {Term} term
 * @returns {number[] | null} null if the formula has none
 */
const indexInFormula = (values, term) => {
  if (term.cell) return term.cell.index;
  if (term.operation === "softmax") return indexInFormula(values, term.terms[0]);
  if (term.operation === "where") return indexInFormula(values, term.used[1]);
  if (term.operation === "matmul") {
    const [row, column] = factorsOf(term).map((factor, i) => {
      const index = factor[0].cell?.index ?? indexOf(values, factor[0]).slice(-2);
      const axis = axisOf(values, factor, i);
      return index.length < 2 ? [] : [index[index.length + (axis === -1 ? -2 : -1)]];
    });
    return [...row, ...column];
  }
  if (term.operation === "literal" || isReduction(term) || combinesOneArray(term)) return null;
  const axes = values[term.node].shape.filter((length) => length > 1).length;
  const hasSameSize = (/** @type {Term} */ { node }) => values[node].data.length === values[term.node].data.length;
  const indices = [...term.used.filter(hasSameSize), ...term.used].map((each) => indexInFormula(values, each) ?? []);
  return indices.find(({ length }) => length >= Math.min(axes, 2)) ?? null;
};

// ---------------------------------------------------------------------------------------------
// Numbers

/** @param {NDArray[]} values @param {Term} term @returns {RichText[]} */
const numbersOf = (values, term) => {
  if (term.operation === "softmax") return softmaxNumbers(values, term);
  if (term.operation === "where") return numbersOf(values, term.used[1]);
  if (term.operation === "all" || term.operation === "any") {
    const decisive = term.terms.find((each) => Boolean(valueOf(values, each)) === (term.operation === "any"));
    return decisive ? numbersOf(values, decisive) : [];
  }
  return [numeric(values, term, Infinity).text];
};

/** @param {NDArray[]} values @param {Term} term @returns {RichText[]} the exponentials and their sum */
const softmaxNumbers = (values, { terms: [own, ...row] }) => {
  const scores = row.map((term) => valueOf(values, term));
  const largest = Math.max(...scores);
  if (largest === -Infinity) return [];
  /** @param {Term} term @returns {RichText} */
  const power = (term) => {
    const score = numeric(values, term, SPELLED_OUT_IN_SUM);
    const shift = largest === 0 ? [] : [" − ", ...parenthesised(atom(numberToken(largest)), PRODUCT)];
    return ["exp(", ...score.text, ...shift, ")"];
  };
  const powers = scores.map((score) => Math.exp(score - largest));
  const numerator = numberToken(Math.exp(valueOf(values, own) - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return [
    [...power(own), " / (", ...joined(row.map(power), " + "), ")"],
    [numerator, " / (", ...joined(powers.map((power) => [numberToken(power)]), " + "), ")"],
    [numerator, " / ", numberToken(total)],
  ];
};

/**
 * Write a term with numbers.
 *
 * @param {NDArray[]} values @param {Term} term
 * @param {number} limit on how many numbers to write; beyond it, the value alone
 * @returns {Expression}
 */
const numeric = (values, term, limit) => {
  const { data, dtype } = values[term.node];
  const value = numberToken(data[term.position], dtype, term.cell);
  const isAtomic = ["literal", "cell", "where", "softmax", "all", "any"].includes(term.operation);
  if (isAtomic || countLeaves(term) > limit) return atom(value);
  const innerLimit = term.operation === "matmul" || isReduction(term) ? SPELLED_OUT_IN_SUM : SPELLED_OUT;
  const inner = term.terms.map((each) =>
    numeric(values, each, each.operation === term.operation ? limit : innerLimit)
  );
  if (term.operation === "matmul") {
    const products = inner.flatMap((left, i) =>
      i % 2 ? [] : [[...parenthesised(left, PRODUCT, i === 0), " × ", ...parenthesised(inner[i + 1], PRODUCT + 1)]]
    );
    return { text: joined(products, " + "), level: SUM };
  }
  if (term.operation === "sum" || term.operation === "mean") {
    const sum = joined(inner.map((each, i) => parenthesised(each, i ? SUM + 1 : SUM, i === 0)), " + ");
    return term.operation === "sum"
      ? { text: sum, level: SUM }
      : { text: ["(", ...sum, `) / ${inner.length}`], level: PRODUCT };
  }
  if (isReduction(term))
    return { text: [`${term.operation}(`, ...joined(inner.map(({ text }) => text)), ")"], level: ATOM };
  return operationText(term, inner);
};

/** @type {WeakMap<Term, number>} */
const leafCounts = new WeakMap();

/** @param {Term} term @returns {number} how many numbers it expands to */
const countLeaves = (term) => {
  const count = leafCounts.get(term) ?? (term.terms.reduce((sum, each) => sum + countLeaves(each), 0) || 1);
  leafCounts.set(term, count);
  return count;
};

// ---------------------------------------------------------------------------------------------
// Words

/** @type {Record<string, string[]>} words around column and row, by result of attention */
const RESULTS = {
  scores: ["score of query ", " on key "],
  scaled: ["scaled score of query ", " on key "],
  masked: ["masked score of query ", " on key "],
  weights: ["weight of query ", " on key "],
  output: ["output of query ", ", feature "],
};

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @param {number[]} index */
const descriptionOf = ({ scopes }, values, term, index) => {
  for (const { call, results } of scopes) {
    if (call !== "attention_steps" && call !== "scaled_dot_product_attention") continue;
    for (const [result, node] of Object.entries(results)) {
      if (node !== term.node || term.cell) continue;
      const [row, column, ...batch] = indexOf(values, term).toReversed();
      const lengths = values[node].shape.toReversed().slice(2);
      const hasHeads = scopes.some(({ call, arguments: { enable_gqa } }) => call === "split_heads" || enable_gqa);
      const outer = batch.map((at, i) =>
        lengths[i] > 1 ? `, ${hasHeads && i === 0 ? "head" : "sequence"} ${at + 1}` : ""
      );
      const [of, on] = RESULTS[result] ?? RESULTS.output;
      return `${of}${column + 1}${on}${row + 1}${outer.join("")}`;
    }
  }
  return describeIndex(index);
};

/** @param {number[]} index @returns {string} */
export const describeIndex = (index) => {
  const [column, row, ...outer] = index.map((at) => at + 1).toReversed();
  if (column === undefined) return "";
  if (row === undefined) return `element ${column}`;
  return `${outer.map((at) => `matrix ${at}, `).join("")}row ${row}, column ${column}`;
};

/** @param {Graph} graph @param {NDArray[]} values @param {Term} term @returns {RichText} */
const noteOf = (graph, values, term) => {
  if (isLiteral(graph, term)) {
    const [shared] = [...graph.nodesByName].find(([name, node]) => node === term.node && name.includes(".")) ?? [];
    const example = shared?.split(".")[0] ?? graph.example;
    return [`a literal input, given in attention_docs/examples/${example}.py`];
  }
  const value = valueOf(values, term);
  if (isMask(graph, term)) return [maskNote(value)];
  if (term.operation === "softmax" && term.used.every((score) => valueOf(values, score) === -Infinity))
    return ["every score of the row is −∞: nothing takes part, and its weights are 0"];
  if (term.operation === "all" || term.operation === "any") {
    const count = term.terms.filter((each) => valueOf(values, each)).length;
    return [`true for ${count} of ${term.terms.length}`];
  }
  if (term.operation.startsWith("arg")) return ["counted from 0"];
  if (term.operation !== "where") return [];
  const [condition, , ifFalse] = term.terms;
  const holds = valueOf(values, condition);
  if (valueOf(values, ifFalse) === -Infinity && ifFalse.operation === "literal")
    return [...(condition.cell ? [...numeric(values, condition, 0).text, ": "] : []), maskNote(holds)];
  if (!dependsOnCell(condition)) return [];
  const tested = numeric(values, condition, SPELLED_OUT).text;
  if (condition.cell) return [{ step: condition.cell.step }, " is ", ...tested];
  return [...tested, holds ? " is true" : " is false"];
};

/** @param {number} isIncluded an element of a mask */
const maskNote = (isIncluded) => `the position takes ${isIncluded ? "part" : "no part"}`;

// ---------------------------------------------------------------------------------------------
// Expressions

/** @param {Graph} graph @param {Term} term @returns {boolean} whether it is a literal of an example */
const isLiteral = ({ nodes }, { node, operation }) =>
  operation === "literal" && nodes[node].operation === "asarray";

/** @param {Graph} graph @param {Term} term */
const isMask = (graph, term) => Boolean(constantCall(graph, term)?.call.endsWith("_mask"));

/** @param {Term} term */
const isReduction = ({ operation }) => operations[operation]?.kind === "reduction";

/** @param {number} value @param {Dtype} dtype @param {Cell | null} cell @returns {NumberToken} */
const numberToken = (value, dtype = "float64", cell = null) => ({ value, dtype, cell });

/** @param {string | NumberToken} piece @returns {Expression} */
const atom = (piece) => {
  if (typeof piece === "string") return { text: [piece], level: ATOM };
  // 1.5 × 10⁻⁶ reads as a product.
  const level = show.html(piece.value, piece.dtype).includes("×") ? PRODUCT : ATOM;
  return { text: [piece], level: piece.value < 0 ? 0 : level };
};

/** Add parentheses below a precedence. @param {Expression} expression @param {number} minimum */
const parenthesised = ({ text, level }, minimum, isFirst = false) => {
  const isNumber = text.length === 1;
  return level >= minimum || (isFirst && isNumber) ? text : ["(", ...text, ")"];
};

/** @param {RichText[]} texts @returns {RichText} */
const joined = (texts, separator = ", ") =>
  texts.flatMap((text, i) => (i ? [separator, ...text] : text));

/** @param {Term} term @param {Expression[]} inner @returns {Expression} an elementwise operation */
const operationText = ({ operation }, inner) => {
  const [left, right] = inner;
  const { infix, around } = operations[operation];
  if (infix) {
    const [symbol, level] = infix;
    return { text: [...parenthesised(left, level, true), ` ${symbol} `, ...parenthesised(right, level + 1)], level };
  }
  if (operation === "pow") {
    const [exponent] = right.text;
    const isSquare = typeof exponent === "object" && "value" in exponent && exponent.value === 2;
    const raised = isSquare && right.text.length === 1 ? ["²"] : ["^(", ...right.text, ")"];
    return { text: [...parenthesised(left, ATOM), ...raised], level: POWER };
  }
  if (operation === "negative") return { text: ["−", ...parenthesised(left, PRODUCT)], level: SUM };
  const [before, after] = around ?? [`${operation}(`, ")"];
  return { text: [before, ...joined(inner.map(({ text }) => text)), after], level: ATOM };
};

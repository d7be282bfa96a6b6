// Explain a number: its position in words, its formula with names and with numbers, and the cells it
// depends on.

import { ravel, unravel } from "./arrays.js";
import { ATOM, POWER, PREFIX, PRODUCT, SUM, operations } from "./operations.js";
import * as show from "./show.js";
import { termOf, valueOf } from "./terms.js";

/** @typedef {import("./terms.js").Term} Term */

/** @typedef {{step: string}} StepName `example.step` for a shared literal */
/** @typedef {{value: number, dtype: Dtype, cell: Cell | null, isRest?: boolean}} NumberToken a number, and its cell if any; the rest of a long sum is shown as `…` */
/** @typedef {(string | StepName | NumberToken)[]} RichText text with names and numbers, which the page renders and links */

/**
 * @typedef {object} Explanation
 * @property {string} description of the position: "weight of query 1 on key 2", "weight of they on birds", "row 1, column 2"; "" for a single number
 * @property {NumberToken} value
 * @property {RichText} formula with names; empty for a literal input
 * @property {RichText[]} numbers the formula with numbers: a chain of equal lines that ends with the value
 * @property {RichText} note on what the formula does not show
 * @property {Cell[]} dependencies the cells that it is computed from
 */

/** @typedef {{text: RichText, level: number}} Expression a text and its precedence */
/** @typedef {Expression & {value: number}} Summand */

// How many numbers an operand may expand to, alone or within a sum, and how many terms a sum may have.
const [MAX_NUMBERS, MAX_NUMBERS_IN_SUM, MAX_TERMS] = [16, 3, 5];
// How many characters a formula may have, which is about a line of the card, and how many nested operations.
const [MAX_FORMULA_LENGTH, MAX_DEPTH] = [64, 11];
// What a formula cannot say: operations that do not fit, matrices without a name, and rounding errors.
const UNSPEAKABLE = /…|\[\d+ × |1\.0 × 10/;
/** @type {Record<string, string>} the letters of attention's arrays, if they are not steps */
const LETTERS = { query: "Q", key: "K", value: "V", scores: "S", scaled: "Z", masked: "Z", weights: "A", output: "O" };
/** @type {Record<string, string>} what calls with numbers alone make */
const CALLS = { causal_mask: "the causal mask", window_mask: "the window", padding_mask: "the padding mask", sinusoidal_positions: "the positions" };
// The exponential of a larger score, or of its opposite, may leave the range of floats.
const MAX_EXPONENT = 700;
// The precedence of what needs parentheses in every operation.
const LOOSEST = 0;
const RANDOM_NOTE = "computed by the build from numbers drawn at random";

/**
 * Explain where a number comes from.
 *
 * @param {Graph} graph
 * @param {NDArray[]} values from `evaluate`
 * @param {string} step
 * @param {number[]} index
 */
export const explain = (graph, values, step, index) => {
  const { shape, data, dtype } = values[/** @type {number} */ (graph.nodesByName.get(step))];
  const value = data[ravel(index, shape)];
  const words = graph.labels[step] && describeWords(graph.labels[step], step, index);
  if (graph.formulas[step])
    return {
      description: words ?? describeIndex(index),
      value: numberToken(value, dtype),
      formula: [named(graph, step), " = ", graph.formulas[step]],
      numbers: [],
      note: graph.carried.length ? [] : [RANDOM_NOTE],
      dependencies: [],
    };
  const term = termOf(graph, values, step, index);
  const formula = formulaOf(graph, values, term, step, index);
  const isGiven = isLiteral(graph, term) || isMask(graph, term);
  // A formula that ends in a full stop is a sentence, for steps whose numbers would not help.
  const isSentence = graph.written[step]?.endsWith(".");
  const calculation = isGiven || isSentence ? [] : numbersOf(values, term);
  const lines = calculation.length ? [...calculation, [numberToken(value, dtype)]] : [];
  // A line that looks like its predecessor, the first of which is the right side of the formula, says nothing.
  const texts = [formula.slice(2), ...lines].map((line) => line.map(pieceText).join(""));
  return {
    description: words ?? descriptionOf(graph, values, term, index),
    value: numberToken(value, dtype),
    formula,
    numbers: lines.filter((_, i) => texts[i + 1] !== texts[i]),
    note: isSentence ? [] : noteOf(graph, values, term),
    dependencies: dependenciesOf(term),
  };
};

/** Return a piece of rich text as a page shows it. @param {string | StepName | NumberToken} piece */
const pieceText = (piece) => {
  if (typeof piece === "string") return piece;
  if ("step" in piece) return piece.step.slice(piece.step.indexOf(".") + 1);
  return piece.isRest ? "…" : show.html(piece.value, piece.dtype);
};

/** List the cells that a term depends on, each once. @param {Term} term @returns {Cell[]} */
const dependenciesOf = (term) => {
  /** @type {Map<string, Cell>} */ const cells = new Map();
  const visited = new Set();
  /** @param {Term} term */
  const visit = (term) => {
    if (visited.has(term)) return;
    visited.add(term);
    if (term.cell) cells.set(JSON.stringify(term.cell), term.cell);
    term.used.forEach(visit);
  };
  visit(term);
  return [...cells.values()];
};

/** @type {WeakMap<Term, boolean>} the results of `dependsOnCell` */
const cellDependence = new WeakMap();

/** Whether a term depends on any cell, and not on constants alone. @param {Term} term @returns {boolean} */
const dependsOnCell = (term) => {
  const depends = cellDependence.get(term) ?? (term.cell !== null || term.used.some(dependsOnCell));
  cellDependence.set(term, depends);
  return depends;
};

// ---------------------------------------------------------------------------------------------
// The formula with names

/**
 * Write the formula of a number: `scores = Q Kᵀ`, or `Q_2 = Q at row 1, column 4` if its index in the arrays of
 * the formula is another one.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term} term @param {string} step @param {number[]} index
 */
const formulaOf = (graph, values, term, step, index) => {
  const name = named(graph, step);
  if (graph.written[step]) return [name, " = ", graph.written[step]];
  if (isLiteral(graph, term)) return [];
  const text = longestFormula(graph, values, term);
  const ownName = name.step.replace(/[₀-₉]/g, (digit) => `_${digit.normalize("NFKC")}`);
  if (text.map(pieceText).join("") === ownName) return [name]; // as X + E
  const formula = [name, " = ", ...text];
  const origin = indexInFormula(values, term).slice(-2);
  const transposes = term.via.filter((node) => graph.nodes[node].operation === "matrix_transpose").length;
  if (term.cell && transposes % 2 && String(origin.toReversed()) === String(index)) return [...formula, "ᵀ"];
  const isElsewhere = origin.length > 0 && String(origin) !== String(index);
  return isElsewhere ? [...formula, ` at ${describeIndex(origin)}`] : formula;
};

/** Write out as many nested operations as fit into a line. @param {Graph} graph @param {NDArray[]} values @param {Term} term */
const longestFormula = (graph, values, term) => {
  let longest = symbolicExpression(graph, values, term, 1).text;
  for (let depth = 2; depth <= MAX_DEPTH; depth++) {
    const { text } = symbolicExpression(graph, values, term, depth);
    const line = text.map(pieceText).join("");
    if (line.length <= MAX_FORMULA_LENGTH && !UNSPEAKABLE.test(line)) longest = text;
  }
  return longest;
};

/**
 * Write a term with the names of steps.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term} term
 * @param {number} depth how many nested operations to write out
 * @returns {Expression}
 */
const symbolicExpression = (graph, values, term, depth) => {
  if (term.cell) return stepName(graph, term.cell.step);
  const call = constantCall(graph, term);
  if (call) return atom(call.text);
  if (term.operation === "literal") return literal(graph, values, term);
  const exact = unrounded(term);
  if (exact !== term) return symbolicExpression(graph, values, exact, depth);
  if (depth === 0) return atom(letterOf(graph, term) ?? "…");
  /** @param {Term} term */
  const inner = (term) => symbolicExpression(graph, values, term, depth - 1);
  if (term.operation === "matmul") {
    const [row, column] = factorsOf(term);
    const left = factorText(graph, values, row, LEFT, rowName(row, inner));
    const right = factorText(graph, values, column, RIGHT, rowName(column, inner));
    return { text: [...parenthesised(left, PREFIX), " ", ...parenthesised(right, POWER)], level: PREFIX };
  }
  if (term.operation === "where") {
    const [condition, ifTrue, ifFalse] = term.terms.map(inner);
    const isMasked = term.terms[2].operation === "literal" && valueOf(values, term.terms[2]) === -Infinity;
    const end = isMasked ? [", masked"] : [" where ", ...condition.text, ", else ", ...ifFalse.text];
    return { text: [...ifTrue.text, ...end], level: LOOSEST };
  }
  if (term.operation === "softmax" || isReduction(term)) {
    const end = term.operation === "softmax" && axisOf(values, term.used, 0) < -1 ? ", each column)" : ")";
    return { text: [`${term.operation}(`, ...rowName(term.used, inner).text, end], level: ATOM };
  }
  return operationText(term, term.terms.map(inner));
};

/** @typedef {0 | 1} Side of a matrix product */
/** @type {Side[]} */
const [LEFT, RIGHT] = [0, 1];

/**
 * Write a factor of a matrix product: its name, with the slice that is used, and transposed if necessary.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term[]} terms @param {Side} side @param {Expression} name
 */
const factorText = (graph, values, terms, side, name) => {
  const slice = sliceOf(graph, values, terms, side);
  const isTransposed = axisOf(values, terms, side) === (side === LEFT ? -2 : -1);
  if (!slice && !isTransposed) return name;
  const part = slice ? ["(", slice, ...name.text, ")"] : parenthesised(name, ATOM);
  return { text: [...part, ...(isTransposed ? ["ᵀ"] : [])], level: ATOM };
};

// Names of several words need parentheses before ² or ᵀ: (weights 2)ᵀ, (dW_Q)².
const ONE_SYMBOL = /^(\w+\.)?([A-Za-z]\d?(_\w+)?|[a-z]+)$/;

/** Write the name of a step, or of its array. @param {Graph} graph @param {string} step @returns {Expression} */
const stepName = (graph, step) => {
  const name = named(graph, step);
  const isFormula = name.step.includes(" ") && /[+/,]/.test(name.step);
  return { text: [name], level: isFormula ? LOOSEST : ONE_SYMBOL.test(name.step) ? ATOM : POWER };
};

/** Return a step by the name that pages give it. @param {Graph} graph @param {string} step @returns {StepName} */
const named = ({ names }, step) => ({ step: names[step] ?? step });

/**
 * Name a row: by its array, or by all the arrays that were concatenated.
 *
 * @param {Term[]} terms @param {(term: Term) => Expression} nameOf @returns {Expression}
 */
const rowName = (terms, nameOf) => {
  const termsByArray = new Map(terms.map((term) => [term.cell?.step ?? term.node, term]));
  const names = [...termsByArray.values()].map(nameOf);
  if (names.length === 1) return names[0];
  return { text: ["[", ...joined(names.map(({ text }) => text)), "]"], level: ATOM };
};

/** Write a number without inputs, or the size of a matrix. @param {Graph} graph @param {NDArray[]} values @param {Term} term @returns {Expression} */
const literal = (graph, values, { node, position }) => {
  const { shape, data, dtype } = values[node];
  const isMatrix = graph.nodes[node].operation === "asarray" && data.length > 1;
  return atom(isMatrix ? `[${shape.join(" × ")}]` : numberToken(data[position], dtype));
};

/**
 * Find the call of a public function, with numbers alone as arguments, that a term is the result of:
 * `causal_mask(queries=4)`.
 *
 * @param {Graph} graph @param {Term} term
 */
const constantCall = ({ scopes, nodes }, term) => {
  const scope = scopes.find(({ results }) => Object.values(results).some((node) => term.via.includes(node)));
  if (!scope || scope.call === "softmax" || dependsOnCell(term)) return null;
  const names = Object.keys(scope.arguments).filter((name) => name !== "device");
  const constants = names.map((name) => {
    const argument = scope.arguments[name];
    return argument?.node === undefined ? argument : nodes[argument.node].attributes.value;
  });
  if (constants.some((constant) => typeof constant !== "number")) return null;
  const argumentList = names.map((name, i) => `${name}=${constants[i]}`).join(", ");
  const isCausal = scope.call === "window_mask" && scope.arguments.right === 0 && scope.arguments.left === undefined;
  const words = isCausal ? CALLS.causal_mask : CALLS[scope.call];
  return { call: scope.call, text: words ?? `${scope.call}(${argumentList})` };
};

/** Return the letter of an array of attention that is not a step. @param {Graph} graph @param {Term} term @returns {string | undefined} */
const letterOf = ({ scopes }, { node, via }) => {
  for (const scope of scopes.filter(({ call }) => ATTENTION.includes(call))) {
    const given = Object.entries(scope.arguments).map(([name, value]) => [name, value?.node]);
    const nodes = { ...Object.fromEntries(given), ...scope.results };
    const name = Object.keys(LETTERS).find((name) => nodes[name] === node || via.includes(nodes[name]));
    if (name) return LETTERS[name];
  }
};

/** Return what a term rounds to many decimals, or the term. @param {Term} term */
const unrounded = (term) => {
  const [quotient] = term.operation === "divide" ? term.terms : [];
  return quotient?.operation === "round" ? quotient.terms[0].terms[0] : term;
};

/** Separate the row and the column of a product, whose elements alternate. @template T @param {{terms: T[]}} product */
const factorsOf = ({ terms }) => [terms.filter((_, i) => i % 2 === 0), terms.filter((_, i) => i % 2 === 1)];

/**
 * Find the axis along which the row or the column of a product lies in its array: where the indices of its
 * elements differ.
 *
 * @param {NDArray[]} values @param {Term[]} terms @param {Side} side left for a row, right for a column
 * @returns {number} from the end; -1 for a row and -2 for a column that is not transposed
 */
const axisOf = (values, [first, second = first], side) => {
  const [index, nextIndex] = [first, second].map((term) => term.cell?.index ?? indexOf(values, term));
  const axis = index.findLastIndex((at, axis) => at !== nextIndex[axis]);
  if (axis < 0) return side === LEFT ? -1 : -2;
  return axis - index.length;
};

/**
 * Write the slice of a step that a product uses: "rows 5–8 of ", or "" for all of it.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term[]} terms @param {Side} side
 */
const sliceOf = ({ nodesByName }, values, terms, side) => {
  const [{ cell }] = terms;
  if (!cell || terms.some((term) => term.cell?.step !== cell.step)) return "";
  const { shape } = values[/** @type {number} */ (nodesByName.get(cell.step))];
  const axis = axisOf(values, terms, side);
  if (terms.length === shape.at(axis)) return "";
  const first = /** @type {number} */ (cell.index.at(axis));
  const word = axis === -1 ? (shape.length > 1 ? "column" : "element") : "row";
  const last = first + terms.length;
  return terms.length > 1 ? `${word}s ${first + 1}–${last} of ` : `${word} ${last} of `;
};

/** Return the index of a term in the value of its node. @param {NDArray[]} values @param {Term} term */
const indexOf = (values, { node, position }) => unravel(position, values[node].shape);

/** @type {WeakMap<Term, number[]>} the results of `indexInFormula`, because terms share operands */
const formulaIndices = new WeakMap();

/**
 * Find the index of a number in the arrays that its formula names; empty if there is none.
 *
 * @param {NDArray[]} values @param {Term} term @returns {number[]}
 */
const indexInFormula = (values, term) => {
  const index = formulaIndices.get(term) ?? findIndexInFormula(values, term);
  formulaIndices.set(term, index);
  return index;
};

/** @param {NDArray[]} values @param {Term} term @returns {number[]} */
const findIndexInFormula = (values, term) => {
  if (term.cell) return term.cell.index;
  if (term.operation === "softmax") return indexInFormula(values, term.terms[0]);
  if (term.operation === "where") return indexInFormula(values, term.used[1]);
  if (term.operation === "matmul") {
    const [row, column] = factorsOf(term);
    return [...outerIndex(values, row, LEFT), ...outerIndex(values, column, RIGHT)];
  }
  if (term.operation === "literal" || isReduction(term)) return [];
  // An operand that is broadcast has no index of its own along the axes that it lacks.
  const axes = values[term.node].shape.filter((length) => length > 1).length;
  const isSameSize = (/** @type {Term} */ { node }) => values[node].data.length === values[term.node].data.length;
  const operands = [...term.used.filter(isSameSize), ...term.used];
  const indices = operands.map((operand) => indexInFormula(values, operand));
  return indices.find((index) => index.length >= Math.min(axes, 2)) ?? [];
};

/**
 * Find the number of the row or column of a product in its matrix.
 *
 * @param {NDArray[]} values @param {Term[]} terms @param {Side} side
 * @returns {number[]} empty for a vector
 */
const outerIndex = (values, terms, side) => {
  const [first] = terms;
  const index = first.cell?.index ?? indexOf(values, first).slice(-2);
  if (index.length < 2) return [];
  const outerAxis = axisOf(values, terms, side) === -1 ? -2 : -1;
  return [/** @type {number} */ (index.at(outerAxis))];
};

// ---------------------------------------------------------------------------------------------
// The formula with numbers

/**
 * Write the formula with numbers, line by line; empty if nothing decides the result of `all` or `any`.
 *
 * @param {NDArray[]} values @param {Term} term @returns {RichText[]}
 */
const numbersOf = (values, term) => {
  if (term.operation === "softmax") return softmaxNumbers(values, term);
  if (term.operation === "where") return numbersOf(values, term.used[1]);
  if (term.operation === "all" || term.operation === "any") {
    // A true element decides `any`, and a false one decides `all`.
    const decisive = term.terms.find((operand) => Boolean(valueOf(values, operand)) === (term.operation === "any"));
    return decisive ? numbersOf(values, decisive) : [];
  }
  return [numericExpression(values, term, Infinity).text];
};

/** Write a softmax line by line, down to the exponential and the sum. @param {NDArray[]} values @param {Term} term @returns {RichText[]} */
const softmaxNumbers = (values, { terms: [own, ...row] }) => {
  const scores = row.map((term) => valueOf(values, term));
  const largest = Math.max(...scores);
  if (largest === -Infinity) return [];
  // exp overflows or is 0 beyond some 700, so there the largest score is subtracted first.
  const isExtreme = scores.some((score) => Number.isFinite(score) && Math.abs(score) > MAX_EXPONENT);
  const shift = isExtreme ? largest : 0;
  const shiftText = isExtreme ? [" − ", ...parenthesised(atom(numberToken(shift)), PRODUCT)] : [];
  /** @param {Term} term @returns {RichText} */
  const power = (term) => ["exp(", ...numericExpression(values, term, 2).text, ...shiftText, ")"];
  const powers = scores.map((score) => Math.exp(score - shift));
  const numerator = numberToken(Math.exp(valueOf(values, own) - shift));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const exponentials = row.map((term, i) => ({ text: power(term), level: ATOM, value: powers[i] }));
  return [
    [...power(own), " / (", ...sumOf(exponentials), ")"],
    [numerator, " / (", ...sumOf(powers.map((value) => ({ ...atom(numberToken(value)), value }))), ")"],
    [numerator, " / ", ...parenthesised(atom(numberToken(total)), PRODUCT + 1)],
  ];
};

/**
 * Write a term with numbers.
 *
 * @param {NDArray[]} values @param {Term} term
 * @param {number} limit on how many numbers to write; beyond it, the value alone
 * @returns {Expression}
 */
const numericExpression = (values, term, limit) => {
  const { data, dtype } = values[term.node];
  const exact = unrounded(term);
  if (exact !== term) return numericExpression(values, exact, limit);
  const value = numberToken(data[term.position], dtype, term.cell);
  const isAtomic = ["literal", "cell", "where", "softmax", "all", "any"].includes(term.operation);
  if (isAtomic || countLeaves(term) > limit) return atom(value);
  const isSum = term.operation === "matmul" || isReduction(term);
  const operandLimit = isSum ? MAX_NUMBERS_IN_SUM : MAX_NUMBERS;
  const operands = term.terms.map((operand) => ({
    ...numericExpression(values, operand, !isSum && operand.operation === term.operation ? limit : operandLimit),
    value: valueOf(values, operand),
  }));
  const summands = nonzero(operands);
  if (term.operation === "add" && limit < Infinity && summands.length === 1) return summands[0];
  if (term.operation === "matmul") {
    const [row, column] = factorsOf({ terms: operands });
    const products = row.map((left, i) => ({
      text: [...parenthesised(left, PRODUCT, true), " × ", ...parenthesised(column[i], PRODUCT + 1)],
      level: left.level === LOOSEST ? SUM : PRODUCT,
      value: left.value * column[i].value,
    }));
    return { text: sumOf(nonzero(products)), level: SUM };
  }
  if (term.operation === "sum" || term.operation === "mean") {
    const sum = sumOf(summands);
    if (term.operation === "sum") return { text: sum, level: SUM };
    return { text: ["(", ...sum, `) / ${operands.length}`], level: PRODUCT };
  }
  if (isReduction(term))
    return { text: [`${term.operation}(`, ...joined(operands.map(({ text }) => text)), ")"], level: ATOM };
  return operationText(term, operands);
};

/** Leave out zeros, unless all are. @template {Summand} T @param {T[]} summands */
const nonzero = (summands) => {
  const others = summands.filter(({ value }) => value !== 0);
  return others.length ? others : summands;
};

/** Write the first terms of a sum. @param {Summand[]} summands @returns {RichText} */
const sumOf = (summands) => {
  const texts = summands.map((summand, i) => parenthesised(summand, i ? SUM + 1 : SUM, i === 0));
  if (texts.length <= MAX_TERMS) return joined(texts, " + ");
  const rest = summands.slice(MAX_TERMS - 1).reduce((sum, { value }) => sum + value, 0);
  return joined([...texts.slice(0, MAX_TERMS - 1), [{ ...numberToken(rest), isRest: true }]], " + ");
};

/** @type {WeakMap<Term, number>} */
const leafCounts = new WeakMap();

/** @param {Term} term @returns {number} how many numbers it expands to */
const countLeaves = (term) => {
  const count = leafCounts.get(term) ?? (term.terms.reduce((sum, operand) => sum + countLeaves(operand), 0) || 1);
  leafCounts.set(term, count);
  return count;
};

// ---------------------------------------------------------------------------------------------
// Descriptions and notes

/** @type {Record<string, string>} by result of attention that has a number for each key */
const RESULT_WORDS = { scores: "score", scaled: "scaled score", masked: "masked score", weights: "weight" };

const ATTENTION = ["attention_steps", "scaled_dot_product_attention"];

/**
 * Describe the position of a number: by query and key in a result of attention, otherwise by row and column.
 *
 * @param {Graph} graph @param {NDArray[]} values @param {Term} term @param {number[]} index
 */
const descriptionOf = ({ scopes }, values, term, index) => {
  const results = scopes.filter(({ call }) => ATTENTION.includes(call)).flatMap((scope) => Object.entries(scope.results));
  const result = results.find(([, node]) => node === term.node);
  if (!result || term.cell) return describeIndex(index);
  const [column, query, ...batch] = indexOf(values, term).toReversed();
  const batchShape = values[term.node].shape.toReversed().slice(2);
  const hasHeads = scopes.some((scope) => scope.call === "split_heads" || scope.arguments.enable_gqa);
  const batchWords = batch.map((at, i) => {
    const axis = hasHeads && i === 0 ? "head" : "sequence";
    return batchShape[i] > 1 ? `, ${axis} ${at + 1}` : "";
  });
  const word = RESULT_WORDS[result[0]];
  return `${word ?? "output"} of query ${query + 1}${word ? " on key " : ", feature "}${column + 1}${batchWords.join("")}`;
};

/**
 * Describe a position by the words along the axes: "weight of they on birds", "birds, air". An axis without
 * words is counted: "birds, column 2".
 *
 * @param {string[][]} labels @param {string} step @param {number[]} index @returns {string}
 */
const describeWords = (labels, step, index) => {
  const words = index.map((at, axis) => labels[axis][at] || `${axis ? "column" : "row"} ${at + 1}`);
  const pair = words.length === 2 && /(score|weight)s/.exec(step);
  if (!pair) return words.join(", ");
  // A word of a sentence stands in quotes, unlike “query 1”.
  return `${pair[1]} of ${words.map((word) => (/ /.test(word) ? word : `“${word}”`)).join(" on ")}`;
};

/** Describe an index: "matrix 2, row 1, column 3". @param {number[]} index @returns {string} */
export const describeIndex = (index) => {
  const [column, row, ...batch] = index.map((at) => at + 1).toReversed();
  if (column === undefined) return "";
  if (row === undefined) return `element ${column}`;
  const matrices = batch.map((at) => `matrix ${at}, `);
  return `${matrices.join("")}row ${row}, column ${column}`;
};

/** Say what the formula does not show. @param {Graph} graph @param {NDArray[]} values @param {Term} term @returns {RichText} */
const noteOf = (graph, values, term) => {
  if (isLiteral(graph, term)) {
    const [sharedName] = [...graph.nodesByName].find(([name, node]) => node === term.node && name.includes(".")) ?? [];
    const example = sharedName?.split(".")[0] ?? graph.example;
    return [`chosen by hand, in attention_docs/examples/${example}.py`];
  }
  const value = valueOf(values, term);
  if (isMask(graph, term)) return [maskNote(value)];
  if (term.operation === "softmax" && term.used.every((score) => valueOf(values, score) === -Infinity))
    return ["every score of the row is −∞, so its weights are 0"];
  if (term.operation === "all" || term.operation === "any") {
    const count = term.terms.filter((operand) => valueOf(values, operand)).length;
    return [`true for ${count} of ${term.terms.length}`];
  }
  if (term.operation.startsWith("arg")) return ["counted from 0"];
  return term.operation === "where" ? conditionNote(values, term) : [];
};

/** Say which operand of a `where` is chosen. @param {NDArray[]} values @param {Term} term @returns {RichText} */
const conditionNote = (values, { terms: [condition, , ifFalse] }) => {
  const holds = valueOf(values, condition);
  if (valueOf(values, ifFalse) === -Infinity && ifFalse.operation === "literal")
    return [...(condition.cell ? [...numericExpression(values, condition, 0).text, ": "] : []), maskNote(holds)];
  if (!dependsOnCell(condition)) return [];
  const conditionText = numericExpression(values, condition, MAX_NUMBERS).text;
  if (condition.cell) return [{ step: condition.cell.step }, " is ", ...conditionText];
  return [...conditionText, holds ? " is true" : " is false"];
};

/** @param {number} isIncluded an element of a mask: 0 or 1 */
const maskNote = (isIncluded) => `the position takes ${isIncluded ? "part" : "no part"}`;

// ---------------------------------------------------------------------------------------------
// Expressions

/** Whether a term is an array given in an example, not a constant such as 0.5. @param {Graph} graph @param {Term} term */
const isLiteral = ({ nodes }, { node, operation }) =>
  operation === "literal" && nodes[node].operation === "asarray";

/** Whether a term is an element of a mask that a public function makes. @param {Graph} graph @param {Term} term */
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
  return { text: [piece], level: piece.value < 0 ? LOOSEST : level };
};

/**
 * Add parentheses below a precedence, except around a negative number at the start.
 *
 * @param {Expression} expression @param {number} minimum precedence
 */
const parenthesised = ({ text, level }, minimum, isFirst = false) => {
  const isNumber = text.length === 1;
  return level >= minimum || (isFirst && isNumber) ? text : ["(", ...text, ")"];
};

/** Join texts by a separator. @param {RichText[]} texts @returns {RichText} */
const joined = (texts, separator = ", ") =>
  texts.flatMap((text, i) => (i ? [separator, ...text] : text));

/**
 * Write an elementwise operation: infix, as a power, around its operand, or as a call.
 *
 * @param {Term} term @param {Expression[]} operands @returns {Expression}
 */
const operationText = ({ operation }, operands) => {
  const [left, right] = operands;
  const { infix, around } = operations[operation];
  const root = operation === "multiply" && rootOf(right);
  if (root === "1") return left;
  if (root) return { text: [...parenthesised(left, PRODUCT, true), " / ", root], level: PRODUCT };
  if (infix) {
    const [symbol, level] = infix;
    return { text: [...parenthesised(left, level, true), ` ${symbol} `, ...parenthesised(right, level + 1)], level };
  }
  if (operation === "pow") {
    const [exponent, ...others] = right.text;
    const isTwo = typeof exponent === "object" && "value" in exponent && exponent.value === 2;
    const superscript = isTwo && !others.length ? ["²"] : ["^(", ...right.text, ")"];
    return { text: [...parenthesised(left, ATOM), ...superscript], level: POWER };
  }
  if (operation === "negative") return { text: ["−", ...parenthesised(left, PRODUCT)], level: SUM };
  const [before, after] = around ?? [`${operation}(`, ")"];
  return { text: [before, ...joined(operands.map(({ text }) => text)), after], level: ATOM };
};

/** Write 1/√3 as the divisor √3, and 1/2 as 2. @param {Expression} factor @returns {string | null} of any other factor */
const rootOf = ({ text: [number, ...others] }) => {
  if (others.length || typeof number !== "object" || !("value" in number) || number.cell) return null;
  const square = 1 / number.value ** 2;
  const whole = Math.round(square);
  if (!(number.value > 0 && number.value <= 1 && Math.abs(square / whole - 1) < 1e-12)) return null;
  const root = Math.sqrt(whole);
  return Number.isInteger(root) ? `${root}` : `√${whole}`;
};

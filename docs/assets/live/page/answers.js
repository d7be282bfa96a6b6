// Judge a reader's answer to a question: is it right, and if not, in which direction is it off?

import { number } from "../show.js";
import { parse } from "./edit/entries.js";

/**
 * @typedef {object} Verdict
 * @property {boolean | null} isRight null if there is no complete answer yet
 * @property {string} message
 * @property {boolean} [namesMistake] whether the message says what went wrong
 * @typedef {{number: number, name: string}} Mistake a wrong answer, and what it is
 */

// The fewest decimals to which an answer is judged, unless it is a whole number.
const LEAST_DECIMALS = 2;
// How far an answer may be off that was computed from rounded numbers.
const SLACK = 0.001;
// An allowance for floating-point rounding, far smaller than any decimal that a reader types.
const ROUNDING_ERROR = 1e-9;

/**
 * Judge a number to as many decimals as the reader typed.
 *
 * @param {string} text may have a decimal comma @param {number} expected @param {Mistake[]} [mistakes] @returns {Verdict}
 */
export const judgeNumber = (text, expected, mistakes = []) => {
  const typed = text.replace(",", ".");
  const { value } = parse(typed, "float64");
  if (value === null) return { isRight: null, message: "Type a number with a decimal point." };
  const decimals = decimalsOf(typed);
  /** @param {number} number @param {number} [tolerance] */
  const isNear = (number, tolerance = 0) =>
    Object.is(value, number) || Math.abs(value - number) <= (isWhole(number) ? 0 : tolerance) + ROUNDING_ERROR;
  const half = 10 ** -decimals / 2;
  if (isNear(expected) || (decimals >= LEAST_DECIMALS && isNear(expected, half))) return { isRight: true, message: "Right." };
  if (isNear(expected, half)) return { isRight: null, message: "Right so far. Give at least two decimals." };
  const cut = Math.trunc(expected * 10 ** decimals) / 10 ** decimals;
  if (decimals >= LEAST_DECIMALS && !isWhole(expected) && isNear(cut))
    return { isRight: true, message: `Right, but cut, not rounded: ${expected.toFixed(decimals)}.` };
  const mistake = mistakes.find(({ number }) => isNear(number, decimals >= LEAST_DECIMALS ? half : 0));
  if (mistake) return { isRight: false, message: `Wrong: that is ${mistake.name}.`, namesMistake: true };
  if (decimals >= LEAST_DECIMALS && isNear(expected, SLACK))
    return { isRight: true, message: `Right. Without rounding on the way it is ${expected.toFixed(decimals)}.` };
  return { isRight: false, message: `Wrong: too ${value > expected ? "large" : "small"}.` };
};

/**
 * Judge a word: the right one has the largest number.
 *
 * @param {number} chosen position among the words; -1 if none is chosen
 * @param {string[]} words @param {ArrayLike<number>} numbers of the words
 */
export const judgeWord = (chosen, words, numbers) => {
  if (chosen < 0) return { isRight: null, message: "Nothing is chosen; choose a word." };
  const largest = Math.max(...Array.from(numbers));
  if (numbers[chosen] === largest) return { isRight: true, message: `Right: “${words[chosen]}” has ${number(largest)}.` };
  return {
    isRight: false,
    message: `Wrong: “${words[chosen]}” has ${number(numbers[chosen])}, the right answer ${number(largest)}.`,
  };
};

/** @param {number} value */
const isWhole = (value) => Math.abs(value - Math.round(value)) <= ROUNDING_ERROR;

/** Count the decimals of a number as typed: two in 0.25, three in 2.5e-2. @param {string} text @returns {number} */
const decimalsOf = (text) => {
  const [mantissa, exponent = "0"] = text.trim().toLowerCase().replaceAll("−", "-").split("e");
  return (mantissa.split(".")[1] ?? "").length - Number(exponent);
};

// Judge a reader's answer to a question: is it right, and if not, in which direction is it off?

import { number } from "../show.js";
import { parse } from "./edit/entries.js";

/**
 * @typedef {object} Verdict
 * @property {boolean | null} isRight null if there is no complete answer yet
 * @property {string} message
 */

// The fewest decimals to which an answer is judged, unless it is a whole number.
const LEAST_DECIMALS = 2;
// An allowance for floating-point rounding, far smaller than any decimal that a reader types.
const ROUNDING_ERROR = 1e-9;

/** Judge a number to as many decimals as the reader typed. @param {string} text @param {number} expected */
export const judgeNumber = (text, expected) => {
  const { value, problem } = parse(text, "float64");
  if (value === null) return { isRight: null, message: problem };
  if (Object.is(value, expected)) return { isRight: true, message: "Right." };
  const decimals = decimalsOf(text);
  const tolerance = (isWhole(expected) ? 0 : 10 ** -decimals / 2) + ROUNDING_ERROR;
  const difference = value - expected;
  if (!(Math.abs(difference) <= tolerance))
    return { isRight: false, message: `Wrong: too ${difference > 0 ? "large" : "small"}.` };
  if (isWhole(expected) || decimals >= LEAST_DECIMALS) return { isRight: true, message: "Right." };
  return { isRight: null, message: "Right so far. Give at least two decimals." };
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
    message: `Wrong: “${words[chosen]}” has ${number(numbers[chosen])}, the right word ${number(largest)}.`,
  };
};

/** @param {number} value */
const isWhole = (value) => Math.abs(value - Math.round(value)) <= ROUNDING_ERROR;

/** Count the decimals of a number as typed: two in 0.25, three in 2.5e-2. @param {string} text @returns {number} */
const decimalsOf = (text) => {
  const [mantissa, exponent = "0"] = text.trim().toLowerCase().replaceAll("−", "-").split("e");
  return (mantissa.split(".")[1] ?? "").length - Number(exponent);
};

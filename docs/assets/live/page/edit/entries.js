// What a reader may type for a number, and what is wrong with anything else.

import { python } from "../../show.js";

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
// Maps, because an object also has the names that all objects have, such as "constructor".
/** @type {Map<string, number>} */
const WORDS = new Map([["inf", Infinity], ["-inf", -Infinity], ["∞", Infinity], ["-∞", -Infinity], ["nan", NaN]]);
/** @type {Map<string, number>} */
const TRUTH = new Map([["true", 1], ["t", 1], ["1", 1], ["false", 0], ["f", 0], ["0", 0]]);

/**
 * Read a number as a reader types it, with either minus sign.
 *
 * @param {string} text @param {Dtype} dtype
 * @returns {{value: number, problem: ""} | {value: null, problem: string}}
 */
export const read = (text, dtype) => {
  const typed = text.trim().toLowerCase().replaceAll("−", "-");
  if (!typed) return wrong("Nothing is typed; expected a number.");
  const word = (dtype === "bool" ? TRUTH : dtype === "float64" ? WORDS : null)?.get(typed);
  if (word !== undefined) return right(word);
  if (dtype === "bool") return wrong(`“${text}” is neither true nor false.`);
  if (!NUMBER.test(typed)) return wrong(`“${text}” is not a number; expected one like 0.5 or −2e-3.`);
  const value = Number(typed);
  if (!Number.isFinite(value)) return wrong(`“${text}” is beyond the largest number, 1.8e308.`);
  if (dtype !== "int64") return right(value);
  return Number.isInteger(value) ? right(value + 0) : wrong(`“${text}” is not a whole number.`);
};

/** @param {number} value @returns {{value: number, problem: ""}} */
const right = (value) => ({ value, problem: "" });
/** @param {string} problem @returns {{value: null, problem: string}} */
const wrong = (problem) => ({ value: null, problem });

/**
 * Write a number as a reader would type it.
 *
 * @param {number} value @param {Dtype} dtype @returns {string}
 */
export const typed = (value, dtype) => python(value, dtype).replace(/\.0$/, "");

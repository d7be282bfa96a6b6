// Parse the numbers that readers type, and explain what is wrong with other text.

import { python } from "../../show.js";

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
// Maps, because objects inherit keys such as "constructor".
/** @type {Map<string, number>} */
const NON_FINITE = new Map([["inf", Infinity], ["-inf", -Infinity], ["∞", Infinity], ["-∞", -Infinity], ["nan", NaN]]);
/** @type {Map<string, number>} */
const BOOLEANS = new Map([["true", 1], ["t", 1], ["1", 1], ["false", 0], ["f", 0], ["0", 0]]);

/** Parse a number as typed, with a hyphen or a minus sign. @param {string} text @param {Dtype} dtype */
export const parse = (text, dtype) => {
  const normalised = text.trim().toLowerCase().replaceAll("−", "-");
  if (!normalised) return invalid("Nothing is typed; expected a number.");
  if (dtype === "bool") {
    const boolean = BOOLEANS.get(normalised);
    return boolean === undefined ? invalid(`“${text}” is neither true nor false.`) : valid(boolean);
  }
  const nonFinite = NON_FINITE.get(normalised);
  if (dtype === "float64" && nonFinite !== undefined) return valid(nonFinite);
  if (!NUMBER.test(normalised)) return invalid(`“${text}” is not a number; expected one like 0.5 or −2e-3.`);
  const value = Number(normalised);
  if (!Number.isFinite(value)) return invalid(`“${text}” is beyond the largest number, 1.8e308.`);
  if (dtype !== "int64") return valid(value);
  // Adding 0 turns -0 into 0.
  return Number.isInteger(value) ? valid(value + 0) : invalid(`“${text}” is not a whole number.`);
};

/** @param {number} value @returns {{value: number, problem: ""}} */
const valid = (value) => ({ value, problem: "" });
/** @param {string} problem @returns {{value: null, problem: string}} */
const invalid = (problem) => ({ value: null, problem });

/** Format a number as a reader would type it. @param {number} value @param {Dtype} dtype */
export const format = (value, dtype) => python(value, dtype).replace(/\.0$/, "");

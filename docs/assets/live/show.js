// Format a number, with the rounding rules of attention_docs/render/numbers.py.

// From here on, numbers are written with an exponent.
const LARGE = 1e9;

/** Format a number as Python's `number` does. @param {number} value @param {Dtype} [dtype] @returns {string} */
export const number = (value, dtype = "float64") => {
  if (dtype === "bool") return value ? "True" : "False";
  if (!Number.isFinite(value)) return python(value);
  if (Math.abs(value) >= LARGE) return padExponent(halfToEven(value.toExponential(4), isLargeTie(value)));
  if (Number.isInteger(value)) return String(value);
  const fixed = halfToEven(value.toFixed(4), isTie(value));
  return Number(fixed) ? fixed : padExponent(value.toExponential(1));
};

/**
 * Separate thousands in an integer of five or more digits, and write a power of ten.
 *
 * @param {string} digits a formatted number
 * @param {(exponent: string) => string} power
 */
const print = (digits, power) =>
  (/^-?\d{5,}$/.test(digits) ? Number(digits).toLocaleString("en") : digits).replace(/e(.+)/, (_, exponent) =>
    power(`${Number(exponent)}`),
  );

/** Write the minus sign of a formatted number as text has it. @param {string} text */
const minus = (text) => text.replaceAll("-", "−");

/** Format a number as Python's `drawn_number` does. @param {number} value @param {Dtype} [dtype] */
export const drawn = (value, dtype) =>
  minus(print(number(value, dtype), (exponent) => `·10${exponent.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).replace("-", "⁻")}`));

/** Format a number as Python's `short_number` does. @param {number} value */
export const short = (value) => {
  if (!Number.isFinite(value) || Math.abs(value) >= LARGE || Number.isInteger(value)) return drawn(value);
  const fixed = halfToEven(value.toFixed(2), isShortTie(value));
  return Number(fixed) ? minus(fixed) : "≈0";
};

/** Format a number as Python's `html_number` does. @param {number} value @param {Dtype} [dtype] */
export const html = (value, dtype = "float64") => {
  if (dtype === "bool") return value ? "T" : "F";
  return minus(print(number(value), (exponent) => ` × 10<sup>${exponent}</sup>`)).replace("inf", "∞");
};

/** Format a number as Python's `latex_number` does. @param {number} value @param {Dtype} [dtype] */
export const latex = (value, dtype = "float64") => {
  if (dtype === "bool") return `\\text{${html(value, dtype)}}`;
  return print(number(value), (exponent) => ` \\times 10^{${exponent}}`)
    .replaceAll(",", "{,}")
    .replace("inf", "\\infty")
    .replace("nan", "\\text{nan}");
};

/** Write a number that was formatted as HTML in MathML. @param {string} formatted */
export const mathml = (formatted) => {
  const [mantissa, exponent] = formatted.replace("</sup>", "").split(" × 10<sup>")
    // MathML writes a sign as an operator.
    .map((digits) => `<mn>${digits}</mn>`.replace("<mn>−", "<mo>−</mo><mn>"));
  return exponent ? `${mantissa}<mo>×</mo><msup><mn>10</mn><mrow>${exponent}</mrow></msup>` : mantissa;
};

/** Format a number with all its digits, as Python's `repr` does. @param {number} value @param {Dtype} [dtype] */
export const python = (value, dtype = "float64") => {
  if (dtype === "bool") return number(value, dtype);
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "inf").replace("NaN", "nan");
  if (dtype === "int64") return String(value);
  const text = value.toExponential();
  const exponent = Number(text.split("e")[1]);
  if (exponent < -4 || exponent > 15) return padExponent(text);
  return `${Object.is(value, -0) ? "-" : ""}${value}${Number.isInteger(value) ? ".0" : ""}`;
};

/** Python writes at least two digits of an exponent. @param {string} text */
const padExponent = (text) => text.replace(/e([+-])(\d)$/, "e$10$2");

// `toFixed` and `toExponential` are exact, but round ties away from zero, where Python rounds half to
// even. A tie at the fourth decimal is an odd multiple of 1/20000 = 1/(2^5 5^4), and a float only if 5^4
// cancels: an odd multiple of 1/32.
/** @param {number} value */
const isTie = (value) => Math.abs((value * 32) % 2) === 1;

// A tie at the second decimal is an odd multiple of 1/200 = 1/(2^3 5^2), and so of 1/8.
/** @param {number} value */
const isShortTie = (value) => Math.abs((value * 8) % 2) === 1;

// From 10^9 on, a tie at the fourth decimal of the mantissa is an odd multiple of 5 10^(e - 5), hence an
// integer, whose digits BigInt gives. Below 1e-4, with one decimal, there are no ties: they would need
// more factors of five than two digits have.
/** @param {number} value */
const isLargeTie = (value) =>
  Number.isInteger(value) && /^-?\d{5}50*$/.test(String(BigInt(value)));

/** @param {string} text rounded half away from zero @param {boolean} isHalfway whether the number was a tie @returns {string} */
const halfToEven = (text, isHalfway) =>
  isHalfway ? text.replace(/^([-\d.]+)([13579])(?=e|$)/, (_, before, odd) => before + (odd - 1)) : text;

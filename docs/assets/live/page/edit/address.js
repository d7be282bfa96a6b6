// Edits in the fragment of the address, so that links and reloads keep them:
// `#try=self_attention&self_attention.X[0,1]=3&at=the-weights`. The first part is the example whose inputs are
// fields; it is empty if only controls were used. The last part is the heading that the reader went to; without
// edits the fragment is the heading alone.
//
// Addresses are untrusted input: names are only looked up among those of the page, never used in a path or
// in code.

import { ravel, unravel } from "../../arrays.js";
import { format, parse as parseNumber } from "./entries.js";
import { inputsOf, originalInput } from "../inputs.js";

/**
 * @typedef {object} Link
 * @property {string | null} name of the example whose inputs are fields, or empty; null without edits
 * @property {string[]} edits as text: `example.step[index]=number`
 * @property {string} heading
 */

const START = "#try=";
const HEADING = "at=";
const EDIT = /^(\w+\.\w+)\[(\d+(?:,\d+)*|)\]=(.*)$/;

/** Parse a fragment. @param {string} fragment @returns {Link} */
export const parse = (fragment) => {
  if (!fragment.startsWith(START)) return { name: null, edits: [], heading: decode(fragment.slice(1)) };
  const [name, ...fields] = fragment.slice(START.length).split("&").map(decode);
  const edits = fields.filter((field) => !field.startsWith(HEADING));
  const heading = fields.find((field) => field.startsWith(HEADING))?.slice(HEADING.length) ?? "";
  return { name, edits, heading };
};

/** Decode a part of a fragment; an invalid encoding stays as it is. @param {string} text @returns {string} */
const decode = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * Parse the edits of a link.
 *
 * @param {string[]} texts
 * @param {Example[]} examples of the page
 * @returns {{edits: Edits, isComplete: boolean}} complete if every text is a valid edit
 */
export const editsOf = (texts, examples) => {
  const owners = ownersOf(examples);
  /** @type {Edits} */ const edits = new Map();
  let isComplete = true;
  for (const text of texts) {
    const [, input = "", index = "", number = ""] = EDIT.exec(text) ?? [];
    const owner = owners.get(input);
    const array = edits.get(input) ?? (owner && copyOf(originalInput(owner, input)));
    const position = array ? positionIn(array, index) : null;
    const { value } = parseNumber(number, array?.dtype ?? "float64");
    if (!array || position === null || value === null) {
      isComplete = false;
      continue;
    }
    array.data[position] = value;
    edits.set(input, array);
  }
  return { edits, isComplete };
};

/** Find the first example that uses each input. @param {Example[]} examples @returns {Map<string, Example>} */
const ownersOf = (examples) => {
  const owners = new Map();
  for (const example of examples)
    for (const input of inputsOf(example)) if (!owners.has(input)) owners.set(input, example);
  return owners;
};

/** Parse an index to a position in the data. @param {NDArray} array @param {string} text @returns {number | null} null if out of bounds */
const positionIn = ({ shape }, text) => {
  const index = text ? text.split(",").map(Number) : [];
  const isInside = index.length === shape.length && index.every((at, axis) => at < shape[axis]);
  return isInside ? ravel(index, shape) : null;
};

/** Copy an array with its data. @param {NDArray} array @returns {NDArray} */
export const copyOf = (array) => ({ ...array, data: array.data.slice() });

/**
 * Write the fragment of a link.
 *
 * @param {{example: Example | null, examples: Example[], edits: Edits, heading: string}} state
 * @returns {string} empty without edits and heading
 */
export const fragmentOf = ({ example, examples, edits, heading }) => {
  const owners = ownersOf(examples);
  const changes = [...edits].flatMap(([input, { data, shape, dtype }]) => {
    const original = originalInput(/** @type {Example} */ (owners.get(input)), input).data;
    return [...data.keys()]
      .filter((position) => !Object.is(data[position], original[position]))
      .map((position) => `${input}[${unravel(position, shape)}]=${format(data[position], dtype)}`);
  });
  if (!changes.length) return heading && encodeURI(`#${heading}`);
  const fields = [example?.name ?? "", ...changes, ...(heading ? [HEADING + heading] : [])];
  return encodeURI(START + fields.join("&"));
};

/** Replace the fragment of the address. @param {string} fragment */
export const replaceFragment = (fragment) => {
  if (fragment === location.hash) return;
  history.replaceState(history.state, "", location.pathname + location.search + fragment);
};

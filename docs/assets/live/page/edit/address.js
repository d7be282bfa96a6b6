// Edits in the fragment of the page's address, so a link carries them and a reload keeps them:
// `#try=self_attention&self_attention.X[0,1]=3&at=the-weights`. The last part is a heading, because a link
// to a heading must not take the edits out of the address. Without edits a heading stands there alone.
//
// Anybody can write an address. What it names is looked up among what the page has, and no part of it
// becomes a path or code.

import { ravel, unravel } from "../../arrays.js";
import { read, typed } from "./entries.js";
import { inputsOf, writtenIn } from "../inputs.js";

/**
 * @typedef {object} Link
 * @property {string | null} name of the example to try, if the link is one to try an example
 * @property {string[]} parts the edits, as they are written
 * @property {string} heading
 */

const START = "#try=";
const HEADING = "at=";
const EDIT = /^(\w+\.\w+)\[(\d+(?:,\d+)*|)\]=(.*)$/;

/** @param {string} fragment @returns {Link} */
export const parse = (fragment) => {
  if (!fragment.startsWith(START)) return { name: null, parts: [], heading: decoded(fragment.slice(1)) };
  const [name, ...rest] = fragment.slice(START.length).split("&").map(decoded);
  const parts = rest.filter((part) => !part.startsWith(HEADING));
  const heading = rest.find((part) => part.startsWith(HEADING))?.slice(HEADING.length) ?? "";
  return { name, parts, heading };
};

/** @param {string} text @returns {string} as it is if it is not encoded well */
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * Read the edits of a link.
 *
 * @param {string[]} parts
 * @param {Example[]} examples of the page
 * @returns {{edits: Edits, isWhole: boolean}} whole if each part is an edit of one of their inputs
 */
export const editsOf = (parts, examples) => {
  const owners = ownersOf(examples);
  /** @type {Edits} */ const edits = new Map();
  let isWhole = true;
  for (const part of parts) {
    const [, input = "", place = "", text = ""] = EDIT.exec(part) ?? [];
    const owner = owners.get(input);
    const array = edits.get(input) ?? (owner && copyOf(writtenIn(owner, input)));
    const position = array ? positionIn(array, place) : null;
    const { value } = read(text, array?.dtype ?? "float64");
    if (!array || position === null || value === null) {
      isWhole = false;
      continue;
    }
    array.data[position] = value;
    edits.set(input, array);
  }
  return { edits, isWhole };
};

/** @param {Example[]} examples @returns {Map<string, Example>} the first example that has each input */
const ownersOf = (examples) =>
  new Map(examples.toReversed().flatMap((example) => inputsOf(example).map((input) => [input, example])));

/** @param {NDArray} array @param {string} place @returns {number | null} null if it lies outside */
const positionIn = ({ shape }, place) => {
  const index = place ? place.split(",").map(Number) : [];
  const isInside = index.length === shape.length && index.every((at, axis) => at < shape[axis]);
  return isInside ? ravel(index, shape) : null;
};

/** @param {NDArray} array @returns {NDArray} */
export const copyOf = (array) => ({ ...array, data: array.data.slice() });

/**
 * Write the fragment of a link.
 *
 * @param {{examples: Example[], edits: Edits, heading: string}} state the example to try comes first
 * @returns {string} empty if nothing is edited and no heading is named
 */
export const fragmentOf = ({ examples, edits, heading }) => {
  const owners = ownersOf(examples);
  const changes = [...edits].flatMap(([input, { data, shape, dtype }]) => {
    const before = writtenIn(/** @type {Example} */ (owners.get(input)), input).data;
    return [...data.keys()]
      .filter((position) => !Object.is(data[position], before[position]))
      .map((position) => `${input}[${unravel(position, shape)}]=${typed(data[position], dtype)}`);
  });
  if (!changes.length) return heading && encodeURI(`#${heading}`);
  const parts = [examples[0].name, ...changes, ...(heading ? [HEADING + heading] : [])];
  return encodeURI(START + parts.join("&"));
};

/** Put a fragment into the page's address. @param {string} fragment */
export const putIntoAddress = (fragment) => {
  if (fragment === location.hash) return;
  history.replaceState(history.state, "", location.pathname + location.search + fragment);
};

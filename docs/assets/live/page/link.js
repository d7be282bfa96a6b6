// Edits in the fragment of the page's address, so a link carries them and a reload keeps them:
// `#try=self_attention&self_attention.X[0,1]=3`.

import { ravel, unravel } from "../arrays.js";
import { read, typed } from "./entries.js";
import { inputsOf, writtenIn } from "./inputs.js";

/** @typedef {import("../arrays.js").NDArray} NDArray */
/** @typedef {import("./examples.js").Edits} Edits */
/** @typedef {import("./examples.js").Example} Example */

const START = "#try=";
const EDIT = /^(\w+\.\w+)\[([\d,]*)\]=(.*)$/;

/** @returns {string[]} */
const parts = () => decodeURIComponent(location.hash).split("&");

/**
 * Remember the page. The theme changes the address first and the page later, once it is fetched.
 *
 * @returns {() => boolean} whether the reader is still there
 */
export const onThisPage = () => {
  const { pathname } = location;
  return () => location.pathname === pathname;
};

/** @returns {string | null} the example whose edits the address carries */
export const exampleInAddress = () =>
  location.hash.startsWith(START) ? parts()[0].slice(START.length) : null;

/**
 * Read the edits in the page's address. What does not fit the example is left out.
 *
 * @param {Example} example @returns {Edits}
 */
export const editsInAddress = (example) => {
  /** @type {Edits} */ const edits = new Map();
  for (const part of parts().slice(1)) {
    const [, input, place, text] = EDIT.exec(part) ?? [];
    if (!input || !inputsOf(example).includes(input)) continue;
    const array = edits.get(input) ?? copyOf(writtenIn(example, input));
    const index = place ? place.split(",").map(Number) : [];
    const { value } = read(text, array.dtype);
    const isInside = index.every((at, axis) => at < array.shape[axis]);
    if (value === null || !isInside || index.length !== array.shape.length) continue;
    array.data[ravel(index, array.shape)] = value;
    edits.set(input, array);
  }
  return edits;
};

/** @param {NDArray} array @returns {NDArray} */
export const copyOf = (array) => ({ ...array, data: array.data.slice() });

/** @param {Example} example @param {Edits} edits @returns {string} the fragment of a link that carries them */
const fragmentOf = (example, edits) => {
  const changes = [...edits].flatMap(([input, { data, shape, dtype }]) => {
    const before = writtenIn(example, input).data;
    return [...data.keys()]
      .filter((position) => !Object.is(data[position], before[position]))
      .map((position) => `${input}[${unravel(position, shape)}]=${typed(data[position], dtype)}`);
  });
  return changes.length ? encodeURI(START + [example.name, ...changes].join("&")) : "";
};

/** Put the edits of an example into the page's address. @param {Example} example @param {Edits} edits */
export const putIntoAddress = (example, edits) => {
  const page = location.pathname + location.search;
  history.replaceState(history.state, "", page + fragmentOf(example, edits));
};

// Edits in the fragment of the page's address, so a link carries them and a reload keeps them:
// `#try=self_attention&X[0,1]=3`.

import { ravel, unravel } from "../arrays.js";
import { originalOf } from "./examples.js";
import { read } from "./entries.js";
import * as show from "../show.js";

/** @typedef {import("./examples.js").Edits} Edits */
/** @typedef {import("./examples.js").Example} Example */

const START = "#try=";

/** @returns {string | null} the example whose edits the address carries */
export const exampleInAddress = () =>
  location.hash.startsWith(START) ? parts()[0].slice(START.length) : null;

/** @returns {string[]} */
const parts = () => decodeURIComponent(location.hash).split("&");

/**
 * Read the edits in the page's address. What does not fit the example is left out.
 *
 * @param {Example} example @returns {Edits}
 */
export const editsInAddress = (example) => {
  /** @type {Edits} */ const edits = new Map();
  for (const part of parts().slice(1)) {
    const [, input, place, text] = /^(\w+)\[([\d,]*)\]=(.*)$/.exec(part) ?? [];
    if (!input || !example.graph.inputs.includes(input)) continue;
    const array = edits.get(input) ?? copyOf(originalOf(example, input));
    const index = place ? place.split(",").map(Number) : [];
    const { value } = read(text, array.dtype);
    const fits = index.length === array.shape.length && index.every((at, axis) => at < array.shape[axis]);
    if (fits && value !== null) array.data[ravel(index, array.shape)] = value;
    edits.set(input, array);
  }
  return edits;
};

/** @param {import("../arrays.js").NDArray} array */
export const copyOf = (array) => ({ ...array, data: array.data.slice() });

/** @param {Example} example @returns {string} the fragment of a link that carries the edits */
const fragmentOf = (example) => {
  const changes = [...example.edits].flatMap(([input, { data, shape, dtype }]) => {
    const before = originalOf(example, input).data;
    return [...data].flatMap((value, position) =>
      Object.is(value, before[position])
        ? []
        : [`${input}[${unravel(position, shape)}]=${show.python(value, dtype).replace(/\.0$/, "")}`]
    );
  });
  return changes.length ? encodeURI(START + [example.name, ...changes].join("&")) : "";
};

/** Put the edits into the page's address. @param {Example} example */
export const putIntoAddress = (example) => {
  const page = location.pathname + location.search;
  history.replaceState(history.state, "", page + fragmentOf(example));
};

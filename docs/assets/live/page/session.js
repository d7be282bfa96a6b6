// What a reader has changed on a page, and the examples that follow.

import { ravel } from "../arrays.js";
import { compute } from "./examples.js";
import { keyIn, writtenIn } from "./inputs.js";
import { copyOf } from "./link.js";

/** @typedef {import("./examples.js").Edits} Edits */
/** @typedef {import("./examples.js").Example} Example */

/**
 * @typedef {object} Session
 * @property {Example} example the one whose inputs are edited
 * @property {Example[]} examples all examples of the page, because they may have the same inputs
 * @property {Edits} edits by the name of the input
 * @property {Edits[]} past what the edits were before, the last ones last
 */

/** @param {Example} example @param {Example[]} others on the same page @returns {Session} */
export const begun = (example, others) => ({
  example,
  examples: [example, ...others.filter((other) => other !== example)],
  edits: new Map(),
  past: [],
});

/** Compute all examples of the page with other inputs. @param {Session} session @param {Edits} edits */
export const change = (session, edits) => {
  session.past.push(session.edits);
  put(session, edits);
};

/** @param {Session} session @param {string} input @param {number[]} index @param {number} value */
export const enter = (session, input, index, value) => {
  const array = copyOf(session.edits.get(input) ?? writtenIn(session.example, input));
  array.data[ravel(index, array.shape)] = value;
  change(session, new Map([...session.edits, [input, array]]));
};

/** @param {Session} session @returns {boolean} whether there was something to take back */
export const undo = (session) => {
  const edits = session.past.pop();
  if (edits) put(session, edits);
  return Boolean(edits);
};

/** @param {Session} session @param {Edits} edits */
const put = (session, edits) => {
  session.edits = edits;
  for (const example of session.examples) {
    const own = [...edits].flatMap(([input, array]) => {
      const key = keyIn(example, input);
      return key ? [/** @type {const} */ ([key, array])] : [];
    });
    compute(example, new Map(own));
  }
};

/** @param {Session} session @param {string} input @param {number[]} index */
export const entryOf = ({ example, edits }, input, index) => {
  const { data, shape, dtype } = edits.get(input) ?? writtenIn(example, input);
  return { value: data[ravel(index, shape)], dtype };
};

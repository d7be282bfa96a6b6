// What a reader has changed on a page, and the examples that follow.

import { ravel } from "../../arrays.js";
import { compute } from "../examples.js";
import { keyIn, writtenIn } from "../inputs.js";
import { copyOf, fragmentOf } from "./address.js";

/**
 * The state of the page. Its address is `fragmentOf` it, and all else that shows it is drawn from it.
 *
 * @typedef {object} Session
 * @property {Example} example the one whose inputs are fields
 * @property {Example[]} examples it, and all others of the page, because they may have the same inputs
 * @property {Edits} edits by the name of the input
 * @property {string} heading where the reader went last, by a link within the page
 * @property {Edits[]} past what the edits were before, the last ones last
 * @property {Edits[]} future what was taken back, the last ones last
 * @property {string} place the number that is being edited: all that happens to it until then is one step
 */

/**
 * Begin to edit an example. What is edited of others stays so.
 *
 * @param {Example} example @param {Example[]} others on the same page
 * @param {Session | null} before
 * @returns {Session}
 */
export const begun = (example, others, before) => {
  const examples = [...new Set([example, ...others, ...(before?.examples ?? [])])];
  const state = before ?? { edits: new Map(), heading: "", past: [], future: [], place: "" };
  const session = { ...state, example, examples };
  put(session, session.edits);
  return session;
};

/** Compute all examples of the page with other inputs. @param {Session} session @param {Edits} edits */
export const change = (session, edits) => {
  commit(session);
  if (isSame(session, edits)) return;
  addStep(session);
  put(session, edits);
};

/** @param {Session} session @param {string} input @param {number[]} index @param {number} value */
export const enter = (session, input, index, value) => {
  const array = copyOf(session.edits.get(input) ?? writtenIn(session.example, input));
  array.data[ravel(index, array.shape)] = value;
  const place = `${input}[${index}]`;
  if (place !== session.place) {
    commit(session);
    addStep(session);
    session.place = place;
  }
  put(session, new Map([...session.edits, [input, array]]));
};

/** End a step: what is entered from now on is another one. @param {Session} session */
export const commit = (session) => {
  const [before] = session.past.slice(-1);
  if (session.place && isSame(session, before)) session.past.pop();
  session.place = "";
};

/** @param {Session} session */
const addStep = (session) => {
  session.past.push(session.edits);
  session.future = [];
};

/** @param {Session} session @param {Edits} edits */
const isSame = (session, edits) => fragmentOf({ ...session, edits }) === fragmentOf(session);

/** @param {Session} session @returns {boolean} whether there was something to take back */
export const undo = (session) => {
  commit(session);
  return step(session, session.past, session.future);
};

/** @param {Session} session @returns {boolean} whether something had been taken back */
export const redo = (session) => {
  commit(session);
  return step(session, session.future, session.past);
};

/** @param {Session} session @param {Edits[]} from @param {Edits[]} to @returns {boolean} */
const step = (session, from, to) => {
  const edits = from.pop();
  if (!edits) return false;
  to.push(session.edits);
  put(session, edits);
  return true;
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

/** Compute the examples as they are written, and leave the session as it is. @param {Session} session */
export const release = (session) => put({ ...session }, new Map());

/** @param {Session} session @param {string} input @param {number[]} index */
export const entryOf = ({ example, edits }, input, index) => {
  const { data, shape, dtype } = edits.get(input) ?? writtenIn(example, input);
  return { value: data[ravel(index, shape)], dtype };
};

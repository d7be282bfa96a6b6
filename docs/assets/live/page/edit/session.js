// The state of editing: the edits, their history, and the examples that they change.

import { ravel } from "../../arrays.js";
import { compute } from "../examples.js";
import { keyIn, originalInput } from "../inputs.js";
import { copyOf, fragmentOf } from "./address.js";

/**
 * The single source of truth: the address is `fragmentOf` it, and the page is drawn from it.
 *
 * @typedef {object} Session
 * @property {Example} example whose inputs are fields
 * @property {Example[]} examples it and all others of the page, which may share inputs
 * @property {Edits} edits by the name of the input
 * @property {string} heading the last one that the reader went to
 * @property {Edits[]} past for undo, latest last
 * @property {Edits[]} future for redo, latest last
 * @property {string} current the number being edited: its changes until `commit` are one undo step
 */

/**
 * Start a session, which keeps the edits of the previous one.
 *
 * @param {Example} example @param {Example[]} others on the same page
 * @param {Session | null} previous
 * @returns {Session}
 */
export const startSession = (example, others, previous) => {
  const examples = [...new Set([example, ...others, ...(previous?.examples ?? [])])];
  const state = previous ?? { edits: new Map(), heading: "", past: [], future: [], current: "" };
  const session = { ...state, example, examples };
  apply(session, session.edits);
  return session;
};

/** Replace all edits, as one undo step. @param {Session} session @param {Edits} edits */
export const change = (session, edits) => {
  commit(session);
  if (isSame(session, edits)) return;
  addStep(session);
  apply(session, edits);
};

/** Edit one number. @param {Session} session @param {string} input @param {number[]} index @param {number} value */
export const enter = (session, input, index, value) => {
  const array = copyOf(session.edits.get(input) ?? originalInput(session.example, input));
  array.data[ravel(index, array.shape)] = value;
  const current = `${input}[${index}]`;
  if (current !== session.current) {
    commit(session);
    addStep(session);
    session.current = current;
  }
  apply(session, new Map([...session.edits, [input, array]]));
};

/** End the current undo step. @param {Session} session */
export const commit = (session) => {
  const [previous] = session.past.slice(-1);
  if (session.current && isSame(session, previous)) session.past.pop();
  session.current = "";
};

/** @param {Session} session */
const addStep = (session) => {
  session.past.push(session.edits);
  session.future = [];
};

/** @param {Session} session @param {Edits} edits */
const isSame = (session, edits) => fragmentOf({ ...session, edits }) === fragmentOf(session);

/** @param {Session} session @returns {boolean} whether there was something to undo */
export const undo = (session) => {
  commit(session);
  return moveStep(session, session.past, session.future);
};

/** @param {Session} session @returns {boolean} whether there was something to redo */
export const redo = (session) => {
  commit(session);
  return moveStep(session, session.future, session.past);
};

/** @param {Session} session @param {Edits[]} from @param {Edits[]} to @returns {boolean} */
const moveStep = (session, from, to) => {
  const edits = from.pop();
  if (!edits) return false;
  to.push(session.edits);
  apply(session, edits);
  return true;
};

/** Recompute all examples with edits. @param {Session} session @param {Edits} edits */
const apply = (session, edits) => {
  session.edits = edits;
  for (const example of session.examples) {
    const own = [...edits].flatMap(([input, array]) => {
      const key = keyIn(example, input);
      return key ? [/** @type {const} */ ([key, array])] : [];
    });
    compute(example, new Map(own));
  }
};

/** Recompute the examples without edits, which the session keeps. @param {Session} session */
export const release = (session) => apply({ ...session }, new Map());

/** @param {Session} session @param {string} input @param {number[]} index */
export const entryOf = ({ example, edits }, input, index) => {
  const { data, shape, dtype } = edits.get(input) ?? originalInput(example, input);
  return { value: data[ravel(index, shape)], dtype };
};

// The state of editing: the edits, their history, and the examples that they change.

import { ravel } from "../../arrays.js";
import { recompute } from "../examples.js";
import { keyIn, originalInput } from "../inputs.js";
import { copyOf, fragmentOf } from "./address.js";

/**
 * The single source of truth: the address is `fragmentOf` it, and the page is drawn from it.
 *
 * @typedef {object} Session
 * @property {Example | null} example whose inputs are fields; null if only controls are used
 * @property {Example[]} examples it and all others of the page, which may share inputs
 * @property {Edits} edits by the name of the input
 * @property {string} heading the last one that the reader went to
 * @property {Edits[]} past for undo, latest last
 * @property {Edits[]} future for redo, latest last
 * @property {boolean} isEditing whether an undo step has begun: all changes until `endUndoStep` belong to it
 */

/**
 * Start a session, which keeps the edits of the previous one.
 *
 * @param {Example | null} example @param {Example[]} others on the same page
 * @param {Session | null} previous
 */
export const startSession = (example, others, previous) => {
  const first = example ? [example] : [];
  const examples = [...new Set([...first, ...others, ...(previous?.examples ?? [])])];
  const state = previous ?? { edits: new Map(), heading: "", past: [], future: [], isEditing: false };
  const session = { ...state, example, examples };
  computeAll(examples, session.edits);
  return session;
};

/** Replace all edits, as one undo step. @param {Session} session @param {Edits} edits */
export const replaceEdits = (session, edits) => {
  endUndoStep(session);
  if (isSame(session, edits)) return;
  addUndoStep(session);
  applyEdits(session, edits);
};

/**
 * Edit numbers of an input.
 *
 * @param {Session} session @param {string} input @param {number[][]} indices @param {number[]} values
 */
export const editNumbers = (session, input, indices, values) => {
  const array = copyOf(inputArray(session, input));
  indices.forEach((index, i) => (array.data[ravel(index, array.shape)] = values[i]));
  if (!session.isEditing) addUndoStep(session);
  session.isEditing = true;
  applyEdits(session, new Map([...session.edits, [input, array]]));
};

/** End the current undo step, or drop it if it has changed nothing. @param {Session} session */
export const endUndoStep = (session) => {
  const previous = /** @type {Edits} */ (session.past.at(-1));
  if (session.isEditing && isSame(session, previous)) session.past.pop();
  session.isEditing = false;
};

/** @param {Session} session */
const addUndoStep = (session) => {
  session.past.push(session.edits);
  session.future = [];
};

/** Whether edits equal those of a session. @param {Session} session @param {Edits} edits */
const isSame = (session, edits) => fragmentOf({ ...session, edits }) === fragmentOf(session);

/** @param {Session} session @returns {boolean} whether there was something to undo */
export const undo = (session) => {
  endUndoStep(session);
  return moveStep(session, session.past, session.future);
};

/** @param {Session} session @returns {boolean} whether there was something to redo */
export const redo = (session) => {
  endUndoStep(session);
  return moveStep(session, session.future, session.past);
};

/**
 * Exchange the edits for the latest ones of a history, and add them to the other history.
 *
 * @param {Session} session @param {Edits[]} from @param {Edits[]} to @returns {boolean} whether there were any
 */
const moveStep = (session, from, to) => {
  const edits = from.pop();
  if (!edits) return false;
  to.push(session.edits);
  applyEdits(session, edits);
  return true;
};

/** Set the edits of a session and recompute its examples. @param {Session} session @param {Edits} edits */
const applyEdits = (session, edits) => {
  session.edits = edits;
  computeAll(session.examples, edits);
};

/** Recompute examples, each with the edits of its own inputs. @param {Example[]} examples @param {Edits} edits */
export const computeAll = (examples, edits) => {
  for (const example of examples) {
    /** @type {Edits} */ const editsByKey = new Map();
    for (const [input, array] of edits) {
      const key = keyIn(example, input);
      if (key) editsByKey.set(key, array);
    }
    const isSame = [...editsByKey].every(([key, array]) => example.edits.get(key) === array);
    if (!isSame || editsByKey.size !== example.edits.size) recompute(example, editsByKey);
  }
};

/** Return an input, with the edits. @param {Session} session @param {string} input @returns {NDArray} */
const inputArray = ({ examples, edits }, input) => {
  const owner = /** @type {Example} */ (examples.find((example) => keyIn(example, input)));
  return edits.get(input) ?? originalInput(owner, input);
};

/** Return a number of an input, with the edits. @param {Session} session @param {string} input @param {number[]} index */
export const inputNumber = (session, input, index) => {
  const { data, shape, dtype } = inputArray(session, input);
  return { value: data[ravel(index, shape)], dtype };
};

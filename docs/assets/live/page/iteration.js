// Repeat an example whose graph hands values on from one iteration to the next.

import { carry } from "../graph.js";
import * as card from "./card.js";
import { LOAD_ERROR, load, recompute, stepOf } from "./examples.js";
import { writeNumbers } from "./update/numbers.js";

/** @type {Set<Example>} */
const iterated = new Set();

/** @param {Example} example @param {Map<number, NDArray>} state */
const setState = (example, state) => {
  example.state = state;
  recompute(example, example.edits);
};

/** Load an example to be iterated. @param {string} name */
export const iterate = async (name) => {
  const example = await load(name);
  if (!example) throw new Error(LOAD_ERROR);
  iterated.add(example);
  return {
    next: () => carry(example.graph, example.values),
    /** Show what an iteration computes. @param {Map<number, NDArray>} state it begins with @returns why Python would refuse it */
    show: (state) => {
      setState(example, state);
      writeNumbers(example);
      card.refresh();
      return example.refusal;
    },
    valueOf: (/** @type {string} */ step) => stepOf(example, step).data[0],
  };
};

/** Forget all iterations, because the page has been left. */
export const forgetIterations = () => {
  for (const example of iterated) setState(example, new Map());
  iterated.clear();
};

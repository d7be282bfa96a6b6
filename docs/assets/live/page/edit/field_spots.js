// Choose the table cells that become fields: all that show inputs of the edited example.

import { matrixOf, make, nameOf } from "../elements.js";
import { inputAt, inputsOf, originalInput } from "../inputs.js";
import { forgetSpots, spotsOf } from "../spots.js";
import { isOffscreen } from "../update/scrolling.js";

/** @typedef {import("./session.js").Session} Session */
/** @typedef {{spot: Element, input: string, index: number[]}} FieldSpot a table cell that becomes a field */

/** Tables for inputs that the reader does not see. */
const extraTables = make("div", { class: "live-inputs" });

/**
 * Show all inputs of the edited example where the reader is: add tables of those that are not in the window.
 *
 * @param {Example} example @param {Session} session
 * @param {Element | null} origin what the reader used to open the fields; null for a link
 */
export const showInputs = (example, session, origin) => {
  const fieldSpots = fieldSpotsOf(example, session);
  const seen = fieldSpots.filter(({ spot }) => spot.checkVisibility() && !isOffscreen(spot));
  const hidden = inputsOf(example).filter((input) => !seen.some((field) => field.input === input));
  if (!hidden.length) return fieldSpots;
  extraTables.replaceChildren(...hidden.map((input) => {
    const { shape, data } = originalInput(example, input);
    const table = matrixOf(shape, Array.from(data, () => make("td")));
    addWords(table, wordsOf(session.examples, input));
    table.dataset.val = input;
    return make("figure", {}, make("figcaption", {}, nameOf(input)), table);
  }));
  placeFor(origin ?? buttonOf(example))?.after(extraTables);
  forgetSpots();
  return fieldSpotsOf(example, session);
};

/** Find what the tables come after: a button for editing, or the block of the text where the reader is. @param {Element | null} origin */
const placeFor = (origin) => {
  if (origin?.matches(".live-try")) return origin;
  const blocks = [...document.querySelectorAll("article > :not(.panel, form, h1)")];
  const own = origin?.closest(".panel") ? null : origin?.closest("article > *");
  return own ?? (origin ? blocks.find((block) => !isOffscreen(block)) : null) ?? blocks.at(-1);
};

/** Return the words along the axes of an input, as its example names them. @param {Example[]} examples @param {string} input @returns {string[][]} */
export const wordsOf = (examples, input) => {
  const [name, step] = input.split(".");
  return examples.find((example) => example.name === name)?.graph.labels[step] ?? [];
};

/** Put words at the rows and over the columns of a matrix. @param {HTMLTableElement} table @param {string[][]} words */
const addWords = (table, words) => {
  const columns = words.at(-1);
  if (!columns) return;
  const rows = words.length > 1 ? words[0] : [];
  rows.forEach((word, row) => table.tBodies[0].rows[row].prepend(make("th", { scope: "row" }, word)));
  const corner = rows.length ? [make("td")] : [];
  table.createTHead().append(make("tr", {}, ...corner, ...columns.map((word) => make("th", { scope: "col" }, word))));
  table.classList.add("labelled");
};

/** Remove the added tables. */
export const hideInputs = () => {
  extraTables.remove();
  forgetSpots();
};

/** List the table cells, of any example, that show inputs of the edited example. @param {Example} edited @param {Session} session @returns {FieldSpot[]} */
const fieldSpotsOf = (edited, session) => {
  const editedInputs = inputsOf(edited);
  return session.examples.flatMap((example) => {
    const steps = [...example.graph.steps.keys()];
    const inputByStep = new Map(steps.map((step) => [step, inputAt(example, step)]));
    return spotsOf(example).flatMap(({ spot, cell: { step, index } }) => {
      const input = spot.matches("td") ? inputByStep.get(step) : null;
      return input && editedInputs.includes(input) ? [{ spot, input, index }] : [];
    });
  });
};

/** Find the page's button for editing the example. @param {Example} example @returns {HTMLElement | null} */
export const buttonOf = ({ name }) => document.querySelector(`.live-try[data-example="${name}"]`);

// Which cells of a page become fields: those of all tables that show inputs of the edited example.

import { matrixOf, make, nameOf } from "../elements.js";
import { inputAt, inputsOf, writtenIn } from "../inputs.js";
import { forget, spotsOf } from "../spots.js";

/** @typedef {import("./session.js").Session} Session */
/** @typedef {{spot: Element, input: string, index: number[]}} Place of a field */

/** The inputs that a page does not show otherwise. */
const added = make("div", { class: "live-inputs" });

/**
 * Show all inputs of the edited example.
 *
 * @param {Session} session @returns {Place[]}
 */
export const showInputs = (session) => {
  const places = placesOf(session);
  const missing = inputsOf(session.example).filter((input) => !unfold(places, input));
  if (!missing.length) return places;
  added.replaceChildren(...missing.map((input) => {
    const { shape, data } = writtenIn(session.example, input);
    const table = matrixOf(shape, Array.from(data, () => make("td")));
    table.dataset.val = input;
    return make("figure", {}, make("figcaption", {}, nameOf(input)), table);
  }));
  (buttonOf(session) ?? document.querySelector("article > :last-child"))?.after(added);
  forget();
  return placesOf(session);
};

/** Take away what was added to the page. */
export const hideInputs = () => {
  added.remove();
  forget();
};

/** @param {Session} session @returns {Place[]} */
const placesOf = ({ example, examples }) => {
  const edited = inputsOf(example);
  return examples.flatMap((example) => {
    const steps = [...example.graph.steps.keys()];
    const inputs = new Map(steps.map((step) => [step, inputAt(example, step)]));
    return spotsOf(example).flatMap(({ spot, cell: { step, index } }) => {
      const input = spot.matches("td") ? inputs.get(step) : null;
      return input && edited.includes(input) ? [{ spot, input, index }] : [];
    });
  });
};

/** Open the folds of an input that would not be seen otherwise. @param {Place[]} places @param {string} input @returns {boolean} whether the page shows it */
const unfold = (places, input) => {
  const spots = places.filter((place) => place.input === input).map(({ spot }) => spot);
  if (!spots.some((spot) => spot.checkVisibility()))
    for (let fold = spots[0]?.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null)
      fold.open = true;
  return spots.length > 0;
};

/** @param {Session} session @returns {HTMLElement | null} what the page has for editing the example */
export const buttonOf = ({ example }) => document.querySelector(`.live-try[data-example="${example.name}"]`);

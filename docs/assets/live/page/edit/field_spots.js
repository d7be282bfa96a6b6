// Choose the table cells that become fields: all that show inputs of the edited example.

import { matrixOf, make, nameOf } from "../elements.js";
import { inputAt, inputsOf, originalInput } from "../inputs.js";
import { forget, spotsOf } from "../spots.js";

/** @typedef {import("./session.js").Session} Session */
/** @typedef {{spot: Element, input: string, index: number[]}} FieldSpot a table cell that becomes a field */

/** Tables for inputs that the page does not show. */
const extraTables = make("div", { class: "live-inputs" });

/**
 * Show all inputs of the edited example: open <details>, add missing tables.
 *
 * @param {Session} session @returns {FieldSpot[]}
 */
export const showInputs = (session) => {
  const spots = fieldSpotsOf(session);
  const missing = inputsOf(session.example).filter((input) => !unfold(spots, input));
  if (!missing.length) return spots;
  extraTables.replaceChildren(...missing.map((input) => {
    const { shape, data } = originalInput(session.example, input);
    const table = matrixOf(shape, Array.from(data, () => make("td")));
    table.dataset.val = input;
    return make("figure", {}, make("figcaption", {}, nameOf(input)), table);
  }));
  (buttonOf(session) ?? document.querySelector("article > :last-child"))?.after(extraTables);
  forget();
  return fieldSpotsOf(session);
};

/** Remove the added tables. */
export const hideInputs = () => {
  extraTables.remove();
  forget();
};

/** @param {Session} session @returns {FieldSpot[]} */
const fieldSpotsOf = ({ example, examples }) => {
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

/** Open the <details> around an input that is not visible. @param {FieldSpot[]} fields @param {string} input @returns {boolean} whether the page shows it */
const unfold = (fields, input) => {
  const spots = fields.filter((field) => field.input === input).map(({ spot }) => spot);
  if (!spots.some((spot) => spot.checkVisibility()))
    for (let fold = spots[0]?.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null)
      fold.open = true;
  return spots.length > 0;
};

/** @param {Session} session @returns {HTMLElement | null} the page's button for editing the example */
export const buttonOf = ({ example }) => document.querySelector(`.live-try[data-example="${example.name}"]`);

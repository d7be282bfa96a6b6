// Choose the table cells that become fields: all that show inputs of the edited example.

import { matrixOf, make, nameOf } from "../elements.js";
import { inputAt, inputsOf, originalInput } from "../inputs.js";
import { forgetSpots, spotsOf } from "../spots.js";

/** @typedef {import("./session.js").Session} Session */
/** @typedef {{spot: Element, input: string, index: number[]}} FieldSpot a table cell that becomes a field */

/** Tables for inputs that the page does not show. */
const extraTables = make("div", { class: "live-inputs" });

/**
 * Show all inputs of the edited example: open <details>, add missing tables.
 *
 * @param {Example} example @param {Session} session @returns {FieldSpot[]}
 */
export const showInputs = (example, session) => {
  const fieldSpots = fieldSpotsOf(example, session);
  const missing = [];
  for (const input of inputsOf(example)) {
    const spots = fieldSpots.filter((fieldSpot) => fieldSpot.input === input).map(({ spot }) => spot);
    if (!spots.length) missing.push(input);
    else if (!spots.some((spot) => spot.checkVisibility())) openDetails(spots[0]);
  }
  if (!missing.length) return fieldSpots;
  extraTables.replaceChildren(...missing.map((input) => {
    const { shape, data } = originalInput(example, input);
    const table = matrixOf(shape, Array.from(data, () => make("td")));
    table.dataset.val = input;
    return make("figure", {}, make("figcaption", {}, nameOf(input)), table);
  }));
  (buttonOf(example) ?? document.querySelector("article > :last-child"))?.after(extraTables);
  forgetSpots();
  return fieldSpotsOf(example, session);
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

/** Open all <details> around an element. @param {Element} element */
const openDetails = (element) => {
  const details = element.closest("details");
  if (!details) return;
  details.open = true;
  if (details.parentElement) openDetails(details.parentElement);
};

/** Find the page's button for editing the example. @param {Example} example @returns {HTMLElement | null} */
export const buttonOf = ({ name }) => document.querySelector(`.live-try[data-example="${name}"]`);

// The dares of a page: say when the reader has met the condition of one, and lead back to where it began.

import { exampleOf } from "../reference.js";
import { numbersAt } from "./examples.js";

const NUMBER = /^-?\d/;
/** @type {Record<string, (a: number, b: number) => boolean>} */
const SIGNS = { ">": (a, b) => a > b, "<": (a, b) => a < b };

/** Say of each dare whether its condition is met. @param {Example[]} examples of the page */
export const judgeDares = (examples) => {
  for (const dare of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".dare"))) {
    const isMet = (dare.dataset.dare ?? "").split("; ").every((condition) => holds(condition, examples));
    const status = /** @type {HTMLElement} */ (dare.querySelector("[role=status]"));
    // A text that is set again would be spoken again.
    if (dare.classList.toggle("met", isMet) !== Boolean(status.textContent)) status.textContent = isMet ? "Done!" : "";
  }
};

/** @param {string} condition like `course_mask.weights[4,2] > 0.5` or `0 < course_block.before[4,0] < 1` @param {Example[]} examples */
const holds = (condition, examples) => {
  const parts = condition.split(" ");
  const numbers = parts.filter((_, i) => i % 2 === 0).map((side) => numberOf(side, examples));
  return numbers.slice(1).every((right, i) => SIGNS[parts[2 * i + 1]](numbers[i], right));
};

/** @param {string} side a number, or a reference to one @param {Example[]} examples @returns {number} */
const numberOf = (side, examples) => {
  if (NUMBER.test(side)) return Number(side);
  const example = examples.find(({ name }) => name === exampleOf(side));
  return example ? numbersAt(example, side)[0] : NaN;
};

/** Put the sliders of a dare back to where they began. @param {Element} dare */
const startAgain = (dare) => {
  for (const slider of /** @type {NodeListOf<HTMLInputElement>} */ (dare.querySelectorAll("[data-control]"))) {
    if (slider.value === slider.defaultValue) continue;
    slider.value = slider.defaultValue;
    slider.dispatchEvent(new Event("input"));
  }
};

/** @param {Event} event @param {string} part @returns {Element | null} the dare that has the event's target in this part */
const dareOf = ({ target }, part) => /** @type {Element} */ (target).closest(`.dare ${part}`)?.closest(".dare") ?? null;

document.addEventListener("click", (event) => {
  const dare = dareOf(event, "button");
  if (dare) startAgain(dare);
});
// Each dare is about the page's own numbers, so moving a slider of one puts the others back, unless the reader
// types numbers.
document.addEventListener("input", (event) => {
  const dare = dareOf(event, "input");
  if (!dare || document.querySelector(".live-field")) return;
  for (const other of document.querySelectorAll(".dare")) if (other !== dare) startAgain(other);
});

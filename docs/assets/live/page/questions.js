// The questions of a page: check an answer against what the page computes, with the reader's edits.

import { exampleOf } from "../reference.js";
import { judgeNumber, judgeWord } from "./answers.js";
import { LOAD_ERROR, load, numbersAt } from "./examples.js";

/** Find the question of a button or a field. @param {EventTarget | null} target @param {string} part @returns {HTMLElement | null} */
export const questionOf = (target, part) =>
  target instanceof Element ? target.closest(`.ask ${part}`)?.closest(".ask") ?? null : null;

/** Check the answer to a question, and show the verdict. @param {HTMLElement} box */
export const check = async (box) => {
  const reference = box.dataset.ask ?? "";
  const example = await load(exampleOf(reference));
  if (!example) return say(box, { isRight: null, message: LOAD_ERROR });
  const mistakes = [...(box.dataset.mistakes ?? "").matchAll(/(\S+?): ([^;]+)/g)].map(([, wrong, name]) => ({
    number: numbersAt(example, wrong)[0],
    name,
  }));
  const verdict = judge(box, numbersAt(example, reference), mistakes);
  const hint = verdict.isRight === false && !verdict.namesMistake ? ` ${box.dataset.hint}` : "";
  say(box, { ...verdict, message: verdict.message + hint });
};

/** @param {HTMLElement} box @param {number[]} numbers @param {import("./answers.js").Mistake[]} mistakes @returns {import("./answers.js").Verdict} */
const judge = (box, numbers, mistakes) => {
  const field = /** @type {HTMLInputElement | HTMLSelectElement} */ (box.querySelector("input, select"));
  if (field instanceof HTMLInputElement) return judgeNumber(field.value, numbers[0], mistakes);
  const [, ...words] = [...field.options].map(({ text }) => text);
  return judgeWord(field.selectedIndex - 1, words, numbers);
};

/** @param {HTMLElement} box @param {import("./answers.js").Verdict} verdict */
const say = (box, { isRight, message }) => {
  const status = /** @type {HTMLElement} */ (box.querySelector("[role=status]"));
  status.textContent = message;
  status.className = isRight === null ? "" : isRight ? "right" : "wrong";
};

/** Remove the verdicts, which edits could make false. */
export const forgetVerdicts = () => {
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".ask")).forEach(forgetVerdict);
};

/** @param {HTMLElement} box */
const forgetVerdict = (box) => say(box, { isRight: null, message: "" });

document.addEventListener("input", ({ target }) => {
  const box = questionOf(target, "input") ?? questionOf(target, "select");
  if (box) forgetVerdict(box);
});

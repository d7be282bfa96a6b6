// Sentences are about the page's own numbers. They are dimmed in sections that show changed numbers, or that
// have content which is never updated: printed code, exercises and figures without live numbers.

import { exampleAt } from "../spots.js";
import { make } from "../elements.js";

const REASON =
  "You have changed numbers of this page. The sentences, curves and code of this section belong to the original ones.";
const STATIC = ".highlight:not(.provenance *), details.question, figure.figure:not(:has([data-val]))";
const PROSE = "p:not(.live-why), ul, ol, details:not(.digits), .highlight, .md-typeset__scrollwrap";
const PROVENANCE_PROSE = "details.info > :is(p, .highlight, details:not([data-format]))";
const HEADING = /^H[1-6]$/;

/** @type {Map<Element, HTMLElement>} the notes on why prose is dimmed, by the first element of the section */
const reasons = new Map();

/**
 * Dim the prose of the sections with changed numbers, and no other.
 *
 * @param {Element[]} changed
 */
export const dim = (changed) => {
  const starts = sectionStarts(changed);
  for (const [start, reason] of reasons) {
    if (reason.hidden !== starts.has(start)) continue;
    reason.hidden = !starts.has(start);
    proseOf(start).forEach((element) => element.classList.toggle("live-set-back", !reason.hidden));
  }
};

/**
 * Insert the hidden notes in advance: a new element makes browsers restyle the whole page, which would take
 * longer than all other work of a keystroke.
 *
 * @param {Element[]} spots
 */
export const prepare = (spots) => {
  for (const start of sectionStarts(spots)) {
    if (reasons.has(start)) continue;
    const reason = make("p", { class: "live-why", hidden: true }, REASON);
    if (HEADING.test(start.tagName)) start.after(reason);
    else start.before(reason);
    reasons.set(start, reason);
  }
};

/** Undo the dimming and remove the notes. */
export const restore = () => {
  dim([]);
  for (const reason of reasons.values()) reason.remove();
  reasons.clear();
};

/** @param {Element[]} spots that change @returns {Set<Element>} the first element of each section to dim */
const sectionStarts = (spots) => {
  const names = new Set(spots.map(exampleAt));
  const sources = [...names].map((name) => document.querySelector(`[data-of="${name}"]`));
  const fixed = spots.length ? document.querySelectorAll(STATIC) : [];
  const blocks = new Set([...spots, ...sources, ...fixed].map((each) => each?.closest("article > *")));
  return new Set([...blocks].flatMap((block) => (block ? [sectionOf(block)[0]] : [])));
};

/** @param {Element} start of a section @returns {Element[]} */
const proseOf = (start) =>
  sectionOf(start).flatMap((element) => {
    if (element.matches("figure")) return [...element.querySelectorAll("figcaption")];
    if (element.matches(".provenance")) return [...element.querySelectorAll(PROVENANCE_PROSE)];
    return element.matches(PROSE) ? [element] : [];
  });

/**
 * List the blocks of a section, from its heading to the next one.
 *
 * @param {Element} block of the section @returns {Element[]}
 */
const sectionOf = (block) => {
  const section = [block];
  for (let next = block.previousElementSibling; next && !HEADING.test(section[0].tagName); next = next.previousElementSibling)
    section.unshift(next);
  for (let next = block.nextElementSibling; next && !HEADING.test(next.tagName); next = next.nextElementSibling)
    section.push(next);
  return section;
};

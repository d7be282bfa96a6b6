// Sentences were written for the page's own numbers. Where a section shows others, they step back, and
// so they do beside what never follows: printed code, exercises and drawings that have no live numbers.

import { exampleAt } from "../spots.js";
import { make } from "../elements.js";

const WHY =
  "You have changed numbers of this page. The sentences, curves and code of this section belong to the original ones.";
const NEVER_FOLLOWS = ".highlight:not(.provenance *), details.question, figure.figure:not(:has([data-val]))";
const TEXT = "p:not(.live-why), ul, ol, details:not(.digits), .highlight, .md-typeset__scrollwrap";
const ABOUT_SOURCE = "details.info > :is(p, .highlight, details:not([data-copy]))";
const HEADING = /^H[1-6]$/;

/** @type {Map<Element, HTMLElement>} why, by the first element of each section that was ever set back */
const reasons = new Map();

/**
 * Set back the prose of the sections that changed numbers belong to, and only there.
 *
 * @param {Element[]} changed
 */
export const setBack = (changed) => {
  const firsts = firstsOf(changed);
  for (const [first, reason] of reasons) {
    if (reason.hidden !== firsts.has(first)) continue;
    reason.hidden = !firsts.has(first);
    sentencesOf(first).forEach((element) => element.classList.toggle("live-set-back", !reason.hidden));
  }
};

/**
 * Write why, hidden, into the sections of some numbers: when a page gets a new element, browsers
 * style all of it anew, which takes longer than all else that a keystroke does.
 *
 * @param {Element[]} spots
 */
export const prepare = (spots) => {
  for (const first of firstsOf(spots)) {
    if (reasons.has(first)) continue;
    const reason = make("p", { class: "live-why", hidden: true }, WHY);
    if (HEADING.test(first.tagName)) first.after(reason);
    else first.before(reason);
    reasons.set(first, reason);
  }
};

/** Take away all that was written. */
export const restore = () => {
  setBack([]);
  for (const reason of reasons.values()) reason.remove();
  reasons.clear();
};

/** @param {Element[]} spots that change @returns {Set<Element>} the first element of each section that belongs to the original ones */
const firstsOf = (spots) => {
  const names = new Set(spots.map(exampleAt));
  const sources = [...names].map((name) => document.querySelector(`[data-of="${name}"]`));
  const fixed = spots.length ? document.querySelectorAll(NEVER_FOLLOWS) : [];
  const parts = new Set([...spots, ...sources, ...fixed].map((each) => each?.closest("article > *")));
  return new Set([...parts].flatMap((part) => (part ? [sectionOf(part)[0]] : [])));
};

/** @param {Element} first of a section @returns {Element[]} */
const sentencesOf = (first) =>
  sectionOf(first).flatMap((element) => {
    if (element.matches("figure")) return [...element.querySelectorAll("figcaption")];
    if (element.matches(".provenance")) return [...element.querySelectorAll(ABOUT_SOURCE)];
    return element.matches(TEXT) ? [element] : [];
  });

/**
 * List what belongs to a section: from its heading to the next one.
 *
 * @param {Element} part of the page @returns {Element[]}
 */
const sectionOf = (part) => {
  const section = [part];
  for (let next = part.previousElementSibling; next && !HEADING.test(section[0].tagName); next = next.previousElementSibling)
    section.unshift(next);
  for (let next = part.nextElementSibling; next && !HEADING.test(next.tagName); next = next.nextElementSibling)
    section.push(next);
  return section;
};

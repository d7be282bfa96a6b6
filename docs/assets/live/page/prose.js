// Sentences were written for the page's own numbers. Where a section shows others, they step back.

import { make } from "./words.js";

const WHY =
  "You have changed numbers of this section. Its sentences and curves belong to the original ones.";
const HEADING = /^H[1-6]$/;

/** @type {Map<Element, HTMLElement>} why, by the first element of each section that was ever set back */
const reasons = new Map();

/**
 * Set back the prose of the sections in which a number has changed, and only there.
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

/** @param {Element[]} spots @returns {Set<Element>} the first element of the section of each */
const firstsOf = (spots) => {
  const parts = new Set(spots.map((spot) => spot.closest("article > *")));
  return new Set([...parts].flatMap((part) => (part ? [sectionOf(part)[0]] : [])));
};

/** @param {Element} first of a section @returns {Element[]} */
const sentencesOf = (first) =>
  sectionOf(first).flatMap((element) => {
    if (element.matches("figure")) return [...element.querySelectorAll("figcaption")];
    return element.matches("p:not(.live-why), ul, ol, details, .md-typeset__scrollwrap") ? [element] : [];
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

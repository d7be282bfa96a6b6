// Sentences were written for the page's own numbers. Where a section shows others, they step back.

import { make } from "./words.js";

const WHY =
  "You have changed numbers of this section. Its sentences and curves belong to the original ones.";
const HEADING = /^H[1-6]$/;

/** @type {Map<Element, Element>} why, by the first element of each section that is set back */
const reasons = new Map();

/**
 * Set back the prose of the sections in which a number has changed, and only there.
 *
 * @param {Element[]} changed
 */
export const setBack = (changed) => {
  const parts = new Set(changed.map((spot) => spot.closest("article > *")));
  const firsts = new Set([...parts].flatMap((part) => (part ? [sectionOf(part)[0]] : [])));
  for (const [first, reason] of reasons) if (!firsts.has(first)) restore(first, reason);
  for (const first of firsts) if (!reasons.has(first)) mark(first);
};

/** @param {Element} first of a section */
const mark = (first) => {
  sentencesOf(first).forEach((element) => element.classList.add("live-set-back"));
  const reason = make("p", { class: "live-why" }, WHY);
  if (HEADING.test(first.tagName)) first.after(reason);
  else first.before(reason);
  reasons.set(first, reason);
};

/** @param {Element} first @param {Element} reason */
const restore = (first, reason) => {
  reason.remove();
  reasons.delete(first);
  sentencesOf(first).forEach((element) => element.classList.remove("live-set-back"));
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

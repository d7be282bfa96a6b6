// Sentences were written for the page's own numbers. Where a section shows others, they step back.

import { make } from "./words.js";

const WHY =
  "You have changed numbers of this section. Its sentences were written for the original ones, so they may not hold any more.";
const HEADING = /^H[1-6]$/;

/**
 * Set back the prose of the sections in which a number has changed, and only there.
 *
 * @param {Element[]} changed
 */
export const setBack = (changed) => {
  document.querySelectorAll(".live-why").forEach((each) => each.remove());
  document.querySelectorAll(".live-set-back").forEach((each) => each.classList.remove("live-set-back"));
  const sections = new Set(changed.map((spot) => sectionOf(spot)[0]));
  sections.forEach((first) => first && mark(first));
};

/** @param {Element} first of a section */
const mark = (first) => {
  const section = sectionOf(first);
  section
    .filter((element) => element.matches("p, ul, ol, figure, details, div:not(.formula)"))
    .forEach((element) => element.classList.add("live-set-back"));
  const why = make("p", { class: "live-why" }, WHY);
  if (HEADING.test(first.tagName)) first.after(why);
  else first.before(why);
};

/**
 * List what belongs to the section of an element: from its heading to the next one.
 *
 * @param {Element} element @returns {Element[]}
 */
const sectionOf = (element) => {
  const article = element.closest("article");
  const all = [...(article?.children ?? [])];
  const own = all.findIndex((child) => child.contains(element));
  if (own < 0) return [];
  const isHeading = all.map(({ tagName }) => HEADING.test(tagName));
  const first = Math.max(isHeading.lastIndexOf(true, own), 0);
  const next = isHeading.indexOf(true, Math.max(own, first) + 1);
  return all.slice(first, next < 0 ? undefined : next);
};

// Sentences are about the page's own numbers. After an edit, they are dimmed in sections that show changed
// numbers, or that have content which is never updated: printed code, exercises and static figures. Others are
// dimmed if they speak of the words at the rows and columns of a changed example.

import { exampleAt } from "../spots.js";

const STATIC_CONTENT = ".highlight:not(.provenance *), details.question, figure.figure:not(:has([data-val]))";
const PROSE = "p, ul, ol, details:not(.digits), .highlight, .tabbed-set, .md-typeset__scrollwrap";
const PROVENANCE_PROSE = "details.info > :is(p, .highlight, details:not([data-format]))";
const HEADING = /^H[1-6]$/;

/** @type {Set<Element>} */
let dimmed = new Set();

/**
 * Dim the prose of the sections with changed numbers, and what speaks of the words of their examples elsewhere.
 *
 * @param {Element[]} changedSpots @param {Example[]} [examples] of the page
 */
export const dimProse = (changedSpots, examples = []) => {
  // No sentence is about the side panel alone, and those of a box to try hold for all its numbers.
  const spots = changedSpots.filter((spot) => !spot.closest(".panel, .try"));
  const names = new Set(spots.map(exampleAt));
  const changedExamples = examples.filter(({ name }) => names.has(name));
  const elements = new Set([...[...sectionStarts(spots)].flatMap(proseOf), ...proseAbout(changedExamples)]);
  for (const element of dimmed) if (!elements.has(element)) element.classList.remove("live-dimmed");
  for (const element of elements) if (!dimmed.has(element)) element.classList.add("live-dimmed");
  dimmed = elements;
};

/** List the blocks that emphasise a word at a row or column of some examples. @param {Example[]} examples @returns {Element[]} */
const proseAbout = (examples) => {
  const words = new Set(examples.flatMap(({ graph }) => Object.values(graph.labels).flat(2)));
  if (!words.size) return [];
  return [...document.querySelectorAll(`article > :is(${PROSE})`)].filter((block) =>
    [...block.querySelectorAll("em")].some(({ textContent }) => words.has(`${textContent}`.toLowerCase()))
  );
};

/** Find the first element of each section to dim. @param {Element[]} spots that change @returns {Set<Element>} */
const sectionStarts = (spots) => {
  const names = new Set(spots.map(exampleAt));
  const provenances = [...names].map((name) => document.querySelector(`[data-of="${name}"]`));
  const staticContent = spots.length ? document.querySelectorAll(STATIC_CONTENT) : [];
  const elements = [...spots, ...provenances, ...staticContent];
  const blocks = new Set(elements.map((element) => element?.closest("article > *")));
  return new Set([...blocks].flatMap((block) => (block ? [sectionOf(block)[0]] : [])));
};

/** List the elements of a section to dim. @param {Element} start of the section @returns {Element[]} */
const proseOf = (start) =>
  sectionOf(start).flatMap((element) => {
    if (element.matches("figure")) return [...element.querySelectorAll("figcaption")];
    if (element.matches(".provenance")) return [...element.querySelectorAll(PROVENANCE_PROSE)];
    return element.matches(PROSE) ? [element] : [];
  });

/** List the blocks of a section, from its heading to the next one. @param {Element} block of the section */
const sectionOf = (block) => {
  const section = [block];
  let previous = block.previousElementSibling;
  while (previous && !HEADING.test(section[0].tagName)) {
    section.unshift(previous);
    previous = previous.previousElementSibling;
  }
  let next = block.nextElementSibling;
  while (next && !HEADING.test(next.tagName)) {
    section.push(next);
    next = next.nextElementSibling;
  }
  return section;
};

// Sentences are about the page's own numbers. After an edit, they are dimmed in sections that show changed
// numbers, or that have content which is never updated: printed code, exercises and static figures.

import { exampleAt } from "../spots.js";
import { make } from "../elements.js";

const NOTE =
  "You have changed numbers of this page. The sentences, curves and code of this section belong to the original ones.";
const STATIC_CONTENT = ".highlight:not(.provenance *), details.question, figure.figure:not(:has([data-val]))";
const PROSE = "p:not(.live-why), ul, ol, details:not(.digits), .highlight, .md-typeset__scrollwrap";
const PROVENANCE_PROSE = "details.info > :is(p, .highlight, details:not([data-format]))";
const HEADING = /^H[1-6]$/;

/** @type {Map<Element, HTMLElement>} the notes on why prose is dimmed, by the first element of the section */
const notes = new Map();

/**
 * Dim the prose of the sections with changed numbers, and no other.
 *
 * @param {Element[]} changedSpots
 */
export const dimProse = (changedSpots) => {
  const starts = sectionStarts(changedSpots);
  for (const [start, note] of notes) {
    const isDimmed = starts.has(start);
    if (note.hidden === !isDimmed) continue;
    note.hidden = !isDimmed;
    proseOf(start).forEach((element) => element.classList.toggle("live-set-back", isDimmed));
  }
};

/**
 * Insert the hidden notes in advance: a new element makes browsers restyle the whole page, which would take
 * longer than all other work of a keystroke.
 *
 * @param {Element[]} spots
 */
export const insertNotes = (spots) => {
  for (const start of sectionStarts(spots)) {
    if (notes.has(start)) continue;
    const note = make("p", { class: "live-why", hidden: true }, NOTE);
    if (HEADING.test(start.tagName)) start.after(note);
    else start.before(note);
    notes.set(start, note);
  }
};

/** Undo the dimming and remove the notes. */
export const removeNotes = () => {
  dimProse([]);
  for (const note of notes.values()) note.remove();
  notes.clear();
};

/** Find the first element of each section to dim. @param {Element[]} spots that change @returns {Set<Element>} */
const sectionStarts = (spots) => {
  // No sentence of a section is about the panel beside the page, and those of a box to try hold for all numbers.
  spots = spots.filter((spot) => !spot.closest(".panel, .try"));
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

/**
 * List the blocks of a section, from its heading to the next one.
 *
 * @param {Element} block of the section @returns {Element[]}
 */
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

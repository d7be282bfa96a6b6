// Entry point of the interactive pages. Hovering, tapping or focusing a number opens its card; editing an
// input updates the page. docs/assets/site.js loads this script at the first interaction.

import * as card from "./card.js";
import { editInput, endSession, readAddress, startEditing } from "./edit/editor.js";
import { button, choices } from "./elements.js";
import { LOAD_ERROR, load } from "./examples.js";
import { inputsOf } from "./inputs.js";
import { forgetIterations, iterate } from "./iteration.js";
import { addTabStops, tabStopOf } from "./keyboard.js";
import { check, questionOf } from "./questions.js";
import { attentionDocs, isOnPage } from "./site.js";
import { cellsAt, exampleAt, forgetSpots, spotAt, spotNear } from "./spots.js";
import { openWalkthrough } from "./step_by_step.js";
import { showInfluences } from "./what_matters.js";

// In milliseconds, after the pointer enters or leaves a spot.
const [OPEN_DELAY, CLOSE_DELAY] = [150, 300];
let hoverTimer = 0;
// A card opened by hovering closes when the pointer leaves; one opened by a click or key stays.
let isPinned = false;
/** @type {Element | null} the spot whose card was requested last */
let requestedSpot = null;

/** Open the card of a spot. @param {Element} spot */
const openCard = async (spot) => {
  requestedSpot = spot;
  const example = await load(exampleAt(spot));
  // The reader may have moved on while the graph was loading.
  if (requestedSpot !== spot) return;
  if (!example) return card.showMessage(spot, LOAD_ERROR);
  const cells = cellsAt(spot, example);
  if (!cells.length) return card.showMessage(spot, "The shape: rows × columns.");
  /** @param {Cell} cell */
  const openNumber = (cell) => card.open({ example, cell, spot }, () => createButtons(example));
  if (cells.length === 1) return openNumber(cells[0]);
  card.showMessage(spot, ...choices(example, cells, (cell) => {
    openNumber(cell);
    card.focus();
  }));
};

/** Create the buttons at the bottom of the card. @param {Example} example @returns {HTMLElement[]} */
const createButtons = (example) => {
  const walkthrough = button("Step by step", () => {
    const shown = card.current();
    if (shown) openWalkthrough(example, shown.cell);
  });
  if (!inputsOf(example).length) return [walkthrough];
  const editing = button("Try your own numbers", () => edit(example.name));
  // An input of an example that is repeated acts on the next iterations only.
  if (example.graph.carried.length) return [editing, walkthrough];
  const influences = button("What matters", () => {
    const shown = card.current();
    closeCard();
    if (shown) showInfluences(shown);
  });
  return [influences, editing, walkthrough];
};

/** Turn the inputs of an example into fields. @param {string} name of the example @param {Element} [spot] where to show an error */
const edit = async (name, spot = card.current()?.spot) => {
  // The examples of the side panel share their inputs with that of the page.
  if (spot?.closest(".panel")) name = [...document.querySelectorAll(".live-try")].at(-1)?.getAttribute("data-example") ?? name;
  const example = await load(name);
  if (example) {
    closeCard();
    await startEditing(example, spot ?? null);
    // The reader may have chosen a field while the others were being made.
    if (!document.activeElement?.matches(".live-field")) nearestField(spot)?.focus();
  } else if (spot) card.showMessage(spot, LOAD_ERROR);
};

/** Find the field nearest to where the reader is. @param {Element} [origin] @returns {HTMLElement | undefined} */
const nearestField = (origin) => {
  const top = (/** @type {Element} */ element) => element.getBoundingClientRect().top;
  // The side panel stands beside the whole text.
  const middle = origin && !origin.closest(".panel") ? top(origin) : innerHeight / 2;
  const fields = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".live-field"))];
  const distance = (/** @type {HTMLElement} */ field) => Math.abs(top(field) - middle);
  return fields.toSorted((a, b) => distance(a) - distance(b))[0];
};

/** @type {EventTarget | null} the element that the pointer has moved to */
let hovered = null;

// Browsers fire `pointerover` also when content scrolls or grows under a resting pointer. It closes a card, and
// only a movement opens one.
/** @param {PointerEvent} event */
const onPointer = ({ type, target }) => {
  const isMoving = type === "pointermove";
  if (isMoving && target === hovered) return;
  hovered = isMoving ? target : null;
  clearTimeout(hoverTimer);
  if (isPinned || card.contains(target)) return;
  const spot = spotAt(target);
  const hasCard = isMoving && spot && !spot.querySelector("input");
  hoverTimer = hasCard ? setTimeout(() => openCard(spot), OPEN_DELAY) : setTimeout(closeCard, CLOSE_DELAY);
};

/** Close the card and return the focus to where it came from, or to the card's spot. */
const closeCard = () => {
  const spot = card.current()?.spot ?? requestedSpot;
  if (card.contains(document.activeElement)) {
    const origin = focusedSpot?.tabStop ?? (spot && tabStopOf(spot, onFocusSpot));
    origin?.focus();
  }
  requestedSpot = null;
  isPinned = false;
  card.close();
};

/** @param {MouseEvent} event */
const onClick = (event) => {
  const target = /** @type {Element} */ (event.target);
  const tryButton = target.closest(".live-try");
  if (tryButton) return edit(tryButton.getAttribute("data-example") ?? "", tryButton);
  const question = questionOf(target, "button");
  if (question) return check(question);
  if (target.matches(".live-card .live-close")) return closeCard();
  if (card.contains(target) || target.closest("dialog") || !target.isConnected) return;
  // Selecting digits to copy them opens no card.
  const isOtherAction = target.closest("a, input, button, .handle") || getSelection()?.toString();
  const spot = isOtherAction ? null : spotNear(event);
  clearTimeout(hoverTimer);
  isPinned = Boolean(spot);
  // The number that the press has taken the focus from must not close this card.
  if (focusedSpot?.tabStop !== document.activeElement) focusedSpot = null;
  if (spot) openCard(spot);
  else closeCard();
};

/** @param {KeyboardEvent} event */
const onKeyDown = (event) => {
  const { key, target } = event;
  if (key === "Tab") addTabStops(onFocusSpot);
  if (key === "Escape" && !(/** @type {Element} */ (target).closest("dialog"))) closeCard();
  const question = questionOf(target, "input");
  if (key === "Enter" && question) check(question);
  if (key === "Enter" && focusedSpot && target === focusedSpot.tabStop) {
    event.preventDefault();
    if (card.isOpen()) card.focus();
    else onFocusSpot(focusedSpot.spot);
  }
};

/** @type {{tabStop: HTMLElement, spot: Element} | null} the spot reached by keyboard, and the focused element */
let focusedSpot = null;

/** @param {Element} spot reached by keyboard */
const onFocusSpot = (spot) => {
  focusedSpot = { tabStop: /** @type {HTMLElement} */ (document.activeElement), spot };
  isPinned = true;
  openCard(spot);
};

const onFocusOut = () => {
  const { activeElement } = document;
  if (!focusedSpot || focusedSpot.tabStop.contains(activeElement) || card.contains(activeElement)) return;
  // Keep the card while the reader walks through the steps or moves to the next number.
  if (activeElement?.closest("dialog")) return;
  focusedSpot = null;
  if (!activeElement?.closest("table[role=grid], .live-stop")) closeCard();
};

let article = document.querySelector("article");
/** Reset everything on a new page; the theme also announces the current one. */
const onNewPage = () => {
  const current = document.querySelector("article");
  if (current === article) return;
  article = current;
  closeCard();
  endSession();
  forgetIterations();
  forgetSpots();
  readAddress();
};

/** @type {Record<string, (event: any) => void>} */
const LISTENERS = { pointerover: onPointer, pointermove: onPointer, click: onClick, keydown: onKeyDown };
for (const [type, listener] of Object.entries(LISTENERS)) document.addEventListener(type, listener);
// The next element gets the focus only after this event.
document.addEventListener("focusout", () => setTimeout(onFocusOut));

Object.assign(attentionDocs, { editInput, iterate });
attentionDocs.onArrival(onNewPage);
readAddress();
addEventListener("hashchange", () => isOnPage() && readAddress());
attentionDocs.stopListening();
// Replay the event that made site.js load this script.
const { pendingEvent } = attentionDocs;
if (pendingEvent) LISTENERS[pendingEvent.type](pendingEvent);

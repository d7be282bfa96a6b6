// Entry point of the interactive pages. Hovering, tapping or focusing a number opens its card; editing an
// input updates the page. docs/assets/site.js loads this script at the first interaction.

import * as card from "./card.js";
import { begin, leave, readAddress } from "./edit/editor.js";
import { button, choices } from "./elements.js";
import { LOAD_ERROR, load } from "./examples.js";
import { inputsOf } from "./inputs.js";
import { makeReachable, stopOf } from "./keyboard.js";
import { attentionDocs, isOnPage } from "./site.js";
import { cellsAt, exampleAt, forget, spotAt, spotNear } from "./spots.js";
import { walk } from "./step_by_step.js";
import { begin as showInfluences } from "./what_matters.js";

const [OPEN_DELAY, CLOSE_DELAY] = [150, 300];
let timer = 0;
// A card opened by hovering closes when the pointer leaves; one opened by a click or key stays.
let isPinned = false;
/** @type {Element | null} the spot requested last */
let requested = null;

/** Open the card of a spot. @param {Element} spot */
const show = async (spot) => {
  requested = spot;
  const example = await load(exampleAt(spot)).catch(() => null);
  // The reader may have moved on while the graph was loading.
  if (requested !== spot) return;
  if (!example) return card.say(spot, LOAD_ERROR);
  const cells = cellsAt(spot, example);
  if (!cells.length) return card.say(spot, "The shape of a matrix: the number of its rows and of its columns.");
  /** @param {Cell} cell */
  const open = (cell) => card.open({ example, cell, spot }, () => tools(example));
  if (cells.length === 1) open(cells[0]);
  else card.say(spot, ...choices(example, cells, (cell) => {
    open(cell);
    card.enter();
  }));
};

/** @param {Example} example @returns {HTMLElement[]} the buttons at the bottom of the card */
const tools = (example) => [
  ...(inputsOf(example).length
    ? [button("What matters", showWhatMatters), button("Try your own numbers", () => edit(example.name))]
    : []),
  button("Step by step", () => {
    const shown = card.current();
    if (shown) walk(example, shown.cell);
  }),
];

const showWhatMatters = () => {
  const shown = card.current();
  close();
  if (shown) showInfluences(shown);
};

/** @param {string} name of the example @param {Element} [spot] where to show an error */
const edit = async (name, spot = card.current()?.spot) => {
  const example = await load(name).catch(() => null);
  if (example) {
    close();
    await begin(example);
    /** @type {HTMLElement | null} */ (document.querySelector(".live-field"))?.focus();
  } else if (spot) card.say(spot, LOAD_ERROR);
};

// Browsers also fire `pointerover` when content scrolls or grows under a resting pointer. Such events open
// no card until the pointer moves.
let isResting = false;
let [x, y] = [NaN, NaN];

/** @param {PointerEvent} event */
const onPointerOver = ({ target, clientX, clientY }) => {
  clearTimeout(timer);
  isResting = clientX === x && clientY === y;
  [x, y] = [clientX, clientY];
  if (isPinned || card.contains(target)) return;
  const spot = spotAt(target);
  if (spot && !isResting && !spot.querySelector("input")) {
    timer = setTimeout(() => show(spot), OPEN_DELAY);
  } else timer = setTimeout(close, CLOSE_DELAY);
};

/** @param {PointerEvent} event */
const onPointerMove = (event) => {
  if (isResting) onPointerOver(event);
  else [x, y] = [event.clientX, event.clientY];
};

/** Close the card and return the focus to where it came from, or to the card's spot. */
const close = () => {
  const spot = card.current()?.spot ?? requested;
  if (card.contains(document.activeElement)) (reached?.stop ?? (spot && stopOf(spot, reach)))?.focus();
  requested = null;
  isPinned = false;
  card.close();
};

/** @param {MouseEvent} event */
const onClick = (event) => {
  const target = /** @type {Element} */ (event.target);
  const tryButton = target.closest(".live-try");
  if (tryButton) return edit(tryButton.getAttribute("data-example") ?? "", tryButton);
  if (target.matches(".live-card .live-close")) return close();
  if (card.contains(target) || target.closest("dialog") || !target.isConnected) return;
  // Selecting digits to copy them opens no card.
  const isOtherAction = target.closest("a, input, button") || getSelection()?.toString();
  const spot = isOtherAction ? null : spotNear(event);
  clearTimeout(timer);
  isPinned = Boolean(spot);
  if (spot) show(spot);
  else close();
};

/** @param {KeyboardEvent} event */
const onKeyDown = (event) => {
  const { key, target } = event;
  if (key === "Tab") makeReachable(reach);
  if (key === "Escape" && !(/** @type {Element} */ (target).closest("dialog"))) close();
  if (key === "Enter" && reached && target === reached.stop) {
    event.preventDefault();
    if (card.isOpen()) card.enter();
    else reach(reached.spot);
  }
};

/** @type {{stop: HTMLElement, spot: Element} | null} the spot reached by keyboard, and the focused element */
let reached = null;

/** @param {Element} spot */
const reach = (spot) => {
  reached = { stop: /** @type {HTMLElement} */ (document.activeElement), spot };
  isPinned = true;
  show(spot);
};

let article = document.querySelector("article");
/** Reset everything on a new page; the theme also announces the current one. */
const onNewPage = () => {
  const current = document.querySelector("article");
  if (current === article) return;
  article = current;
  close();
  leave();
  forget();
  readAddress();
};

document.addEventListener("pointerover", onPointerOver);
document.addEventListener("pointermove", onPointerMove);
document.addEventListener("click", onClick);
document.addEventListener("keydown", onKeyDown);
document.addEventListener("focusout", () => setTimeout(() => {
  const { activeElement } = document;
  if (!reached || reached.stop.contains(activeElement) || card.contains(activeElement)) return;
  // Keep the card while the reader walks through the steps or moves to the next number.
  if (activeElement?.closest("dialog")) return;
  reached = null;
  if (!activeElement?.closest("table[role=grid], .live-stop")) close();
}));

attentionDocs.onArrival(onNewPage);
readAddress();
addEventListener("hashchange", () => isOnPage() && readAddress());
attentionDocs.stopListening();
// Replay the event that made site.js load this script.
const { pendingEvent } = attentionDocs;
if (pendingEvent?.type === "pointerover") onPointerOver(/** @type {PointerEvent} */ (pendingEvent));
if (pendingEvent?.type === "click") onClick(/** @type {MouseEvent} */ (pendingEvent));
if (pendingEvent?.type === "keydown") onKeyDown(/** @type {KeyboardEvent} */ (pendingEvent));

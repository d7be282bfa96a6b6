// The pages answer: point at a number, tap it or reach it by keyboard, and it says where it comes from;
// change an input, and the page follows. docs/assets/site.js loads this when somebody shows interest.

import * as card from "./card.js";
import { begin, leave, readAddress } from "./edit/editor.js";
import { choices, tool } from "./elements.js";
import { LOST, load } from "./examples.js";
import { inputsOf } from "./inputs.js";
import { makeReachable, stopOf } from "./keyboard.js";
import { attentionDocs, isOnPage } from "./site.js";
import { cellsAt, exampleAt, forget, spotAt, spotNear } from "./spots.js";
import { walk } from "./step_by_step.js";
import { begin as weigh } from "./what_matters.js";

const [BEFORE_IT_OPENS, BEFORE_IT_CLOSES] = [150, 300];
let timer = 0;
// A card that was only pointed at goes when the pointer goes; one that was asked for stays.
let stays = false;
/** @type {Element | null} the number that was asked for last */
let asked = null;

/** Show the card of a number. @param {Element} spot */
const show = async (spot) => {
  asked = spot;
  const example = await load(exampleAt(spot)).catch(() => null);
  // Somebody may have gone on meanwhile.
  if (asked !== spot) return;
  if (!example) return card.say(spot, LOST);
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

/** @param {Example} example @returns {HTMLElement[]} what else a reader can do with it */
const tools = (example) => [
  ...(inputsOf(example).length
    ? [tool("What matters", showWhatMatters), tool("Try your own numbers", () => tryOut(example.name))]
    : []),
  tool("Step by step", () => {
    const shown = card.current();
    if (shown) walk(example, shown.cell);
  }),
];

const showWhatMatters = () => {
  const shown = card.current();
  close();
  if (shown) weigh(shown);
};

/** @param {string} name of the example @param {Element} [spot] where the reader asked */
const tryOut = async (name, spot = card.current()?.spot) => {
  const example = await load(name).catch(() => null);
  if (example) {
    close();
    await begin(example);
    /** @type {HTMLElement | null} */ (document.querySelector(".live-field"))?.focus();
  } else if (spot) card.say(spot, LOST);
};

// Browsers say that a pointer is over what comes under it while it rests, as a page scrolls or grows. That
// asks nothing until the pointer moves.
let rests = false;
let [x, y] = [NaN, NaN];

/** @param {PointerEvent} event a pointer comes to a number, or leaves it */
const point = ({ target, clientX, clientY }) => {
  clearTimeout(timer);
  rests = clientX === x && clientY === y;
  [x, y] = [clientX, clientY];
  if (stays || card.contains(target)) return;
  const spot = spotAt(target);
  if (spot && !rests && !spot.querySelector("input")) {
    timer = setTimeout(() => show(spot), BEFORE_IT_OPENS);
  } else timer = setTimeout(close, BEFORE_IT_CLOSES);
};

/** @param {PointerEvent} event */
const move = (event) => {
  if (rests) point(event);
  else [x, y] = [event.clientX, event.clientY];
};

/** Close the card, and give the keyboard back to where it came from, or to the number of the card. */
const close = () => {
  const spot = card.current()?.spot ?? asked;
  if (card.contains(document.activeElement)) (reached?.stop ?? (spot && stopOf(spot, reach)))?.focus();
  asked = null;
  stays = false;
  card.close();
};

/** @param {MouseEvent} event */
const press = (event) => {
  const target = /** @type {Element} */ (event.target);
  const button = target.closest(".live-try");
  if (button) return tryOut(button.getAttribute("data-example") ?? "", button);
  if (target.matches(".live-card .live-close")) return close();
  if (card.contains(target) || target.closest("dialog") || !target.isConnected) return;
  // A reader who selects digits to copy them asks nothing.
  const isElse = target.closest("a, input, button") || getSelection()?.toString();
  const spot = isElse ? null : spotNear(event);
  clearTimeout(timer);
  stays = Boolean(spot);
  if (spot) show(spot);
  else close();
};

/** @param {KeyboardEvent} event */
const type = (event) => {
  const { key, target } = event;
  if (key === "Tab") makeReachable(reach);
  if (key === "Escape" && !(/** @type {Element} */ (target).closest("dialog"))) close();
  if (key === "Enter" && reached && target === reached.stop) {
    event.preventDefault();
    if (card.isOpen()) card.enter();
    else reach(reached.spot);
  }
};

/** @type {{stop: HTMLElement, spot: Element} | null} the number that the keyboard reached, and what has the focus */
let reached = null;

/** @param {Element} spot */
const reach = (spot) => {
  reached = { stop: /** @type {HTMLElement} */ (document.activeElement), spot };
  stays = true;
  show(spot);
};

let article = document.querySelector("article");
/** The theme announces each page, also the one that is there already. */
const arrive = () => {
  const arrived = document.querySelector("article");
  if (arrived === article) return;
  article = arrived;
  close();
  leave();
  forget();
  readAddress();
};

document.addEventListener("pointerover", point);
document.addEventListener("pointermove", move);
document.addEventListener("click", press);
document.addEventListener("keydown", type);
document.addEventListener("focusout", () => setTimeout(() => {
  const { activeElement } = document;
  if (!reached || reached.stop.contains(activeElement) || card.contains(activeElement)) return;
  // The card stays while a reader goes through the steps or on to the next number.
  if (activeElement?.closest("dialog")) return;
  reached = null;
  if (!activeElement?.closest("table[role=grid], .live-stop")) close();
}));

attentionDocs.onArrival(arrive);
readAddress();
addEventListener("hashchange", () => isOnPage() && readAddress());
// What the reader did before this script was there.
attentionDocs.start();
if (attentionDocs.first) {
  const handlers = { pointerover: point, click: press, keydown: type };
  handlers[/** @type {"click"} */ (attentionDocs.first.type)]?.(/** @type {any} */ (attentionDocs.first));
}

// The bar at the bottom of the window: the status of the edits, and buttons.

import { button, make } from "../elements.js";

const FIELD_HELP = matchMedia("(pointer: coarse)").matches
  ? "Type, or drag sideways."
  : "Type, use arrow keys, or drag sideways. Escape leads here and back.";
let help = "";
const status = make("p", { role: "status" });
const bar = make("div", { class: "live-bar", role: "region", "aria-label": "Your own numbers" });

/** Show the bar. @param {Record<string, () => void>} actions of the buttons, by label @param {boolean} hasFields */
export const show = (actions, hasFields) => {
  help = hasFields ? FIELD_HELP : "";
  const buttons = Object.entries(actions).map(([label, action]) => button(label, action));
  bar.replaceChildren(status, make("span", { class: "live-tools" }, ...buttons));
  attach();
};

/** Show the bar, below the stages of a docked side panel. */
const attach = () => (document.querySelector(".panel") ?? document.body).append(bar);

export const hide = () => bar.remove();

/** @param {string} text */
export const setStatus = (text) => {
  status.textContent = text;
};

/** Show a message even on a page without fields. @param {string} text */
export const showMessage = (text) => {
  if (!bar.isConnected) {
    bar.replaceChildren(status, button("Close", hide));
    attach();
  }
  setStatus(text);
};

/** @param {string} text goes before the current status */
export const prependStatus = (text) => setStatus(`${text} ${status.textContent}`);

/** Show whether numbers have changed, or why Python refuses the edits. @param {Example[]} examples @param {Element[]} changed */
export const showSummary = (examples, changed) => {
  const refusal = examples.map((example) => example.refusal).find((candidate) => candidate !== null);
  if (!refusal) return setStatus(changed.length ? "The page shows your numbers. Dimmed text is about its own." : help);
  const { error, message } = refusal;
  const reason = error ? `Python refuses this: “${message}”.` : "Here Python would compute in another way.";
  setStatus(`${reason} The page keeps its numbers.`);
};

/** Enable or disable the Redo button. @param {boolean} isEnabled */
export const enableRedo = (isEnabled) => {
  const redo = [...bar.querySelectorAll("button")].find(({ textContent }) => textContent === "Redo");
  // A disabled button would lose the focus.
  if (!isEnabled && document.activeElement === redo) focus();
  if (redo) redo.disabled = !isEnabled;
};

/** Copy a text to the clipboard. @param {string} text @param {string} confirmation for the status */
export const copy = (text, confirmation) => {
  navigator.clipboard.writeText(text).then(
    () => setStatus(confirmation),
    // Without clipboard permission, let the reader copy it by hand.
    () => prompt("Copy this:", text)
  );
};

/** Scroll if the bar, or the panel that it is in, covers a control or a part of its box. @param {Element} control */
export const uncover = (control) => {
  // A fixed element has no offset parent.
  const cover = (bar.offsetParent ?? bar).getBoundingClientRect();
  // The slider of a dare stays where it is.
  const parts = control.closest(".try:not(.dare)")?.children ?? [];
  const covered = [control, ...parts]
    .map((part) => part.getBoundingClientRect())
    .filter(({ bottom, right }) => bottom < cover.bottom && right > cover.left);
  scrollBy(0, Math.max(0, ...covered.map(({ bottom }) => bottom - cover.top)));
};

/** Focus the first button. */
export const focus = () => bar.querySelector("button")?.focus();
/** @returns {boolean} */
export const hasKeyboardFocus = () => bar.querySelector(":focus-visible") !== null;
/** @param {EventTarget | null} target */
export const contains = (target) => target instanceof Node && bar.contains(target);

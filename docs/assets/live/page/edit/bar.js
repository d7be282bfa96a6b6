// The bar at the bottom of the window: the status of the edits, and buttons.

import { button, make } from "../elements.js";

const HELP = "Type, use the up and down keys, or drag sideways. Escape leads to these buttons and back.";
const status = make("p", { class: "live-status", role: "status" });
const bar = make("div", { class: "live-bar", role: "region", "aria-label": "Your own numbers" });

/** @param {Record<string, () => void>} actions by label */
export const show = (actions) => {
  const buttons = Object.entries(actions).map(([label, action]) => button(label, action));
  bar.replaceChildren(make("strong", {}, "Your own numbers"), status, make("span", { class: "live-tools" }, ...buttons));
  document.body.append(bar);
};

export const hide = () => bar.remove();

/** @param {string} text */
export const say = (text) => {
  status.textContent = text;
};

/** Show a message even on a page without fields. @param {string} text */
export const notify = (text) => {
  if (!bar.isConnected) {
    bar.replaceChildren(status, button("Close", hide));
    document.body.append(bar);
  }
  say(text);
};

/** Prepend a message to the status. @param {string} text */
export const prepend = (text) => say(`${text} ${status.textContent}`);

/** @param {Example[]} examples @param {number} count of changed numbers */
export const summarise = (examples, count) => {
  const [refusal] = examples.flatMap(({ refusal }) => refusal ?? []);
  const changed = count === 1 ? "One number differs" : `${count} numbers differ`;
  if (!refusal) return say(count ? `${changed} from the page's own.` : HELP);
  const { error, message } = refusal;
  const reason = error ? `Python refuses this: “${message}”.` : "With this number Python would compute in another way.";
  say(`${reason} The page keeps the last numbers.`);
};

/** @param {boolean} isEnabled */
export const enableRedo = (isEnabled) => {
  const redo = bar.querySelectorAll("button")[1];
  if (!redo) return;
  if (!isEnabled && document.activeElement === redo) focus();
  redo.disabled = !isEnabled;
};

/** @param {string} text @param {string} confirmation */
export const copy = (text, confirmation) => {
  navigator.clipboard.writeText(text).then(
    () => say(confirmation),
    // Without clipboard permission, let the reader copy it by hand.
    () => prompt("Copy this:", text)
  );
};

export const focus = () => bar.querySelector("button")?.focus();
/** @returns {boolean} */
export const hasKeyboardFocus = () => bar.querySelector(":focus-visible") !== null;
/** @param {EventTarget | null} target */
export const contains = (target) => target instanceof Node && bar.contains(target);

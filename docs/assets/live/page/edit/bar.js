// The bar at the end of the window: what an edit has changed, and what else can be done.

import { make, tool } from "../elements.js";

const HELP = "Type, use the up and down keys, or drag sideways. Escape leads to these buttons and back.";
const status = make("p", { class: "live-status", role: "status" });
const bar = make("div", { class: "live-bar", role: "region", "aria-label": "Your own numbers" });

/** @param {Record<string, () => void>} actions by the names of their buttons */
export const show = (actions) => {
  const tools = Object.entries(actions).map(([name, act]) => tool(name, act));
  bar.replaceChildren(make("strong", {}, "Your own numbers"), status, make("span", { class: "live-tools" }, ...tools));
  document.body.append(bar);
};

export const hide = () => bar.remove();

/** @param {string} text */
export const say = (text) => {
  status.textContent = text;
};

/** Say something also where no fields are. @param {string} text */
export const notify = (text) => {
  if (!bar.isConnected) {
    bar.replaceChildren(status, tool("Close", hide));
    document.body.append(bar);
  }
  say(text);
};

/** Say something before what is said already. @param {string} text */
export const sayFirst = (text) => say(`${text} ${status.textContent}`);

/** @param {Example[]} examples @param {number} count of the numbers that have changed */
export const sumUp = (examples, count) => {
  const [refusal] = examples.flatMap(({ refusal }) => refusal ?? []);
  const changed = count === 1 ? "One number differs" : `${count} numbers differ`;
  if (!refusal) return say(count ? `${changed} from the page's own.` : HELP);
  const { error, message } = refusal;
  const reason = error ? `Python refuses this: “${message}”.` : "With this number Python would compute in another way.";
  say(`${reason} The page keeps the last numbers.`);
};

/** @param {boolean} isPossible whether there is something to redo */
export const allowRedo = (isPossible) => {
  const redo = bar.querySelectorAll("button")[1];
  if (!redo) return;
  if (!isPossible && document.activeElement === redo) focus();
  redo.disabled = !isPossible;
};

/** @param {string} text @param {string} done */
export const copy = (text, done) => {
  navigator.clipboard.writeText(text).then(
    () => say(done),
    // Without the permission, the reader can still copy it by hand.
    () => prompt("Copy this:", text)
  );
};

export const focus = () => bar.querySelector("button")?.focus();
/** @returns {boolean} */
export const hasKeyboard = () => bar.querySelector(":focus-visible") !== null;
/** @param {EventTarget | null} target */
export const contains = (target) => target instanceof Node && bar.contains(target);

// "Try your own numbers": turn the inputs of an example into fields, and update the page. Every change, be it
// a keystroke, Back, a pasted link or a reload, goes through `readAddress` or `update`.

import { program } from "../../program.js";
import { exampleOf } from "../../reference.js";
import { html } from "../../show.js";
import { refresh as refreshCard } from "../card.js";
import { LOAD_ERROR, load, valueOf } from "../examples.js";
import { writeCopies } from "../update/copies.js";
import { write } from "../update/numbers.js";
import { dim, prepare, restore } from "../update/prose.js";
import { keepInPlace, offscreenFigures } from "../update/scrolling.js";
import { inputsOf, keyIn } from "../inputs.js";
import { isOnPage } from "../site.js";
import { examplesOnPage, spotsOf } from "../spots.js";
import { repaint } from "../what_matters.js";
import { editsOf, fragmentOf, parse, replaceFragment } from "./address.js";
import * as bar from "./bar.js";
import { format } from "./entries.js";
import { clear, fieldOf, fill } from "./fields.js";
import { buttonOf, hideInputs, showInputs } from "./field_spots.js";
import { change, commit, enter, entryOf, redo, release, startSession, undo } from "./session.js";

/** @typedef {import("./session.js").Session} Session */

/** @type {Session | null} */
let session = null;
/** @type {import("./field_spots.js").FieldSpot[]} of this session */
let fields = [];
/** @type {HTMLElement | null} */
let lastField = null;

// Browsers limit history.replaceState to about a hundred calls in half a minute.
const ADDRESS_DELAY = 300;
// During typing, only numbers and visible figures are updated; prose and other figures wait for a pause.
const REST_DELAY = 100;
let [addressTimer, restTimer] = [0, 0];
const UNREADABLE_LINK = "This link has edits that could not be read.";

let requests = 0;
/** Start a request; responses may arrive out of order. @returns {() => boolean} whether it is the latest */
const startRequest = () => {
  const own = ++requests;
  return () => own === requests && isOnPage();
};

/**
 * Apply the edits of the address, whatever changed it. A link to a heading keeps the current edits and adds
 * them to the address; an unreadable link changes nothing.
 */
export const readAddress = async () => {
  const { name, edits: texts, heading } = parse(location.hash);
  if (name === null) return session && setHeading(session, heading);
  if (session && location.hash === fragmentOf(session)) return;
  // After Back or a reload, the browser restores the scroll position.
  const isNewVisit = history.state === null || !scrollY;
  const isLatest = startRequest();
  const isOfPage = examplesOnPage().includes(name);
  const example = isOfPage ? await load(name).catch(() => null) : null;
  const started = example && isLatest() ? await open(example) : null;
  if (started) {
    const { edits, isComplete } = editsOf(texts, started.examples);
    if (isComplete || edits.size) change(started, edits);
    setHeading(started, heading);
    update(started);
    if (!isComplete) bar.prepend(UNREADABLE_LINK);
    if (isNewVisit) scrollToHeading(started);
  } else if (isLatest()) {
    if (!isOfPage) replaceFragment(session ? fragmentOf(session) : "");
    bar.notify(isOfPage ? LOAD_ERROR : UNREADABLE_LINK);
  }
};

/** Remember the heading of the address, if the page has it. @param {Session} session @param {string} heading */
const setHeading = (session, heading) => {
  session.heading = document.getElementById(heading) ? heading : "";
  replaceFragment(fragmentOf(session));
};

/** Scroll to the heading, as browsers do for a fragment without edits. @param {Session} session */
const scrollToHeading = (session) => {
  if (!session.heading) return;
  location.replace(`#${session.heading}`);
  replaceFragment(fragmentOf(session));
};

/**
 * Turn the inputs of an example into fields.
 *
 * @param {Example} example
 */
export const begin = async (example) => {
  if (session?.example === example) return;
  const started = await open(example);
  if (!started) return;
  setHeading(started, parse(location.hash).heading);
  update(started);
};

/** @param {Example} example @returns {Promise<Session | null>} null if a later request has replaced it */
const open = async (example) => {
  if (session?.example === example) return session;
  const isLatest = startRequest();
  const owners = inputsOf(example).map(exampleOf);
  const names = new Set([...examplesOnPage(), ...owners]);
  const others = await Promise.all([...names].map((name) => load(name).catch(() => null)));
  if (!isLatest()) return null;
  const previous = session;
  close();
  const started = startSession(example, others.filter((other) => other !== null), previous);
  session = started;
  fields = showInputs(started);
  prepare(started.examples.flatMap(spotsOf).map(({ spot }) => spot));
  if (!(await afterFrame(started))) return null;
  bar.show(actionsOf(started));
  document.body.classList.add("live-editing");
  for (const { spot, input, index } of fields) {
    const { value, dtype } = entryOf(started, input, index);
    const label = [input.split(".")[1], ...index.map((at) => at + 1)].join(" ");
    const shown = () => valueOf(example, { step: keyIn(example, input) ?? "", index }).value;
    spot.replaceChildren(
      fieldOf(label, format(value, dtype), dtype, shown, ({ value, problem }) => {
        if (value === null) return bar.say(problem);
        enter(started, input, index, value);
        update(started);
      })
    );
  }
  return (await afterFrame(started)) ? started : null;
};

/** Let the browser draw a frame, to stay responsive. @param {Session} started @returns {Promise<boolean>} whether the session is still open */
const afterFrame = async (started) => {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return session === started;
};

/** @param {Session} session @returns {Record<string, () => void>} by label */
const actionsOf = (session) => ({
  Undo: () => undoStep(session),
  Redo: () => redoStep(session),
  Reset: () => {
    change(session, new Map());
    update(session);
  },
  "Copy link": () => {
    replaceFragment(fragmentOf(session));
    bar.copy(location.href, "The link is copied.");
  },
  "Copy code": () => {
    const { graph, values } = session.example;
    bar.copy(program(graph, values), "The NumPy program is copied.");
  },
  Done: () => {
    const byKeyboard = bar.hasKeyboardFocus();
    replaceFragment(fragmentOf({ ...session, edits: new Map() }));
    close();
    if (byKeyboard) buttonOf(session)?.focus();
  },
});

/** Discard invalid text in fields, or else undo the last step. @param {Session} session */
const undoStep = (session) => {
  const hasInvalid = fields.some(({ spot }) => spot.querySelector("[aria-invalid=true]"));
  const isUndone = hasInvalid || undo(session);
  update(session);
  if (!isUndone) bar.say("There is nothing to undo.");
};

/** @param {Session} session */
const redoStep = (session) => {
  redo(session);
  update(session);
};

/** @type {Record<string, (session: Session) => void>} */
const SHORTCUTS = { z: undoStep, "shift z": redoStep, y: redoStep };
document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, shiftKey, target } = event;
  const action = SHORTCUTS[(shiftKey ? "shift " : "") + key.toLowerCase()];
  const isElsewhere = target instanceof Element && target.matches("input:not(.live-field), textarea");
  if (!session || !action || !(ctrlKey || metaKey) || isElsewhere) return;
  event.preventDefault();
  action(session);
});

// One undo step is all that is typed before leaving a field, one drag, or one press of an arrow key.
for (const kind of ["change", "focusout", "pointerup", "keyup"])
  document.addEventListener(kind, (event) => {
    const isTyping = event instanceof KeyboardEvent && !event.key.startsWith("Arrow");
    if (session && !isTyping) commit(session);
  });

document.addEventListener("click", (event) => {
  if (!session || !isOnPage()) return;
  // The link may lead to another page.
  replaceFragment(fragmentOf(session));
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link?.href !== location.href.replace(location.hash, "")) return;
  // A link to the page itself would reload it.
  event.preventDefault();
  event.stopPropagation();
  setHeading(session, "");
  scrollTo(0, 0);
}, true);

document.addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLElement) || !target.matches(".live-field")) return;
  lastField = target;
  // Safari would leave the focused field under the bar.
  target.scrollIntoView({ block: "nearest", behavior: "instant" });
});
// Escape skips the many fields between the current one and the bar, which comes last in the page.
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  if (target === lastField) bar.focus();
  else if (bar.contains(target)) lastField?.focus();
});

/** Update the page and the status. @param {Session} session */
const update = (session) => {
  const deferred = offscreenFigures();
  const withoutShift = (/** @type {() => void} */ change) =>
    keepInPlace([lastField, document.getElementById(session.heading)], change);
  withoutShift(() => {
    for (const { spot, input, index } of fields) {
      const { value, dtype } = entryOf(session, input, index);
      const field = spot.querySelector("input");
      if (field) fill(field, value, dtype);
    }
    const changed = session.examples.flatMap((example) => write(example, deferred));
    bar.summarise(session.examples, changed.length);
  });
  clearTimeout(restTimer);
  const updateRest = () => {
    dim(session.examples.flatMap((example) => write(example)));
    session.examples.forEach(writeCopies);
  };
  restTimer = setTimeout(() => withoutShift(updateRest), REST_DELAY);
  if (!addressTimer) updateAddress();
  bar.enableRedo(session.future.length > 0);
  refreshCard();
  repaint();
};

/** Write the address, at most once per delay. */
const updateAddress = () => {
  addressTimer = 0;
  if (!session || !isOnPage() || fragmentOf(session) === location.hash) return;
  replaceFragment(fragmentOf(session));
  addressTimer = setTimeout(updateAddress, ADDRESS_DELAY);
};

/** Restore the page's own numbers and table cells. */
const close = () => {
  if (!session) return;
  release(session);
  for (const example of session.examples) {
    write(example);
    writeCopies(example);
  }
  for (const { spot, input, index } of fields) {
    const field = spot.querySelector("input");
    const { value, dtype } = entryOf({ ...session, edits: new Map() }, input, index);
    if (field) clear(field);
    spot.innerHTML = html(value, dtype);
  }
  hideInputs();
  leave();
};

/** End the session, without touching the page's numbers. */
export const leave = () => {
  startRequest();
  clearTimeout(addressTimer);
  clearTimeout(restTimer);
  addressTimer = 0;
  if (session) release(session);
  session = lastField = null;
  fields = [];
  restore();
  bar.hide();
  document.body.classList.remove("live-editing");
  repaint();
};

// "Try your own numbers": turn the inputs of an example into fields, and update the page. Every change, be it
// a keystroke, Back, a pasted link or a reload, goes through `readAddress` or `update`.

import { exampleOf, resolve } from "../../reference.js";
import { html } from "../../show.js";
import { refresh as refreshCard } from "../card.js";
import { judgeDares } from "../dares.js";
import { LOAD_ERROR, load, loadAll, valueOf } from "../examples.js";
import { writeCopies } from "../update/copies.js";
import { writeNumbers } from "../update/numbers.js";
import { dimProse } from "../update/prose.js";
import { keepInPlace, offscreenFigures } from "../update/scrolling.js";
import { inputAt, inputsOf, keyIn } from "../inputs.js";
import { forgetVerdicts } from "../questions.js";
import { isOnPage } from "../site.js";
import { examplesOnPage } from "../spots.js";
import { repaint } from "../what_matters.js";
import { editsOf, fragmentOf, parse, replaceFragment } from "./address.js";
import * as bar from "./bar.js";
import { codeOf } from "./code.js";
import { format } from "./entries.js";
import { clearError, createField, setFieldNumber } from "./fields.js";
import { buttonOf, hideInputs, showInputs, wordsOf } from "./field_spots.js";
import { computeAll, editNumbers, endUndoStep, inputNumber, redo, replaceEdits, startSession, undo } from "./session.js";

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
const DEFERRED_DELAY = 100;
let [addressTimer, deferredTimer] = [0, 0];
const UNREADABLE_LINK = "This link has edits that could not be read.";

let requestCount = 0;
/** Number a request, as responses may arrive out of order. @returns {() => boolean} whether it is the latest, and its page still open */
const startRequest = () => {
  const request = ++requestCount;
  return () => request === requestCount && isOnPage();
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
  const isCurrent = startRequest();
  if (name && !examplesOnPage().includes(name)) {
    if (!isCurrent()) return;
    replaceFragment(session ? fragmentOf(session) : "");
    return bar.showMessage(UNREADABLE_LINK);
  }
  const example = name ? await load(name) : null;
  const started = (example || !name) && isCurrent() ? await openSession(example) : null;
  if (!started) return isCurrent() && bar.showMessage(LOAD_ERROR);
  const { edits, isComplete } = editsOf(texts, started.examples);
  if (isComplete || edits.size) replaceEdits(started, edits);
  setHeading(started, heading);
  update(started);
  if (!isComplete) bar.prependStatus(UNREADABLE_LINK);
  if (!isNewVisit || !started.heading) return;
  // Scroll to the heading, as browsers do for a fragment without edits.
  location.replace(`#${started.heading}`);
  replaceFragment(fragmentOf(started));
};

/** Remember the heading of the address, if the page has it. @param {Session} session @param {string} heading */
const setHeading = (session, heading) => {
  // A delayed write could follow Back, and then replace the address that it restores.
  clearTimeout(addressTimer);
  session.heading = document.getElementById(heading) ? heading : "";
  replaceFragment(fragmentOf(session));
};

/**
 * Turn the inputs of an example into fields.
 *
 * @param {Example} example @param {Element | null} origin what the reader used, which stays where it is in the window
 */
export const startEditing = async (example, origin) => {
  if (session?.example === example) return;
  const started = await openSession(example, origin);
  if (!started) return;
  setHeading(started, parse(location.hash).heading);
  update(started);
};

/** @type {Map<HTMLElement, [reference: string, values: number[]]>} edits by controls before their session is open */
const waiting = new Map();

/**
 * Edit numbers of an input with a control.
 *
 * @param {HTMLElement} control @param {string} reference to the numbers @param {number[]} values
 */
export const editInput = async (control, reference, values) => {
  if (session && !waiting.size) return editWith(session, control, reference, values);
  const isOpening = waiting.size > 0;
  waiting.set(control, [reference, values]);
  if (isOpening) return;
  const opened = await openSession(null);
  const edits = [...waiting];
  waiting.clear();
  if (!opened) return;
  for (const [control, [reference, values]] of edits) editWith(opened, control, reference, values);
  // A drag goes on if the pointer is still down.
  if (document.querySelector("[data-control]:active, .handle:active"))
    return addEventListener("pointerup", () => bar.uncover(control), { once: true });
  endUndoStep(opened);
  bar.uncover(control);
};

/** @param {Session} session @param {HTMLElement} control @param {string} reference @param {number[]} values */
const editWith = (session, control, reference, values) => {
  lastField = control;
  const { input, indices } = inputNumbersAt(session, reference);
  editNumbers(session, input, indices, values);
  update(session);
};

/**
 * Find the numbers of an input that a reference is to.
 *
 * @param {Session} session @param {string} reference to a step that shows an input
 */
const inputNumbersAt = ({ examples }, reference) => {
  const name = exampleOf(reference);
  const example = /** @type {Example} */ (examples.find((candidate) => candidate.name === name));
  const { step, cells } = resolve(reference, example.graph);
  return { input: /** @type {string} */ (inputAt(example, step)), indices: cells };
};

/** Tell the controls which numbers their inputs have. @param {Session} session */
const updateControls = (session) => {
  for (const control of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-control]"))) {
    const { input, indices } = inputNumbersAt(session, control.dataset.input ?? "");
    const numbers = indices.map((index) => inputNumber(session, input, index).value);
    control.dispatchEvent(new CustomEvent("numbers", { detail: numbers }));
  }
};

/**
 * Open a session, and turn the inputs of its example into fields.
 *
 * @param {Example | null} example none for controls alone
 * @param {Element | null} [origin] near which the reader is
 * @returns {Promise<Session | null>} null if a later request has replaced it
 */
const openSession = async (example, origin = null) => {
  if (session && session.example === example) return session;
  const isCurrent = startRequest();
  const owners = example ? inputsOf(example).map(exampleOf) : [];
  const loaded = await loadAll([...new Set([...examplesOnPage(), ...owners])]);
  if (!isCurrent()) return null;
  const previous = session;
  const keepOrigin = (/** @type {() => void} */ change) => keepInPlace([origin], change);
  keepOrigin(closeSession);
  const started = startSession(example, loaded, previous);
  session = started;
  keepOrigin(() => (fields = example ? showInputs(example, started, origin) : []));
  if (!(await waitForFrame(started))) return null;
  bar.show(actionsOf(started), example !== null);
  document.body.classList.add("live-editing");
  keepOrigin(() => example && fields.forEach((fieldSpot) => addField(started, example, fieldSpot)));
  return (await waitForFrame(started)) ? started : null;
};

/** @param {Session} session @param {Example} example @param {import("./field_spots.js").FieldSpot} fieldSpot */
const addField = (session, example, { spot, input, index }) => {
  const { value, dtype } = inputNumber(session, input, index);
  const words = wordsOf(session.examples, input);
  const label = [input.split(".")[1], ...index.map((at, axis) => words[axis]?.[at] ?? at + 1)].join(" ");
  const currentNumber = () => valueOf(example, { step: keyIn(example, input) ?? "", index }).value;
  /** @param {import("./fields.js").Entry} entry */
  const onEntry = ({ value, problem }) => {
    if (value === null) return bar.setStatus(problem);
    editNumbers(session, input, [index], [value]);
    update(session);
  };
  spot.replaceChildren(createField(label, format(value, dtype), dtype, currentNumber, onEntry));
};

/** Let the browser draw a frame, to stay responsive. @param {Session} started @returns {Promise<boolean>} whether the session is still open */
const waitForFrame = async (started) => {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return session === started;
};

/** Return the actions of the bar's buttons. @param {Session} session @returns {Record<string, () => void>} by label */
const actionsOf = (session) => ({
  Undo: () => undoStep(session),
  Redo: () => redoStep(session),
  Reset: () => {
    replaceEdits(session, new Map());
    update(session);
  },
  "Copy link": () => bar.copy(location.href, "The link is copied."),
  ...(session.example && {
    "Copy code": () => bar.copy(codeOf(/** @type {Example} */ (session.example)), "The Python code is copied."),
  }),
  Done: () => {
    const [isKeyboardUsed, control] = [bar.hasKeyboardFocus(), lastField];
    replaceFragment(fragmentOf({ ...session, edits: new Map() }));
    closeSession();
    if (isKeyboardUsed) (session.example ? buttonOf(session.example) : control)?.focus();
  },
});

/** Discard invalid text in fields, or else undo the last step. @param {Session} session */
const undoStep = (session) => {
  const hasInvalidText = fields.some(({ spot }) => spot.querySelector("[aria-invalid=true]"));
  const isUndone = hasInvalidText || undo(session);
  // This fills the fields again.
  update(session);
  if (!isUndone) bar.setStatus("There is nothing to undo.");
};

/** Redo the last undone step. @param {Session} session */
const redoStep = (session) => {
  redo(session);
  update(session);
};

/** @type {Record<string, (session: Session) => void>} */
const SHORTCUTS = { z: undoStep, "shift z": redoStep, y: redoStep };
document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, shiftKey, target } = event;
  const action = SHORTCUTS[(shiftKey ? "shift " : "") + key.toLowerCase()];
  const isOtherField = target instanceof Element && target.matches("input:not(.live-field, [data-control]), textarea");
  if (!session || !action || !(ctrlKey || metaKey) || isOtherField) return;
  event.preventDefault();
  action(session);
});

// One undo step is all that is typed before leaving a field, one drag, or one press of an arrow key.
for (const kind of ["change", "focusout", "pointerup", "keyup"])
  document.addEventListener(kind, (event) => {
    const isField = event.target instanceof Element && event.target.matches(".live-field");
    const isTyping = isField && event instanceof KeyboardEvent && !event.key.startsWith("Arrow");
    if (session && !isTyping) endUndoStep(session);
  });

document.addEventListener("click", (event) => {
  if (!session || !isOnPage()) return;
  // "Copy link" needs the edits in the address, and so does Back after a link.
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
  if (!(target instanceof HTMLElement) || !target.matches(".live-field, [data-control]")) return;
  lastField = target;
  if (!target.matches(".live-field")) return;
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
      const { value, dtype } = inputNumber(session, input, index);
      const field = spot.querySelector("input");
      if (field) setFieldNumber(field, value, dtype);
    }
    updateControls(session);
    const changed = session.examples.flatMap((example) => writeNumbers(example, deferred));
    bar.showSummary(session.examples, changed);
    judgeDares(session.examples);
  });
  clearTimeout(deferredTimer);
  const updateDeferred = () => {
    dimProse(session.examples.flatMap((example) => writeNumbers(example)), session.examples);
    session.examples.forEach(writeCopies);
    // The side panel shows the matrices set by hand if the edits have changed them.
    /** @type {HTMLInputElement | null} */
    const choice = document.querySelector(".panel:has(.by-hand .live-changed) [value=by-hand]");
    if (choice) choice.checked = true;
  };
  deferredTimer = setTimeout(() => withoutShift(updateDeferred), DEFERRED_DELAY);
  // Write the address after a pause, unless Back or a link has changed it by then.
  const { href } = location;
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => location.href === href && replaceFragment(fragmentOf(session)), ADDRESS_DELAY);
  bar.enableRedo(session.future.length > 0);
  refreshCard();
  repaint();
  forgetVerdicts();
};

/** Restore the page's own numbers and table cells, and end the session. */
const closeSession = () => {
  if (!session) return;
  const original = { ...session, edits: new Map() };
  computeAll(session.examples, original.edits);
  for (const example of session.examples) {
    writeNumbers(example);
    writeCopies(example);
  }
  for (const { spot, input, index } of fields) {
    const field = spot.querySelector("input");
    const { value, dtype } = inputNumber(original, input, index);
    if (field) clearError(field);
    spot.innerHTML = html(value, dtype);
  }
  updateControls(original);
  judgeDares(session.examples);
  hideInputs();
  forgetVerdicts();
  endSession();
};

/** End the session, without writing to the page's numbers, because the page may have been replaced. */
export const endSession = () => {
  // Ignore responses to earlier requests.
  startRequest();
  clearTimeout(addressTimer);
  clearTimeout(deferredTimer);
  if (session) computeAll(session.examples, new Map());
  session = lastField = null;
  fields = [];
  dimProse([]);
  bar.hide();
  document.body.classList.remove("live-editing");
  repaint();
};

// "Try your own numbers": the inputs of an example become fields, and the page follows. Whatever happens,
// be it a keystroke, Back, a pasted link or a reload, goes through `readAddress` or `follow`.

import { program } from "../../program.js";
import { exampleOf } from "../../reference.js";
import { html } from "../../show.js";
import { refresh as refreshCard } from "../card.js";
import { LOST, load, valueOf } from "../examples.js";
import { writeCopies } from "../follow/copies.js";
import { write } from "../follow/numbers.js";
import { prepare, restore, setBack } from "../follow/prose.js";
import { figuresOutOfSight, inPlace } from "../follow/scrolling.js";
import { inputsOf, keyIn } from "../inputs.js";
import { isOnPage } from "../site.js";
import { examplesOnPage, spotsOf } from "../spots.js";
import { repaint } from "../what_matters.js";
import { editsOf, fragmentOf, parse, putIntoAddress } from "./address.js";
import * as bar from "./bar.js";
import { typed } from "./entries.js";
import { clear, fieldOf, fill } from "./fields.js";
import { buttonOf, hideInputs, showInputs } from "./places.js";
import { begun, change, commit, enter, entryOf, redo, release, undo } from "./session.js";

/** @typedef {import("./session.js").Session} Session */

/** @type {Session | null} */
let session = null;
/** @type {import("./places.js").Place[]} the fields of this session */
let fields = [];
/** @type {HTMLElement | null} the field that the reader was in last */
let last = null;

// Browsers allow some hundred changes of the address in half a minute.
const BEFORE_THE_ADDRESS_CHANGES = 300;
// While somebody types, the numbers follow and the figures in sight. When the keys rest, the prose steps
// back and the other figures are drawn.
const BEFORE_THE_REST_FOLLOWS = 100;
let [addressTimer, restTimer] = [0, 0];
const UNREAD = "This link has edits that could not be read.";

let turns = 0;
/** What was asked for first may arrive last. @returns {() => boolean} whether nothing was asked for since */
const turn = () => {
  const own = ++turns;
  return () => own === turns && isOnPage();
};

/**
 * Make the page show what its address says, whatever changed the address. A link to a heading says nothing
 * about edits, so they stay and are added to the address. A link that cannot be read changes nothing.
 */
export const readAddress = async () => {
  const { name, parts, heading } = parse(location.hash);
  if (name === null) return session && goTo(session, heading);
  if (session && location.hash === fragmentOf(session)) return;
  // After Back or a reload the page is where the reader left it.
  const isNew = history.state === null || !scrollY;
  const isLatest = turn();
  const isOfPage = examplesOnPage().includes(name);
  const example = isOfPage ? await load(name).catch(() => null) : null;
  const started = example && isLatest() ? await open(example) : null;
  if (started) {
    const { edits, isWhole } = editsOf(parts, started.examples);
    if (isWhole || edits.size) change(started, edits);
    goTo(started, heading);
    follow(started);
    if (!isWhole) bar.sayFirst(UNREAD);
    if (isNew) jump(started);
  } else if (isLatest()) {
    if (!isOfPage) putIntoAddress(session ? fragmentOf(session) : "");
    bar.notify(isOfPage ? LOST : UNREAD);
  }
};

/** Keep the heading that an address names, if the page has it. @param {Session} session @param {string} heading */
const goTo = (session, heading) => {
  session.heading = document.getElementById(heading) ? heading : "";
  putIntoAddress(fragmentOf(session));
};

/** Scroll to the heading as browsers do, which they would if it stood alone. @param {Session} session */
const jump = (session) => {
  if (!session.heading) return;
  location.replace(`#${session.heading}`);
  putIntoAddress(fragmentOf(session));
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
  goTo(started, parse(location.hash).heading);
  follow(started);
};

/** @param {Example} example @returns {Promise<Session | null>} null if the reader has gone on meanwhile */
const open = async (example) => {
  if (session?.example === example) return session;
  const isLatest = turn();
  const owners = inputsOf(example).map(exampleOf);
  const names = new Set([...examplesOnPage(), ...owners]);
  const others = await Promise.all([...names].map((name) => load(name).catch(() => null)));
  if (!isLatest()) return null;
  const before = session;
  close();
  const started = begun(example, others.filter((other) => other !== null), before);
  session = started;
  fields = showInputs(started);
  prepare(started.examples.flatMap(spotsOf).map(({ spot }) => spot));
  if (!(await goesOn(started))) return null;
  bar.show(actionsOf(started));
  document.body.classList.add("live-editing");
  for (const { spot, input, index } of fields) {
    const { value, dtype } = entryOf(started, input, index);
    const label = [input.split(".")[1], ...index.map((at) => at + 1)].join(" ");
    const shown = () => valueOf(example, { step: keyIn(example, input) ?? "", index }).value;
    spot.replaceChildren(
      fieldOf(label, typed(value, dtype), dtype, shown, ({ value, problem }) => {
        if (value === null) return bar.say(problem);
        enter(started, input, index, value);
        follow(started);
      })
    );
  }
  return (await goesOn(started)) ? started : null;
};

/** Let a frame be drawn first, and so a key be answered. @param {Session} started @returns {Promise<boolean>} whether it was not ended */
const goesOn = async (started) => {
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return session === started;
};

/** @param {Session} session @returns {Record<string, () => void>} by the names of their buttons */
const actionsOf = (session) => ({
  Undo: () => takeBack(session),
  Redo: () => repeat(session),
  Reset: () => {
    change(session, new Map());
    follow(session);
  },
  "Copy link": () => {
    putIntoAddress(fragmentOf(session));
    bar.copy(location.href, "The link is copied.");
  },
  "Copy code": () => {
    const { graph, values } = session.example;
    bar.copy(program(graph, values), "The NumPy program is copied.");
  },
  Done: () => {
    const byKeyboard = bar.hasKeyboard();
    putIntoAddress(fragmentOf({ ...session, edits: new Map() }));
    close();
    if (byKeyboard) buttonOf(session)?.focus();
  },
});

/** Take back what cannot be read in a field, or else the last step. @param {Session} session */
const takeBack = (session) => {
  const isUnread = fields.some(({ spot }) => spot.querySelector("[aria-invalid=true]"));
  const done = isUnread || undo(session);
  follow(session);
  if (!done) bar.say("There is nothing to undo.");
};

/** @param {Session} session */
const repeat = (session) => {
  redo(session);
  follow(session);
};

/** @type {Record<string, (session: Session) => void>} */
const SHORTCUTS = { z: takeBack, "shift z": repeat, y: repeat };
document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, shiftKey, target } = event;
  const act = SHORTCUTS[(shiftKey ? "shift " : "") + key.toLowerCase()];
  const isElsewhere = target instanceof Element && target.matches("input:not(.live-field), textarea");
  if (!session || !act || !(ctrlKey || metaKey) || isElsewhere) return;
  event.preventDefault();
  act(session);
});

// What is typed into a field until it is left, one drag and one press of an arrow key are a step each.
for (const kind of ["change", "focusout", "pointerup", "keyup"])
  document.addEventListener(kind, (event) => {
    const isTyping = event instanceof KeyboardEvent && !event.key.startsWith("Arrow");
    if (session && !isTyping) commit(session);
  });

document.addEventListener("click", (event) => {
  if (!session || !isOnPage()) return;
  // The reader may be about to leave.
  putIntoAddress(fragmentOf(session));
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link?.href !== location.href.replace(location.hash, "")) return;
  // The page leads to itself, and would be loaded again.
  event.preventDefault();
  event.stopPropagation();
  goTo(session, "");
  scrollTo(0, 0);
}, true);

document.addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLElement) || !target.matches(".live-field")) return;
  last = target;
  // Safari leaves what has the focus under the buttons.
  target.scrollIntoView({ block: "nearest", behavior: "instant" });
});
// Many fields lie between one of them and the buttons, which stand at the end of the page.
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  if (target === last) bar.focus();
  else if (bar.contains(target)) last?.focus();
});

/** Bring the page up to date, and say what has changed. @param {Session} session */
const follow = (session) => {
  const waiting = figuresOutOfSight();
  const steadily = (/** @type {() => void} */ change) =>
    inPlace([last, document.getElementById(session.heading)], change);
  steadily(() => {
    for (const { spot, input, index } of fields) {
      const { value, dtype } = entryOf(session, input, index);
      const field = spot.querySelector("input");
      if (field) fill(field, value, dtype);
    }
    const changed = session.examples.flatMap((example) => write(example, waiting));
    bar.sumUp(session.examples, changed.length);
  });
  clearTimeout(restTimer);
  const followWithTheRest = () => {
    setBack(session.examples.flatMap((example) => write(example)));
    session.examples.forEach(writeCopies);
  };
  restTimer = setTimeout(() => steadily(followWithTheRest), BEFORE_THE_REST_FOLLOWS);
  if (!addressTimer) changeAddress();
  bar.allowRedo(session.future.length > 0);
  refreshCard();
  repaint();
};

/** Write the address, and in a while what has changed meanwhile. */
const changeAddress = () => {
  addressTimer = 0;
  if (!session || !isOnPage() || fragmentOf(session) === location.hash) return;
  putIntoAddress(fragmentOf(session));
  addressTimer = setTimeout(changeAddress, BEFORE_THE_ADDRESS_CHANGES);
};

/** Give the page its own numbers back, and the cells of its tables. */
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

/** Forget the edits, because the page that showed them is gone. */
export const leave = () => {
  turn();
  clearTimeout(addressTimer);
  clearTimeout(restTimer);
  addressTimer = 0;
  if (session) release(session);
  session = last = null;
  fields = [];
  restore();
  bar.hide();
  document.body.classList.remove("live-editing");
  repaint();
};

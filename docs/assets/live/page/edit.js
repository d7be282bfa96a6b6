// "Try your own numbers": the inputs of an example become fields, and the page follows.

import { program } from "../python.js";
import { exampleOf } from "../reference.js";
import { html } from "../show.js";
import { refresh as refreshCard } from "./card.js";
import { writeCopies } from "./copies.js";
import { typed } from "./entries.js";
import { load, valueOf } from "./examples.js";
import { clear, fieldOf, fill } from "./fields.js";
import { inputAt, inputsOf, keyIn, writtenIn } from "./inputs.js";
import { editsOf, fragmentOf, parse, putIntoAddress } from "./link.js";
import { repaint } from "./matters.js";
import { prepare, restore, setBack } from "./prose.js";
import { LOST, isOnPage } from "./scripts.js";
import { begun, change, commit, enter, entryOf, redo, release, undo } from "./session.js";
import { examplesOnPage, forget, spotsOf } from "./spots.js";
import { make, matrixOf, nameOf, tool } from "./words.js";
import { write } from "./write.js";

/** @typedef {import("./examples.js").Edits} Edits */
/** @typedef {import("./examples.js").Example} Example */
/** @typedef {import("./session.js").Session} Session */
/** @typedef {{spot: Element, input: string, index: number[]}} Place of a field */

/** @type {Session | null} */
let session = null;
/** @type {Place[]} the fields of this session */
let fields = [];
const status = make("p", { class: "live-status", role: "status" });
const inputs = make("div", { class: "live-inputs" });
const bar = make("div", { class: "live-bar", role: "region", "aria-label": "Your own numbers" });
const redoTool = /** @type {HTMLButtonElement} */ (tool("Redo", () => session && repeat(session)));

// Browsers allow some hundred changes of the address in half a minute.
const BEFORE_THE_ADDRESS_CHANGES = 300;
// While somebody types, the numbers follow and the figures in sight. When the keys rest, the prose steps
// back and the other figures are drawn.
const BEFORE_THE_REST_FOLLOWS = 100;
let [addressTimer, restTimer] = [0, 0];
const HELP = "Type, use the up and down keys, or drag sideways. Escape leads to these buttons and back.";
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
    if (!isWhole) say(`${UNREAD} ${status.textContent}`);
    if (isNew) jump(started);
  } else if (isLatest()) {
    if (!isOfPage) putIntoAddress(session ? fragmentOf(session) : "");
    notify(isOfPage ? LOST : UNREAD);
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
  unfold(started);
  addMissingInputs(started);
  fields = placesOf(started);
  prepare(started.examples.flatMap(spotsOf).map(({ spot }) => spot));
  if (!(await goesOn(started))) return null;
  document.body.append(drawBar(started));
  document.body.classList.add("live-editing");
  for (const { spot, input, index } of fields) {
    const { value, dtype } = entryOf(started, input, index);
    const label = [input.split(".")[1], ...index.map((at) => at + 1)].join(" ");
    const shown = () => valueOf(example, { step: keyIn(example, input) ?? "", index }).value;
    spot.replaceChildren(
      fieldOf(label, typed(value, dtype), dtype, shown, ({ value, problem }) => {
        if (value === null) return say(problem);
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

/** Open the folds of inputs that would not be seen otherwise. @param {Session} session */
const unfold = (session) => {
  const places = placesOf(session);
  for (const input of inputsOf(session.example)) {
    const spots = places.filter((place) => place.input === input).map(({ spot }) => spot);
    if (spots.some((spot) => spot.checkVisibility())) continue;
    for (let fold = spots[0]?.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null)
      fold.open = true;
  }
};

/** @param {Session} session @returns {HTMLElement} */
const drawBar = (session) => {
  const reset = () => {
    change(session, new Map());
    follow(session);
  };
  const copyLink = () => {
    putIntoAddress(fragmentOf(session));
    copy(location.href, "The link is copied.");
  };
  const copyProgram = () => {
    const { graph, values } = session.example;
    copy(program(graph, values), "The NumPy program is copied.");
  };
  const finish = () => {
    const byKeyboard = bar.querySelector(":focus-visible");
    putIntoAddress(fragmentOf({ ...session, edits: new Map() }));
    close();
    if (byKeyboard) buttonOf(session)?.focus();
  };
  bar.replaceChildren(
    make("strong", {}, "Your own numbers"),
    status,
    make("span", { class: "live-tools" },
      tool("Undo", () => takeBack(session)),
      redoTool,
      tool("Reset", reset),
      tool("Copy link", copyLink),
      tool("Copy code", copyProgram),
      tool("Done", finish)
    )
  );
  return bar;
};

/** Take back what cannot be read in a field, or else the last step. @param {Session} session */
const takeBack = (session) => {
  const isUnread = fields.some(({ spot }) => spot.querySelector("[aria-invalid=true]"));
  const done = isUnread || undo(session);
  follow(session);
  if (!done) say("There is nothing to undo.");
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

/** @param {Session} session @returns {Place[]} the cells of tables that show inputs of the edited example */
const placesOf = (session) => {
  const edited = inputsOf(session.example);
  return session.examples.flatMap((example) => {
    const steps = [...example.graph.steps.keys()];
    const inputs = new Map(steps.map((step) => [step, inputAt(example, step)]));
    return spotsOf(example).flatMap(({ spot, cell: { step, index } }) => {
      const input = spot.matches("td") ? inputs.get(step) : null;
      return input && edited.includes(input) ? [{ spot, input, index }] : [];
    });
  });
};

/** @param {Session} session @returns {HTMLElement | null} what the page has for editing the example */
const buttonOf = ({ example }) => document.querySelector(`.live-try[data-example="${example.name}"]`);

/** @type {HTMLElement | null} the field that the reader was in last */
let last = null;
document.addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLElement) || !target.matches(".live-field")) return;
  last = target;
  // Safari leaves what has the focus under the buttons.
  target.scrollIntoView({ block: "nearest", behavior: "instant" });
});
// Many fields lie between one of them and the buttons, which stand at the end of the page.
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  if (target === last) bar.querySelector("button")?.focus();
  else if (target instanceof Node && bar.contains(target)) last?.focus();
});

/** Show the inputs that the page does not show. @param {Session} session */
const addMissingInputs = (session) => {
  const shown = new Set(placesOf(session).map(({ input }) => input));
  const missing = inputsOf(session.example).filter((input) => !shown.has(input));
  if (!missing.length) return;
  const tables = missing.map((input) =>
    make("figure", {}, make("figcaption", {}, nameOf(input)), tableOf(session.example, input))
  );
  inputs.replaceChildren(...tables);
  (buttonOf(session) ?? document.querySelector("article > :last-child"))?.after(inputs);
  forget();
};

/** @param {Example} example @param {string} input @returns {HTMLElement} */
const tableOf = (example, input) => {
  const { shape, data } = writtenIn(example, input);
  const table = matrixOf(shape, Array.from(data, () => make("td")));
  table.dataset.val = input;
  return table;
};

/** Bring the page up to date, and say what has changed. @param {Session} session */
const follow = (session) => {
  const waiting = figuresOutOfSight();
  inPlace(() => {
    for (const { spot, input, index } of fields) {
      const { value, dtype } = entryOf(session, input, index);
      const field = spot.querySelector("input");
      if (field) fill(field, value, dtype);
    }
    const changed = session.examples.flatMap((example) => write(example, waiting));
    say(session.examples.map(refused).find(Boolean) ?? told(changed));
  });
  clearTimeout(restTimer);
  const followWithTheRest = () => {
    setBack(session.examples.flatMap((example) => write(example)));
    session.examples.forEach(writeCopies);
  };
  restTimer = setTimeout(() => inPlace(followWithTheRest), BEFORE_THE_REST_FOLLOWS);
  if (!addressTimer) changeAddress();
  if (!session.future.length && document.activeElement === redoTool) bar.querySelector("button")?.focus();
  redoTool.disabled = !session.future.length;
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

/** Say how many numbers have changed. @param {Element[]} changed */
const told = ({ length }) => {
  if (!length) return HELP;
  const count = length === 1 ? "One number differs" : `${length} numbers differ`;
  return `${count} from the page's own.`;
};

/**
 * Change the page, but leave in its place what is edited, or the heading that the reader came to, if it is
 * in sight.
 *
 * @param {() => void} change
 */
const inPlace = (change) => {
  const heading = document.getElementById(session?.heading ?? "");
  const stays = [last, heading].find((element) => element && !isOutOfSight(element));
  const before = stays?.getBoundingClientRect().top ?? 0;
  change();
  scrollBy({ top: (stays?.getBoundingClientRect().top ?? 0) - before, behavior: "instant" });
};

/** @returns {Set<Element>} the matrices of such figures */
const figuresOutOfSight = () => {
  const figures = [...document.querySelectorAll(".figure-box svg")].filter(isOutOfSight);
  return new Set(figures.flatMap((figure) => [...figure.querySelectorAll("g[data-val]")]));
};

/** @param {Element} element */
const isOutOfSight = (element) => {
  const { bottom, top } = element.getBoundingClientRect();
  return bottom < 0 || top > innerHeight;
};

/** @param {Example} example @returns {string | null} why the page keeps its last numbers */
const refused = ({ refusal }) => {
  if (!refusal) return null;
  const kept = "The page keeps the last numbers.";
  if (!refusal.error) return `With this number Python would compute in another way. ${kept}`;
  return `Python refuses this: “${refusal.message}”. ${kept}`;
};

/** @param {string} text */
const say = (text) => {
  status.textContent = text;
};

/** @param {string} text @param {string} done */
const copy = (text, done) => {
  navigator.clipboard.writeText(text).then(
    () => say(done),
    // Without the permission, the reader can still copy it by hand.
    () => prompt("Copy this:", text)
  );
};

/** Say something, also where no fields are. @param {string} text */
const notify = (text) => {
  if (!session) {
    bar.replaceChildren(status, tool("Close", () => bar.remove()));
    document.body.append(bar);
  }
  say(text);
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
  inputs.remove();
  forget();
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
  bar.remove();
  document.body.classList.remove("live-editing");
  repaint();
};

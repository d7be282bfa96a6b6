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
import { editsInAddress, exampleInAddress, onThisPage, putIntoAddress } from "./link.js";
import { prepare, restore, setBack } from "./prose.js";
import { attentionDocs } from "./scripts.js";
import { begun, change, enter, entryOf, undo } from "./session.js";
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

// Browsers allow some hundred changes of the address in half a minute.
const BEFORE_THE_ADDRESS_CHANGES = 300;
// While somebody types, the numbers follow and the figures in sight. When the keys rest, the prose steps
// back and the other figures are drawn.
const BEFORE_THE_REST_FOLLOWS = 100;
let [addressTimer, restTimer] = [0, 0];
const HELP = "Type, use the up and down keys, or drag sideways. Escape leads to these buttons and back.";

/** Begin with the edits that the page's address carries, if it does. */
export const arrive = async () => {
  const isHere = onThisPage();
  const name = exampleInAddress();
  const example = name && (await load(name).catch(() => null));
  if (example && isHere()) await begin(example, editsInAddress(example));
};

/**
 * Turn the inputs of an example into fields.
 *
 * @param {Example} example
 * @param {Edits} [edits] those to begin with
 */
export const begin = async (example, edits) => {
  if (session?.example === example) return;
  const isHere = onThisPage();
  const owners = inputsOf(example).map(exampleOf);
  const names = new Set([...examplesOnPage(), ...owners]);
  const others = await Promise.all([...names].map((name) => load(name).catch(() => null)));
  if (!isHere()) return;
  end();
  const started = begun(example, others.filter((other) => other !== null));
  session = started;
  unfold(started);
  addMissingInputs(started);
  fields = placesOf(started);
  prepare(started.examples.flatMap(spotsOf).map(({ spot }) => spot));
  if (!(await goesOn(started))) return;
  document.body.append(drawBar(started));
  document.body.classList.add("live-editing");
  if (edits) change(started, edits);
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
  if (await goesOn(started)) follow(started);
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
  const takeBack = () => {
    const done = undo(session);
    follow(session);
    if (!done) say("There is nothing to undo.");
  };
  const reset = () => {
    change(session, new Map());
    follow(session);
  };
  const copyLink = () => {
    putIntoAddress(session.example, session.edits);
    copy(location.href, "The link is copied.");
  };
  const copyProgram = () => {
    const { graph, values } = session.example;
    copy(program(graph, values), "The NumPy program is copied.");
  };
  const finish = () => {
    const byKeyboard = bar.querySelector(":focus-visible");
    end();
    if (byKeyboard) buttonOf(session)?.focus();
  };
  bar.replaceChildren(
    make("strong", {}, "Your own numbers"),
    status,
    make("span", { class: "live-tools" },
      tool("Undo", takeBack),
      tool("Reset", reset),
      tool("Copy link", copyLink),
      tool("Copy code", copyProgram),
      tool("Done", finish)
    )
  );
  return bar;
};

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
      if (field) fill(field, typed(value, dtype));
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
  clearTimeout(addressTimer);
  const isHere = onThisPage();
  const address = () => isHere() && putIntoAddress(session.example, session.edits);
  addressTimer = setTimeout(address, BEFORE_THE_ADDRESS_CHANGES);
  refreshCard();
  attentionDocs.matters?.repaint();
};

/** Say how many numbers have changed. @param {Element[]} changed */
const told = ({ length }) => {
  if (!length) return HELP;
  const count = length === 1 ? "One number differs" : `${length} numbers differ`;
  return `${count} from the page's own.`;
};

/** Change the page, but leave what is edited in its place. @param {() => void} change */
const inPlace = (change) => {
  const before = last?.getBoundingClientRect().top ?? 0;
  change();
  scrollBy({ top: (last?.getBoundingClientRect().top ?? 0) - before, behavior: "instant" });
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

/** Give the page its own numbers back, and the cells of its tables. */
export const end = () => {
  if (!session) return;
  change(session, new Map());
  putIntoAddress(session.example, session.edits);
  for (const example of session.examples) {
    for (const { spot, cell } of spotsOf(example)) {
      const { value, dtype } = valueOf(example, cell);
      const field = spot.querySelector("input");
      if (field) clear(field);
      if (field) spot.innerHTML = html(value, dtype);
    }
    write(example);
    writeCopies(example);
  }
  inputs.remove();
  forget();
  leave();
};

/** Forget the edits, because the page that showed them is gone. */
export const leave = () => {
  clearTimeout(addressTimer);
  clearTimeout(restTimer);
  if (session) change(session, new Map());
  session = last = null;
  restore();
  bar.remove();
  document.body.classList.remove("live-editing");
  attentionDocs.matters?.repaint();
};

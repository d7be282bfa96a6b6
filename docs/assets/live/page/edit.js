// "Try your own numbers": the inputs of an example become fields, and the page follows.

import { ravel } from "../arrays.js";
import * as card from "./card.js";
import { compute, originalOf, stepOf } from "./examples.js";
import { fieldOf, fit } from "./fields.js";
import { copyOf, putIntoAddress } from "./link.js";
import { setBack } from "./prose.js";
import { attentionDocs, run } from "./scripts.js";
import * as show from "../show.js";
import { forget, spotsOf } from "./spots.js";
import { make, nameOf } from "./words.js";
import { valueOf, write } from "./write.js";

/** @typedef {import("./examples.js").Edits} Edits */
/** @typedef {import("./examples.js").Example} Example */
/** @typedef {import("./fields.js").Entry} Entry */
/** @typedef {import("../terms.js").Cell} Cell */

/** @type {Example | null} the one whose inputs are fields */
let edited = null;
/** @type {Edits[]} what the edits were before, the last change last */
let past = [];
const status = make("p", { class: "live-status", role: "status" });
const inputs = make("div", { class: "live-inputs" });
const bar = make("div", { class: "live-bar", role: "region", "aria-label": "Your own numbers" });

// Browsers allow some hundred changes of the address in half a minute.
const BEFORE_THE_ADDRESS_CHANGES = 300;
let timer = 0;
const HELP = "Type into a field, press the up and down keys in it, or drag it sideways.";

/**
 * Turn the inputs of an example into fields.
 *
 * @param {Example} example
 * @param {Element | null} place after which inputs are put that the page does not show
 * @param {Edits} edits those to begin with
 */
export const begin = (example, place, edits = new Map()) => {
  if (edited === example) return;
  end();
  edited = example;
  past = [];
  compute(example, edits);
  addMissingInputs(example, place);
  for (const { spot, cell } of fieldsOf(example)) spot.replaceChildren(fieldAt(example, cell));
  document.body.append(drawBar(example));
  document.body.classList.add("live-editing");
  follow(example);
};

/** @param {Example} example @returns {HTMLElement} */
const drawBar = (example) => {
  /** @param {string} text @param {() => void} onclick */
  const tool = (text, onclick) => make("button", { type: "button", onclick }, text);
  bar.replaceChildren(
    make("strong", {}, "Your own numbers"),
    status,
    make("span", { class: "live-tools" },
      tool("Undo", undo),
      tool("Reset", () => change(new Map())),
      tool("Copy link", () => copyLink(example)),
      tool("Copy as NumPy", () => copyProgram(example)),
      tool("Done", end)
    )
  );
  return bar;
};

/** @param {Example} example @returns {import("./spots.js").Found[]} the cells of tables that show inputs */
const fieldsOf = (example) =>
  spotsOf(example).filter(
    ({ spot, cell }) => spot.matches("td") && example.graph.inputs.includes(cell.step)
  );

/** @param {Example} example @param {Element | null} place */
const addMissingInputs = (example, place) => {
  const shown = new Set(fieldsOf(example).map(({ cell }) => cell.step));
  const missing = example.graph.inputs.filter((input) => !shown.has(input));
  inputs.replaceChildren(
    ...missing.map((input) =>
      make("figure", {}, make("figcaption", {}, nameOf(input)), tableOf(example, input))
    )
  );
  (place ?? document.querySelector("article > :last-child"))?.after(inputs);
  forget();
};

/** @param {Example} example @param {string} input @returns {HTMLElement} */
const tableOf = (example, input) => {
  const { shape, data } = stepOf(example, input);
  const columns = shape.at(-1) ?? 1;
  const rows = Array.from({ length: data.length / columns }, () =>
    make("tr", {}, ...Array.from({ length: columns }, () => make("td")))
  );
  return make("table", { class: "matrix", "data-val": `${example.name}.${input}` }, ...rows);
};

/** @param {Example} example @param {Cell} cell @returns {HTMLInputElement} */
const fieldAt = (example, cell) => {
  const { value, dtype } = valueOf(example, cell);
  const label = [cell.step, ...cell.index.map((place) => place + 1)].join(" ");
  return fieldOf(label, typed(value, dtype), dtype, (entry) => enter(example, cell, entry));
};

/** @param {number} value @param {import("../arrays.js").Dtype} dtype */
const typed = (value, dtype) => show.python(value, dtype).replace(/\.0$/, "");

/** @param {Example} example @param {Cell} cell @param {Entry} entry */
const enter = (example, { step, index }, { value, problem }) => {
  if (value === null) return say(problem);
  const array = copyOf(example.edits.get(step) ?? originalOf(example, step));
  array.data[ravel(index, array.shape)] = value;
  change(new Map([...example.edits, [step, array]]));
};

/** @param {Edits} edits */
const change = (edits) => {
  if (!edited) return;
  past.push(edited.edits);
  compute(edited, edits);
  follow(edited);
};

const undo = () => {
  const edits = past.pop();
  if (!edited || !edits) return say("There is nothing to undo.");
  compute(edited, edits);
  follow(edited);
};

/** Bring the page up to date, and say what has changed. @param {Example} example */
const follow = (example) => {
  const changed = write(example);
  fillFields(example);
  setBack(changed);
  clearTimeout(timer);
  timer = setTimeout(() => putIntoAddress(example), BEFORE_THE_ADDRESS_CHANGES);
  card.refresh();
  const numbers = changed.length === 1 ? "One number differs" : `${changed.length} numbers differ`;
  say(refused(example) ?? (changed.length ? `${numbers} from the page's own.` : HELP));
};

/** A field that has the cursor keeps what is typed. @param {Example} example */
const fillFields = (example) => {
  for (const { spot, cell } of fieldsOf(example)) {
    const field = spot.querySelector("input");
    const array = example.edits.get(cell.step) ?? originalOf(example, cell.step);
    const text = typed(array.data[ravel(cell.index, array.shape)], array.dtype);
    if (!field || field === document.activeElement || field.value === text) continue;
    field.value = text;
    field.removeAttribute("aria-invalid");
    fit(field);
  }
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

/** @param {Example} example */
const copyLink = (example) => {
  putIntoAddress(example);
  copy(location.href, "The link is copied.");
};

/** @param {Example} example */
const copyProgram = async (example) => {
  if (!attentionDocs.program) await run("live-program.js").catch(() => undefined);
  const { program } = attentionDocs;
  if (program) copy(program(example.graph, example.values), "The program is copied.");
  else say("The program could not be fetched. Is there a network?");
};

/** @param {string} text @param {string} done */
const copy = (text, done) => {
  navigator.clipboard.writeText(text).then(
    () => say(done),
    // Without the permission, the reader can still copy it by hand.
    () => prompt("Copy this:", text)
  );
};

/** Forget the edits, because the page that showed them is gone. */
export const leave = () => {
  clearTimeout(timer);
  if (edited) compute(edited, new Map());
  edited = null;
  bar.remove();
  document.body.classList.remove("live-editing");
};

/** Give the page its own numbers back, and the cells of its tables. */
export const end = () => {
  if (!edited) return;
  const example = edited;
  compute(example, new Map());
  putIntoAddress(example);
  for (const { spot, cell } of fieldsOf(example)) {
    const { value, dtype } = valueOf(example, cell);
    spot.innerHTML = show.html(value, dtype);
  }
  write(example);
  setBack([]);
  inputs.remove();
  forget();
  leave();
};

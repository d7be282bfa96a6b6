// What matters for a number: the inputs on the page take the colour of its derivatives by them, and a
// panel says in words how the number follows the inputs.

import { ravel, unravel } from "../arrays.js";
import { explain, inWords } from "../explain.js";
import { gradient } from "../gradient.js";
import { html } from "../show.js";
import { load } from "./examples.js";
import { colour, effect } from "./influence.js";
import { inputAt, inputsOf, keyIn, writtenIn } from "./inputs.js";
import { examplesOnPage, key, spotsOf } from "./spots.js";
import { make, matrixOf, nameOf } from "./elements.js";

/** @typedef {import("./card.js").Shown} Shown */
/** @typedef {Shown & {examples: Example[], home: HTMLElement}} Subject with all examples of the page */
/** @typedef {Map<string, NDArray>} Derivatives by the name of the input */
/** @typedef {{input: string, index: number[], derivative: number}} Influence that of one input number */
/** @typedef {{name: string, spot: Element, remove: () => void}} Coloured a place that shows the number of a name */

const [LISTED, AFTER_THE_PAGE] = [5, 50];
let timer = 0;
const panel = make("div", { class: "live-matters", role: "region", "aria-label": "What matters", tabIndex: -1 });
const status = make("p", { role: "status" });
const content = make("div");
const matrices = make("div", { class: "live-derivatives" });
const all = make("details", {}, make("summary", {}, "All derivatives"), matrices);
/** @type {Subject | null} */
let subject = null;
/** @type {Coloured[]} */
let coloured = [];

/**
 * Show what matters for a number.
 *
 * @param {Shown} shown the number
 */
export const begin = async (shown) => {
  const home = /** @type {HTMLElement} */ (document.activeElement);
  const loaded = await Promise.all(examplesOnPage().map((name) => load(name).catch(() => null)));
  subject = { ...shown, examples: loaded.filter((example) => example !== null), home };
  status.textContent = "";
  panel.replaceChildren(headOf(subject), status, content);
  document.body.append(panel);
  document.documentElement.classList.add("live-weighing");
  draw();
  panel.focus();
};

/** Bring colours and words up to date, once the page itself has followed an edit. */
export const repaint = () => {
  clearTimeout(timer);
  timer = setTimeout(draw, AFTER_THE_PAGE);
};

/** Show colours and words, or take them away if the page of the number is gone. */
const draw = () => {
  coloured.forEach(({ remove }) => remove());
  coloured = [];
  document.querySelector(".live-chosen")?.classList.remove("live-chosen");
  if (!subject) return;
  if (!subject.spot.isConnected) return end();
  subject.spot.classList.add("live-chosen");
  const derivatives = derivativesOf(subject);
  const influences = influencesOf(derivatives);
  const largest = Math.abs(influences.find(({ derivative }) => Number.isFinite(derivative))?.derivative ?? 0);
  coloured = paint(subject, derivatives, largest);
  write(subject, derivatives, influences, largest);
};

const end = () => {
  const home = panel.contains(document.activeElement) ? subject?.home : null;
  subject = null;
  draw();
  panel.remove();
  document.documentElement.classList.remove("live-weighing");
  home?.focus();
};

// Cards and steps lie above the panel and are closed before it; in a field the key leads to the buttons.
document.addEventListener("keydown", ({ key }) => {
  const isOfOthers = document.querySelector(".live-card, .live-walk, .live-bar :focus, .live-field:focus");
  if (key === "Escape" && subject && !isOfOthers) end();
}, { capture: true });

/**
 * Differentiate a number by the inputs. Those of whole numbers or truths are left out, because they jump.
 *
 * @param {Subject} subject @returns {Derivatives}
 */
const derivativesOf = ({ example, cell }) => {
  const found = gradient(example.graph, example.values, cell);
  const inputs = inputsOf(example).filter((input) => writtenIn(example, input).dtype === "float64");
  return new Map(
    inputs.map((input) => {
      const node = /** @type {number} */ (example.graph.named.get(keyIn(example, input) ?? ""));
      return [input, { ...example.values[node], data: found[node] }];
    })
  );
};

/** @param {Derivatives} derivatives @returns {Influence[]} the largest first */
const influencesOf = (derivatives) =>
  [...derivatives]
    .flatMap(([input, { shape, data }]) =>
      Array.from(data, (derivative, position) => ({ input, index: unravel(position, shape), derivative }))
    )
    .sort((one, other) => Math.abs(other.derivative) - Math.abs(one.derivative));

/**
 * Colour the inputs wherever they stand on the page.
 *
 * @param {Subject} subject @param {Derivatives} derivatives @param {number} largest @returns {Coloured[]}
 */
const paint = ({ examples }, derivatives, largest) =>
  examples.flatMap((example) =>
    spotsOf(example).flatMap(({ spot, cell: { step, index } }) => {
      const input = inputAt(example, step) ?? "";
      const array = derivatives.get(input);
      // A point or a line of a figure is no cell: it has no room for a colour of its own.
      if (!array || (spot instanceof SVGElement && !spot.querySelector("rect"))) return [];
      const element = /** @type {HTMLElement | SVGElement} */ (spot);
      const remove = colour(element, array.data[ravel(index, array.shape)], largest);
      return [{ name: key({ step: input, index }), spot, remove }];
    })
  );

// ---------------------------------------------------------------------------------------------
// Words

/**
 * Fill the panel.
 *
 * @param {Subject} subject @param {Derivatives} derivatives @param {Influence[]} influences
 * @param {number} largest
 */
const write = (subject, derivatives, influences, largest) => {
  const felt = influences.filter(({ derivative }) => derivative !== 0);
  const summary = make("span", {}, ...summaryOf(subject, influences, felt));
  // What is put here is read aloud.
  if (summary.textContent !== status.textContent) status.replaceChildren(summary);
  content.replaceChildren(...(felt.length ? [scaleOf(largest), tableOf(influences, felt), all] : []));
  matrices.replaceChildren(...matricesOf(derivatives, largest));
  const below = document.querySelector("body > .live-bar");
  panel.style.bottom = below ? `${below.clientHeight + 16}px` : "";
};

/** @param {Subject} subject @returns {HTMLElement} */
const headOf = ({ example: { graph, values }, cell: { step, index } }) =>
  make("div", { class: "live-head" },
    make("strong", {}, "What matters for ", nameOf(step)),
    explain(graph, values, step, index).place,
    make("button", { type: "button", class: "live-close", "aria-label": "Close", onclick: end }, "×")
  );

/**
 * Say how many numbers matter, and which inputs do not at all.
 *
 * @param {Subject} subject @param {Influence[]} influences @param {Influence[]} felt
 * @returns {(Node | string)[]}
 */
const summaryOf = ({ example, cell: { step } }, influences, felt) => {
  const { dtype } = example.values[/** @type {number} */ (example.graph.named.get(step))];
  if (dtype !== "float64") return ["It can only jump, so it has no derivative."];
  const inputs = new Set(influences.map(({ input }) => input));
  const jumping = inputsOf(example).filter((input) => !inputs.has(input));
  const idle = [...inputs].filter((input) => !felt.some((influence) => influence.input === input));
  return [
    ...(felt.length
      ? [`${felt.length} of the ${influences.length} input numbers matter.`, ...listed(" None of ", idle, " does.")]
      : [`None of the ${influences.length} input numbers matters: every derivative is 0.`]),
    ...listed(" There is no derivative with respect to ", jumping, ", whose numbers can only jump."),
  ];
};

/** @param {string} before @param {string[]} inputs perhaps none @param {string} after @returns {(Node | string)[]} */
const listed = (before, inputs, after) => {
  const names = inputs.flatMap((input) => [", ", nameOf(input)]).slice(1);
  return names.length ? [before, ...names, after] : [];
};

/** @param {number} largest @returns {HTMLElement} what the colours and signs mean */
const scaleOf = (largest) =>
  make("p", { class: "live-scale" },
    make("span", { innerHTML: `▼ ${html(-largest)}` }),
    make("b", { class: "live-ramp" }),
    "○ 0",
    make("b", { class: "live-ramp" }),
    make("span", { innerHTML: `▲ ${html(largest)}` })
  );

/** @param {Influence[]} influences @param {Influence[]} felt the largest first @returns {HTMLElement} */
const tableOf = (influences, felt) => {
  const rows = felt.slice(0, LISTED).map(({ input, index, derivative }) =>
    make("tr", {},
      make("td", {}, placeOf(input, index)),
      make("td", { innerHTML: effect(derivative, html) })
    )
  );
  const [others, none] = [felt.length - rows.length, influences.length - felt.length];
  const rest = [
    ...(others ? [`${others} more matter, but none of them more than these.`] : []),
    ...(none ? [`The derivative with respect to the other ${none} is 0.`] : []),
  ];
  return make("table", {},
    make("tr", {}, make("th", {}, "Raise this number a little,"), make("th", {}, "and the chosen number")),
    ...rows,
    make("tr", {}, make("td", { colSpan: 2 }, rest.join(" ")))
  );
};

/** Name an input number, and lead to it if the page shows it. @param {string} input @param {number[]} index */
const placeOf = (input, index) => {
  const words = [nameOf(input), ` ${inWords(index)}`];
  const found = coloured.filter(({ name }) => name === key({ step: input, index })).map(({ spot }) => spot);
  if (!found.length) return make("span", {}, ...words);
  // Some may be folded away.
  const onclick = () => found.find((spot) => spot.checkVisibility())?.scrollIntoView({ block: "center" });
  return make("button", { type: "button", class: "live-follow", onclick }, ...words);
};

/** @param {Derivatives} derivatives @param {number} largest @returns {HTMLElement[]} */
const matricesOf = (derivatives, largest) =>
  [...derivatives].map(([input, { shape, data }]) => {
    const cells = Array.from(data, (derivative) => {
      const cell = make("td", { innerHTML: html(derivative) });
      colour(cell, derivative, largest);
      return cell;
    });
    return make("figure", {}, make("figcaption", {}, nameOf(input)), matrixOf(shape, cells));
  });

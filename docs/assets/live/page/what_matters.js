// "What matters": colour the inputs on the page by the derivatives of one number, and describe in a panel
// how the number depends on them.

import { ravel, unravel } from "../arrays.js";
import { explain, describeIndex } from "../explain.js";
import { gradient } from "../gradient.js";
import { html } from "../show.js";
import { load } from "./examples.js";
import { colour, effect } from "./influence.js";
import { inputAt, inputsOf, keyIn, originalInput } from "./inputs.js";
import { examplesOnPage, key, spotsOf } from "./spots.js";
import { make, matrixOf, nameOf } from "./elements.js";

/** @typedef {import("./card.js").Shown} Shown */
/** @typedef {Shown & {examples: Example[], home: HTMLElement}} Subject and all examples of the page */
/** @typedef {Map<string, NDArray>} Derivatives by the name of the input */
/** @typedef {{input: string, index: number[], derivative: number}} Influence of one input number */
/** @typedef {{name: string, spot: Element, remove: () => void}} Coloured a spot, and the name of its number */

const [LISTED, REPAINT_DELAY] = [5, 50];
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

/** Update colours and words, after the rest of the page has been updated. */
export const repaint = () => {
  clearTimeout(timer);
  timer = setTimeout(draw, REPAINT_DELAY);
};

/** Show colours and words, or remove them if the page of the number is gone. */
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

// Escape first closes what lies above the panel; in a field it moves to the buttons.
document.addEventListener("keydown", ({ key }) => {
  const isHandledElsewhere = document.querySelector(".live-card, .live-walk, .live-bar :focus, .live-field:focus");
  if (key === "Escape" && subject && !isHandledElsewhere) end();
}, { capture: true });

/**
 * Differentiate a number with respect to the inputs, except integers and booleans.
 *
 * @param {Subject} subject @returns {Derivatives}
 */
const derivativesOf = ({ example, cell }) => {
  const derivatives = gradient(example.graph, example.values, cell);
  const inputs = inputsOf(example).filter((input) => originalInput(example, input).dtype === "float64");
  return new Map(
    inputs.map((input) => {
      const node = /** @type {number} */ (example.graph.nodesByName.get(keyIn(example, input) ?? ""));
      return [input, { ...example.values[node], data: derivatives[node] }];
    })
  );
};

/** @param {Derivatives} derivatives @returns {Influence[]} the largest first */
const influencesOf = (derivatives) =>
  [...derivatives]
    .flatMap(([input, { shape, data }]) =>
      Array.from(data, (derivative, position) => ({ input, index: unravel(position, shape), derivative }))
    )
    .sort((a, b) => Math.abs(b.derivative) - Math.abs(a.derivative));

/**
 * Colour all spots of the inputs on the page.
 *
 * @param {Subject} subject @param {Derivatives} derivatives @param {number} largest @returns {Coloured[]}
 */
const paint = ({ examples }, derivatives, largest) =>
  examples.flatMap((example) =>
    spotsOf(example).flatMap(({ spot, cell: { step, index } }) => {
      const input = inputAt(example, step) ?? "";
      const array = derivatives.get(input);
      // Points and lines of a figure have no area to colour.
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
  const nonzero = influences.filter(({ derivative }) => derivative !== 0);
  const summary = make("span", {}, ...summaryOf(subject, influences, nonzero));
  // Screen readers announce every change of the status.
  if (summary.textContent !== status.textContent) status.replaceChildren(summary);
  content.replaceChildren(...(nonzero.length ? [legendOf(largest), tableOf(influences, nonzero), all] : []));
  matrices.replaceChildren(...matricesOf(derivatives, largest));
  const bar = document.querySelector("body > .live-bar");
  panel.style.bottom = bar ? `${bar.clientHeight + 16}px` : "";
};

/** @param {Subject} subject @returns {HTMLElement} */
const headOf = ({ example: { graph, values }, cell: { step, index } }) =>
  make("div", { class: "live-head" },
    make("strong", {}, "What matters for ", nameOf(step)),
    explain(graph, values, step, index).description,
    make("button", { type: "button", class: "live-close", "aria-label": "Close", onclick: end }, "×")
  );

/**
 * Describe how many input numbers matter, and which inputs do not.
 *
 * @param {Subject} subject @param {Influence[]} influences @param {Influence[]} nonzero
 * @returns {(Node | string)[]}
 */
const summaryOf = ({ example, cell: { step } }, influences, nonzero) => {
  const { dtype } = example.values[/** @type {number} */ (example.graph.nodesByName.get(step))];
  if (dtype !== "float64") return ["It can only jump, so it has no derivative."];
  const inputs = new Set(influences.map(({ input }) => input));
  const discrete = inputsOf(example).filter((input) => !inputs.has(input));
  const irrelevant = [...inputs].filter((input) => !nonzero.some((influence) => influence.input === input));
  return [
    ...(nonzero.length
      ? [`${nonzero.length} of the ${influences.length} input numbers matter.`, ...listed(" None of ", irrelevant, " does.")]
      : [`None of the ${influences.length} input numbers matters: every derivative is 0.`]),
    ...listed(" There is no derivative with respect to ", discrete, ", whose numbers can only jump."),
  ];
};

/** @param {string} before @param {string[]} inputs @param {string} after @returns {(Node | string)[]} empty without inputs */
const listed = (before, inputs, after) => {
  const names = inputs.flatMap((input) => [", ", nameOf(input)]).slice(1);
  return names.length ? [before, ...names, after] : [];
};

/** @param {number} largest @returns {HTMLElement} the legend of colours and signs */
const legendOf = (largest) =>
  make("p", { class: "live-scale" },
    make("span", { innerHTML: `▼ ${html(-largest)}` }),
    make("b", { class: "live-ramp" }),
    "○ 0",
    make("b", { class: "live-ramp" }),
    make("span", { innerHTML: `▲ ${html(largest)}` })
  );

/** @param {Influence[]} influences @param {Influence[]} nonzero the largest first @returns {HTMLElement} */
const tableOf = (influences, nonzero) => {
  const rows = nonzero.slice(0, LISTED).map(({ input, index, derivative }) =>
    make("tr", {},
      make("td", {}, linkTo(input, index)),
      make("td", { innerHTML: effect(derivative, html) })
    )
  );
  const [unlisted, zeros] = [nonzero.length - rows.length, influences.length - nonzero.length];
  const rest = [
    ...(unlisted ? [`${unlisted} more matter, but none of them more than these.`] : []),
    ...(zeros ? [`The derivative with respect to the other ${zeros} is 0.`] : []),
  ];
  return make("table", {},
    make("tr", {}, make("th", {}, "Raise this number a little,"), make("th", {}, "and the chosen number")),
    ...rows,
    make("tr", {}, make("td", { colSpan: 2 }, rest.join(" ")))
  );
};

/** Name an input number, as a link to its spot if there is one. @param {string} input @param {number[]} index */
const linkTo = (input, index) => {
  const words = [nameOf(input), ` ${describeIndex(index)}`];
  const spots = coloured.filter(({ name }) => name === key({ step: input, index })).map(({ spot }) => spot);
  if (!spots.length) return make("span", {}, ...words);
  // Some may be in a closed <details>.
  const onclick = () => spots.find((spot) => spot.checkVisibility())?.scrollIntoView({ block: "center" });
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

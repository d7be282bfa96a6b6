// "What matters": colour the inputs on the page by the derivatives of one number, and describe in a box
// how the number depends on them.

import { ravel, unravel } from "../arrays.js";
import { explain, describeIndex } from "../explain.js";
import { gradient } from "../gradient.js";
import { html } from "../show.js";
import { loadAll } from "./examples.js";
import { describeEffect, markInfluence } from "./influence.js";
import { inputAt, inputsOf, keyIn, originalInput } from "./inputs.js";
import { examplesOnPage, key, spotsOf } from "./spots.js";
import { headerOf, make, matrixOf, nameOf } from "./elements.js";

/** @typedef {import("./card.js").Shown} Shown */
/** @typedef {Shown & {examples: Example[], previousFocus: HTMLElement}} Subject the chosen number, and all examples of the page */
/** @typedef {Map<string, NDArray>} Derivatives by the name of the input */
/** @typedef {{input: string, index: number[], derivative: number}} Influence of one input number */
/** @typedef {{name: string, spot: Element, remove: () => void}} ColouredSpot with the name of its number */

// How many influences the box lists; milliseconds between an edit and the new colours.
const [LISTED, REPAINT_DELAY] = [5, 50];
let repaintTimer = 0;
const box = make("div", { class: "live-matters", role: "region", "aria-label": "What matters", tabIndex: -1 });
const status = make("p", { role: "status" });
const content = make("div");
const matrices = make("div", { class: "live-derivatives" });
const allDerivatives = make("details", {}, make("summary", {}, "All derivatives"), matrices);
/** @type {Subject | null} null while the box is closed */
let subject = null;
/** @type {ColouredSpot[]} */
let colouredSpots = [];

/** Show what matters for a number. @param {Shown} shown the number */
export const showInfluences = async (shown) => {
  const previousFocus = /** @type {HTMLElement} */ (document.activeElement);
  subject = { ...shown, examples: await loadAll(examplesOnPage()), previousFocus };
  status.textContent = "";
  const { example: { graph, values }, cell: { step, index } } = shown;
  const { description } = explain(graph, values, step, index);
  const header = headerOf(closeBox, make("strong", {}, "What matters for ", nameOf(step)), description);
  box.replaceChildren(header, status, content);
  document.body.append(box);
  document.documentElement.classList.add("live-weighing");
  draw();
  box.focus();
  const isInView = (/** @type {ColouredSpot} */ { spot }) => {
    const { top } = spot.getBoundingClientRect();
    return spot.checkVisibility() && top > 0 && top < box.getBoundingClientRect().top;
  };
  if (!colouredSpots.some(isInView)) /** @type {HTMLElement | null} */ (content.querySelector(".live-follow"))?.click();
};

/** Update colours and box, after the rest of the page has been updated. */
export const repaint = () => {
  clearTimeout(repaintTimer);
  repaintTimer = setTimeout(draw, REPAINT_DELAY);
};

/** Draw colours and box, or remove them if the number is no longer chosen or on the page. */
const draw = () => {
  colouredSpots.forEach(({ remove }) => remove());
  colouredSpots = [];
  document.querySelector(".live-chosen")?.classList.remove("live-chosen");
  if (!subject) return;
  if (!subject.spot.isConnected) return closeBox();
  subject.spot.classList.add("live-chosen");
  const derivatives = derivativesOf(subject);
  const influences = influencesOf(derivatives);
  const largest = Math.abs(influences.find(({ derivative }) => Number.isFinite(derivative))?.derivative ?? 0);
  colouredSpots = colourSpots(subject, derivatives, largest);
  fillBox(subject, derivatives, influences, largest);
};

const closeBox = () => {
  const previousFocus = box.contains(document.activeElement) ? subject?.previousFocus : null;
  subject = null;
  draw();
  box.remove();
  document.documentElement.classList.remove("live-weighing");
  previousFocus?.focus();
};

// Escape first closes what lies above the box; in a field it moves to the buttons.
document.addEventListener("keydown", ({ key }) => {
  const isHandledElsewhere = document.querySelector(".live-card, .live-walk, .live-bar :focus, .live-field:focus");
  if (key === "Escape" && subject && !isHandledElsewhere) closeBox();
}, { capture: true });

/** Differentiate a number with respect to the inputs, except integers and booleans. @param {Subject} subject */
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

/** List the influences, the largest first. @param {Derivatives} derivatives @returns {Influence[]} */
const influencesOf = (derivatives) =>
  [...derivatives]
    .flatMap(([input, { shape, data }]) =>
      Array.from(data, (derivative, position) => ({ input, index: unravel(position, shape), derivative }))
    )
    .sort((a, b) => Math.abs(b.derivative) - Math.abs(a.derivative));

/**
 * Colour all spots of the inputs on the page.
 *
 * @param {Subject} subject @param {Derivatives} derivatives @param {number} largest @returns {ColouredSpot[]}
 */
const colourSpots = ({ examples }, derivatives, largest) => {
  /** @type {ColouredSpot[]} */ const result = [];
  for (const example of examples)
    for (const { spot, cell: { step, index } } of spotsOf(example)) {
      const input = inputAt(example, step) ?? "";
      const array = derivatives.get(input);
      // Points and lines of a figure have no area to colour.
      const hasArea = !(spot instanceof SVGElement) || spot.querySelector("rect");
      if (!array || !hasArea) continue;
      const element = /** @type {HTMLElement | SVGElement} */ (spot);
      const remove = markInfluence(element, array.data[ravel(index, array.shape)], largest);
      result.push({ name: key({ step: input, index }), spot, remove });
    }
  return result;
};

// ---------------------------------------------------------------------------------------------
// The box

/**
 * Fill the box.
 *
 * @param {Subject} subject @param {Derivatives} derivatives @param {Influence[]} influences
 * @param {number} largest
 */
const fillBox = (subject, derivatives, influences, largest) => {
  const nonzero = influences.filter(({ derivative }) => derivative !== 0);
  const summary = make("span", {}, ...summaryOf(subject, influences, nonzero));
  // Screen readers announce every change of the status.
  if (summary.textContent !== status.textContent) status.replaceChildren(summary);
  content.replaceChildren();
  if (nonzero.length) content.append(createLegend(largest), createTable(influences, nonzero), allDerivatives);
  matrices.replaceChildren(...createMatrices(derivatives, largest));
  const bar = document.querySelector("body > .live-bar");
  box.style.bottom = bar ? `${bar.clientHeight + 16}px` : "";
};

/**
 * Describe how many input numbers matter, and which inputs do not.
 *
 * @param {Subject} subject @param {Influence[]} influences @param {Influence[]} nonzero
 */
const summaryOf = ({ example, cell: { step } }, influences, nonzero) => {
  const { dtype } = example.values[/** @type {number} */ (example.graph.nodesByName.get(step))];
  if (dtype !== "float64") return ["It can only jump, so it has no derivative."];
  const differentiated = new Set(influences.map(({ input }) => input));
  const discrete = inputsOf(example).filter((input) => !differentiated.has(input));
  const irrelevant = [...differentiated].filter((input) => !nonzero.some((influence) => influence.input === input));
  const jumps = sentenceOn(discrete, " There is no derivative with respect to ", ", whose numbers can only jump.");
  const count = `${nonzero.length || "None"} of the ${influences.length} input numbers change this number.`;
  return [count, ...(nonzero.length ? sentenceOn(irrelevant, " None of ", " matters.") : []), ...jumps];
};

/**
 * Write a sentence that lists inputs, or nothing without inputs.
 *
 * @param {string[]} inputs @param {string} before @param {string} after @returns {(Node | string)[]}
 */
const sentenceOn = (inputs, before, after) => {
  const names = inputs.flatMap((input) => [", ", nameOf(input)]).slice(1);
  return names.length ? [before, ...names, after] : [];
};

/** Create the legend of colours and signs. @param {number} largest @returns {HTMLElement} */
const createLegend = (largest) =>
  make("p", { class: "live-scale" },
    make("span", { innerHTML: `▼ ${html(-largest)}` }),
    make("b", { class: "live-ramp" }),
    "○ 0",
    make("b", { class: "live-ramp" }),
    make("span", { innerHTML: `▲ ${html(largest)}` })
  );

/** Create the table of the largest influences. @param {Influence[]} influences @param {Influence[]} nonzero the largest first @returns {HTMLElement} */
const createTable = (influences, nonzero) => {
  const rows = nonzero.slice(0, LISTED).map(({ input, index, derivative }) =>
    make("tr", {},
      make("td", {}, createLink(input, index)),
      make("td", { innerHTML: describeEffect(derivative, html) })
    )
  );
  const unlisted = nonzero.length - rows.length;
  const zeros = influences.length - nonzero.length;
  const sentences = [];
  if (unlisted) sentences.push(`${unlisted} more matter, none more than these.`);
  if (zeros) sentences.push(`The derivative with respect to the other ${zeros} is 0.`);
  return make("table", {},
    make("tr", {}, make("th", {}, "Raise this number a little,"), make("th", {}, "and the chosen number")),
    ...rows,
    make("tr", {}, make("td", { colSpan: 2 }, sentences.join(" ")))
  );
};

/** Name an input number, as a link to its spot if there is one. @param {string} input @param {number[]} index */
const createLink = (input, index) => {
  const label = [nameOf(input), ` ${describeIndex(index)}`];
  const spots = colouredSpots.filter(({ name }) => name === key({ step: input, index })).map(({ spot }) => spot);
  if (!spots.length) return make("span", {}, ...label);
  // Some may be in a closed <details>.
  const onclick = () => spots.find((spot) => spot.checkVisibility())?.scrollIntoView({ block: "center" });
  return make("button", { type: "button", class: "live-follow", onclick }, ...label);
};

/** Create a matrix of derivatives for each input. @param {Derivatives} derivatives @param {number} largest @returns {HTMLElement[]} */
const createMatrices = (derivatives, largest) =>
  [...derivatives].map(([input, { shape, data }]) => {
    const cells = Array.from(data, (derivative) => {
      const cell = make("td", { innerHTML: html(derivative) });
      markInfluence(cell, derivative, largest);
      return cell;
    });
    return make("figure", {}, make("figcaption", {}, nameOf(input)), matrixOf(shape, cells));
  });

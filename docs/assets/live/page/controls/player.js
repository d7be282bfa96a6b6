// Players: a slider and two buttons show one state of a figure after another.

import { attentionDocs } from "../site.js";

// The time in milliseconds in which a number moves to its position in the next state.
const DURATION = 500;

/** Return the numbers that a drawing shows, by their references. @param {SVGElement} drawing @returns {Map<string, SVGElement>} */
const numbersOf = (drawing) => {
  const cells = [.../** @type {NodeListOf<SVGElement>} */ (drawing.querySelectorAll("[data-val] > [data-at]"))];
  return new Map(cells.map((cell) => [`${cell.parentElement?.dataset.val}[${cell.dataset.at}]`, cell]));
};

/** Let the numbers of a drawing come from where another one has them. @param {SVGSVGElement} drawing @param {SVGSVGElement} previous */
const moveNumbers = (drawing, previous) => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
  const origins = numbersOf(previous);
  const moves = [...numbersOf(drawing)].map(([reference, cell]) => {
    const [from, to] = [origins.get(reference), cell].map((element) => element?.getBoundingClientRect());
    return { cell, x: from && to ? (from.x - to.x) / scale : 0, y: from && to ? (from.y - to.y) / scale : 0 };
  });
  for (const { cell, x, y } of moves) {
    if (x || y) cell.animate({ transform: [`translate(${x}px, ${y}px)`, "none"] }, { duration: DURATION, easing: "ease" });
  }
};

/** @param {HTMLElement} player */
const connect = (player) => {
  const drawings = [.../** @type {NodeListOf<SVGSVGElement>} */ (player.querySelectorAll("svg"))];
  const slider = /** @type {HTMLInputElement} */ (player.querySelector("input"));
  const name = /** @type {HTMLOutputElement} */ (player.querySelector("output"));
  const [back, forward] = player.querySelectorAll("button");
  let state = 0;
  const show = () => {
    const [drawing, previous] = [drawings[Number(slider.value)], drawings[state]];
    state = Number(slider.value);
    drawings.forEach((other) => other.parentElement?.classList.toggle("shown", other === drawing));
    name.value = drawing.querySelector("title")?.textContent ?? "";
    slider.setAttribute("aria-valuetext", name.value);
    moveNumbers(drawing, previous);
  };
  const step = (/** @type {number} */ change) => () => {
    slider.value = String(state + change);
    show();
  };
  slider.oninput = show;
  back.onclick = step(-1);
  forward.onclick = step(1);
  drawings[0].parentElement?.classList.add("shown");
  player.dataset.ready = "";
};

const connectAll = () => {
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".player:not([data-ready])")).forEach(connect);
};
attentionDocs.onArrival(connectAll);
connectAll();

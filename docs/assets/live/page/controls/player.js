// Players: a slider and two buttons show one state of a figure after another, and a third one plays them all.

import { connectEach } from "../site.js";

// The time in milliseconds in which a number moves to its position in the next state.
const DURATION = 500;
// The time in milliseconds for which a state is shown while all are played.
const PACE = 6000;

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

/** Connect the slider and the buttons of a player to its drawings, one of which is shown. @param {HTMLElement} player */
const connect = (player) => {
  const drawings = [.../** @type {NodeListOf<SVGSVGElement>} */ (player.querySelectorAll("svg"))];
  const slider = /** @type {HTMLInputElement} */ (player.querySelector("input"));
  const caption = /** @type {HTMLOutputElement} */ (player.querySelector("output"));
  const [back, forward, play] = player.querySelectorAll("button");
  let timer = 0;
  let shown = drawings[0];
  const show = () => {
    const previous = shown;
    shown = drawings[Number(slider.value)];
    drawings.forEach((drawing) => drawing.parentElement?.classList.toggle("shown", drawing === shown));
    const position = drawings.indexOf(shown);
    caption.value = `${position + 1} of ${drawings.length}: ${shown.querySelector("title")?.textContent ?? ""}`;
    // A disabled button would lose the focus.
    back.setAttribute("aria-disabled", String(position === 0));
    forward.setAttribute("aria-disabled", String(position === drawings.length - 1));
    slider.setAttribute("aria-valuetext", caption.value);
    moveNumbers(shown, previous);
  };
  const moveSlider = (/** @type {number} */ change) => () => {
    slider.value = String(Number(slider.value) + change);
    show();
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const playOn = () => {
    moveSlider(1)();
    if (slider.value === slider.max || !player.isConnected) stop();
  };
  play.onclick = () => {
    if (timer) return stop();
    play.textContent = "Pause";
    // From the beginning, if all have been shown.
    if (slider.value === slider.max) moveSlider(-slider.max)();
    timer = setInterval(playOn, PACE);
  };
  // Who takes a step wants to look at it.
  player.addEventListener("click", ({ target }) => target !== play && stop());
  slider.oninput = () => {
    stop();
    show();
  };
  back.onclick = moveSlider(-1);
  forward.onclick = moveSlider(1);
  shown.parentElement?.classList.add("shown");
};

connectEach(".player", connect);

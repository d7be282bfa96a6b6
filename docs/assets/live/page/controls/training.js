// Training: a button repeats the step of an example, and a slider leads back to each step so far.

import { attentionDocs, connectEach } from "../site.js";

/** @typedef {Awaited<ReturnType<typeof attentionDocs.iterate>>} Iteration */

/** @template {Element} T @param {HTMLElement} control @param {string} selector @returns {T} */
const find = (control, selector) => /** @type {T} */ (control.querySelector(selector));

/** Let a control train. @param {HTMLElement} control */
const connect = (control) => {
  /** @type {HTMLButtonElement} */ const button = find(control, "button");
  /** @type {HTMLInputElement} */ const slider = find(control, "input");
  /** @type {HTMLElement} */ const number = find(control, "label + span");
  /** @type {HTMLElement} */ const status = find(control, "[role=status]");
  /** @type {SVGPathElement} */ const curve = find(control, "path");
  /** @type {HTMLElement} */ const axis = find(control, "small");
  const last = Number(slider.max);
  /** @type {Iteration} */ let iteration;
  /** @type {Map<number, NDArray>[]} what each step begins with */ let states = [];
  /** @type {number[]} */ let losses = [];
  let rate = control.dataset.number;
  let isRunning = false;

  /** Show a step that has been computed. @param {number} step */
  const show = (step) => {
    const refusal = iteration.show(states[step]);
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", `step ${step}`);
    number.textContent = String(step);
    return refusal;
  };

  const drawCurve = () => {
    const highest = Math.max(...losses);
    const points = losses.map((loss, step) => `${step} ${(100 - (98 * loss) / highest).toFixed(1)}`);
    curve.setAttribute("d", points.length ? `M${points.join("L")}` : "");
    axis.textContent = `loss, from 0 to ${highest.toFixed(2)}`;
  };

  const stop = (/** @type {string} */ message) => {
    isRunning = false;
    button.textContent = "Train";
    status.textContent = message;
  };

  const restart = () => {
    stop("");
    [states, losses] = [[new Map()], []];
    show(0);
    losses = [iteration.valueOf("loss")];
    drawCurve();
  };

  /** Compute one more step. */
  const advance = () => {
    const step = states.push(iteration.next()) - 1;
    const refusal = show(step);
    if (refusal) {
      states.pop();
      return stop(`Python stops after step ${step - 1}: ${refusal.message}.`);
    }
    losses.push(iteration.valueOf("loss"));
    drawCurve();
    if (step === last) stop(`Trained for ${last} steps.`);
  };

  const train = async () => {
    await attentionDocs.loadLive();
    iteration ??= await attentionDocs.iterate(control.dataset.example ?? "");
    if (!states.length || states.length > last) restart();
    else show(states.length - 1);
    isRunning = true;
    button.textContent = "Pause";
    status.textContent = "";
    while (isRunning && control.isConnected) {
      advance();
      // Between two steps the page draws and answers.
      await new Promise((done) => setTimeout(done));
    }
  };

  button.onclick = () => (isRunning ? stop(`Paused at step ${states.length - 1}.`) : train().catch(() => {}));
  slider.oninput = () => {
    if (isRunning) stop("");
    const step = Math.min(Number(slider.value), states.length - 1);
    if (step < 0) slider.value = "0";
    else show(step);
  };
  control.addEventListener("numbers", (event) => {
    const [number] = /** @type {CustomEvent} */ (event).detail;
    if (String(number) === rate) return;
    rate = String(number);
    if (states.length) restart();
  });
};

connectEach("[data-control=training]", connect);

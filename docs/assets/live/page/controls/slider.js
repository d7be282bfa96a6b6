// Sliders: native range inputs whose positions stand for the numbers in `data-stops`, or checkboxes with two numbers.

import { connectEach, editInput } from "../site.js";

/** Return the numbers that a slider can have. @param {HTMLElement} slider @returns {string[]} */
const stopsOf = (slider) => (slider.dataset.stops ?? "").split(" ");

/** Show where a slider's number is among its stops. @param {HTMLInputElement} slider @param {number} number */
const moveTo = (slider, number) => {
  const distances = stopsOf(slider).map((stop) => Math.abs(Number(stop) - number));
  const nearest = distances.indexOf(Math.min(...distances));
  // A number that was typed may lie between two stops.
  if (slider.type === "checkbox") slider.checked = nearest === 1;
  else if (nearest >= 0 && distances[nearest] < distances[Number(slider.value)]) slider.value = String(nearest);
  slider.setAttribute("aria-valuetext", String(number));
};

/** Unfold the side panel, which shows what a dare is about, at the first move of the page. @param {HTMLInputElement} slider */
const showPanel = (slider) => {
  const panel = /** @type {HTMLElement | null} */ (slider.closest(".dare") && document.querySelector(".panel[data-ready='']"));
  if (!panel) return;
  panel.dataset.ready = "shown";
  /** @type {HTMLDetailsElement} */ (panel.firstElementChild).open = true;
  // Not during the drag, which would lose the slider.
  slider.addEventListener("change", () => slider.scrollIntoView({ block: "nearest" }), { once: true });
};

/** Let a slider edit its input, and follow it. @param {HTMLInputElement} slider */
const connect = (slider) => {
  slider.oninput = () => {
    const position = slider.type === "checkbox" ? Number(slider.checked) : Number(slider.value);
    const number = Number(stopsOf(slider)[position]);
    slider.setAttribute("aria-valuetext", String(number));
    showPanel(slider);
    editInput(slider, [number]);
  };
  slider.addEventListener("numbers", (event) => moveTo(slider, /** @type {CustomEvent} */ (event).detail[0]));
};

connectEach("[data-control=slider]", connect);

// Arrows: the tip of an input's arrow in a figure is a handle. The sliders beside it are for the keyboard.

import { connectEach, editInput } from "../site.js";

/** Return the nearest of some numbers. @param {number[]} numbers @param {number} target */
const nearest = (numbers, target) =>
  numbers.reduce((best, number) => (Math.abs(number - target) < Math.abs(best - target) ? number : best));

/** Put a handle at the tip of a control's arrow. @param {HTMLElement} control */
const connect = (control) => {
  /** @type {SVGLineElement | null} */
  const arrow = (control.closest(".try") ?? document).querySelector(`[data-plane] line[data-val="${control.dataset.arrow}"]`);
  const group = /** @type {SVGElement | null} */ (arrow?.closest("[data-plane]"));
  if (!arrow || !group) return;
  const [left, bottom, pixelsPerUnit] = (group.dataset.plane ?? "").split(" ").map(Number);
  const stops = (control.dataset.stops ?? "").split(" ").map(Number);
  const handle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  handle.setAttribute("class", "handle");
  handle.setAttribute("r", "12");
  handle.setAttribute("transform", `${group.querySelector("[transform]")?.getAttribute("transform")}`);
  group.append(handle);
  let last = "";
  handle.onpointerdown = (event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
  };
  handle.onpointermove = (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(arrow.getScreenCTM()?.inverse());
    const point = [x - left, bottom - y].map((pixels) => nearest(stops, pixels / pixelsPerUnit));
    if (String(point) === last) return;
    last = String(point);
    editInput(control, point);
  };
};

connectEach("[data-control=arrow]", connect);

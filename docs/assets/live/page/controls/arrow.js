// Arrows: the tip of an input's arrow in a figure is a handle. The sliders beside it are for the keyboard.

import { connectEach, editInput } from "../site.js";

/** Return the arrow of a control. @param {HTMLElement} control @returns {SVGLineElement | null} */
const arrowOf = (control) => {
  const box = control.closest(".try") ?? document;
  return box.querySelector(`[data-plane] line[data-val="${control.dataset.arrow}"]`);
};

/** Return the position of a pointer in the plane of an arrow. @param {PointerEvent} event @param {SVGLineElement} arrow @param {number[]} plane */
const pointOf = ({ clientX, clientY }, arrow, [left, bottom, pixelsPerUnit]) => {
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(arrow.getScreenCTM()?.inverse());
  return [(x - left) / pixelsPerUnit, (bottom - y) / pixelsPerUnit];
};

/** Return the nearest of some numbers. @param {number[]} numbers @param {number} target */
const nearest = (numbers, target) =>
  numbers.reduce((best, number) => (Math.abs(number - target) < Math.abs(best - target) ? number : best));

/** Put a handle at the tip of a control's arrow. @param {HTMLElement} control */
const connect = (control) => {
  const arrow = arrowOf(control);
  const group = /** @type {SVGElement | null} */ (arrow?.closest("[data-plane]"));
  if (!arrow || !group) return;
  const plane = (group.dataset.plane ?? "").split(" ").map(Number);
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
    const point = pointOf(event, arrow, plane).map((coordinate) => nearest(stops, coordinate));
    if (String(point) === last) return;
    last = String(point);
    editInput(control, point);
  };
};

connectEach("[data-control=arrow]", connect);

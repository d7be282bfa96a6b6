// Arrows: the tip of an input's arrow, or of a hand, in a figure is a handle. The sliders beside it are for the keyboard.

import { connectEach, editInput } from "../site.js";

/** Return the index of the point that is nearest to another. @param {number[][]} points @param {number[]} point */
const nearest = (points, [a, b = 0]) => {
  const distances = points.map(([x, y = 0]) => Math.hypot(x - a, y - b));
  return distances.indexOf(Math.min(...distances));
};

/** Put a handle at the tip of a control's arrow, or of a hand. @param {HTMLElement | SVGElement} element the control or the hand */
const connect = (element) => {
  const box = element.closest(".try") ?? document;
  const places = element.dataset.places?.split(",").map((place) => place.split(" ").map(Number));
  const control = /** @type {HTMLElement} */ (places ? box.querySelector("[data-control]") : element);
  const line = places ? "[data-places] line" : `[data-plane] line[data-val="${element.dataset.arrow}"]`;
  const arrow = /** @type {SVGLineElement | null} */ (box.querySelector(line));
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
    const point = [x - left, bottom - y].map((pixels) => pixels / pixelsPerUnit);
    const indices = places ? [nearest(places, point)] : point.map((number) => nearest(stops.map((stop) => [stop]), [number]));
    if (String(indices) === last) return;
    last = String(indices);
    editInput(control, indices.map((index) => stops[index]));
  };
};

connectEach(":is([data-control=arrow], [data-places])", connect);

// Writing: a button that draws the words of a sentence one after the other.

import { connectEach, editInput } from "../site.js";

// The time in milliseconds between two words.
const PAUSE = 900;

/** Connect the button of a sentence to its draws. @param {HTMLElement} box */
const connect = (box) => {
  const parts = [...box.querySelectorAll(".drawn")];
  const sliders = /** @type {HTMLInputElement[]} */ ([...box.querySelectorAll("input")]);
  let run = 0;
  /** Hide what comes after a word: each has a part in the sentence and a line. @param {number} last */
  const showUpTo = (last) => parts.forEach((part, i) => part.classList.toggle("unwritten", i % sliders.length > last));
  /** @type {HTMLElement} */ (box.querySelector("button")).onclick = async () => {
    const current = ++run;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const draws = sliders.map(({ dataset, value }) => Number(dataset.stops?.split(" ")[Number(value)]));
    for (let last = 0; last < draws.length; last++) {
      showUpTo(last);
      draws[last] = Math.floor(100 * Math.random()) / 100;
      await editInput(box, draws);
      if (!isStill) await new Promise((done) => setTimeout(done, PAUSE));
      // Pressed again meanwhile.
      if (run !== current) return;
    }
  };
};

connectEach("[data-control=writing]", connect);

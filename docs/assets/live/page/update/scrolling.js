// Keep the scroll position during updates, and find figures whose update can wait.

/**
 * Change the page, but keep the first visible one of some elements where it is.
 *
 * @param {(Element | null)[]} elements @param {() => void} change
 */
export const keepInPlace = (elements, change) => {
  const anchor = elements.find((element) => element && !isOffscreen(element));
  const before = anchor?.getBoundingClientRect().top ?? 0;
  change();
  scrollBy({ top: (anchor?.getBoundingClientRect().top ?? 0) - before, behavior: "instant" });
};

/** @returns {Set<Element>} the groups of numbers in offscreen figures */
export const offscreenFigures = () => {
  const figures = [...document.querySelectorAll(".figure-box svg")].filter(isOffscreen);
  return new Set(figures.flatMap((figure) => [...figure.querySelectorAll("g[data-val]")]));
};

/** @param {Element} element */
const isOffscreen = (element) => {
  const { bottom, top } = element.getBoundingClientRect();
  return bottom < 0 || top > innerHeight;
};

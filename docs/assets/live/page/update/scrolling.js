// Keep the scroll position during updates, and find figures whose update can wait.

/**
 * Change the page, and keep the first visible one of some elements where it is in the window.
 *
 * @param {(Element | null)[]} elements @param {() => void} change
 */
export const keepInPlace = (elements, change) => {
  const anchor = elements.find((element) => element && !isOffscreen(element));
  const top = () => anchor?.getBoundingClientRect().top ?? 0;
  const before = top();
  change();
  scrollBy({ top: top() - before, behavior: "instant" });
};

/** List the groups of numbers in offscreen figures. @returns {Set<Element>} */
export const offscreenFigures = () => {
  const figures = [...document.querySelectorAll(".figure-box svg")].filter(isOffscreen);
  return new Set(figures.flatMap((figure) => [...figure.querySelectorAll("g[data-val]")]));
};

/** @param {Element} element */
export const isOffscreen = (element) => {
  const { bottom, top } = element.getBoundingClientRect();
  return bottom < 0 || top > innerHeight;
};

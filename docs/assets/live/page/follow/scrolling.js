// What stays in its place, and what can wait, while the page changes.

/**
 * Change the page, but leave the first of some elements that is in sight where it is.
 *
 * @param {(Element | null)[]} elements @param {() => void} change
 */
export const inPlace = (elements, change) => {
  const stays = elements.find((element) => element && !isOutOfSight(element));
  const before = stays?.getBoundingClientRect().top ?? 0;
  change();
  scrollBy({ top: (stays?.getBoundingClientRect().top ?? 0) - before, behavior: "instant" });
};

/** @returns {Set<Element>} the matrices of such figures */
export const figuresOutOfSight = () => {
  const figures = [...document.querySelectorAll(".figure-box svg")].filter(isOutOfSight);
  return new Set(figures.flatMap((figure) => [...figure.querySelectorAll("g[data-val]")]));
};

/** @param {Element} element */
const isOutOfSight = (element) => {
  const { bottom, top } = element.getBoundingClientRect();
  return bottom < 0 || top > innerHeight;
};

// What site.css lets wait is laid out box by box while nothing else goes on, and then shown at once, so
// that nothing is missing from the scroll bar or from a picture of the whole page.
(() => {
  const page = document.documentElement;
  const first = location.pathname;
  let boxes;

  const whenIdle = () => requestIdleCallback(layOut, { timeout: 1000 });
  const layOut = (deadline) => {
    boxes ??= [...document.querySelectorAll(".md-content__inner > *")];
    while (boxes.length) {
      // Who asks for the place of what is inside has it laid out, though it is not shown yet. To show
      // each box by itself would cost a walk through all of the page for each.
      boxes.shift().firstElementChild?.getBoundingClientRect();
      if (deadline.timeRemaining() < 25) return whenIdle();
    }
    page.removeAttribute("data-waits");
  };

  if (page.matches("[data-waits]")) addEventListener("load", whenIdle);
  // The next page, which the theme puts in this one's place, may be shown from a place further down.
  document$.subscribe(() => location.pathname === first || page.removeAttribute("data-waits"));
})();

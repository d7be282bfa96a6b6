// What site.css lets wait is laid out box by box while nothing else goes on, so that nothing is missing
// from the scroll bar or from a picture of the whole page.
(() => {
  const page = document.documentElement;
  const first = location.pathname;

  const whenIdle = () => requestIdleCallback(layOut, { timeout: 1000 });
  const layOut = (deadline) => {
    const boxes = "[data-waits] .md-content__inner > :not([data-laid-out])";
    for (const box of document.querySelectorAll(boxes)) {
      box.toggleAttribute("data-laid-out", true);
      // Now, and not with the next frame: so the deadline counts it.
      box.getBoundingClientRect();
      if (deadline.timeRemaining() < 30) return whenIdle();
    }
    page.removeAttribute("data-waits");
  };

  if (page.matches("[data-waits]")) addEventListener("load", whenIdle);
  // The next page, which the theme puts in this one's place, may be shown from a place further down.
  document$.subscribe(() => location.pathname === first || page.removeAttribute("data-waits"));
})();

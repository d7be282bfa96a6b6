// For those who read with the keyboard or by ear, and for figures that can be turned. Everything works
// without it.
(() => {
  // Few pages have points in space or a box to paste into, so the others do without these scripts.
  const address = (name) => new URL(name, document.currentScript.src).href;
  const onDemand = new Map([
    ["svg[data-points]", address("explore.js")],
    [".paste", address("diagnose.js")],
  ]);
  const names = [
    [".formula", "formula"],
    [".diagram", "diagram"],
    [".figure-box", "figure"],
    [".cell-output", "output"],
    [".md-typeset__scrollwrap", "table"],
    [".md-typeset pre > code", "code"],
  ];
  const newBoxes = names.map(([selector]) => `${selector}:not([role])`).join();

  // A box that scrolls can be reached with the Tab key and says what it is.
  const reach = ({ box, scrolls }) => {
    box.toggleAttribute("tabindex", scrolls);
    if (!scrolls) return;
    box.tabIndex = 0;
    const [, name] = names.find(([selector]) => box.matches(selector));
    box.setAttribute("aria-label", `${name}, scrolls sideways`);
  };
  // All is measured before anything changes: a change between would lay out the page again.
  const measure = ({ target: box }) => ({ box, scrolls: box.scrollWidth > box.clientWidth });
  const sizes = new ResizeObserver((entries) => entries.map(measure).forEach(reach));

  // The theme wraps each copy button in a landmark without a name.
  const prepare = () => {
    document.querySelectorAll(newBoxes).forEach((box) => {
      // At once, though it has no name yet: with each role that changes later, all within is styled anew.
      box.setAttribute("role", "group");
      sizes.observe(box);
    });
    document.querySelectorAll("nav.md-code__nav").forEach((nav) => nav.setAttribute("role", "none"));
    for (const [selector, src] of onDemand) {
      if (!document.querySelector(selector)) continue;
      onDemand.delete(selector);
      document.head.append(Object.assign(document.createElement("script"), { src }));
    }
  };
  new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });
  prepare();
})();

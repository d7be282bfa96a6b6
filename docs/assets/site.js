// For those who read with the keyboard or by ear, and for figures that can be turned. Everything works
// without it.
(() => {
  const explorer = new URL("explore.js", document.currentScript.src).href;
  let explores = false;
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
    // Few pages have points in space, so the others do without the script that turns them.
    if (!explores && document.querySelector("svg[data-points]")) {
      explores = true;
      document.head.append(Object.assign(document.createElement("script"), { src: explorer }));
    }
  };
  new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });
  prepare();
})();

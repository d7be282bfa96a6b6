// For those who read with the keyboard or by ear, for figures that can be turned, and for numbers that
// say where they come from. Everything can be read without it.
(() => {
  const source = document.currentScript.src;
  // Few pages have points in space or a box to paste into, so the others do without these scripts.
  const onDemand = new Map([
    ["svg[data-points]", new URL("explore.js", source).href],
    [".paste", new URL("diagnose.js", source).href],
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
    document.querySelectorAll(".live-try[hidden]").forEach((button) => (button.hidden = false));
    document.querySelectorAll("nav.md-code__nav").forEach((nav) => nav.setAttribute("role", "none"));
    for (const [selector, src] of onDemand) {
      if (!document.querySelector(selector)) continue;
      onDemand.delete(selector);
      document.head.append(Object.assign(document.createElement("script"), { src }));
    }
  };
  // Until somebody shows interest in a number, the pages listen and nothing more.
  const interest = ["pointerover", "click", "keydown"];
  const load = () => {
    const style = { rel: "stylesheet", href: new URL("live.css", source).href };
    // If it does not come, it is asked for again with the next interest.
    const onerror = () => delete window.attentionDocs.first;
    const script = { src: new URL("live.js", source).href, onerror };
    document.head.append(
      Object.assign(document.createElement("link"), style),
      Object.assign(document.createElement("script"), script),
    );
  };
  const notice = (event) => {
    const wanted = event.type === "keydown" ? event.key === "Tab" : event.target.closest?.("[data-val], .figure-box, .live-try");
    if (!wanted) return;
    if (!window.attentionDocs.first) load();
    // Until the script is there, a press counts for more than a pointer that passes.
    if (!window.attentionDocs.first || event.type !== "pointerover") window.attentionDocs.first = event;
  };
  const listen = (method) => interest.forEach((kind) => document[method](kind, notice));
  window.attentionDocs = { graphs: {}, start: () => listen("removeEventListener") };
  listen("addEventListener");
  if (location.hash.startsWith("#try=")) load();

  new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });
  prepare();
})();

// Accessibility of scrolling boxes, and loading of the other scripts on demand. Everything can be read without
// it.
(() => {
  const source = document.currentScript.src;
  // Scripts for elements that few pages have.
  const onDemand = new Map([
    ["svg[data-points]", new URL("explore.js", source).href],
    [".paste", new URL("diagnose.js", source).href],
  ]);
  const boxes = [
    [".formula", "formula"],
    [".diagram", "diagram"],
    [".figure-box", "figure"],
    [".cell-output", "output"],
    [".md-typeset__scrollwrap", "table"],
    [".md-typeset pre > code", "code"],
  ];
  const newBoxes = boxes.map(([selector]) => `${selector}:not([role])`).join();

  // A scrolling box is a tab stop with a name.
  const makeFocusable = ({ box, scrolls }) => {
    box.toggleAttribute("tabindex", scrolls);
    if (!scrolls) return;
    box.tabIndex = 0;
    const [, name] = boxes.find(([selector]) => box.matches(selector));
    box.setAttribute("aria-label", `${name}, scrolls sideways`);
  };
  // Measure everything before changing anything, to avoid repeated layout.
  const measure = ({ target: box }) => ({ box, scrolls: box.scrollWidth > box.clientWidth });
  const sizes = new ResizeObserver((entries) => entries.map(measure).forEach(makeFocusable));

  // The theme wraps each copy button in a landmark without a name.
  const prepare = () => {
    document.querySelectorAll(newBoxes).forEach((box) => {
      // Set the role before the name is known: a later change would restyle everything inside.
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
  // Load live.js at the first interaction with a number.
  const events = ["pointerover", "click", "keydown"];
  let isRequested = false;
  const load = () => {
    if (isRequested) return;
    isRequested = true;
    const style = { rel: "stylesheet", href: new URL("live.css", source).href };
    // If it does not load, retry at the next interaction.
    const onerror = () => {
      isRequested = false;
      delete window.attentionDocs.pendingEvent;
    };
    const script = { src: new URL("live.js", source).href, onerror };
    document.head.append(
      Object.assign(document.createElement("link"), style),
      Object.assign(document.createElement("script"), script),
    );
  };
  const onInteraction = (event) => {
    const isRelevant = event.type === "keydown" ? event.key === "Tab" : event.target.closest?.("[data-val], .figure-box, .live-try");
    if (!isRelevant) return;
    load();
    // Keep the event for the script; a click or key takes precedence over hovering.
    if (!window.attentionDocs.pendingEvent || event.type !== "pointerover") window.attentionDocs.pendingEvent = event;
  };
  // A link may contain edits, even one pasted while the page is open.
  const readAddress = () => location.hash.startsWith("#try=") && load();
  const listen = (method) => {
    events.forEach((type) => document[method](type, onInteraction));
    window[method]("hashchange", readAddress);
  };

  // The theme navigates between pages: it changes the address first, and the page once that is fetched. For
  // links within a page, it would fetch the page again and discard the reader's edits, so the browser handles
  // them: the theme ignores links with a target, and `step` hides Back from it.
  let isNavigating = false;
  const onArrival = (callback) => window.document$?.subscribe(callback);
  window.location$?.subscribe(() => (isNavigating = true));
  onArrival(() => {
    isNavigating = false;
    window.attentionDocs.page = location.pathname;
  });
  const withoutFragment = ({ href, hash }) => href.slice(0, href.length - hash.length);
  const keepNative = ({ target }) => {
    const link = target.closest?.("a[href]");
    if (!link?.hash || withoutFragment(link) !== withoutFragment(location)) return;
    link.target = "_self";
    document.querySelector("#__drawer:checked")?.click();
  };
  document.addEventListener("click", keepNative, true);
  const onPopState = (event) => {
    if (isNavigating || location.pathname !== window.attentionDocs.page) return;
    event.stopImmediatePropagation();
    if (history.state) scrollTo(0, history.state.y);
  };

  const start = () => listen("removeEventListener");
  const folder = new URL(".", source).href;
  window.attentionDocs = { graphs: {}, page: location.pathname, folder, onArrival, start, step: onPopState };
  listen("addEventListener");
  readAddress();

  new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });
  prepare();
})();

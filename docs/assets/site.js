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
  let isAskedFor = false;
  const load = () => {
    if (isAskedFor) return;
    isAskedFor = true;
    const style = { rel: "stylesheet", href: new URL("live.css", source).href };
    // If it does not come, it is asked for again with the next interest.
    const onerror = () => {
      isAskedFor = false;
      delete window.attentionDocs.first;
    };
    const script = { src: new URL("live.js", source).href, onerror };
    document.head.append(
      Object.assign(document.createElement("link"), style),
      Object.assign(document.createElement("script"), script),
    );
  };
  const notice = (event) => {
    const wanted = event.type === "keydown" ? event.key === "Tab" : event.target.closest?.("[data-val], .figure-box, .live-try");
    if (!wanted) return;
    load();
    // Until the script is there, a press counts for more than a pointer that passes.
    if (!window.attentionDocs.first || event.type !== "pointerover") window.attentionDocs.first = event;
  };
  // A link may bring edits, also one that is pasted while the page is open.
  const readAddress = () => location.hash.startsWith("#try=") && load();
  const listen = (method) => {
    interest.forEach((kind) => document[method](kind, notice));
    window[method]("hashchange", readAddress);
  };

  // The theme leads from page to page: it changes the address first, and the page once that is fetched.
  // Within a page it would fetch the same one again and put it in place of what the reader has changed, so
  // there the browser leads. The theme leaves it all links with a target, and does not hear of Back.
  let isUnderWay = false;
  const onArrival = (act) => window.document$?.subscribe(act);
  window.location$?.subscribe(() => (isUnderWay = true));
  onArrival(() => {
    isUnderWay = false;
    window.attentionDocs.page = location.pathname;
  });
  const withoutFragment = ({ href, hash }) => href.slice(0, href.length - hash.length);
  const follow = ({ target }) => {
    const link = target.closest?.("a[href]");
    if (!link?.hash || withoutFragment(link) !== withoutFragment(location)) return;
    link.target = "_self";
    document.querySelector("#__drawer:checked")?.click();
  };
  document.addEventListener("click", follow, true);
  const step = (event) => {
    if (isUnderWay || location.pathname !== window.attentionDocs.page) return;
    event.stopImmediatePropagation();
    if (history.state) scrollTo(0, history.state.y);
  };

  const start = () => listen("removeEventListener");
  const folder = new URL(".", source).href;
  window.attentionDocs = { graphs: {}, page: location.pathname, folder, onArrival, start, step };
  listen("addEventListener");
  readAddress();

  new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });
  prepare();
})();

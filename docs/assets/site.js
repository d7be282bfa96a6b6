// Make scrolling boxes accessible, and load the other scripts on demand. Every page can be read without it.
(() => {
  const urlOf = (file) => new URL(file, document.currentScript.src).href;
  const liveStyle = { rel: "stylesheet", href: urlOf("live.css") };
  const liveScript = urlOf("live.js");
  // Scripts for elements that few pages have, by selector.
  const scriptsOnDemand = new Map([
    [".paste", urlOf("diagnose.js")],
    [".filter", urlOf("filter.js")],
    ["[data-control=slider]", urlOf("slider.js")],
    ["[data-control=cells]", urlOf("cells.js")],
    ["[data-control=arrow], [data-places]", urlOf("arrow.js")],
    ["[data-control=training]", urlOf("training.js")],
    ["[data-control=writing]", urlOf("writing.js")],
    [".player", urlOf("player.js")],
    [".all-heads", urlOf("heads.js")],
  ]);
  const MAX_PAGES = 50;
  // Boxes that may scroll, and their names for screen readers.
  const boxes = [
    ["div.formula", "formula"],
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

  const prepare = () => {
    document.querySelectorAll(newBoxes).forEach((box) => {
      // Set the role before the name is known: a later change would restyle everything inside.
      box.setAttribute("role", "group");
      sizes.observe(box);
    });
    document.querySelectorAll(".live-try[hidden]").forEach((button) => (button.hidden = false));
    // A side panel below the text would cover much of it, so the reader unfolds it.
    document.querySelectorAll(".panel:not([data-ready])").forEach((panel) => {
      panel.firstElementChild.open = getComputedStyle(panel).position !== "fixed";
      panel.dataset.ready = "";
    });
    // Who edits the page's numbers wants to see what becomes of them.
    document.querySelectorAll("body:has(.live-field) .panel[data-ready='']").forEach((panel) => {
      panel.firstElementChild.open = true;
      panel.dataset.ready = "shown";
    });
    // The theme wraps each copy button in a landmark without a name.
    document.querySelectorAll("nav.md-code__nav").forEach((nav) => nav.setAttribute("role", "none"));
    for (const [selector, src] of scriptsOnDemand) {
      if (!document.querySelector(selector)) continue;
      scriptsOnDemand.delete(selector);
      document.head.append(Object.assign(document.createElement("script"), { src }));
    }
  };
  // A reader's text for the real model goes behind the #, because it should stay in the browser.
  addEventListener("submit", (event) => {
    const form = event.target.closest(".sentence form");
    if (!form) return;
    event.preventDefault();
    location.assign(`${form.action}#sentence=${encodeURIComponent(form.elements[0].value)}`);
  });

  // The side panel follows the reader: headings and words name the stage that they are about.
  const READING_LINE = 0.4; // of the height of the window
  let lastRead;
  const markStage = () => {
    const stages = document.querySelectorAll(".stage");
    if (!stages.length) return;
    const landmarks = [...document.querySelectorAll("article :is(h2, [data-stage]:not(.stage))")];
    const passed = landmarks.filter((element) => element.getBoundingClientRect().top < READING_LINE * innerHeight);
    const read = passed.at(-1);
    if (passed.some(({ dataset }) => dataset.stage)) stages[0].closest(".waits")?.classList.remove("waits");
    // Headings on the learned model show it, once each, because readers may switch back.
    const choice = read !== lastRead && document.querySelector(`.panel [value="${read?.dataset.matrices}"]`);
    if (choice) choice.checked = true;
    lastRead = read;
    for (const stage of stages)
      if (stage.dataset.stage === read?.dataset.stage) stage.setAttribute("aria-current", "step");
      else stage.removeAttribute("aria-current");
  };
  addEventListener("scroll", () => requestAnimationFrame(markStage), { passive: true });

  // Load live.js at the first interaction with a number.
  const events = ["pointerover", "pointermove", "click", "keydown"];
  let liveLoading;
  const loadLive = () => {
    liveLoading ??= new Promise((onload, reject) => {
      // If it does not load, retry at the next interaction.
      const onerror = () => {
        liveLoading = undefined;
        delete window.attentionDocs.pendingEvent;
        reject();
      };
      // The script measures what the style lays out, so it waits for the style.
      const script = Object.assign(document.createElement("script"), { src: liveScript, onload, onerror });
      document.head.append(
        Object.assign(document.createElement("link"), { rel: "preload", as: "script", href: liveScript }),
        Object.assign(document.createElement("link"), liveStyle, { onload: () => document.head.append(script), onerror }),
      );
    });
    return liveLoading;
  };
  const isForLive = ({ type, key, target }) =>
    type === "keydown"
      ? key === "Tab" || (key === "Enter" && target.closest?.(".ask"))
      : target.closest?.("[data-val], .figure-box, .live-try, .ask, .control");
  const onInteraction = (event) => {
    if (!isForLive(event)) return;
    loadLive().catch(() => {});
    // Keep the event for the script; a click or key takes precedence over hovering. Without a movement, the page
    // has moved under the pointer.
    const isHovering = event.type.startsWith("pointer");
    if (!isHovering || (event.type === "pointermove" && !window.attentionDocs.pendingEvent))
      window.attentionDocs.pendingEvent = event;
  };
  // A link may contain edits, even one pasted while the page is open.
  const onHashChange = () => {
    if (location.hash.startsWith("#try=")) loadLive().catch(() => {});
  };
  // Nor should the first use of a control wait for it.
  const controls = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    controls.disconnect();
    loadLive().catch(() => {});
  });
  const startListening = () => {
    document.querySelectorAll("[data-control]").forEach((control) => controls.observe(control));
    events.forEach((type) => document.addEventListener(type, onInteraction));
    addEventListener("hashchange", onHashChange);
  };
  const stopListening = () => {
    events.forEach((type) => document.removeEventListener(type, onInteraction));
    removeEventListener("hashchange", onHashChange);
  };

  // Old anchors of sections that are now elsewhere lead on; without scripts, the page shows their link.
  const followMovedAnchor = () => {
    const link = document.getElementById(location.hash.slice(1));
    if (link?.matches(".moved a")) location.replace(link.href);
  };
  addEventListener("hashchange", followMovedAnchor);
  followMovedAnchor();

  // The theme navigates between pages: it changes the address first, and the page once that is fetched. For
  // links within a page, it would fetch the page again and discard the reader's edits, so the browser handles
  // them: the theme ignores links with a target, and `onPopState` hides Back from it.
  let isNavigating = false;
  let arrivals = 0;
  const onArrival = (callback) => window.document$?.subscribe(callback);
  window.location$?.subscribe(() => (isNavigating = true));
  onArrival(() => {
    isNavigating = false;
    arrivals += 1;
    window.attentionDocs.page = location.pathname;
  });
  // Hints and answers stay folded on paper, where the theme would unfold all details.
  addEventListener("beforeprint", (event) => event.stopImmediatePropagation(), true);

  const withoutFragment = ({ href, hash }) => href.slice(0, href.length - hash.length);
  const onLinkClick = ({ target }) => {
    const link = target.closest?.("a[href]");
    if (!link) return;
    const isWithinPage = link.hash && withoutFragment(link) === withoutFragment(location);
    // The theme keeps every page that it has shown in memory, so a page load clears them from time to time.
    if (isWithinPage || arrivals > MAX_PAGES) link.target ||= "_self";
    // The theme closes the navigation of phones only for links that it handles.
    if (isWithinPage) document.querySelector("#__drawer:checked")?.click();
  };
  document.addEventListener("click", onLinkClick, true);
  const onPopState = (event) => {
    if (isNavigating || location.pathname !== window.attentionDocs.page) return;
    event.stopImmediatePropagation();
    if (history.state) scrollTo(0, history.state.y);
  };

  const folder = urlOf(".");
  window.attentionDocs = { graphs: {}, sentences: {}, page: location.pathname, folder, loadLive, onArrival, onPopState, stopListening };
  startListening();
  onHashChange();

  new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });
  prepare();
})();

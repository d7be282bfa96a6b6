// The one list of what is asked of every page in every browser engine. It runs in a page beside the
// site's own, which shows the site in a frame, so that no engine needs a driver; each answer goes to
// the server of the tests.
(async () => {
  const task = JSON.parse(document.querySelector("#task").textContent);
  const frame = document.querySelector("iframe");

  const tell = (answer) => fetch("answer", { method: "POST", body: JSON.stringify(answer) });
  const all = (selector) => [...frame.contentDocument.querySelectorAll(selector)];
  const one = (selector) => frame.contentDocument.querySelector(selector);

  /** Wait until something is true; say what if it never is. */
  const until = async (what, isTrue) => {
    const end = performance.now() + task.seconds * 1000;
    while (!isTrue()) {
      if (performance.now() > end) throw new Error(`${what}: not within ${task.seconds} s`);
      await new Promise((done) => setTimeout(done, 10));
    }
  };

  const load = (address) =>
    new Promise((done) => {
      frame.addEventListener("load", done, { once: true });
      frame.src = address;
    });

  const KINDS = [".katex", ".diagram > svg", ".drawing", ".md-content table", ".md-content pre"];
  const counts = () => KINDS.map((kind) => all(kind).length).join();
  // What each page holds when it is loaded, and when one comes to it without a load.
  const loaded = new Map();
  const arrived = new Map();

  const checks = {
    "shows its title": () => {
      const title = one(".md-content h1");
      if (!title?.getBoundingClientRect().width) throw new Error("no title is seen");
    },
    "draws formulas in KaTeX's fonts": async () => {
      await frame.contentDocument.fonts.ready;
      const failed = [...frame.contentDocument.fonts].filter((font) => font.status === "error");
      if (failed.length) throw new Error(failed.map((font) => font.family).join());
    },
    "does not scroll sideways": () => {
      const whole = frame.contentDocument.documentElement;
      // Until the theme's script has put wide tables into boxes of their own.
      return until("fits its window", () => whole.scrollWidth <= whole.clientWidth);
    },
    // One step for each width: system, light, dark and system again, from page to page.
    "switches its scheme": async () => {
      all("[data-md-component=palette] label").find((label) => !label.hidden).click();
      const chosen = one("[data-md-component=palette] input:checked").dataset;
      const shown = () => frame.contentDocument.body.dataset.mdColorScheme;
      const isSystems = chosen.mdColorMedia === "(prefers-color-scheme)";
      await until(
        `scheme ${chosen.mdColorScheme}`,
        () => isSystems || shown() === chosen.mdColorScheme
      );
    },
    "answers a search": async () => {
      const query = one("[data-md-component=search-query]");
      one("#__search").click();
      query.focus();
      query.value = "softmax";
      query.dispatchEvent(new frame.contentWindow.KeyboardEvent("keyup", { bubbles: true }));
      query.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
      const found = () => all(".md-search-result__item").length;
      await until("results", found).finally(() => one("#__search").click());
    },
    "leads on and back without a load": async () => {
      const seen = one(".md-content h1").textContent;
      const isAt = (title) => one(".md-content h1")?.textContent === title;
      frame.contentWindow.stays = true;
      const following = one(".md-footer__link--next") ?? one(".md-footer__link--prev");
      following.click();
      await until("the next page", () => !isAt(seen));
      await checks["does not scroll sideways"]();
      arrived.set(frame.contentWindow.location.pathname, counts());
      frame.contentWindow.history.back();
      await until("the page before", () => isAt(seen));
      if (!frame.contentWindow.stays) throw new Error("the whole page was loaded anew");
    },
    "asks no other host": () => {
      const asked = frame.contentWindow.performance.getEntriesByType("resource");
      const foreign = asked.map((entry) => entry.name).filter((url) => !/^(data|blob):/.test(url));
      const others = foreign.filter((url) => new URL(url).origin !== location.origin);
      if (others.length) throw new Error(others.join());
    },
    "complains of nothing": () => {
      if (frame.contentWindow.complaints.length)
        throw new Error(frame.contentWindow.complaints.join("; "));
    },
  };

  const ask = async () => {
    const faults = [];
    for (const [name, check] of Object.entries(checks)) {
      try {
        await check();
      } catch (error) {
        faults.push(`${name}: ${error.message}`);
      }
    }
    return faults;
  };

  for (const page of task.pages) {
    await load(task.home + page);
    loaded.set(task.home + page, counts());
    for (const width of task.widths) {
      frame.style.width = `${width}px`;
      await tell({ page: `${page || "home"} at ${width}`, faults: await ask() });
    }
  }
  const differing = [...arrived].filter(([page, held]) => loaded.has(page) && loaded.get(page) !== held);
  await tell({
    page: "pages that hold something else when one comes to them without a load",
    faults: differing.map(([page, held]) => `${page}: ${held}, not ${loaded.get(page)}`),
  });
  await tell({ finished: navigator.userAgent });
})();

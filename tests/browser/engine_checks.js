// Check pages in a browser engine. This script runs in a page that shows the site in a frame, so that no engine
// needs a driver, and posts the failures to the test's server.
(async () => {
  const task = JSON.parse(document.querySelector("#task").textContent);
  const frame = document.querySelector("iframe");
  let seconds; // for a step of a check, on a busy machine

  const findAll = (selector) => [...frame.contentDocument.querySelectorAll(selector)];
  const find = (selector) => frame.contentDocument.querySelector(selector);
  const dispatch = (element, type, options) =>
    element.dispatchEvent(new frame.contentWindow[type](options.type, { bubbles: true, ...options }));
  const click = (element) => dispatch(element, "MouseEvent", { type: "click" });
  const type = (field, text) => {
    field.value = text;
    dispatch(field, "Event", { type: "input" });
  };

  /** Wait until a condition holds, or throw an error with its description. */
  const waitUntil = async (description, condition) => {
    const deadline = performance.now() + seconds * 1000;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`${description}: not within ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const expectEqual = (actual, expected) => {
    if (actual !== expected) throw new Error(`${actual}; expected ${expected}`);
  };

  const CONTENT = [".katex", ".diagram > svg", ".drawing", ".md-content table", ".md-content pre"];
  const countContent = (page) => CONTENT.map((selector) => page.querySelectorAll(selector).length).join();
  const hasContentOfItsFile = async () => {
    const file = await (await fetch(frame.contentWindow.location.pathname)).text();
    const expected = countContent(new DOMParser().parseFromString(file, "text/html"));
    expectEqual(countContent(frame.contentDocument), expected);
  };
  const title = () => find(".md-content h1")?.textContent;

  const widthChecks = {
    "shows its title": () => {
      const width = find(".md-content h1")?.getBoundingClientRect().width;
      if (!width) throw new Error("the title is not visible");
    },
    "does not scroll sideways": () => {
      const root = frame.contentDocument.documentElement;
      // Wait for the theme's script to wrap wide tables.
      return waitUntil("fits its window", () => root.scrollWidth <= root.clientWidth);
    },
  };

  const pageChecks = {
    "has the content of its file": hasContentOfItsFile,
    "draws formulas in KaTeX's fonts": async () => {
      await frame.contentDocument.fonts.ready;
      const failed = [...frame.contentDocument.fonts].filter((font) => font.status === "error");
      if (failed.length) throw new Error(failed.map((font) => font.family).join());
    },
    // The click on each page leads to the next scheme: system, light, dark and system again.
    "switches its scheme": async () => {
      findAll("[data-md-component=palette] label").find((label) => !label.hidden).click();
      const chosen = find("[data-md-component=palette] input:checked").dataset;
      const scheme = () => frame.contentDocument.body.dataset.mdColorScheme;
      const followsSystem = chosen.mdColorMedia === "(prefers-color-scheme)";
      await waitUntil(
        `scheme ${chosen.mdColorScheme}`,
        () => followsSystem || scheme() === chosen.mdColorScheme
      );
    },
    "answers a search": async () => {
      if (!find(".promise")) return; // on the home page alone, because to index all pages takes seconds
      const query = find("[data-md-component=search-query]");
      find("#__search").click();
      query.focus();
      type(query, "softmax");
      dispatch(query, "KeyboardEvent", { type: "keyup" });
      const hasResults = () => findAll(".md-search-result__item").length;
      await waitUntil("results", hasResults).finally(() => find("#__search").click());
    },
    "opens the card of a number and shows what matters for it": async () => {
      const spot = find("table[data-val] tbody td:not(.centred), [data-at], [data-val]:not(table, g)");
      if (!spot) return;
      click(spot);
      await waitUntil("a card", () => find(".live-card")?.textContent);
      const button = findAll(".live-card button").find(({ textContent }) => textContent === "What matters");
      if (!button) return;
      click(button);
      await waitUntil("a panel", () => find(".live-matters [role=status]")?.textContent);
      click(find(".live-matters .live-close"));
      if (findAll(".live-matters, [data-influence]").length) throw new Error("the panel or its colours remain");
    },
    "updates after an edit and reverts it": async () => {
      const button = findAll(".live-try").at(-1);
      if (!button) return;
      click(button);
      await waitUntil("a field", () => find(".live-field"));
      type(find(".live-field"), "0.75");
      await waitUntil("changed numbers", () => findAll(".live-changed").length > 1);
      findAll(".live-bar button").at(-1).click();
      await waitUntil("its own numbers again", () => !findAll(".live-changed, .live-field").length);
    },
    "enlarges a head on another sentence": async () => {
      const figure = find(".all-heads");
      if (!figure) return;
      await waitUntil("a prepared figure", () => "ready" in figure.dataset);
      const shown = () => [":scope > output", ".state", ".small"].map((part) => figure.querySelector(part).innerHTML);
      const before = shown();
      const select = figure.querySelector("select");
      select.selectedIndex = 1;
      dispatch(select, "Event", { type: "change" });
      await waitUntil("other weights", () => shown().every((part, i) => part !== before[i]));
    },
    "diagnoses a pasted output": async () => {
      const box = find(".paste");
      if (!box) return;
      await waitUntil("a prepared box", () => "ready" in box.dataset);
      const { rows, summary } = JSON.parse(box.querySelector("template").content.textContent).find(({ right }) => !right);
      type(box.querySelector("textarea"), `tensor(${JSON.stringify(rows)}, dtype=torch.float64)`);
      await waitUntil(summary, () => box.querySelector("[role=status]").textContent.includes(summary));
      if (!box.querySelector("td mark")) throw new Error("no number is marked");
    },
    "navigates forward and back without a page load": async () => {
      const from = title();
      frame.contentWindow.isSameDocument = true;
      // Until the theme has loaded the sitemap, the browser would follow the link itself.
      frame.contentWindow.addEventListener("click", (event) => event.preventDefault());
      const navigate = (action) => {
        const before = title();
        action();
        return waitUntil("another page", () => ![before, undefined].includes(title()));
      };
      const forward = () => (find(".md-footer__link--next") ?? find(".md-footer__link--prev")).click();
      await navigate(forward);
      await hasContentOfItsFile();
      await navigate(() => frame.contentWindow.history.back());
      expectEqual(title(), from);
      await navigate(forward);
      if (!frame.contentWindow.isSameDocument) throw new Error("the page was reloaded");
    },
    "reports no errors": () => {
      if (frame.contentWindow.errors.length) throw new Error(frame.contentWindow.errors.join("; "));
    },
  };

  const failuresOf = async (checks, prefix = "") => {
    const failures = [];
    for (const [name, check] of Object.entries(checks)) {
      try {
        await check();
      } catch (error) {
        failures.push(`${prefix}${name}: ${error.message}`);
      }
    }
    return failures;
  };

  for (const page of task.pages) {
    seconds = page === task.broken ? 1 : 60;
    frame.src = task.home + page;
    await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
    const failures = [];
    for (const width of task.widths) {
      frame.style.width = `${width}px`;
      failures.push(...(await failuresOf(widthChecks, `${width} pixels wide: `)));
    }
    failures.push(...(await failuresOf(pageChecks)));
    await fetch("answer", { method: "POST", body: JSON.stringify({ [page]: failures }) });
  }
})();

// Check every page in a browser engine. This script runs in a page that shows the site in a frame, so that no
// engine needs a driver, and posts the results to the test's server.
(async () => {
  const task = JSON.parse(document.querySelector("#task").textContent);
  const frame = document.querySelector("iframe");

  const report = (answer) => fetch("answer", { method: "POST", body: JSON.stringify(answer) });
  const findAll = (selector) => [...frame.contentDocument.querySelectorAll(selector)];
  const find = (selector) => frame.contentDocument.querySelector(selector);

  /** Wait until a condition holds, or throw an error with its description. */
  const waitUntil = async (description, condition) => {
    const deadline = performance.now() + task.seconds * 1000;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`${description}: not within ${task.seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  const load = (address) =>
    new Promise((resolve) => {
      frame.addEventListener("load", resolve, { once: true });
      frame.src = address;
    });

  const click = (element) =>
    element.dispatchEvent(new frame.contentWindow.MouseEvent("click", { bubbles: true }));

  const CONTENT = [".katex", ".diagram > svg", ".drawing", ".md-content table", ".md-content pre"];
  const countContent = (page) => CONTENT.map((selector) => page.querySelectorAll(selector).length).join();
  const title = () => find(".md-content h1")?.textContent;

  // Slow checks that depend only on the depth of a page run once for each depth.
  let isFirstOfItsDepth;

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
    "has the content of its file": async () => {
      const file = await (await fetch(frame.contentWindow.location.pathname)).text();
      const expected = countContent(new DOMParser().parseFromString(file, "text/html"));
      const actual = countContent(frame.contentDocument);
      if (actual !== expected) throw new Error(`${actual}; expected ${expected}`);
    },
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
      if (!isFirstOfItsDepth) return;
      const query = find("[data-md-component=search-query]");
      find("#__search").click();
      query.focus();
      query.value = "softmax";
      query.dispatchEvent(new frame.contentWindow.KeyboardEvent("keyup", { bubbles: true }));
      query.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
      const hasResults = () => findAll(".md-search-result__item").length;
      await waitUntil("results", hasResults).finally(() => find("#__search").click());
    },
    "opens the card of a number": async () => {
      const spot = find("table[data-val] tbody td:not(.centred), [data-at], [data-val]:not(table, g)");
      if (!spot) return;
      click(spot);
      await waitUntil("a card", () => find(".live-card")?.textContent);
    },
    "shows and hides what matters for the number": async () => {
      const button = findAll(".live-card button").find(({ textContent }) => textContent === "What matters");
      if (!button || !isFirstOfItsDepth) return;
      click(button);
      await waitUntil("a panel", () => find(".live-matters [role=status]")?.textContent);
      click(find(".live-matters .live-close"));
      if (findAll(".live-matters, [data-influence]").length) throw new Error("the panel or its colours remain");
    },
    "shows the same after a Tab": () => {
      const countVisible = () => findAll("body *:not(.live-stop)").filter((element) => element.checkVisibility()).length;
      const before = countVisible();
      find("body").dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", { key: "Tab", bubbles: true }));
      if (countVisible() !== before) throw new Error(`${countVisible()} elements; expected ${before}`);
    },
    "unfolds nothing for print": () => {
      const before = findAll("details[open]").length;
      frame.contentWindow.dispatchEvent(new frame.contentWindow.Event("beforeprint"));
      if (findAll("details[open]").length !== before) throw new Error("details are unfolded");
    },
    "updates after an edit and reverts it": async () => {
      const button = find(".live-try");
      if (!button || !isFirstOfItsDepth) return;
      click(button);
      await waitUntil("a field", () => find(".live-field"));
      const field = find(".live-field");
      field.value = "0.75";
      field.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
      await waitUntil("changed numbers", () => findAll(".live-changed").length > 1);
      findAll(".live-bar button").at(-1).click();
      await waitUntil("its own numbers again", () => !findAll(".live-changed, .live-field").length);
    },
    "enlarges a head on another sentence": async () => {
      const figure = find(".all-heads");
      if (!figure) return;
      await waitUntil("a prepared figure", () => "ready" in figure.dataset);
      const shown = () => ["output", ".state", ".small"].map((part) => figure.querySelector(part).innerHTML);
      const before = shown();
      const select = figure.querySelector("select");
      select.selectedIndex = 1;
      select.dispatchEvent(new frame.contentWindow.Event("change"));
      await waitUntil("other weights", () => shown().every((part, i) => part !== before[i]));
    },
    "diagnoses a pasted output": async () => {
      const box = find(".paste");
      if (!box) return;
      await waitUntil("a prepared box", () => "ready" in box.dataset);
      const outputs = JSON.parse(box.querySelector("template").content.textContent);
      const checkDiagnosis = async ({ rows, summary }) => {
        const area = box.querySelector("textarea");
        area.value = `tensor(${JSON.stringify(rows)}, dtype=torch.float64)`;
        area.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
        const diagnosis = () => box.querySelector("[role=status]").textContent;
        await waitUntil(`"${summary}"`, () => diagnosis().includes(summary));
      };
      await checkDiagnosis(outputs.find((output) => !output.right));
      if (!box.querySelector("td mark")) throw new Error("no number is marked");
      await checkDiagnosis(outputs[0]);
      if (box.querySelector("td mark")) throw new Error("a correct number is marked");
    },
  };

  const navigationChecks = {
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
      if (isFirstOfItsDepth) {
        await navigate(() => frame.contentWindow.history.back());
        if (title() !== from) throw new Error(`back leads to ${title()}, not to ${from}`);
        await navigate(forward);
      }
      if (!frame.contentWindow.isSameDocument) throw new Error("the page was reloaded");
    },
  };

  const finalChecks = {
    "requests no other host": () => {
      const entries = frame.contentWindow.performance.getEntriesByType("resource");
      const requested = entries.map((entry) => entry.name).filter((url) => !/^(data|blob):/.test(url));
      const foreign = requested.filter((url) => new URL(url).origin !== location.origin);
      if (foreign.length) throw new Error(foreign.join());
    },
    "reports no errors": () => {
      if (frame.contentWindow.errors.length)
        throw new Error(frame.contentWindow.errors.join("; "));
    },
  };

  const failuresOf = async (checks) => {
    const failures = [];
    for (const [name, check] of Object.entries(checks)) {
      try {
        await check();
      } catch (error) {
        failures.push(`${name}: ${error.message}`);
      }
    }
    return failures;
  };

  const remaining = new Set(task.pages);
  let widths = task.widths;

  /** Run groups of checks on the current page, ending at the width with which the next page starts. */
  const checkPage = async (page, ...groups) => {
    const failures = [];
    for (const width of widths) {
      frame.style.width = `${width}px`;
      failures.push(...(await failuresOf(widthChecks)).map((failure) => `${width} pixels wide: ${failure}`));
    }
    widths = widths.toReversed();
    for (const checks of groups) failures.push(...(await failuresOf(checks)));
    await report({ page: page || "home", failures });
    remaining.delete(page);
  };

  // Load every other page, and reach its successor by instant navigation.
  const depths = new Set();
  for (const page of remaining) {
    await load(task.home + page);
    const depth = page.split("/").length;
    isFirstOfItsDepth = !depths.has(depth);
    depths.add(depth);
    await checkPage(page, pageChecks, navigationChecks, finalChecks);
    isFirstOfItsDepth = false;
    const next = frame.contentWindow.location.pathname.slice(task.home.length);
    if (remaining.has(next)) await checkPage(next, pageChecks, finalChecks);
  }
  await report({ finished: navigator.userAgent });
})();

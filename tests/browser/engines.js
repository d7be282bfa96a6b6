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

  const click = (element) =>
    element.dispatchEvent(new frame.contentWindow.MouseEvent("click", { bubbles: true }));

  const KINDS = [".katex", ".diagram > svg", ".drawing", ".md-content table", ".md-content pre"];
  const counts = (page) => KINDS.map((kind) => page.querySelectorAll(kind).length).join();
  const title = () => one(".md-content h1")?.textContent;

  // Pages of one depth differ in nothing that a search or a step back depends on.
  let isFirstOfItsDepth;

  const ofEachWidth = {
    "shows its title": () => {
      const isSeen = one(".md-content h1")?.getBoundingClientRect().width;
      if (!isSeen) throw new Error("no title is seen");
    },
    "does not scroll sideways": () => {
      const whole = frame.contentDocument.documentElement;
      // Until the theme's script has put wide tables into boxes of their own.
      return until("fits its window", () => whole.scrollWidth <= whole.clientWidth);
    },
  };

  const whileReading = {
    "holds what its file holds": async () => {
      const file = await (await fetch(frame.contentWindow.location.pathname)).text();
      const written = counts(new DOMParser().parseFromString(file, "text/html"));
      const held = counts(frame.contentDocument);
      if (held !== written) throw new Error(`${held}, not ${written}`);
    },
    "draws formulas in KaTeX's fonts": async () => {
      await frame.contentDocument.fonts.ready;
      const failed = [...frame.contentDocument.fonts].filter((font) => font.status === "error");
      if (failed.length) throw new Error(failed.map((font) => font.family).join());
    },
    // One step on each page: system, light, dark and system again.
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
      if (!isFirstOfItsDepth) return;
      const query = one("[data-md-component=search-query]");
      one("#__search").click();
      query.focus();
      query.value = "softmax";
      query.dispatchEvent(new frame.contentWindow.KeyboardEvent("keyup", { bubbles: true }));
      query.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
      const found = () => all(".md-search-result__item").length;
      await until("results", found).finally(() => one("#__search").click());
    },
    "says where a number comes from": async () => {
      const spot = one("table[data-val] td:not(.centred), [data-at], [data-val]:not(table, g)");
      if (!spot) return;
      click(spot);
      await until("a card", () => one(".live-card")?.textContent);
    },
    "shows what matters for it, and clears it away": async () => {
      const button = all(".live-card button").find(({ textContent }) => textContent === "What matters");
      if (!button || !isFirstOfItsDepth) return;
      click(button);
      await until("a panel", () => one(".live-matters [role=status]")?.textContent);
      click(one(".live-matters .live-close"));
      if (all(".live-matters, [data-influence]").length) throw new Error("something is left of it");
    },
    "follows an edit, and takes it back": async () => {
      const button = one(".live-try");
      if (!button || !isFirstOfItsDepth) return;
      click(button);
      await until("a field", () => one(".live-field"));
      const field = one(".live-field");
      field.value = "0.75";
      field.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
      await until("changed numbers", () => all(".live-changed").length > 1);
      all(".live-bar button").at(-1).click();
      await until("its own numbers again", () => !all(".live-changed, .live-field").length);
    },
    "names the mistake in a pasted output": async () => {
      const box = one(".paste");
      if (!box) return;
      await until("a box that answers", () => "ready" in box.dataset);
      const outputs = JSON.parse(box.querySelector("template").content.textContent);
      const paste = async ({ rows, words }) => {
        const area = box.querySelector("textarea");
        area.value = `tensor(${JSON.stringify(rows)}, dtype=torch.float64)`;
        area.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
        const said = () => box.querySelector("[role=status]").textContent;
        await until(`"${words}"`, () => said().includes(words));
      };
      await paste(outputs.find((output) => !output.right));
      if (!box.querySelector("td mark")) throw new Error("no number is marked");
      await paste(outputs[0]);
      if (box.querySelector("td mark")) throw new Error("a right number is marked");
    },
  };

  const leavingAPageThatWasLoaded = {
    "leads on and back without a load": async () => {
      const from = title();
      frame.contentWindow.stays = true;
      // The theme follows the link once it has the list of pages; until then the browser would.
      frame.contentWindow.addEventListener("click", (event) => event.preventDefault());
      const leave = (step) => {
        const left = title();
        step();
        return until("another page", () => ![left, undefined].includes(title()));
      };
      const on = () => (one(".md-footer__link--next") ?? one(".md-footer__link--prev")).click();
      await leave(on);
      if (isFirstOfItsDepth) {
        await leave(() => frame.contentWindow.history.back());
        if (title() !== from) throw new Error(`back leads to ${title()}, not to ${from}`);
        await leave(on);
      }
      if (!frame.contentWindow.stays) throw new Error("the whole page was loaded anew");
    },
  };

  const atTheEnd = {
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

  const faultsIn = async (checks) => {
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

  const left = new Set(task.pages);
  let widths = task.widths;

  /** Ask all of the page that is shown, last at the width that the next page begins with. */
  const ask = async (page, ...parts) => {
    const faults = [];
    for (const width of widths) {
      frame.style.width = `${width}px`;
      faults.push(...(await faultsIn(ofEachWidth)).map((fault) => `${width} pixels wide: ${fault}`));
    }
    widths = widths.toReversed();
    for (const checks of parts) faults.push(...(await faultsIn(checks)));
    await tell({ page: page || "home", faults });
    left.delete(page);
  };

  // Every other page is loaded, and leads to the one that follows it.
  const depths = new Set();
  for (const page of left) {
    await load(task.home + page);
    const depth = page.split("/").length;
    isFirstOfItsDepth = !depths.has(depth);
    depths.add(depth);
    await ask(page, whileReading, leavingAPageThatWasLoaded, atTheEnd);
    isFirstOfItsDepth = false;
    const following = frame.contentWindow.location.pathname.slice(task.home.length);
    if (left.has(following)) await ask(following, whileReading, atTheEnd);
  }
  await tell({ finished: navigator.userAgent });
})();

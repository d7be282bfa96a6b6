// A sentence that the reader types, read by the real model in a worker, and shown in the figure of all heads. The script
// is loaded when the reader first asks for it.

import { bars, enlargedHead, escapeText, marks, rowsOf, smallLayer, smallPictures, tokensAndIds } from "../../model/drawings.js";
import { weightSteps } from "../../model/weight_steps.js";
import { attentionDocs, connectEach } from "../site.js";

const WRITTEN_AT_ONCE = 3;
const LISTED = 3; // of the likeliest next tokens
const PRONOUN = /^(they|them|it|he|him|she|her)$/i;
const CACHE = "attention-docs-page";

/** @param {[string, number, number]} shares of a token before and after */
const change = ([token, before, after]) => `“${token}”, from ${before.toPrecision(3)} to ${after.toPrecision(3)},`;

/** @typedef {{ layer: number, head: number }} Place of a head */

/** @param {Place} place */
const nameOf = ({ layer, head }) => `layer ${layer}, head ${head}`;

/** Return the number of cells before a row of a head. @param {number} row */
const cellsBefore = (row) => (row * (row + 1)) / 2;

/** @type {Promise<void> | undefined} */
let kept;

/** Keep this page and its scripts for a visit without network. */
const keepPage = async () => {
  await navigator.serviceWorker.register(new URL("../service_worker.js", attentionDocs.folder));
  const files = performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.startsWith(location.origin));
  const cache = await caches.open(CACHE);
  await cache.addAll([...new Set([location.pathname, `${attentionDocs.folder}worker.js`, ...files])]);
};

/** @param {HTMLFormElement} form */
const connect = (form) => {
  const figure = /** @type {HTMLElement} */ (form.closest(".all-heads"));
  /** @param {string} selector @returns {any} */
  const find = (selector) => figure.querySelector(selector);
  /** @param {string} selector @returns {any[]} */
  const findAll = (selector) => [...figure.querySelectorAll(selector)];
  const tools = findAll(".own-tool");
  const [choice, asking, asked] = findAll("select");
  const [layer, head, temperature] = findAll("[type=number]");
  const [recordedKinds, kinds] = findAll(".control [role=group]");
  const [status, progress, cutResult, steps, written] = [".own-sentence output", "progress", ".own-tool output", ".steps", ".written"].map(find);
  const [cutButton, restoreButton, computeButton, largestButton, writeButton] = [".cut", ".restore", ".compute", ".largest", ".write"].map(find);
  const option = document.createElement("option");
  /** @type {Worker | undefined} */
  let worker;
  /** The sentence that is being read: its text, the heads that are cut, the one to show, and what the figure needs. @type {any} */
  let reading;
  /** The sentence that was read last. @type {any} */
  let own;
  /** Which heads are cut, in words. */
  let without = "";

  /** @param {boolean} busy */
  const setBusy = (busy) => {
    [form, ...tools].forEach((element) => element.querySelectorAll("button").forEach((/** @type {HTMLButtonElement} */ button) => (button.disabled = busy)));
  };
  const startWorker = () =>
    Object.assign(new Worker(`${attentionDocs.folder}worker.js`), {
      onmessage: (/** @type {MessageEvent} */ { data }) => answers[/** @type {keyof typeof answers} */ (data.kind)](data),
      onerror: () => {
        worker = undefined; // the next press starts another
        answers.failed({ message: "The model stopped. Are you online, and is there enough memory?" });
      },
    });
  /** @param {any} request */
  const ask = (request) => {
    setBusy(true);
    try {
      worker ??= startWorker();
      worker.postMessage(request);
    } catch {
      answers.failed({ message: "A page that is opened as a file cannot read with the model." });
    }
  };
  /** @param {string} text @param {Map<string, Place>} cut the heads that are cut, by their names @param {Place} [place] */
  const read = (text, cut = new Map(), place) => {
    reading = { text, cut, place };
    figure.dataset.reading = "text"; // what is not yet of this text is faint
    status.value = cutResult.value = "Reading.";
    find(":scope > output").value = "";
    ask({ kind: "read", folder: `${attentionDocs.folder}model/`, text, cut: [...cut.values()] });
  };
  /** Show a head of the sentence. @param {Place} place */
  const show = (place) => {
    [layer.value, head.value] = [place.layer, place.head];
    choice.value = option.value;
    choice.dispatchEvent(new Event("change"));
    return find(".state");
  };
  /** @param {Place & { kind: string }} place */
  const kindButton = (place) => {
    const textContent = `${place.kind}: ${nameOf(place)}`;
    return Object.assign(document.createElement("button"), { type: "button", textContent, onclick: () => show(place).scrollIntoView({ block: "nearest" }) });
  };
  /** @param {string} name @param {(Place & { kind: string })[]} places */
  const kindButtons = (name, places) => {
    const line = document.createElement("div");
    line.append(name, ...places.map(kindButton));
    return line;
  };
  // The head that was found on other texts, because a single one does not tell what a pronoun means.
  const [, pronounLayer, pronounHead] = recordedKinds.querySelector("button").value.split(" ").map(Number);
  const pronounPlace = { kind: "Pronoun", layer: pronounLayer, head: pronounHead };
  const chosen = () => (layer.validity.valid && head.validity.valid ? { layer: layer.valueAsNumber, head: head.valueAsNumber } : pronounPlace);
  /** Offer the first tokens of the sentence. @param {HTMLSelectElement} field @param {number} count @param {number} selected */
  const offerTokens = (field, count, selected) => {
    const names = own.tokens.slice(0, count).map(escapeText);
    field.innerHTML = names.map((/** @type {string} */ name, /** @type {number} */ i) => `<option value="${i}">${name}</option>`).join("");
    field.selectedIndex = selected;
  };
  /** Offer the tokens up to the one that asks, with the largest of its weights. */
  const offerAsked = () => {
    const { layer, head } = chosen();
    const row = rowsOf(own.percent[layer][head], own.tokens.length)[asking.selectedIndex];
    offerTokens(asked, row.length, row.indexOf(Math.max(...row)));
  };

  const unmark = () => find(".state [aria-current]")?.removeAttribute("aria-current");

  const answers = {
    fetched: (/** @type {any} */ { percent }) => {
      progress.hidden = false;
      progress.value = percent;
      status.value = "Fetching the model.";
    },
    tokens: (/** @type {any} */ { tokens, ids }) => {
      progress.hidden = true;
      status.value = "Reading.";
      figure.dataset.reading = "layers";
      if (own?.text !== reading.text) written.replaceChildren();
      Object.assign(reading, { tokens, percent: [], ids: tokensAndIds(tokens, ids), enlarged: enlargedHead(tokens) });
      const pronoun = tokens.findLastIndex((/** @type {string} */ token) => PRONOUN.test(token));
      if (pronoun >= 0) reading.asking = pronoun;
      find(".tokens").innerHTML = reading.ids;
      find(".small").innerHTML = smallPictures(tokens.length);
    },
    layer: (/** @type {any} */ { layer, percent }) => {
      reading.percent[layer] = percent;
      find(".small g g").insertAdjacentHTML("beforeend", smallLayer(percent, layer, reading.tokens.length));
    },
    read: (/** @type {any} */ { next, loser, winner, strongest }) => {
      own = reading;
      delete figure.dataset.reading;
      option.value = `own-${Date.now()}`; // another value makes the figure draw the sentence anew
      option.textContent = own.text;
      choice.append(option);
      const known = "asking" in own ? [pronounPlace] : [];
      const small = find(".small").innerHTML + marks([...known, ...strongest], [...own.cut.values()]);
      attentionDocs.sentences[option.value] = Object.assign(own, { next: bars(next), small });
      kinds.replaceChildren(kindButtons("strongest on your text", strongest));
      if (known.length) kinds.prepend(kindButtons("found on other texts, so it may fail on yours", known));
      const likeliest = next.slice(0, LISTED).map((/** @type {[string, number]} */ [token, share]) => `“${token}” ${share.toFixed(3)}`);
      without = own.cut.size ? `, without ${[...own.cut.keys()].join(" and ")}` : "";
      const end = own.text.split(" ").slice(-2).join(" ");
      status.value = `The likeliest next tokens after “${end}”${without}: ${likeliest.join(", ")}.`;
      cutResult.value = without && [
        `The token after your text${without}: ${change(winner)} gains most, and ${change(loser)} loses most.`,
        "The weights stay, but the outputs of cut heads are set to zero. A picture of weights does not tell how much that changes.",
      ].join(" ");
      restoreButton.hidden = own.cut.size < 2;
      setBusy(false);
      show(own.place ?? known[0] ?? chosen());
      kept ??= keepPage().catch(() => {}); // not kept without a secure connection or without room
    },
    row: (/** @type {import("../../model/weight_steps.js").Row} */ row) => {
      const [i, j] = [asking.selectedIndex, asked.selectedIndex];
      steps.innerHTML = weightSteps(row, own.tokens.slice(0, i + 1), j);
      unmark();
      find(".state .numbers").children[cellsBefore(i) + j].setAttribute("aria-current", "true");
      steps.scrollIntoView({ block: "nearest" });
      setBusy(false);
    },
    written: (/** @type {any} */ { token, share }) => {
      written.firstElementChild.insertAdjacentHTML("beforeend", `<span>${escapeText(token)}<small>${share.toPrecision(2)}</small></span>`);
    },
    done: () => setBusy(false),
    failed: (/** @type {any} */ { message }) => {
      progress.hidden = true;
      delete figure.dataset.reading;
      choice.dispatchEvent(new Event("change")); // the figure speaks of its sentence again
      cutResult.value = "";
      status.value = message;
      setBusy(false);
    },
  };

  choice.addEventListener("change", () => {
    recordedKinds.hidden = choice.value === option.value;
    tools.forEach((tool) => (tool.hidden = !recordedKinds.hidden));
    if (!recordedKinds.hidden) status.value = "";
  });
  // What is computed of one head does not stay beside another.
  figure.addEventListener("choice", () => {
    if (choice.value !== option.value) return;
    cutButton.textContent = own.cut.has(nameOf(chosen())) ? "Restore this head" : "Cut this head";
    steps.replaceChildren();
    unmark();
    offerTokens(asking, own.tokens.length, own.asking ?? own.tokens.length - 1);
    offerAsked();
  });
  attentionDocs.onArrival(() => form.isConnected || worker?.terminate());
  form.onsubmit = (event) => {
    event.preventDefault();
    const text = form.sentence.value.trim();
    if (text) read(text);
  };
  cutButton.onclick = () => {
    const [place, cut] = [chosen(), new Map(own.cut)];
    read(own.text, cut.delete(nameOf(place)) ? cut : cut.set(nameOf(place), place), place);
  };
  restoreButton.onclick = () => read(own.text, new Map(), chosen());
  asking.onchange = offerAsked;
  computeButton.onclick = () => ask({ kind: "explain", ...chosen(), row: asking.selectedIndex });
  largestButton.onclick = () => {
    const [i, j] = [asking.selectedIndex, asked.selectedIndex];
    const weights = own.percent.flat().map((/** @type {any} */ cells) => rowsOf(cells, own.tokens.length)[i][j]);
    const place = weights.indexOf(Math.max(...weights));
    const heads = own.percent[0].length;
    show({ layer: Math.floor(place / heads), head: place % heads });
    asking.selectedIndex = i;
    offerAsked();
    asked.selectedIndex = j;
  };
  // A weight of the sentence opens its computation.
  find(".state").addEventListener("click", (/** @type {any} */ { target }) => {
    const cells = target.closest(".boxes, .numbers")?.children;
    if (!cells || choice.value !== option.value || computeButton.disabled) return;
    const cell = [...cells].indexOf(target);
    asking.selectedIndex = own.tokens.findLastIndex((/** @type {string} */ _, /** @type {number} */ row) => cellsBefore(row) <= cell);
    offerAsked();
    asked.selectedIndex = cell - cellsBefore(asking.selectedIndex);
    computeButton.click();
  });
  writeButton.onclick = () => {
    if (!temperature.reportValidity()) return;
    const textContent = `after your text, with probabilities at temperature ${temperature.value}${without}`;
    written.prepend(Object.assign(document.createElement("div"), { className: "tokens", textContent }));
    ask({ kind: "write", temperature: temperature.valueAsNumber, count: WRITTEN_AT_ONCE });
  };
};

connectEach(".own-sentence", connect);

// A sentence that the reader types, read by the real model in a worker, and shown in the figure of all heads. The script
// is loaded when the reader first asks for it.

import { bars, crosses, enlargedHead, escapeText, rowsOf, smallLayer, smallPictures, tokensAndIds } from "../../model/drawings.js";
import { weightSteps } from "../../model/weight_steps.js";
import { attentionDocs, connectEach } from "../site.js";

const WRITTEN_AT_ONCE = 3;
const LISTED = 3; // of the likeliest next tokens
const CACHE = "attention-docs-page";

/** Keep this page and its scripts for a visit without network. */
const keepPage = async () => {
  await navigator.serviceWorker.register(new URL("../service_worker.js", attentionDocs.folder));
  const files = performance.getEntriesByType("resource").map(({ name }) => name);
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
  const option = document.createElement("option");
  /** @type {Worker | undefined} */
  let worker;
  let isBusy = false;
  /** The request for the sentence that is read. @type {{ text: string, cut: Map<string, { layer: number, head: number }> }} */
  let reading;
  /** The sentence that was read last: that request, and what the figure needs. @type {any} */
  let own;
  /** The likeliest next tokens if no head is cut. */
  let uncut = "";
  let toWrite = 0;

  /** @param {boolean} busy */
  const setBusy = (busy) => {
    isBusy = busy;
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
  /** @param {string} text @param {typeof reading.cut} cut the heads that are cut, by their names */
  const read = (text, cut = new Map()) => {
    reading = { text, cut };
    ask({ kind: "read", folder: `${attentionDocs.folder}model/`, text, cut: [...cut.values()] });
  };
  const write = () => ask({ kind: "write", temperature: temperature.valueAsNumber });
  /** Show a head of the sentence. @param {{ layer: number, head: number }} place */
  const show = (place) => {
    [layer.value, head.value] = [place.layer, place.head];
    choice.value = option.value;
    choice.dispatchEvent(new Event("change"));
  };
  const chosen = () => ({ layer: layer.valueAsNumber, head: head.valueAsNumber });
  /** @param {{ kind: string, layer: number, head: number }} place */
  const kindButton = (place) => {
    const textContent = `${place.kind}: layer ${place.layer}, head ${place.head}`;
    return Object.assign(document.createElement("button"), { type: "button", textContent, onclick: () => show(place) });
  };
  // The head that was found on other sentences, because a single one does not show what the pronoun means.
  const [, pronounLayer, pronounHead] = recordedKinds.querySelector("button").value.split(" ");
  const pronoun = { kind: "Pronoun", layer: pronounLayer, head: pronounHead };
  /** Offer the first tokens in a field. @param {HTMLSelectElement} field @param {number} count @param {number} selected */
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

  const answers = {
    fetched: (/** @type {any} */ { percent }) => {
      progress.hidden = false;
      progress.value = percent;
      status.value = "Fetching the model.";
    },
    tokens: (/** @type {any} */ { tokens, ids }) => {
      progress.hidden = true;
      status.value = "Reading.";
      own = { ...reading, tokens, percent: [], ids: tokensAndIds(tokens, ids), enlarged: enlargedHead(tokens) };
      find(".tokens").innerHTML = own.ids;
      find(".small").innerHTML = smallPictures(tokens.length);
      steps.replaceChildren();
      written.replaceChildren();
    },
    layer: (/** @type {any} */ { layer, percent }) => {
      own.percent[layer] = percent;
      find(".small g g").insertAdjacentHTML("beforeend", smallLayer(percent, layer, own.tokens.length));
    },
    read: (/** @type {any} */ { next, strongest }) => {
      option.value = `own-${Date.now()}`; // another value makes the figure draw the sentence anew
      option.textContent = own.text;
      choice.append(option);
      const small = find(".small").innerHTML + crosses([...own.cut.values()]);
      attentionDocs.sentences[option.value] = Object.assign(own, { next: bars(next), small });
      kinds.replaceChildren("on your text", ...[pronoun, ...strongest].map(kindButton));
      offerTokens(asking, own.tokens.length, own.tokens.length - 1);
      offerAsked();
      const likeliest = next.slice(0, LISTED).map((/** @type {[string, number]} */ [token, share]) => `“${token}” ${share.toFixed(2)}`).join(", ");
      const names = [...own.cut.keys()].join(" and ");
      if (!names) uncut = likeliest;
      status.value = `The likeliest next tokens: ${likeliest}.`;
      cutResult.value = names && `Without ${names}, the next tokens: ${likeliest}. With all heads: ${uncut}.`;
      find(".restore").hidden = !names;
      setBusy(false);
      show(chosen());
      keepPage().catch(() => {}); // not kept without a secure connection or without room
    },
    row: (/** @type {import("../../model/weight_steps.js").Row} */ row) => {
      steps.innerHTML = weightSteps(row, own.tokens.slice(0, row.keys.length), asked.selectedIndex);
      setBusy(false);
    },
    written: (/** @type {any} */ { token, share }) => {
      written.insertAdjacentHTML("beforeend", `<span>${escapeText(token)}<small>${share.toFixed(2)}</small></span>`);
      if (--toWrite > 0) write();
      else setBusy(false);
    },
    failed: (/** @type {any} */ { message }) => {
      progress.hidden = true;
      status.value = message;
      setBusy(false);
    },
  };

  choice.addEventListener("change", () => {
    recordedKinds.hidden = choice.value === option.value;
    tools.forEach((tool) => (tool.hidden = !recordedKinds.hidden));
    if (!recordedKinds.hidden) status.value = "";
  });
  attentionDocs.onArrival(() => form.isConnected || worker?.terminate());
  form.onsubmit = (event) => {
    event.preventDefault();
    const text = form.sentence.value.trim();
    if (text) read(text);
  };
  find(".cut").onclick = () => read(own.text, new Map(own.cut).set(`layer ${layer.value}, head ${head.value}`, chosen()));
  find(".restore").onclick = () => read(own.text);
  asking.onchange = offerAsked;
  const computeButton = find(".compute");
  computeButton.onclick = () => ask({ kind: "explain", ...chosen(), row: asking.selectedIndex });
  // A weight of the sentence opens its computation.
  find(".state").addEventListener("click", (/** @type {any} */ { target }) => {
    const cells = target.closest(".boxes, .numbers")?.children;
    if (!cells || choice.value !== option.value || isBusy) return;
    // The cells before row i are 1 + 2 + … + i.
    const cell = [...cells].indexOf(target);
    asking.selectedIndex = Math.floor((Math.sqrt(8 * cell + 1) - 1) / 2);
    offerAsked();
    asked.selectedIndex = cell - (asking.selectedIndex * (asking.selectedIndex + 1)) / 2;
    computeButton.click();
  });
  find(".write").onclick = () => {
    toWrite = WRITTEN_AT_ONCE;
    if (temperature.reportValidity()) write();
  };
};

connectEach(".own-sentence", connect);

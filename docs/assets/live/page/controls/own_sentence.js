// A sentence that the reader types, read by the real model in a worker, and shown in the figure of all heads. The script
// is loaded when the reader first asks for it.

import { bars, enlargedHead, escapeText, smallLayer, smallPictures, tokensAndIds } from "../../model/drawings.js";
import { attentionDocs, connectEach } from "../site.js";

const WRITTEN_AT_ONCE = 3;
const SHOWN_FEATURES = 2; // of a query and of a key
const LISTED = 3; // of the likeliest next tokens

/** @param {number} number @param {number} decimals */
const digits = (number, decimals = 4) => number.toFixed(decimals).replace("-", "−");

/** @param {number[]} vector */
const firstFeatures = (vector) => [...vector.slice(0, SHOWN_FEATURES).map((number) => digits(number, 2)), "…"].join(" ");

/** @param {HTMLFormElement} form */
const connect = (form) => {
  const figure = /** @type {HTMLElement} */ (form.closest(".all-heads"));
  const tools = /** @type {HTMLElement} */ (figure.querySelector(".own-tools"));
  /** @param {string} selector @returns {any} */
  const find = (selector) => figure.querySelector(selector);
  const [choice, status, progress] = ["select", ".own-sentence output", "progress"].map(find);
  const [kinds, cutButton, restoreButton, asking, explainButton, table, temperature, writeButton, written] =
    [".kinds", ".cut", ".restore", "select", ".explain", "table", "input", ".write", ".written"].map((selector) => find(`.own-tools ${selector}`));
  const [layer, head] = /** @type {NodeListOf<HTMLInputElement>} */ (figure.querySelectorAll(".control > label > input[type=number]"));
  const option = document.createElement("option");
  /** @type {Worker | undefined} */
  let worker;
  /** What the figure needs of the sentence. @type {any} */
  let own;
  let text = "";
  let toWrite = 0;
  /** The heads that are cut, by their names. @type {Map<string, { layer: number, head: number }>} */
  const cut = new Map();
  /** The likeliest next tokens if none is cut. */
  let uncut = "";

  /** @param {any} request */
  const ask = (request) => {
    setBusy(true);
    worker ??= Object.assign(new Worker(`${attentionDocs.folder}worker.js`), {
      onmessage: (/** @type {MessageEvent} */ { data }) => answers[/** @type {keyof typeof answers} */ (data.kind)](data),
      onerror: () => {
        worker = undefined; // the next press starts another
        answers.failed({ message: "The model stopped. Are you online, and is there enough memory?" });
      },
    });
    worker.postMessage(request);
  };
  /** @param {boolean} isBusy */
  const setBusy = (isBusy) =>
    [form, tools].forEach((element) => element.querySelectorAll("button").forEach((button) => (button.disabled = isBusy)));
  const read = () => ask({ kind: "read", folder: `${attentionDocs.folder}model/`, text, cut: [...cut.values()] });
  const write = () => ask({ kind: "write", temperature: temperature.valueAsNumber });
  /** Show a head of the sentence. @param {{ layer: number, head: number }} place */
  const show = (place) => {
    [layer.value, head.value] = [String(place.layer), String(place.head)];
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
  const [, pronounLayer, pronounHead] = find("button[value]").value.split(" ");
  const pronoun = { kind: "Pronoun", layer: pronounLayer, head: pronounHead };

  const answers = {
    fetched: (/** @type {any} */ { percent }) => {
      progress.hidden = false;
      progress.value = percent;
      status.value = "Fetching the model.";
    },
    tokens: (/** @type {any} */ { tokens, ids }) => {
      progress.hidden = true;
      status.value = "Reading.";
      own = { tokens, percent: [], ids: tokensAndIds(tokens, ids), enlarged: enlargedHead(tokens) };
      find(".tokens").innerHTML = own.ids;
      find(".small").innerHTML = smallPictures(tokens.length);
      asking.innerHTML = tokens.map((/** @type {string} */ token, /** @type {number} */ i) => `<option value="${i}">${escapeText(token)}</option>`).join("");
      asking.selectedIndex = tokens.length - 1;
      table.hidden = true;
      written.textContent = "";
    },
    layer: (/** @type {any} */ { layer, percent }) => {
      own.percent[layer] = percent;
      find(".small g g").insertAdjacentHTML("beforeend", smallLayer(percent, layer, own.tokens.length));
    },
    read: (/** @type {any} */ { next, strongest }) => {
      option.value = `own-${Date.now()}`; // another value makes the figure draw the sentence anew
      option.textContent = text;
      choice.append(option);
      attentionDocs.sentences[option.value] = Object.assign(own, { next: bars(next), small: find(".small").innerHTML });
      kinds.replaceChildren("on your text", ...[pronoun, ...strongest].map(kindButton));
      const likeliest = next.slice(0, LISTED).map((/** @type {[string, number]} */ [token, share]) => `“${token}” ${share.toFixed(2)}`).join(", ");
      const names = [...cut.keys()].join(" and ");
      if (!names) uncut = likeliest;
      status.value = names ? `Without ${names}: ${likeliest}. With all heads: ${uncut}.` : `The likeliest next tokens: ${likeliest}.`;
      setBusy(false);
      show(chosen());
    },
    row: (/** @type {any} */ { query, keys, scores, weights }) => {
      const divisor = Math.sqrt(query.length);
      const heading = ["key of", `its ${query.length} features`, "query · key", `divided by √${query.length} = ${divisor}`, "softmax"];
      const rows = keys.map((/** @type {number[]} */ key, /** @type {number} */ i) => [
        escapeText(own.tokens[i]),
        firstFeatures(key),
        ...[scores[i], scores[i] / divisor, weights[i]].map((number) => digits(number)),
      ]);
      /** @param {string[]} row @param {string} cell */
      const line = (row, cell) => `<tr>${row.map((content) => `<${cell}>${content}</${cell}>`).join("")}</tr>`;
      const caption = `Layer ${layer.value}, head ${head.value}: “${escapeText(own.tokens[asking.value])}” asks with the query ${firstFeatures(query)}`;
      table.innerHTML = `<caption>${caption}</caption>${line(heading, "th")}${rows.map((/** @type {string[]} */ row) => line(row, "td")).join("")}`;
      table.hidden = false;
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
    tools.hidden = choice.value !== option.value;
    if (tools.hidden) status.value = "";
  });
  attentionDocs.onArrival(() => form.isConnected || worker?.terminate());
  form.onsubmit = (event) => {
    event.preventDefault();
    text = form.sentence.value.trim();
    cut.clear();
    if (text) read();
  };
  cutButton.onclick = () => {
    cut.set(`layer ${layer.value}, head ${head.value}`, chosen());
    read();
  };
  restoreButton.onclick = () => {
    cut.clear();
    read();
  };
  // A weight of the sentence opens its row.
  find(".state").addEventListener("click", (/** @type {any} */ { target }) => {
    const cells = target.closest(".boxes, .numbers")?.children;
    if (!cells || choice.value !== option.value || explainButton.disabled) return;
    // The cells before row i are 1 + 2 + … + i.
    asking.selectedIndex = Math.floor((Math.sqrt(8 * [...cells].indexOf(target) + 1) - 1) / 2);
    explainButton.click();
  });
  explainButton.onclick = () => ask({ kind: "explain", ...chosen(), row: Number(asking.value) });
  writeButton.onclick = () => {
    toWrite = WRITTEN_AT_ONCE;
    if (temperature.reportValidity()) write();
  };
};

connectEach(".own-sentence", connect);

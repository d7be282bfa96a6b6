// The heads of a real model: a reader chooses a sentence, a layer and a head, or a kind of head, or points at a
// head, and sees it enlarged. Python draws everything; this script puts the weights of a head into its cells.

import { rowsOf } from "../../model/drawings.js";
import { attentionDocs, connectEach, loadScript } from "../site.js";

// The sentence, the layer and the head in the fragment of a link.
const ADDRESS = /^#head=(\d+)\.(\d+)\.(\d+)$/;

/** Fetch a sentence, at most once. @param {string} index */
const load = async (index) => {
  if (!attentionDocs.sentences[index]) await loadScript(`heads/${index}.js`);
  return attentionDocs.sentences[index];
};

/** Let the reader choose which head a figure enlarges. @param {HTMLElement} figure */
const connect = (figure) => {
  /** @param {string} selector @returns {any} */
  const find = (selector) => figure.querySelector(selector);
  const fields = [.../** @type {NodeListOf<HTMLInputElement>} */ (figure.querySelectorAll(".control > label > [type=number]"))];
  const [choice, status, drawing, target, form] = ["select", ":scope > output", ".state", ".target", "form"].map(find);
  const box = target.closest(".figure-box");
  let drawn = "";
  let requests = 0;

  /** Show a head. @param {number[]} place its layer and its number */
  const show = async (place) => {
    const [layer, head] = place;
    const index = choice.value;
    const request = ++requests;
    const sentence = await load(index).catch(() => null);
    // The reader may have moved on while the sentence was loading.
    if (request !== requests) return;
    if (!sentence) {
      status.value = "Could not fetch the weights. Are you online?";
      return;
    }
    const { tokens, percent, ids, next, small, enlarged, cut, asking = tokens.length - 1 } = sentence;
    if (drawn !== index) {
      find(".tokens").innerHTML = ids;
      find("dl").innerHTML = next;
      find(".small").innerHTML = small;
      drawing.innerHTML = enlarged;
      drawn = index;
    }
    const rows = rowsOf(percent[layer][head], tokens.length);
    const numbers = find(".state .numbers").children;
    const boxes = find(".state .boxes").children;
    rows.flat().forEach((number, i) => {
      numbers[i].textContent = number || "";
      boxes[i].setAttribute("opacity", String(number / 100));
    });
    const size = target.getBBox().width / (Number(fields[0].max) + 1);
    find(".chosen").setAttribute("transform", `translate(${size * layer} ${size * head})`);
    const name = `layer ${layer}, head ${head}`;
    find(".state title").textContent = find(".state text").textContent = cut?.has(name) ? `${name}, cut` : name;
    const largest = rows.map((row) => Math.max(...row));
    const asked = rows.map((row, i) => tokens[row.indexOf(largest[i])]);
    const list = tokens.map((/** @type {string} */ token, /** @type {number} */ i) => `${token} ${largest[i]} to ${asked[i]}`);
    find(".state desc").textContent = `The largest weight that each token gives, in percent: ${list.join(", ")}.`;
    const token = asking === tokens.length - 1 ? `the last token, “${tokens[asking]}”,` : `“${tokens[asking]}”`;
    status.value = `Layer ${layer}, head ${head}. In percent, ${token} gives ${largest[asking]} to “${asked[asking]}”, its largest weight.`;
  };

  const showChosen = async () => {
    const invalid = fields.find((field) => !field.validity.valid);
    if (invalid) status.value = `There is no such ${invalid.labels?.[0].textContent}: type a whole number from 0 to ${invalid.max}.`;
    else await show(fields.map((field) => field.valueAsNumber));
  };
  /** Put the choice into the address, unless that has edits. */
  const writeAddress = () => {
    // A sentence that the reader typed has no address.
    if (!location.hash.startsWith("#try=") && choice.value < choice.length)
      history.replaceState(history.state, "", `#head=${[choice.value, ...fields.map(({ value }) => value)].join(".")}`);
  };
  /** Scroll the small pictures sideways to the chosen one, if a narrow screen cuts it off. */
  const scrollToChosen = () => {
    const [frame, window] = [find(".chosen"), box].map((element) => element.getBoundingClientRect());
    if (frame.left < window.left || frame.right > window.right) box.scrollLeft += frame.left - window.left - window.width / 2;
  };
  const onChoice = () => {
    writeAddress();
    figure.dispatchEvent(new Event("choice"));
    return showChosen().then(scrollToChosen);
  };
  /** Put a head into the fields, and show it. @param {number[]} place */
  const choose = (place) => {
    fields.forEach((field, i) => (field.value = String(place[i])));
    onChoice();
  };
  /** Return the layer and the number of the head under the pointer. @param {PointerEvent} event */
  const headAt = ({ clientX, clientY }) => {
    const { left, top, width, height } = target.getBoundingClientRect();
    return [(clientX - left) / width, (clientY - top) / height].map((share, i) => {
      const last = Number(fields[i].max);
      return Math.min(last, Math.max(0, Math.floor(share * (last + 1))));
    });
  };

  choice.onchange = onChoice;
  fields.forEach((field) => (field.oninput = onChoice));
  /** @type {NodeListOf<HTMLButtonElement>} */ (figure.querySelectorAll("button[value]")).forEach((button) => {
    button.onclick = () => {
      const [index, ...place] = button.value.split(" ");
      choice.value = index;
      choose(place.map(Number));
    };
  });
  box.onscroll = () => find(".names").setAttribute("transform", `translate(${box.scrollLeft / target.getScreenCTM().a})`);
  target.onpointermove = (/** @type {PointerEvent} */ event) => show(headAt(event));
  target.onpointerleave = showChosen;
  target.onclick = (/** @type {PointerEvent} */ event) => choose(headAt(event));
  scrollToChosen();
  // The script connects the form, which the reader has then sent already.
  form.onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    loadScript("own_sentence.js").then(
      () => form.requestSubmit(),
      () => (find("form output").value = "Could not fetch the script. Are you online?")
    );
  };
  const sentence = new URLSearchParams(location.hash.slice(1)).get("sentence");
  if (sentence) {
    form.sentence.value = sentence;
    figure.scrollIntoView();
    // Who typed it on home has asked for the model. A link from elsewhere does not fetch it by itself.
    if (document.referrer.startsWith(location.origin)) form.requestSubmit();
    else find("form output").value = "Press the button, and the model reads this text.";
  }
  const [, index, ...place] = ADDRESS.exec(location.hash) ?? [];
  const isSentence = [...choice.options].some((/** @type {HTMLOptionElement} */ { value }) => value === index);
  if (!isSentence || fields.some(({ max }, i) => Number(place[i]) > Number(max))) return;
  choice.value = index;
  choose(place.map(Number));
  figure.scrollIntoView();
};

connectEach(".all-heads", connect);

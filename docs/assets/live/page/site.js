// The global object that docs/assets/site.js shares with the other scripts.

/**
 * @typedef {object} AttentionDocs
 * @property {string} folder the URL of the folder of live.js
 * @property {Record<string, any>} graphs by the name of the example, as JSON; each is set by a script of its own
 * @property {Record<string, any>} sentences by index, with all heads of a real model; each is set by a script of its own
 * @property {string} page the path of the page on screen; during navigation the address is ahead of it
 * @property {() => Promise<unknown>} loadLive loads live.js, at most once
 * @property {typeof import("./edit/editor.js").editInput} editInput edits numbers of an input, once live.js is loaded
 * @property {typeof import("./iteration.js").iterate} iterate repeats an example, once live.js is loaded
 * @property {(callback: () => void) => void} onArrival registers a callback for each page that the theme inserts
 * @property {() => void} stopListening removes the listeners of docs/assets/site.js
 * @property {Event} [pendingEvent] the event that made site.js load live.js
 */

/** @type {AttentionDocs} */
export const attentionDocs = /** @type {any} */ (globalThis).attentionDocs;

/** @returns {boolean} whether the address is that of the page on screen */
export const isOnPage = () => location.pathname === attentionDocs.page;

/**
 * Connect elements to a script, on this page and on those that the theme inserts later.
 *
 * @template {HTMLElement | SVGElement} T
 * @param {string} selector @param {(element: T) => void} connect is called once for each element
 */
export const connectEach = (selector, connect) => {
  const connectNew = () =>
    /** @type {NodeListOf<T>} */ (document.querySelectorAll(`${selector}:not([data-ready])`)).forEach((element) => {
      element.dataset.ready = "";
      connect(element);
    });
  attentionDocs.onArrival(connectNew);
  connectNew();
};

/** Edit the input of a control, once live.js is loaded. @param {HTMLElement} control @param {number[]} values */
export const editInput = (control, values) =>
  attentionDocs.loadLive().then(
    () => attentionDocs.editInput(control, control.dataset.input ?? "", values),
    () => {}
  );

/** Load a script of the site. Scripts also load on file: pages, where browsers block fetch(). @param {string} path below the folder of live.js */
export const loadScript = async (path) => {
  const script = Object.assign(document.createElement("script"), { src: attentionDocs.folder + path });
  await new Promise((onload, onerror) => {
    document.head.append(Object.assign(script, { onload, onerror }));
  }).finally(() => script.remove());
};

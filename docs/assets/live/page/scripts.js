// Scripts that are fetched when somebody asks for what is in them. They are classic scripts, because
// from a file browsers refuse modules and data, and write into `attentionDocs`.

const folder = /** @type {HTMLScriptElement} */ (document.currentScript).src;

/** @typedef {Pick<typeof import("./edit.js"), "begin" | "leave" | "readAddress"> & typeof import("./walk.js")} More */

/** @typedef {{begin: (shown: import("./card.js").Shown) => void, repaint: () => void}} Matters */

/**
 * @typedef {object} AttentionDocs
 * @property {Record<string, any>} graphs by the name of the example, as JSON
 * @property {string} page the path of the page that is shown; the address may be ahead of it
 * @property {() => void} start ends the waiting of docs/assets/site.js
 * @property {Event} [first] what the reader did before these scripts were there
 * @property {More} [more] what fewer readers ask for
 * @property {Matters} [matters] and still fewer
 */

/** @type {AttentionDocs} */
export const attentionDocs = /** @type {any} */ (window).attentionDocs;

/** @returns {boolean} whether the address is that of the page that is shown */
export const isOnPage = () => location.pathname === attentionDocs.page;

/** What is said when a script did not come. */
export const LOST = "This could not be fetched. Is there a network?";

/**
 * Run a script, once.
 *
 * @param {string} path beside this script
 * @returns {Promise<void>} rejected if the script could not be fetched
 */
export const run = (path) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(path, folder).href;
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new Error(`${path} could not be fetched`));
    };
    document.head.append(script);
  });

/** @type {Map<string, Promise<void>>} */
const fetched = new Map();

/**
 * Fetch what fewer readers ask for, once.
 *
 * @template {"matters" | "more"} Name
 * @param {Name} name
 * @returns {Promise<AttentionDocs[Name]>} undefined if it could not be fetched
 */
export const later = async (name) => {
  const script = fetched.get(name) ?? run(`live-${name}.js`);
  fetched.set(name, script);
  // The network may be back when somebody asks again.
  await script.catch(() => fetched.delete(name));
  return attentionDocs[name];
};

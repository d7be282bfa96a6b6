// Scripts that are fetched when somebody asks for what is in them. They are classic scripts, because
// from a file browsers refuse modules and data, and write into `attentionDocs`.

const folder = /** @type {HTMLScriptElement} */ (document.currentScript).src;

/**
 * @typedef {object} AttentionDocs
 * @property {Record<string, any>} graphs by the name of the example, as JSON
 * @property {string} page the path of the page that is shown; the address may be ahead of it
 * @property {() => void} start ends the waiting of docs/assets/site.js
 * @property {Event} [first] what the reader did before these scripts were there
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

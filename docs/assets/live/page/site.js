// What docs/assets/site.js knows of the page, and what scripts hand over to one another.

/**
 * @typedef {object} AttentionDocs
 * @property {string} folder where live.js lies
 * @property {Record<string, any>} graphs by the name of the example, as JSON; each comes with a script
 * @property {string} page the path of the page that is shown; the address may be ahead of it
 * @property {(arrive: () => void) => void} onArrival calls when the theme has put another page in place
 * @property {() => void} start ends the waiting of docs/assets/site.js
 * @property {Event} [first] what the reader did before live.js was there
 */

/** @type {AttentionDocs} */
export const attentionDocs = /** @type {any} */ (globalThis).attentionDocs;

/** @returns {boolean} whether the address is that of the page that is shown */
export const isOnPage = () => location.pathname === attentionDocs.page;

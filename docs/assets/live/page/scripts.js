// Scripts that are fetched when somebody asks for what is in them. They are classic scripts, because
// from a file browsers refuse modules and data, and write into `attentionDocs`.

const folder = /** @type {HTMLScriptElement} */ (document.currentScript).src;

/** @typedef {Pick<typeof import("./edit.js"), "arrive" | "begin" | "leave">} Edit */
/** @typedef {Edit & Pick<typeof import("./matters.js"), "matters"> & typeof import("./walk.js")} More */

/**
 * @typedef {object} AttentionDocs
 * @property {Record<string, any>} graphs by the name of the example, as JSON
 * @property {() => void} start ends the waiting of docs/assets/site.js
 * @property {Event} [first] what the reader did before these scripts were there
 * @property {More} [more] what fewer readers ask for
 */

/** @type {AttentionDocs} */
export const attentionDocs = /** @type {any} */ (window).attentionDocs;

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

/** @returns {Promise<More | undefined>} what fewer readers ask for; undefined if it could not be fetched */
export const more = async () => {
  if (!attentionDocs.more) await run("live-more.js").catch(() => undefined);
  return attentionDocs.more;
};

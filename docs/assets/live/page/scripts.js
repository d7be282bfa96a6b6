// Scripts that are fetched when somebody asks for what is in them. They are classic scripts, because
// from a file browsers refuse modules and data, and write into `attentionDocs`.

const folder = /** @type {HTMLScriptElement} */ (document.currentScript).src;

/** @typedef {typeof import("../python.js").program} Program */
/** @typedef {{graphs: Record<string, any>, program?: Program, first?: Event}} AttentionDocs */

/** @type {AttentionDocs} */
export const attentionDocs = /** @type {any} */ (window).attentionDocs;

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

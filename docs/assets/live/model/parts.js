// Fetches the model's file in parts, and keeps them in the browser, so that an interrupted fetch goes on where it was.

const CACHE = "attention-docs-model";

/** @typedef {{ bytes: number, parts: { name: string, bytes: number }[] }} Manifest */

/** Return the bytes of the file. @param {string} folder its URL @param {(fetched: number, total: number) => void} onProgress */
export const fetchParts = async (folder, onProgress) => {
  // Without a secure connection, or if the reader forbids it, nothing can be kept.
  const cache = await globalThis.caches?.open(CACHE).catch(() => null);
  const manifestUrl = `${folder}parts.json`;
  const manifest = await fetch(manifestUrl).catch(() => cache?.match(manifestUrl));
  if (!manifest) throw new Error("The model could not be fetched. Are you online?");
  if (!manifest.ok) throw new Error("This copy of the site does not have the model.");
  await cache?.put(manifestUrl, manifest.clone()).catch(() => {});
  const { bytes, parts } = /** @type {Manifest} */ (await manifest.json());
  const file = new Uint8Array(bytes);
  let position = 0;
  for (const part of parts) {
    const url = folder + part.name;
    const kept = await cache?.match(url);
    const response = kept ?? (await fetch(url).catch(() => null));
    if (!response?.ok) throw interrupted(position, bytes);
    const copy = kept ? null : response.clone();
    const end = position + part.bytes;
    for await (const chunk of chunksOf(response)) {
      if (position + chunk.length > end) break;
      file.set(chunk, position);
      position += chunk.length;
      onProgress(position, bytes);
    }
    if (position !== end) {
      await cache?.delete(url);
      throw interrupted(end - part.bytes, bytes);
    }
    // If there is no room, the next visit fetches the part again.
    if (copy) await cache?.put(url, copy).catch(() => {});
  }
  return file;
};

/** @param {number} fetched @param {number} total */
const interrupted = (fetched, total) =>
  new Error(`The fetch stopped at ${Math.round((100 * fetched) / total)} %. Press the button again to go on from there.`);

/** @param {Response} response @returns {AsyncGenerator<Uint8Array>} */
async function* chunksOf(response) {
  const reader = response.body?.getReader();
  for (;;) {
    const { value } = (await reader?.read().catch(() => null)) ?? {};
    if (!value) return;
    yield value;
  }
}

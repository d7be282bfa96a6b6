// Fetches the model's file in parts, and keeps them in the browser, so that an interrupted fetch goes on where it was.

const CACHE = "attention-docs-model";

/** @typedef {{ bytes: number, parts: { name: string, bytes: number }[] }} Manifest */

/** Return the bytes of the file. @param {string} folder its URL @param {(fetched: number, total: number) => void} onProgress */
export const fetchParts = async (folder, onProgress) => {
  // Without a secure connection, or if the reader forbids it, nothing can be kept.
  const cache = await globalThis.caches?.open(CACHE).catch(() => null);
  const manifestUrl = `${folder}parts.json`;
  const manifest = (await fetch(manifestUrl).catch(() => null)) ?? (await cache?.match(manifestUrl));
  if (!manifest) throw new Error("The model could not be fetched. Are you online?");
  if (!manifest.ok) throw new Error("This copy of the site does not have the model.");
  await cache?.put(manifestUrl, manifest.clone()).catch(() => {});
  const { bytes, parts } = /** @type {Manifest} */ (await manifest.json());
  const file = allocate(bytes);
  let position = 0;
  for (const part of parts) {
    const url = folder + part.name;
    const response = (await cache?.match(url)) ?? (await keep(url, cache)) ?? (await fetch(url).catch(() => null));
    const content = response?.ok ? await response.arrayBuffer().catch(() => null) : null;
    if (content?.byteLength !== part.bytes) {
      await cache?.delete(url);
      const percent = Math.round((100 * position) / bytes);
      throw new Error(`The fetch stopped at ${percent} %. Press the button again to go on from there.`);
    }
    file.set(new Uint8Array(content), position);
    position += part.bytes;
    onProgress(position, bytes);
  }
  return file;
};

/** @param {number} bytes */
const allocate = (bytes) => {
  try {
    return new Uint8Array(bytes);
  } catch {
    throw new Error("The memory of this device is too small for the model.");
  }
};

/** Fetch into the cache, and read from there, because what is fetched into the memory would stay there; null if there is no room. @param {string} url @param {Cache | null | undefined} cache */
const keep = (url, cache) => cache?.add(url).then(() => cache.match(url), () => null);

// Answers with the page that docs/assets/live/page/controls/own_sentence.js keeps, where the network does not.
addEventListener("fetch", (event) => {
  const kept = () => caches.match(event.request, { ignoreSearch: true });
  event.respondWith(fetch(event.request).catch(async () => (await kept()) ?? Response.error()));
});

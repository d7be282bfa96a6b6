// A stand-in for the theme's search worker. The worker and its documents, which are most of a first visit's
// transfer, are loaded when a reader types; then this script passes on the latest query.

// The types of the theme's messages.
const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
const themeWorker = new URL(location.search.slice(1), location);
const documentsUrl = new URL("../search/documents.json", location);

let setupMessage, latestQuery, loading;

const loadWorker = async () => {
  const response = await fetch(documentsUrl);
  if (!response.ok) throw new Error(`${documentsUrl}: ${response.status}`);
  const { docs } = await response.json();
  importScripts(themeWorker);
  removeEventListener("message", receive);
  const send = (data) => dispatchEvent(new MessageEvent("message", { data }));
  send({ ...setupMessage, data: { ...setupMessage.data, docs } });
  // The theme's worker is set up in microtasks, so it is ready in the next task. Until then, remember newer
  // queries, so that the latest one is sent last.
  addEventListener("message", rememberQuery);
  setTimeout(() => {
    removeEventListener("message", rememberQuery);
    send(latestQuery);
  });
};

const rememberQuery = ({ data: message }) => {
  if (message.type === QUERY) latestQuery = message;
};

const receive = ({ data: message }) => {
  if (message.type === SETUP) {
    setupMessage = message;
    postMessage({ type: READY });
  } else if (message.type === QUERY && !message.data) {
    postMessage({ type: RESULT, data: { items: [] } });
  } else {
    latestQuery = message;
    loading ??= loadWorker().catch(() => {
      // Retry at the next letter.
      loading = undefined;
      postMessage({ type: RESULT, data: { items: [] } });
    });
  }
};
addEventListener("message", receive);

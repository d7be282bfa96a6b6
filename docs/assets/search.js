// A stand-in for the theme's search worker, with the theme's messages. It defers loading that worker and the
// documents, most of a first visit's transfer, until a reader types, and then passes on the latest query.
const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
const themeWorker = new URL(location.search.slice(1), location);
const documents = new URL("../search/documents.json", location);

let setup, query, loading;

const loadWorker = async () => {
  const response = await fetch(documents);
  if (!response.ok) throw new Error(`${documents}: ${response.status}`);
  const { docs } = await response.json();
  importScripts(themeWorker);
  removeEventListener("message", receive);
  const send = (data) => dispatchEvent(new MessageEvent("message", { data }));
  send({ ...setup, data: { ...setup.data, docs } });
  // The theme's worker is set up in microtasks, so it is ready in the next task. A query that arrives before
  // must not be overridden by an older one.
  addEventListener("message", rememberQuery);
  setTimeout(() => {
    removeEventListener("message", rememberQuery);
    send(query);
  });
};

const rememberQuery = ({ data: message }) => {
  if (message.type === QUERY) query = message;
};

const receive = ({ data: message }) => {
  if (message.type === SETUP) {
    setup = message;
    postMessage({ type: READY });
  } else if (message.type === QUERY && !message.data) {
    postMessage({ type: RESULT, data: { items: [] } });
  } else {
    query = message;
    loading ??= loadWorker().catch(() => {
      // Retry at the next letter.
      loading = undefined;
      postMessage({ type: RESULT, data: { items: [] } });
    });
  }
};
addEventListener("message", receive);

// Stands before the theme's search worker and answers for it until a reader types: only then are that
// worker and the documents, most of what a first visit would transfer, fetched. The messages are the
// theme's own; of queries that come meanwhile the last one counts.
const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
const themes = new URL(location.search.slice(1), location);
const documents = new URL("../search/documents.json", location);

let setup, query, fetching;

const fetchAll = async () => {
  const answer = await fetch(documents);
  if (!answer.ok) throw new Error(`${documents}: ${answer.status}`);
  const { docs } = await answer.json();
  importScripts(themes);
  removeEventListener("message", receive);
  const send = (data) => dispatchEvent(new MessageEvent("message", { data }));
  send({ ...setup, data: { ...setup.data, docs } });
  // The theme's worker sets up in promises; all of them are done before the next task. A letter typed
  // until then must not be followed by the query before it.
  addEventListener("message", remember);
  setTimeout(() => {
    removeEventListener("message", remember);
    send(query);
  });
};

const remember = ({ data: message }) => {
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
    fetching ??= fetchAll().catch(() => {
      // The next letter tries again.
      fetching = undefined;
      postMessage({ type: RESULT, data: { items: [] } });
    });
  }
};
addEventListener("message", receive);

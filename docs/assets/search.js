// A stand-in for the theme's search worker. The worker and its sections, which are most of a first visit's
// transfer, are loaded when a reader types; then this script passes on the queries, simplified, and ranks the results.

// The types of the theme's messages.
const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
const themeWorker = new URL(location.search.slice(1), location);
const documentsUrl = new URL("../search/documents.json", location);
// The theme matches the beginnings of words, so a word without its ending also finds other forms.
const INFLECTED = /^([a-z]{3,}?([a-z]))\2?(?:ing|e[ds]|(?<!s)s)$/;
// Every page is about attention, so the word distinguishes none; alone, it leads to the chapter on self-attention.
const UBIQUITOUS = "attention";

// Words of at least this length are corrected.
const SHORTEST_CORRECTED = 4;
// How much more a section counts that has all words of the query in its title, and a function whose name is the query.
const TITLE_BOOST = 5;
const NAMED_BOOST = 100;
// How much more an occurrence in a title or among the keywords counts than one in a text.
const TITLE_WEIGHT = 20;

let setupMessage, latestQuery, loading;
const occurrences = new Map(); // of each word in the documents, weighted
let isReady = false;

const loadWorker = async () => {
  const response = await fetch(documentsUrl);
  if (!response.ok) throw new Error(`${documentsUrl}: ${response.status}`);
  const { docs } = await response.json();
  for (const { title, keywords, text } of docs) {
    countWords(`${title} ${keywords}`, TITLE_WEIGHT);
    countWords(text, 1);
  }
  importScripts(themeWorker);
  send({ ...setupMessage, data: { ...setupMessage.data, docs } });
  // The theme's worker is set up in microtasks, so it is ready in the next task.
  setTimeout(() => {
    isReady = true;
    sendLatestQuery();
  });
};

const send = (data) => dispatchEvent(new MessageEvent("message", { data }));
const sendLatestQuery = () => send({ ...latestQuery, data: simplify(latestQuery.data) });

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+(?:\.\p{N}+)*/gu) ?? [];
const countWords = (text, weight) =>
  wordsOf(text).forEach((word) => occurrences.set(word, (occurrences.get(word) ?? 0) + weight));

// Whether a letter is missing, added, replaced or exchanged with the next one.
const isOneEditAway = (word, other) => {
  let i = 0;
  while (i < word.length && word[i] === other[i]) i += 1;
  const [rest, otherRest] = [word.slice(i), other.slice(i)];
  const isExchanged = rest[0] === otherRest[1] && rest[1] === otherRest[0];
  return (
    rest.slice(1) === otherRest.slice(1) ||
    rest.slice(1) === otherRest ||
    rest === otherRest.slice(1) ||
    (isExchanged && rest.slice(2) === otherRest.slice(2))
  );
};

// Replace a word that begins no word of the documents by the most common one that is an edit away.
const correct = (word) => {
  const known = [...occurrences.keys()];
  if (word.length < SHORTEST_CORRECTED || known.some((other) => other.startsWith(word))) return word;
  const similar = known.filter((other) => isOneEditAway(word, other));
  return similar.reduce((best, other) => (occurrences.get(other) > (occurrences.get(best) ?? 0) ? other : best), word);
};

// Remove what the theme would read as operators, and words that do not distinguish pages.
const simplify = (query) => {
  const words = wordsOf(query).map(correct);
  const content = words.filter(self.lunr.stopWordFilter);
  // A number tells models such as Llama 4 from others, but among many words it says little.
  const isNoise = (word) => word === UBIQUITOUS || (content.length > 2 && /^\d+$/.test(word));
  const distinctive = content.filter((word) => !isNoise(word));
  const isAlone = content.length > 0 && distinctive.length === 0;
  return (isAlone ? ["self", UBIQUITOUS] : distinctive).map(toTerm).join(" ");
};

// With a boost, even of 1, only the whole word matches: many words begin like the letter of a matrix.
const toTerm = (word) => (word.length === 1 ? `${word}^1` : word.replace(INFLECTED, "$1"));

// How many bits it takes to name a word that begins so: rare words take most.
const bitsOf = (start) => {
  const total = (counts) => counts.reduce((sum, count) => sum + count, 0);
  const counts = [...occurrences].filter(([word]) => word.startsWith(start)).map(([, count]) => count);
  return Math.log2(total([...occurrences.values()]) / (1 + total(counts)));
};
// The theme lets a word that is frequent in titles outweigh all others. Here sections that have the rare words of a
// query come first, above all those that name all of its words in their title, and a function of this name. The theme
// shows those that score as high as the best of their page, and folds the others. So that not only the beginning of a
// page is shown, unless it is what the query names, the best section below it that has as many words scores as high.
const rank = (pages, query) => {
  const bits = new Map(Object.keys(pages[0]?.[0].terms ?? {}).map((term) => [term, bitsOf(term)]));
  const bitsFound = ({ terms }) => Array.from(bits, ([term, count]) => (terms[term] ? count : 0)).reduce((a, b) => a + b);
  const bitsOfAll = [...bits.values()].reduce((a, b) => a + b, 0);
  const isNamed = ({ title }) => {
    const words = wordsOf(title.replace(/<[^>]*>/g, ""));
    return [...bits.keys()].every((term) => words.some((word) => word.startsWith(term)));
  };
  for (const section of pages.flat()) {
    section.score *= (bitsFound(section) / bitsOfAll) ** 2;
    if (bits.size > 1 && isNamed(section)) section.score *= TITLE_BOOST;
    if (query.includes("_") && section.location.endsWith(`.${query.trim()}`)) section.score *= NAMED_BOOST;
  }
  const byScore = (a, b) => b.score - a.score;
  for (const sections of pages) {
    const [best, ...others] = sections.sort(byScore);
    const least = bitsFound(best);
    const isBeginning = !best.location.includes("#") && !isNamed(best);
    const below = others.find((section) => bitsFound(section) > least || (isBeginning && bitsFound(section) === least));
    if (below) below.score = best.score;
    sections.sort(byScore);
  }
  pages.sort(([a], [b]) => byScore(a, b));
};
const post = self.postMessage.bind(self);
self.postMessage = (message) => {
  if (message.type === RESULT) rank(message.data.items, latestQuery.data);
  post(message);
};

const receive = (event) => {
  // Events that this script dispatches are for the theme's worker, and those of the page are not.
  if (!event.isTrusted) return;
  event.stopImmediatePropagation();
  const message = event.data;
  if (message.type === SETUP) {
    setupMessage = message;
    post({ type: READY });
  } else if (message.type === QUERY && !message.data) {
    post({ type: RESULT, data: { items: [] } });
  } else {
    latestQuery = message;
    if (isReady) sendLatestQuery();
    loading ??= loadWorker().catch(() => {
      // Retry at the next letter.
      loading = undefined;
      post({ type: RESULT, data: { items: [] } });
    });
  }
};
addEventListener("message", receive);

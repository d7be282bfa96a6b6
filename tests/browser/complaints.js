// Stands first in each page that the engines' tests load, and keeps what an engine would write to its
// console, as WebKit's cannot be read.
(() => {
  const complaints = (window.complaints = []);
  const failed = ({ src, href, localName }) => `${localName} ${src ?? href} did not load`;
  // Firefox fetches the page that a link names as the next one when it is idle, and may give up.
  const isHint = ({ rel }) => ["next", "prefetch", "prev"].includes(rel);
  addEventListener(
    "error",
    (e) => isHint(e.target) || complaints.push(e.message ?? failed(e.target)),
    true
  );
  addEventListener("unhandledrejection", (e) => complaints.push(`unhandled: ${e.reason}`));
  document.addEventListener("securitypolicyviolation", (e) =>
    complaints.push(`${e.effectiveDirective} refuses ${e.blockedURI || e.sample}`)
  );
  for (const level of ["error", "warn"]) {
    const write = console[level];
    console[level] = (...told) => (complaints.push(told.join(" ")), write.apply(console, told));
  }
})();

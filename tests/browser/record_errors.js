// Record errors and warnings in `window.errors`, because WebKit's console cannot be read. test_engines.py
// inserts this as the first script of each page.
(() => {
  const errors = (window.errors = []);
  const describe = ({ src, href, localName }) => `${localName} ${src ?? href} did not load`;
  // Firefox prefetches rel=next when idle, and may give up.
  const isHint = ({ rel }) => ["next", "prefetch", "prev"].includes(rel);
  addEventListener(
    "error",
    (e) => isHint(e.target) || errors.push(e.message ?? describe(e.target)),
    true
  );
  addEventListener("unhandledrejection", (e) => errors.push(`unhandled: ${e.reason}`));
  document.addEventListener("securitypolicyviolation", (e) =>
    errors.push(`${e.effectiveDirective} refuses ${e.blockedURI || e.sample}`)
  );
  for (const level of ["error", "warn"]) {
    const write = console[level];
    console[level] = (...values) => (errors.push(values.join(" ")), write.apply(console, values));
  }
})();

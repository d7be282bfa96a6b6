// Record errors and warnings in `window.errors`, because WebKit's console cannot be read. test_engines.py
// inserts this as the first script of each page.
(() => {
  const errors = (window.errors = []);
  // Firefox prefetches rel=next when idle, and may give up.
  const isPrefetched = ({ rel }) => ["next", "prefetch", "prev"].includes(rel);
  const onError = ({ message, target }) => {
    if (isPrefetched(target)) return;
    errors.push(message ?? `${target.localName} ${target.src ?? target.href} did not load`);
  };
  // Elements that fail to load dispatch events that do not bubble, so listen in the capture phase.
  addEventListener("error", onError, true);
  addEventListener("unhandledrejection", ({ reason }) => errors.push(`unhandled: ${reason}`));
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) =>
    errors.push(`${effectiveDirective} refuses ${blockedURI || sample}`)
  );
  for (const level of ["error", "warn"]) {
    const log = console[level];
    console[level] = (...values) => {
      errors.push(values.join(" "));
      log.apply(console, values);
    };
  }
})();

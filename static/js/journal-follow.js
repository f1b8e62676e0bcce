// A narrowed journal: when the site has new facts, the rows that fit are asked for again, at most once in two seconds.
import { applyFragments } from "pilothouse/htmx-bridge";

const REST_MS = 2000;
const page = document.getElementById("journal-follow");
let waiting = 0;
let last = 0;

async function refresh() {
  waiting = 0;
  last = performance.now();
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" }).catch(() => null);
  if (!answer?.ok) return; // the next fact tries again, and the socket says how old the page is
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ["journal-rows", "journal-seal"]) {
    const part = fresh.getElementById(id);
    if (part) applyFragments(part.outerHTML);
  }
}

new MutationObserver(() => {
  if (!waiting) waiting = setTimeout(refresh, Math.max(0, REST_MS - (performance.now() - last)));
}).observe(page, { attributeFilter: ["data-position"] });

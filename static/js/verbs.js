// What the page can do by name, for keys, the command menu and buttons alike: one verb, one place.
import { postAndGo } from "pilothouse/htmx-bridge";

const verbs = new Map();

export function offer(name, action) {
  verbs.set(name, action);
}

export function run(name) {
  verbs.get(name)?.();
}

export function follow(entry) {
  if (entry.verb) run(entry.verb);
  else if (entry.post) postAndGo(entry.post, entry.fields);
  else if (entry.href) location.assign(entry.href);
}

offer("pause", () => {
  const isPaused = document.querySelector("live-socket")?.togglePause() ?? false;
  document.dispatchEvent(new CustomEvent("pilothouse:paused", { detail: isPaused }));
});

offer("keys", () => document.getElementById("keys-sheet")?.showPopover());

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-verb]");
  if (button) run(button.dataset.verb);
});

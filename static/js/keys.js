// Every key of the page, from data: an element with data-keys="g o" is followed or pressed, one with data-keys-do runs a verb.
// Single keys are dead in inputs, while a dialog is open, and when the person switched them off.
import { createKeybindingsHandler } from "tinykeys";
import { run } from "pilothouse/verbs";

const SEQUENCE_MS = 1000;
let prefixAt = -Infinity;

// A field in a dialog that just closed keeps the focus until the next frame: who presses a key then is not editing it.
function editing(target) {
  const field = target instanceof Element && target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
  return Boolean(field) && field.checkVisibility();
}

function singleKeysOff() {
  return document.documentElement.dataset.singleKeys === "off";
}

function overlayOpen() {
  return document.querySelector("dialog[open], :popover-open") !== null;
}

// A letter that ends a sequence (g t) must not also act as the single key t.
function inSequence() {
  return performance.now() - prefixAt < SEQUENCE_MS;
}

function single(action) {
  return (event) => {
    if (event.repeat && !event.key.match(/^[jk]$/)) return;
    if (editing(event.target) || singleKeysOff() || inSequence() || overlayOpen()) return;
    action(event);
  };
}

function follow(keys) {
  const element = document.querySelector(`[data-keys="${CSS.escape(keys)}"]`);
  if (!element || element.closest("[hidden]")) return false;
  element.click();
  return true;
}

function step(by) {
  const rows = [...document.querySelectorAll("main tbody tr, main [data-row]")].filter((row) => row.offsetParent);
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
  if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function open(event) {
  if (!event.target.matches("main tr, main [data-row]")) return;
  const link = event.target.querySelector("a[href], summary, button:not([data-stop-subject])");
  if (!link) return;
  event.preventDefault();
  link.focus();
  link.click();
}

const bindings = {
  "$mod+k": (event) => {
    event.preventDefault();
    run("menu");
  },
  "?": single(() => run("keys")),
  "Shift+?": single(() => run("keys")),
  "/": single((event) => {
    event.preventDefault();
    const filter = document.querySelector("main [data-filter]");
    if (filter) filter.focus();
    else run("menu");
  }),
  j: single(() => step(1)),
  k: single(() => step(-1)),
  t: single(() => run("theme")),
  Enter: single(open),
  Space: single((event) => {
    if (event.target instanceof Element && event.target.closest("button, a, summary, input, [role=option], hold-button")) return;
    event.preventDefault();
    run("pause");
  }),
  "Shift+R": single(() => follow("R")),
  // Stop works wherever the focus is, whatever is open.
  "$mod+Period": (event) => {
    event.preventDefault();
    if (!event.repeat) run("stop-subject");
  },
  "$mod+Shift+Period": (event) => {
    event.preventDefault();
    if (!event.repeat) run("stop-site");
  },
};

// The keys of one page: data-keys="a" on the button or link that it presses.
for (const key of [..."abcdefhilmnopqrsuvwxyz1234567890", ",", ".", "[", "]"]) {
  bindings[key] ??= single((event) => follow(key) && event.preventDefault());
}

for (const letter of "abcdefghijklmnopqrstuvwxyz") {
  bindings[`g ${letter}`] = (event) => {
    if (editing(event.target) || singleKeysOff() || overlayOpen()) return;
    follow(`g ${letter}`);
  };
}

const handle = createKeybindingsHandler(bindings, { timeout: SEQUENCE_MS });
document.addEventListener("keydown", (event) => {
  handle(event);
  const prefix = event.key === "g" && !event.ctrlKey && !event.metaKey && !event.altKey;
  prefixAt = prefix ? performance.now() : -Infinity;
});

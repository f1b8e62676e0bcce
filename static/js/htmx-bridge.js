// The only file that knows htmx: its event names, its config, its globals. Everything else asks here.
const root = document.documentElement;
const ERROR_CODES = new Set([400, 403, 404, 409, 412, 429, 500, 503]);

export function csrfToken() {
  return document.querySelector('meta[name="csrf-token"]')?.content ?? "";
}

// A POST that leaves the page, as a form would: the answer is a page or a redirect.
export function postAndGo(url, fields = {}) {
  const form = document.createElement("form");
  form.method = "post";
  form.action = url;
  for (const [name, value] of Object.entries({ ...fields, csrfmiddlewaretoken: csrfToken() })) {
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}

// A POST in the background. Resolves to the response, never throws on a status.
export function postQuietly(url, fields) {
  return fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "X-CSRFToken": csrfToken(), "HX-Request": "true" },
    signal: AbortSignal.timeout(5000),
  });
}

const MORPH = {
  morphStyle: "outerHTML",
  ignoreActiveValue: true, // what a person is typing is theirs
  restoreFocus: true,
  callbacks: {
    // An open menu, dialog or question is a choice of the person, not of the server. A row that was stepped to has its
    // tabindex from the keyboard: without it the row would lose the focus.
    beforeAttributeUpdated: (name, node, change) =>
      !(name === "open" && node.matches("details, dialog")) && !(name === "tabindex" && change === "remove" && node === document.activeElement),
    // A table that someone is reading keeps its rows where they are.
    beforeNodeMorphed: (old, fresh) => !(old.tagName === "TBODY" && old.parentElement?.closest("held-table")?.hold(old, fresh)),
  },
};

// Fields that a person has changed and not sent yet. What they chose is theirs, whatever the server draws meanwhile.
const unsent = new Set();
document.addEventListener("input", (event) => event.target.matches("input, select, textarea") && unsent.add(event.target));
document.addEventListener("reset", (event) => forgetUnsent(event.target));

function forgetUnsent(inside) {
  for (const field of unsent) if (inside.contains(field) || !field.isConnected) unsent.delete(field);
}

function keepingUnsent(apply) {
  const kept = [...unsent].map((field) => ({ field, value: field.value, checked: field.checked }));
  const result = apply();
  for (const { field, value, checked } of kept) {
    const offered = field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value);
    if (offered) field.value = value;
    if (checked !== undefined) field.checked = checked;
  }
  return result;
}

export function morph(target, fresh) {
  keepingUnsent(() => window.Idiomorph.morph(target, fresh, MORPH));
  const now = document.getElementById(fresh.id) ?? target;
  if (now.isConnected) window.htmx.process(now);
}

// Fragments pushed by the server: each root has an id and says how it goes in.
export function applyFragments(html) {
  const box = document.createElement("template");
  box.innerHTML = html;
  for (const fresh of [...box.content.children]) {
    const [how, selector] = splitOnce(fresh.getAttribute("hx-swap-oob") || "morph");
    fresh.removeAttribute("hx-swap-oob");
    const target = selector ? document.querySelector(selector) : document.getElementById(fresh.id);
    if (!target) continue;
    if (how === "delete") target.remove();
    else if (how === "beforeend" || how === "afterbegin") {
      const known = fresh.id && document.getElementById(fresh.id);
      if (known) morph(known, fresh);
      else {
        target.insertAdjacentElement(how, fresh);
        window.htmx.process(fresh);
      }
    } else morph(target, fresh);
  }
}

function splitOnce(text) {
  const at = text.indexOf(":");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

// Where a refusal is shown: beside the act, in the nearest result slot, else at the top of the page.
function resultSlot(element) {
  for (let at = element; at; at = at.parentElement) {
    const slot = at.querySelector(":scope > .result, :scope > form > .result");
    if (slot) return slot;
  }
  return document.getElementById("page-result");
}

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = csrfToken();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  event.detail.elt.setAttribute("aria-busy", "true");
});

document.addEventListener("htmx:afterRequest", (event) => {
  event.detail.elt.removeAttribute("aria-busy");
});

document.addEventListener("htmx:beforeSwap", (event) => {
  if (!ERROR_CODES.has(event.detail.xhr.status)) return forgetUnsent(event.detail.requestConfig.elt);
  const slot = resultSlot(event.detail.requestConfig.elt);
  if (!slot) return;
  event.detail.shouldSwap = true;
  event.detail.target = slot;
  event.detail.swapOverride = "innerHTML";
});

function sayNoAnswer(event) {
  const slot = resultSlot(event.detail.elt);
  const words = document.getElementById("no-answer");
  if (slot && words) slot.replaceChildren(words.content.cloneNode(true));
}
document.addEventListener("htmx:sendError", sayNoAnswer);
document.addEventListener("htmx:timeout", sayNoAnswer);

document.addEventListener("htmx:afterSettle", () => {
  document.dispatchEvent(new CustomEvent("pilothouse:page-changed"));
});

// Parts of this page as the server would draw them now. A page that cannot be read changes nothing; what it shows has its age.
export async function refreshParts(ids) {
  const answer = await fetch(location.href, { signal: AbortSignal.timeout(10000) }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ids) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (old && fresh) morph(old, document.importNode(fresh, true));
  }
}

export function onPageChanged(listener) {
  document.addEventListener("pilothouse:page-changed", listener);
}

root.dataset.ready = "true";

// The answer to a person's own act is shown at once: tables hold still only against what others do.
function ownAct(apply) {
  const tables = [...document.querySelectorAll("held-table")];
  for (const table of tables) table.isHolding = false;
  try {
    return apply();
  } finally {
    for (const table of tables) table.forget?.();
  }
}

window.htmx?.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap: (style, target, fragment) => style === "morph" && ownAct(() => keepingUnsent(() => [...window.Idiomorph.morph(target, fragment.firstElementChild ?? "", MORPH)])),
});

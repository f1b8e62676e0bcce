// <command-menu>: find or do anything from the keyboard. Entries are the page's own links and the verbs the server offers.
import { follow, offer } from "pilothouse/verbs";

function score(entry, words) {
  const text = `${entry.label} ${entry.where ?? ""} ${entry.also ?? ""}`.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return -1;
    sum += at === 0 || text[at - 1] === " " ? 0 : 10 + at;
  }
  return sum;
}

class CommandMenu extends HTMLElement {
  #entries = [];
  #shown = [];
  #at = 0;

  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.input = this.querySelector("input");
    this.list = this.querySelector("[role=listbox]");
    this.count = this.querySelector("[role=status]");
    this.input.addEventListener("input", () => this.#filter());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#choose(Number(option.dataset.index));
    });
    offer("menu", () => this.open());
  }

  open() {
    if (this.dialog.matches(":popover-open")) return;
    this.#entries = [...this.#links(), ...JSON.parse(document.getElementById("commands")?.textContent ?? "[]")];
    this.input.value = "";
    this.#filter();
    this.dialog.showPopover(); // not modal: Stop stays in reach, and a click outside closes it
    this.input.focus();
  }

  #links() {
    const found = new Map();
    for (const link of document.querySelectorAll("a[data-command]")) {
      const label = link.dataset.command || link.textContent.trim();
      found.set(link.href, { label, href: link.href, where: link.dataset.where ?? "Go to", keys: link.dataset.keys, icon: link.dataset.icon });
    }
    return found.values();
  }

  #filter() {
    const words = this.input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const scored = this.#entries.map((entry, order) => ({ entry, order, points: score(entry, words) }));
    this.#shown = scored.filter((one) => one.points >= 0).sort((a, b) => a.points - b.points || a.order - b.order).map((one) => one.entry);
    this.#at = 0;
    this.#draw();
  }

  #draw() {
    const row = document.getElementById("command-row");
    const options = this.#shown.map((entry, index) => {
      const option = row.content.firstElementChild.cloneNode(true);
      option.id = `command-${index}`;
      option.dataset.index = index;
      option.querySelector("[data-label]").textContent = entry.label;
      option.querySelector("[data-where]").textContent = entry.where ?? "Do";
      const use = option.querySelector("use");
      use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#i-${entry.icon || "dash"}`));
      const keys = option.querySelector("[data-keys-shown]");
      keys.replaceChildren(...(entry.keys ?? "").split(" ").filter(Boolean).map((key) => Object.assign(document.createElement("kbd"), { textContent: key })));
      return option;
    });
    this.list.replaceChildren(...options);
    this.count.textContent = this.#shown.length ? `${this.#shown.length} found` : `Nothing matches “${this.input.value.trim()}”`;
    this.#mark();
  }

  #mark() {
    this.list.querySelectorAll("[role=option]").forEach((option, index) => {
      option.setAttribute("aria-selected", String(index === this.#at));
      if (index === this.#at) option.scrollIntoView({ block: "nearest" });
    });
    if (this.#shown.length) this.input.setAttribute("aria-activedescendant", `command-${this.#at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      event.preventDefault();
      const many = this.#shown.length;
      if (many) this.#at = (this.#at + moves[event.key] + many) % many;
      this.#mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#choose(this.#at);
    }
  }

  #choose(index) {
    const entry = this.#shown[index];
    if (!entry) return;
    this.dialog.hidePopover();
    follow(entry);
  }
}

customElements.define("command-menu", CommandMenu);

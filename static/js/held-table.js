// <held-table>: while the pointer or the focus is inside, rows stay where they are. Values still change; order, new and gone rows wait.
import { morph } from "pilothouse/htmx-bridge";

const LEAVE_MS = 400;

class HeldTable extends HTMLElement {
  #waiting = null;
  isHolding = true;

  connectedCallback() {
    this.words = this.querySelector("[data-held-words]");
    this.rest = this.words?.textContent ?? "";
    this.querySelector("[data-apply]")?.addEventListener("click", () => this.apply());
    for (const name of ["mouseleave", "focusout"]) {
      this.addEventListener(name, () => setTimeout(() => this.#isHeld() || this.apply(), LEAVE_MS));
    }
  }

  #isHeld() {
    return this.matches(":hover") || this.contains(document.activeElement);
  }

  // Asked by the bridge before it changes a table body. True: it was dealt with here.
  hold(body, fresh) {
    if (!this.isHolding || !this.#isHeld()) return false;
    const now = [...body.rows].map((row) => row.id);
    const next = [...fresh.rows].map((row) => row.id);
    const kept = next.filter((id) => now.includes(id));
    const moved = now.filter((id) => next.includes(id)).filter((id, index) => kept[index] !== id).length;
    const changes = next.length - kept.length + (now.length - kept.length) + moved;
    const later = changes ? fresh.cloneNode(true) : null;
    for (const row of [...fresh.rows]) {
      const old = document.getElementById(row.id);
      if (old && body.contains(old)) morph(old, row);
    }
    this.#waiting = later;
    this.#draw(changes);
    return true;
  }

  apply() {
    if (!this.#waiting) return;
    const fresh = this.#waiting;
    this.isHolding = false;
    morph(document.getElementById(fresh.id), fresh);
    this.forget();
  }

  // What waited is shown, or overtaken by something newer.
  forget() {
    this.#waiting = null;
    this.isHolding = true;
    this.#draw(0);
  }

  #draw(changes) {
    this.toggleAttribute("data-waiting", changes > 0);
    if (this.words) this.words.textContent = changes ? `Order held while you are in the table. ${changes} ${changes === 1 ? "change waits" : "changes wait"}.` : this.rest;
  }
}

customElements.define("held-table", HeldTable);

// <refresh-with topic="…" position="n" parts="id id">: parts that the socket does not draw are drawn again by the server once the
// topic is past the position they were drawn at.
import { refreshParts } from "pilothouse/htmx-bridge";

const GATHER_MS = 300; // a flood of facts is one look

class RefreshWith extends HTMLElement {
  connectedCallback() {
    const followed = document.querySelector(`[data-topic="${CSS.escape(this.getAttribute("topic"))}"]`);
    if (!followed) return;
    this.drawnAt = Number(this.getAttribute("position") || 0);
    this.observer = new MutationObserver(() => this.#moved(Number(followed.dataset.position || 0)));
    this.observer.observe(followed, { attributes: true, attributeFilter: ["data-position"] });
    this.#moved(Number(followed.dataset.position || 0));
  }

  #moved(position) {
    if (position <= this.drawnAt) return;
    this.drawnAt = position;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => refreshParts(this.getAttribute("parts").split(" ")), GATHER_MS);
  }

  disconnectedCallback() {
    this.observer?.disconnect();
    clearTimeout(this.waiting);
  }
}

customElements.define("refresh-with", RefreshWith);

// <refresh-with topic="…" parts="id id">: parts of a page that its socket does not draw are drawn again by the server when the topic moved.
import { refreshParts } from "pilothouse/htmx-bridge";

const GATHER_MS = 300; // a flood of facts is one look
const FRESH_MS = 3000; // what the socket says at first only brings the page up to what it was drawn with

class RefreshWith extends HTMLElement {
  connectedCallback() {
    const followed = document.querySelector(`[data-topic="${CSS.escape(this.getAttribute("topic"))}"]`);
    if (!followed) return;
    const drawnAt = performance.now();
    let known = followed.dataset.position || "0";
    this.observer = new MutationObserver(() => {
      const now = followed.dataset.position;
      if (!now || now === known) return;
      const isFirst = known === "0" && performance.now() - drawnAt < FRESH_MS;
      known = now;
      clearTimeout(this.waiting);
      if (!isFirst) this.waiting = setTimeout(() => refreshParts(this.getAttribute("parts").split(" ")), GATHER_MS);
    });
    this.observer.observe(followed, { attributes: true, attributeFilter: ["data-position"] });
  }

  disconnectedCallback() {
    this.observer?.disconnect();
    clearTimeout(this.waiting);
  }
}

customElements.define("refresh-with", RefreshWith);

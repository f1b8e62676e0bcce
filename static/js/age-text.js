// <age-text since="epoch ms" limit="seconds">: how old a value is. Past its limit it says so in words and gets a dashed edge.
// `data-paused` on the document freezes every age, so a paused page never pretends to be fresh.
import { ageWords, serverNow } from "pilothouse/clock";

const shown = new Set();
let timer = 0;

function tick() {
  for (const element of shown) element.draw();
}

class AgeText extends HTMLElement {
  static observedAttributes = ["since", "limit"];

  connectedCallback() {
    this.classList.add("age");
    shown.add(this);
    this.draw();
    timer ||= setInterval(tick, 500);
  }

  disconnectedCallback() {
    shown.delete(this);
    if (!shown.size) timer = clearInterval(timer) || 0;
  }

  attributeChangedCallback() {
    if (this.isConnected) this.draw();
  }

  draw() {
    const since = Number(this.getAttribute("since"));
    const limit = Number(this.getAttribute("limit") || Infinity);
    const age = serverNow() - since;
    const late = Boolean(since) && age > limit * 1000;
    const words = since ? ageWords(age) + (late ? " old" : "") : "none yet";
    if (this.textContent !== words) this.textContent = words;
    this.classList.toggle("stale", late);
    this.closest("[data-value]")?.classList.toggle("stale", late);
  }
}

customElements.define("age-text", AgeText);

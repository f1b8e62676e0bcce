// <live-socket url="/ws/">: the page's one socket. Follows what the page shows, says how fresh it is, resumes from a position.
import { applyFragments, onPageChanged } from "pilothouse/htmx-bridge";
import { ageWords, noteServerTime } from "pilothouse/clock";

const STALE_MS = 3000;
const PING_MS = 10000;
const BACKOFF_MS = [400, 800, 1600, 3200, 6400, 12000];
const HELD_MOST = 200;

class LiveSocket extends HTMLElement {
  #socket = null;
  #positions = new Map();
  #refused = new Set();
  #held = [];
  #paused = false;
  #ended = "";
  #heard = false;
  #tries = 0;
  #lastTick = performance.now();
  #lastEvent = 0;
  #timers = [];

  connectedCallback() {
    this.words = this.querySelector(".live-words");
    this.#connect();
    this.#timers = [setInterval(() => this.#draw(), 250), setInterval(() => this.#send({ op: "ping", t: Date.now() }), PING_MS)];
    onPageChanged(() => this.#subscribe());
    window.addEventListener("online", () => this.#reconnectNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.#reconnectNow());
  }

  disconnectedCallback() {
    this.#timers.forEach(clearInterval);
    this.#socket?.close(1000);
  }

  // Space: stop the page from moving under the eyes. What arrives waits, in order.
  togglePause() {
    this.#paused = !this.#paused;
    if (!this.#paused) this.#release();
    this.#draw();
    return this.#paused;
  }

  #connect() {
    clearTimeout(this.retry);
    const url = new URL(this.getAttribute("url"), location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.#socket = new WebSocket(url));
    socket.addEventListener("open", () => {
      this.#refused.clear();
      this.#subscribe(true);
    });
    socket.addEventListener("message", (event) => this.#receive(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => socket === this.#socket && this.#closed(event));
  }

  #closed(event) {
    this.#socket = null;
    if (event.code === 4401) return this.#end("Signed out. This page no longer changes.");
    if (event.code === 4403) return this.#end("Your right to follow this page was removed.");
    const most = BACKOFF_MS[Math.min(this.#tries++, BACKOFF_MS.length - 1)];
    this.retry = setTimeout(() => this.#connect(), most / 2 + Math.random() * (most / 2));
    this.#draw();
  }

  #reconnectNow() {
    if (!this.#socket && !this.#ended) this.#connect();
  }

  #end(words) {
    this.#ended = words;
    const notice = document.getElementById("session-ended");
    if (notice) {
      notice.hidden = false;
      notice.querySelector("[data-words]").textContent = words;
    }
    this.#draw();
  }

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  // What the page shows decides what is followed; the newest position known wins.
  #subscribe(all = false) {
    const wanted = [];
    for (const element of document.querySelectorAll("[data-topic]")) {
      const topic = element.dataset.topic;
      const known = this.#positions.has(topic);
      const position = Math.max(Number(element.dataset.position || 0), this.#positions.get(topic) ?? 0);
      this.#positions.set(topic, position);
      if ((all || !known) && !wanted.some((one) => one.topic === topic)) wanted.push({ topic, position });
    }
    if (wanted.length) this.#send({ op: "subscribe", topics: wanted });
  }

  #receive(message) {
    this.#heard = true;
    if (message.op === "tick") {
      this.#lastTick = performance.now();
      this.#tries = 0;
      noteServerTime(message.t);
    } else if (message.op === "fragments" || message.op === "resync") {
      if (this.#paused && this.#held.length < HELD_MOST) this.#held.push(message);
      else if (!this.#paused) this.#apply(message);
    } else if (message.op === "subscribed") {
      this.#lastTick = performance.now();
    } else if (message.op === "refused") {
      this.#refused.add(message.topic);
    }
    this.#draw();
  }

  #apply(message) {
    const held = this.#positions.get(message.topic) ?? 0;
    if (message.op === "fragments" && message.position <= held) return;
    applyFragments(message.html);
    this.#positions.set(message.topic, message.position);
    for (const element of document.querySelectorAll("[data-topic]")) {
      if (element.dataset.topic === message.topic) element.dataset.position = message.position;
    }
    if (held) this.#lastEvent = performance.now(); // the first one only brings the page up to date
  }

  #release() {
    const full = this.#held.length >= HELD_MOST;
    this.#held.splice(0).forEach((message) => this.#apply(message));
    if (full) this.#subscribe(true); // more was dropped than held: ask again from the last one applied
  }

  #draw() {
    const silent = performance.now() - this.#lastTick;
    const late = silent > STALE_MS || Boolean(this.#ended);
    this.dataset.state = this.#ended ? "ended" : late ? "late" : this.#paused ? "paused" : "live";
    document.querySelector("main")?.toggleAttribute("data-stale", late);
    const words = this.#sentence(silent, late);
    if (this.words && this.words.textContent !== words) this.words.textContent = words;
  }

  #sentence(silent, late) {
    if (this.#ended) return this.#ended;
    if (late) return `Reconnecting, values are ${ageWords(silent)} old`;
    if (!this.#heard) return "Connecting";
    if (this.#paused) return `Paused, ${this.#held.length} changes wait`;
    if (this.#refused.size) return "Live in part: some of this page is not yours to follow";
    if (!this.#lastEvent) return "Live, no event since this page was opened";
    return `Live, last event ${ageWords(performance.now() - this.#lastEvent)} ago`;
  }
}

customElements.define("live-socket", LiveSocket);

// <gateway-socket url="ws://…/control" site="uuid">: the page's one socket to the robots. Keeps the newest of what each subject
// said and when that arrived; whoever draws asks for it here. Nothing of it is ever shown as newer than it is.
import { ageOf, gatewayNow, noteRoundTrip, noteTime, stamp } from "pilothouse/gateway-clock";

export const LATE_MS = 3000; // a state older than this is late; so is a socket that was silent for as long
const PING_MS = 1000;
const BACKOFF_MS = [300, 600, 1200, 2400, 4800, 8000];
const ENDED = { 4401: "Signed out. Nothing here changes any more.", 4403: "Your role at this site was removed. Nothing here changes any more." };

class Gateway extends EventTarget {
  subjects = new Map(); // by id: {id, about, state, report, link, offsetMs, cameras}
  ended = "";
  #places = [];
  #wants = new Map();
  #socket = null;
  #url = "";
  #site = "";
  #tries = 0;
  #heardAt = -Infinity;
  #openedOnce = false;
  #asked = 0;

  start(url, site) {
    this.#url = url;
    this.#site = site;
    this.#connect();
    setInterval(() => this.#beat(), PING_MS);
    window.addEventListener("online", () => this.#again());
    document.addEventListener("visibilitychange", () => document.hidden || this.#again());
  }

  // What one part of the page wants to see: {floor, subjects, pictures}. Parts are put together; asked for again after a reconnect.
  want(part, wanted) {
    const before = JSON.stringify(this.#wants.get(part));
    this.#wants.set(part, wanted);
    if (JSON.stringify(wanted) === before) return;
    cancelAnimationFrame(this.#asked);
    this.#asked = requestAnimationFrame(() => this.#watch());
  }

  // True: the socket took it. What a closed socket would have taken is never kept for later.
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  get site() {
    return this.#site;
  }

  get httpUrl() {
    return this.#url.replace(/^ws/, "http").replace(/\/control$/, "");
  }

  get silentMs() {
    return performance.now() - this.#heardAt;
  }

  // "connecting", "live", "lost" or "ended".
  get link() {
    if (this.ended) return "ended";
    if (!this.#openedOnce) return performance.now() < LATE_MS ? "connecting" : "lost";
    return this.silentMs > LATE_MS ? "lost" : "live";
  }

  entry(id) {
    if (!this.subjects.has(id)) this.subjects.set(id, { id, about: null, state: null, report: null, link: "", offsetMs: null, cameras: {} });
    return this.subjects.get(id);
  }

  #watch() {
    const parts = [...this.#wants.values()];
    const subjects = [...new Set(parts.flatMap((one) => one.subjects ?? []))].slice(0, 4);
    const pictures = parts.flatMap((one) => one.pictures ?? []).slice(0, 24);
    if (parts.length) this.send({ op: "watch", site: this.#site, floor: parts.some((one) => one.floor), subjects, pictures });
  }

  #connect() {
    clearTimeout(this.retry);
    const socket = (this.#socket = new WebSocket(this.#url));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.#places = [];
      this.#watch();
      this.#beat();
    });
    socket.addEventListener("message", (event) => socket === this.#socket && this.#receive(event.data));
    socket.addEventListener("close", (event) => socket === this.#socket && this.#closed(event));
  }

  #closed(event) {
    this.#socket = null;
    this.ended = ENDED[event.code] ?? "";
    if (this.ended) return this.#tell("link");
    const most = BACKOFF_MS[Math.min(this.#tries++, BACKOFF_MS.length - 1)];
    this.retry = setTimeout(() => this.#connect(), most / 2 + Math.random() * (most / 2));
    this.#tell("link");
  }

  #again() {
    if (!this.#socket && !this.ended) this.#connect();
  }

  #beat() {
    this.send({ op: "ping", t: stamp() });
    this.#tell("link");
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #receive(data) {
    this.#heardAt = performance.now();
    this.#openedOnce = true;
    this.#tries = 0;
    if (typeof data !== "string") return this.#picture(data);
    const message = JSON.parse(data);
    if (message.now_ms && message.op !== "pong") noteTime(message.now_ms);
    this[`on_${message.op}`]?.(message);
    this.#tell(message.op, message);
  }

  on_pong(message) {
    noteRoundTrip(message.t, message.now_ms);
  }

  on_subjects(message) {
    for (const about of message.list) {
      const entry = this.entry(about.id);
      entry.about = about;
      entry.headline = about.channels.map((channel, at) => ({ ...channel, at })).filter((channel) => channel.headline);
      this.#places[about.i] = entry;
    }
  }

  on_floor(message) {
    for (const [place, sequence, deviceMs, receivedMs, values] of message.rows) {
      const entry = this.#places[place];
      if (entry) entry.state = { sequence, deviceMs, receivedMs, headline: values };
    }
  }

  on_reports(message) {
    for (const { i, link, offset_ms, cameras, report } of message.list) {
      const entry = this.#places[i];
      if (entry) Object.assign(entry, { link, offsetMs: offset_ms, cameras: cameras ?? {}, report: report ?? entry.report });
    }
  }

  on_heard(message) {
    for (const [place, receivedMs] of message.rows) {
      const report = this.#places[place]?.report;
      if (report) report.received_ms = receivedMs;
    }
  }

  #picture(buffer) {
    const length = new DataView(buffer).getUint32(0);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    this.#tell("picture", { header, jpeg: new Uint8Array(buffer, 4 + length) });
  }
}

export const gateway = new Gateway();
export { ageOf, gatewayNow };

class GatewaySocket extends HTMLElement {
  connectedCallback() {
    this.words = this.querySelector("[data-words]");
    this.silent = this.querySelector("[data-silent]");
    gateway.addEventListener("link", () => this.#draw());
    gateway.start(this.getAttribute("url"), this.getAttribute("site"));
  }

  #draw() {
    const link = gateway.link;
    document.querySelector("main")?.toggleAttribute("data-robots-stale", link === "lost" || link === "ended");
    if (link === "lost") this.silent.textContent = `for ${Math.floor(Math.min(gateway.silentMs, performance.now()) / 1000)} s`;
    if (this.dataset.state === link) return; // said once, not each second
    this.dataset.state = link;
    this.silent.hidden = link !== "lost";
    if (link === "ended") this.words.textContent = gateway.ended;
    if (link === "lost") this.words.textContent = "No link to the robots. What is shown is old; Stop is still tried by another way.";
    this.hidden = link !== "lost" && link !== "ended";
  }
}

customElements.define("gateway-socket", GatewaySocket);

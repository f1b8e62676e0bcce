// The charts of a robot under one clock. Three modes, always said: live, paused, looking back. Back first through what this page and
// the gateway's ring hold, then through what is stored. The address carries the time, so that a moment can be pasted into a note.
import { gateway, gatewayNow } from "pilothouse/gateway-socket";
import { Chart } from "pilothouse/robot/chart";
import { say } from "pilothouse/floor/text";

const DRAW_MS = 100;
const MOST = 6;
const RING_S = 120;

export class Charts {
  #charts = new Map();
  #until = 0; // 0: live
  #stored = null; // {key, data by channel} of the time looked back at
  #drawnAt = 0;

  constructor(element, about, samples) {
    Object.assign(this, { element, about, samples });
    this.box = element.querySelector("[data-part=charts]");
    this.template = element.querySelector("#chart-row");
    this.slider = element.querySelector("[data-part=slider]");
    this.words = element.querySelector("[data-part=when]");
    this.fault = element.querySelector("[data-part=series-fault]");
    this.clock = new Intl.DateTimeFormat("en-GB", { timeZone: about.zone, day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
    const asked = new URLSearchParams(location.search);
    this.span = Number(asked.get("span")) * 1000 || 30_000;
    this.#until = Number(asked.get("at")) || 0;
    element.addEventListener("click", (event) => this.#click(event.target.closest("button")));
    this.slider.addEventListener("input", () => this.#lookAt(gatewayNow() - Number(this.slider.max) * 1000 + Number(this.slider.value) * 1000));
    const shown = (asked.get("show") ?? "").split(",").filter(Boolean);
    about.channels.filter((channel) => (shown.length ? shown.includes(channel.name) : channel.headline)).slice(0, MOST).forEach((channel) => this.toggle(channel.name));
    new ResizeObserver(() => this.#charts.forEach((chart) => chart.resize())).observe(this.box);
    new MutationObserver(() => this.#remake()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#remake());
    gateway.addEventListener("ring", (event) => this.#take(event.detail));
    gateway.addEventListener("states", (event) => this.#take(event.detail));
    const askRing = () => gateway.send({ op: "ring", subject: about.id, seconds: RING_S }); // now, and after each reconnect
    gateway.addEventListener("subjects", askRing);
    if (gateway.entry(about.id).about) askRing();
    this.#mode();
    setInterval(() => this.draw(), DRAW_MS);
  }

  get isLive() {
    return this.#until === 0;
  }

  isShown(name) {
    return this.#charts.has(name);
  }

  toggle(name) {
    if (this.#charts.has(name)) {
      this.#charts.get(name).destroy();
      this.#charts.get(name).element.remove();
      this.#charts.delete(name);
    } else if (this.#charts.size < MOST) {
      const channel = this.about.channels.find((one) => one.name === name);
      const row = this.template.content.firstElementChild.cloneNode(true);
      say(row.querySelector("[data-part=name]"), name.replaceAll("_", " "));
      say(row.querySelector("[data-part=unit]"), channel.unit);
      this.box.append(row);
      this.#charts.set(name, new Chart(row, channel, true, this.about.zone));
    }
    const last = [...this.#charts.values()].at(-1);
    for (const chart of this.#charts.values()) if (chart.hasTimes !== (chart === last)) chart.remake(chart === last); // times once, below all
    this.#stored = null;
    this.#keepAddress();
    this.draw(true);
  }

  togglePause() {
    if (this.isLive) this.#lookAt(gatewayNow());
    else this.#live();
  }

  #remake() {
    for (const chart of this.#charts.values()) chart.remake();
    this.draw(true);
  }

  #take(message) {
    if (message.subject === this.about.id) this.samples.add(message.rows);
  }

  #click(button) {
    if (!button) return;
    if (button.dataset.span) this.span = Number(button.dataset.span) * 1000;
    else if (button.dataset.back) this.#lookAt((this.#until || gatewayNow()) + (Number(button.dataset.back) * this.span) / 2);
    else if ("live" in button.dataset) return this.isLive || this.#live();
    else if ("pause" in button.dataset) return this.isLive && this.#lookAt(gatewayNow());
    else return;
    this.#stored = null;
    this.#mode();
    this.#keepAddress();
    this.draw(true);
  }

  #live() {
    this.#until = 0;
    this.#stored = null;
    this.#mode();
    this.#keepAddress();
    this.draw(true);
  }

  #lookAt(time) {
    this.#until = Math.min(Math.round(time), gatewayNow());
    this.#stored = null;
    this.#mode();
    this.#keepAddress();
    this.draw(true);
  }

  #mode() {
    const now = gatewayNow();
    for (const button of this.element.querySelectorAll("[data-span]")) button.setAttribute("aria-pressed", String(Number(button.dataset.span) * 1000 === this.span));
    this.element.querySelector("[data-live]").setAttribute("aria-pressed", String(this.isLive));
    this.element.querySelector("[data-pause]").setAttribute("aria-pressed", String(!this.isLive));
    this.element.dataset.mode = this.isLive ? "live" : "back";
    const end = this.#until || now;
    const back = (now - end) / 1000;
    this.slider.value = String(Number(this.slider.max) - back);
    this.slider.setAttribute("aria-valuetext", this.isLive ? "now" : this.clock.format(end));
    say(this.words, this.isLive ? "Live" : back < 3 ? `Paused at ${this.clock.format(end)}` : `Looking back, until ${this.clock.format(end)}`);
    document.dispatchEvent(new CustomEvent("pilothouse:looking", { detail: this.#until }));
  }

  #keepAddress() {
    const asked = new URLSearchParams(location.search);
    const set = (name, value) => (value ? asked.set(name, value) : asked.delete(name));
    set("at", this.#until || "");
    set("span", this.span === 30_000 ? "" : this.span / 1000);
    const shown = [...this.#charts.keys()];
    const usual = this.about.channels.filter((channel) => channel.headline).map((channel) => channel.name);
    set("show", shown.join() === usual.join() ? "" : shown.join());
    history.replaceState(null, "", `${location.pathname}${asked.size ? `?${asked}` : ""}`);
  }

  draw(isForced = false) {
    if (!isForced && !this.isLive) return;
    const until = this.#until || gatewayNow();
    const since = until - this.span;
    const isHere = since >= this.samples.oldest || (this.isLive && this.span <= RING_S * 1000);
    if (!isHere) this.#read(since, until);
    for (const [name, chart] of this.#charts) {
      const at = this.about.channels.findIndex((channel) => channel.name === name);
      const pixels = Math.max(100, chart.box.clientWidth);
      chart.draw(this.#joined(name, this.samples.columns(at, since, until, pixels)), since, until);
    }
    this.#drawnAt = until;
  }

  // What is stored, then what this page holds after it.
  #joined(name, here) {
    const stored = this.#stored?.data?.get(name);
    if (!stored) return here;
    const first = here[0].find((_time, at) => here[1][at] !== null) ?? Infinity;
    const keep = stored[0].filter((time) => time < first).length;
    return here.map((column, at) => [...stored[at].slice(0, keep), ...column]);
  }

  async #read(since, until) {
    const key = `${Math.round(since / (this.span / 10))}/${this.span}/${[...this.#charts.keys()]}`;
    if (this.#stored?.key === key) return;
    this.#stored = { key, data: this.#stored?.data ?? null };
    const mine = this.#stored;
    const pixels = String(Math.min(600, Math.ceil(this.span / 200)));
    const asked = new URLSearchParams({ since: new Date(since).toISOString(), until: new Date(until).toISOString(), pixels, channels: [...this.#charts.keys()].join() });
    try {
      const answer = await fetch(`${this.about.seriesUrl}?${asked}`, { signal: AbortSignal.timeout(5000), headers: { Accept: "application/json" } });
      const said = await answer.json();
      if (!answer.ok) throw new Error(said.message ?? answer.status);
      if (this.#stored !== mine) return;
      mine.data = columnsOf(said);
      say(this.fault, "");
    } catch (error) {
      say(this.fault, `What is stored could not be read: ${error.message}. Only what this page holds is drawn.`);
    }
    this.draw(true);
  }
}

// As the API gives it, a part of time each, to the columns of a chart. Where nothing was received the line ends.
function columnsOf(said) {
  const holes = said.gaps.map((gap) => [gap.since_ms, gap.until_ms]);
  const inHole = (ms) => holes.some(([since, until]) => ms >= since && ms < until);
  return new Map(
    said.channels.map((channel) => {
      const columns = [[], [], [], []];
      channel.mean.forEach((mean, at) => {
        const ms = said.since_ms + (at + 0.5) * said.pixel_ms;
        if (mean === null && !inHole(ms)) return;
        [ms / 1000, mean, channel.lowest[at], channel.highest[at]].forEach((value, column) => columns[column].push(value));
      });
      return [channel.name, columns];
    }),
  );
}

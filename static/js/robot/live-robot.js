// <live-robot>: one robot in full: what it does, its cameras, its values now and over time, its episodes and its log.
import { ageWords } from "pilothouse/clock";
import { LATE_MS, ageOf, gateway } from "pilothouse/gateway-socket";
import { refreshParts } from "pilothouse/htmx-bridge";
import { Pictures } from "pilothouse/floor/pictures";
import { drawIcon, mark, parts, say, toggle } from "pilothouse/floor/text";
import { Charts } from "pilothouse/robot/charts";
import { Gauges } from "pilothouse/robot/gauges";
import { Samples } from "pilothouse/robot/samples";
import { doing, driver, isLate, stateOf } from "pilothouse/subject-state";

const TICK_MS = 250;
const PICTURES_PER_S = 5;
const REFRESH_MS = 1500;
const FAULTS = { frozen: "picture frozen", black: "picture black", foreign: "picture of another robot" };

class LiveRobot extends HTMLElement {
  connectedCallback() {
    this.about = JSON.parse(document.getElementById("robot-about").textContent);
    this.entry = gateway.entry(this.about.id);
    this.samples = new Samples(this.about.channels);
    this.parts = parts(this.querySelector("#robot-state"));
    this.values = parts(this.querySelector("#robot-values-head"));
    this.charts = new Charts(this.querySelector("#robot-charts"), this.about, this.samples);
    this.gauges = new Gauges(this.querySelector("#robot-values"), this.about.channels, this.charts);
    this.pictures = new Pictures(PICTURES_PER_S);
    this.cameras = [...this.querySelectorAll("[data-camera]")].map((element) => ({ element, camera: element.dataset.camera, canvas: element.querySelector("canvas"), ...parts(element) }));
    for (const { canvas, camera } of this.cameras) this.pictures.show(canvas, this.about.id, camera);
    gateway.want("robot", { subjects: [this.about.id] });
    for (const name of ["states", "picture"]) gateway.addEventListener(name, () => this.#soon());
    gateway.addEventListener("reports", () => this.#reported());
    gateway.addEventListener("stop", () => this.#later());
    document.addEventListener("pilothouse:paused", () => this.charts.togglePause());
    document.addEventListener("pilothouse:looking", () => this.#soon());
    setInterval(() => this.#draw(), TICK_MS);
    this.#draw();
  }

  #soon() {
    this.drawing ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.drawing);
    this.drawing = 0;
    const { entry } = this;
    const newest = this.samples.newest;
    if (newest) entry.state = { ...entry.state, sequence: newest[0], receivedMs: newest[1] };
    const late = isLate(entry);
    this.#drawState(entry, late);
    const age = ageOf(newest?.[1]);
    say(this.values.age, age === Infinity ? "none yet" : ageWords(age) + (age > LATE_MS ? " old" : ""));
    toggle(this.values.age, "stale", late);
    this.gauges.draw(newest?.[2], late);
    mark(this, "data-sequence", newest?.[0] ?? null); // which state these words tell of
    for (const one of this.cameras) this.#drawPicture(one);
  }

  #drawState(entry, late) {
    const state = stateOf(entry);
    const report = entry.report;
    say(this.parts.word, state.word);
    drawIcon(this.parts.icon, state.icon);
    mark(this.querySelector("#robot-state"), "data-kind", state.kind || "calm");
    toggle(this.querySelector("#robot-state"), "stale", late);
    say(this.parts.doing, doing(entry));
    say(this.parts.driver, [driver(entry) || "nobody drives", report?.task].filter(Boolean).join(" · "));
    say(this.parts.step, report?.episode ? `episode ${report.episode.slice(-6)}, step ${report.step}` : "no episode");
    const age = ageOf(report?.received_ms);
    say(this.parts.age, age === Infinity ? "no report yet" : `report ${ageWords(age)}${age > 3 * LATE_MS ? " old" : ""}`);
    toggle(this.parts.age, "stale", age > 3 * LATE_MS);
    say(this.parts.bridge, entry.about?.bridge ? `${entry.about.bridge} at ${entry.about.gateway || "no gateway"}` : "no bridge");
    say(this.parts.offset, entry.offsetMs === null ? "clock unknown" : `clock ${entry.offsetMs < 0 ? "" : "+"}${entry.offsetMs.toFixed(0)} ms`);
    say(this.parts.faults, report?.faults?.length ? `Fault injected: ${report.faults.join(", ").replaceAll("_", " ")}` : "");
  }

  #drawPicture({ element, camera, age, old, now }) {
    const at = this.pictures.at(this.about.id, camera);
    const since = ageOf(at);
    const fault = FAULTS[this.entry.cameras[camera]];
    const isOld = at && since > LATE_MS;
    say(age, at ? ageWords(since) : "none yet");
    say(old, fault ?? (isOld ? `${ageWords(since)} old` : at ? "" : "no picture yet"));
    mark(old, "hidden", fault || isOld || !at ? null : "");
    toggle(element, "old-picture", Boolean(fault || isOld));
    mark(now, "hidden", this.charts.isLive ? "" : null); // pictures are not kept: they do not go back with the charts
  }

  // Episodes and log are facts: read again when the robot says that something began or ended.
  #reported() {
    const { episode, mode, needs_reset: needs } = this.entry.report ?? {};
    const told = `${episode} ${mode} ${needs}`;
    if (this.told !== undefined && told !== this.told) this.#later();
    this.told = told;
    this.#soon();
  }

  #later() {
    this.refreshing ||= setTimeout(() => {
      this.refreshing = 0;
      if (!document.hidden) refreshParts(["robot-episodes", "robot-log"]);
    }, REFRESH_MS);
  }
}

customElements.define("live-robot", LiveRobot);

// One robot's tile: what it does, how old that is, and its picture's age. Draws only what changed.
import { ageWords } from "pilothouse/clock";
import { LATE_MS, ageOf } from "pilothouse/gateway-socket";
import { drawIcon, figure, mark, parts, say, toggle } from "pilothouse/floor/text";
import { doing, driver, isLate, stateOf } from "pilothouse/subject-state";

const FAULTS = { frozen: "picture frozen", black: "picture black", foreign: "picture of another robot" };

export function isOutside(value, channel) {
  return value !== null && value !== undefined && ((channel.low !== null && value < channel.low) || (channel.high !== null && value > channel.high));
}

export class Tile {
  constructor(element) {
    this.element = element;
    this.parts = parts(element);
    this.canvas = element.querySelector("canvas");
    this.cells = [...element.querySelectorAll("[data-value]")].map((cell) => ({ cell, ...parts(cell) }));
    this.pictureAt = 0;
  }

  get id() {
    return this.element.dataset.subject;
  }

  draw(entry, pictureAt) {
    const state = stateOf(entry);
    const late = isLate(entry);
    const age = ageOf(entry.state?.receivedMs);
    say(this.parts.word, state.word);
    drawIcon(this.parts.icon, state.icon);
    mark(this.element, "data-kind", state.kind || "calm");
    toggle(this.element, "stale", late);
    mark(this.parts.latched, "hidden", entry.report?.latched?.length && state.word !== "stopped" ? null : "");
    say(this.parts.age, age === Infinity ? "none yet" : ageWords(age));
    say(this.parts.doing, [doing(entry), entry.report?.task].filter(Boolean).join(" · "));
    say(this.parts.driver, driver(entry));
    mark(this.element, "data-sequence", entry.state?.sequence ?? null); // which state these words tell of
    this.#values(entry);
    this.#picture(entry, pictureAt, age);
  }

  #values(entry) {
    const channels = entry.headline ?? [];
    this.cells.forEach(({ cell, label, value, unit }, at) => {
      const channel = channels[at];
      const now = entry.state?.headline?.[at];
      say(label, channel?.name.replaceAll("_", " ") ?? "");
      say(value, channel ? figure(now) : "");
      say(unit, channel && now !== null && now !== undefined ? channel.unit : "");
      toggle(cell, "outside", Boolean(channel) && isOutside(now, channel));
    });
  }

  #picture(entry, at) {
    if (!this.canvas) return;
    const age = ageOf(at);
    const fault = FAULTS[entry.cameras?.[this.element.dataset.camera]];
    const old = at && age > LATE_MS;
    say(this.parts["picture-age"], at ? ageWords(age) : "none yet");
    say(this.parts.old, fault ?? (old ? `${ageWords(age)} old` : at ? "" : "no picture yet"));
    mark(this.parts.old, "hidden", fault || old || !at ? null : "");
    toggle(this.element, "old-picture", Boolean(fault || old));
  }
}

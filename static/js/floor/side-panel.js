// What stands beside the tiles: each bridge with its robots, the age of its oldest state and how far its clock is off.
import { ageWords } from "pilothouse/clock";
import { ageOf } from "pilothouse/gateway-socket";
import { mark, parts, say, toggle } from "pilothouse/floor/text";

const MOST = 8;

export class SidePanel {
  constructor(element) {
    this.rows = element?.querySelector("#floor-bridges");
    this.template = element?.querySelector("#bridge-row");
    this.more = element?.querySelector("[data-more-bridges]");
  }

  draw(found) {
    if (!this.rows) return;
    const bridges = new Map();
    for (const { entry, late } of found) {
      const name = entry.about?.bridge || "none yet";
      const bridge = bridges.get(name) ?? { name, gateway: entry.about?.gateway || "", robots: 0, late: 0, oldest: 0, offset: null };
      bridge.robots += 1;
      bridge.late += late ? 1 : 0;
      bridge.oldest = Math.max(bridge.oldest, ageOf(entry.state?.receivedMs));
      bridge.offset = entry.offsetMs ?? bridge.offset;
      bridges.set(name, bridge);
    }
    const shown = [...bridges.values()].sort((a, b) => b.late - a.late || a.name.localeCompare(b.name, "en", { numeric: true }));
    while (this.rows.children.length < Math.min(MOST, shown.length)) this.rows.append(this.template.content.firstElementChild.cloneNode(true));
    [...this.rows.children].forEach((row, at) => this.#draw(row, shown[at]));
    say(this.more, shown.length > MOST ? `and ${shown.length - MOST} more` : "");
  }

  #draw(row, bridge) {
    mark(row, "hidden", bridge ? null : "");
    if (!bridge) return;
    const cells = parts(row);
    say(cells.name, bridge.name);
    say(cells.robots, bridge.late ? `${bridge.robots}, ${bridge.late} late` : String(bridge.robots));
    say(cells.age, bridge.oldest === Infinity ? "none yet" : ageWords(bridge.oldest));
    toggle(cells.age, "stale", bridge.late > 0);
    say(cells.offset, bridge.offset === null ? "unknown" : `${bridge.offset < 0 ? "" : "+"}${bridge.offset.toFixed(0)} ms`);
    mark(cells.name, "title", bridge.gateway ? `speaks to gateway ${bridge.gateway}` : null);
  }
}

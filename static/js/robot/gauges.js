// Every channel as it is now, against its normal band. The name of a channel shows or hides its chart.
import { figure, mark, parts, say, toggle } from "pilothouse/floor/text";
import { isOutside } from "pilothouse/floor/tile";

export class Gauges {
  constructor(element, channels, charts) {
    this.rows = [...element.querySelectorAll("[data-channel]")].map((row, at) => ({ row, channel: channels[at], seen: [Infinity, -Infinity], ...parts(row) }));
    this.charts = charts;
    element.addEventListener("click", (event) => {
      const name = event.target.closest("[data-channel]")?.dataset.channel;
      if (name && event.target.closest("button")) charts.toggle(name);
      this.#press();
    });
    this.#press();
  }

  #press() {
    for (const { row, button } of this.rows) mark(button, "aria-pressed", String(this.charts.isShown(row.dataset.channel)));
  }

  draw(values, late) {
    this.rows.forEach((one, at) => {
      const value = values?.[at];
      const known = value !== null && value !== undefined;
      say(one.value, figure(value));
      say(one.unit, known ? one.channel.unit : "");
      const outside = isOutside(value, one.channel);
      say(one.note, outside ? "outside" : "");
      toggle(one.row, "outside", outside);
      toggle(one.row, "stale", late);
      if (known) this.#place(one, value);
    });
  }

  #place(one, value) {
    one.seen = [Math.min(one.seen[0], value), Math.max(one.seen[1], value)];
    const { low, high } = one.channel;
    const from = Math.min(low ?? Infinity, one.seen[0]);
    const to = Math.max(high ?? -Infinity, one.seen[1]);
    const room = (to - from || 1) * 0.15;
    const x = (at) => (100 * (at - from + room)) / (to - from + 2 * room);
    mark(one.mark, "d", `M${x(value).toFixed(1)} 0v8`);
    const start = low === null ? 0 : x(low);
    mark(one.band, "x", start.toFixed(1));
    mark(one.band, "width", (low === null && high === null ? 0 : (high === null ? 100 : x(high)) - start).toFixed(1));
  }
}

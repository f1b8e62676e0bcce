// One channel over time: its normal band in grey, lowest to highest as a shade, the mean as a line.
import { figure, say } from "pilothouse/floor/text";

const GUTTER = 46;
const HEIGHT = 96;
const TIMES_HEIGHT = 20;

function colours() {
  const style = getComputedStyle(document.documentElement);
  const probe = (name) => {
    const element = Object.assign(document.createElement("i"), { hidden: true });
    element.style.color = `var(${name})`;
    document.body.append(element);
    const colour = getComputedStyle(element).color;
    element.remove();
    return colour;
  };
  return { line: probe("--accent"), text: probe("--muted"), grid: probe("--line"), band: probe("--band"), edge: probe("--edge"), font: style.getPropertyValue("--font") };
}

export class Chart {
  constructor(element, channel, hasTimes, zone) {
    this.element = element;
    this.channel = channel;
    this.readout = element.querySelector("[data-part=readout]");
    this.box = element.querySelector("[data-part=plot]");
    this.hasTimes = hasTimes;
    this.clock = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", second: "2-digit" });
    this.data = [[], [], [], []];
    this.#make();
  }

  remake(hasTimes = this.hasTimes) {
    this.hasTimes = hasTimes;
    this.plot.destroy();
    this.#make();
    this.plot.setData(this.data, false);
  }

  resize() {
    const width = this.box.clientWidth;
    if (width && width !== this.plot.width) this.plot.setSize({ width, height: this.#height });
  }

  draw(data, since, until) {
    this.data = data;
    this.plot.batch(() => {
      this.plot.setData(data, false);
      this.plot.setScale("x", { min: since / 1000, max: until / 1000 });
    });
    if (this.plot.cursor.idx === null || this.plot.cursor.idx === undefined) this.#read(null);
  }

  destroy() {
    this.plot.destroy();
  }

  get #height() {
    return HEIGHT + (this.hasTimes ? TIMES_HEIGHT : 0);
  }

  #make() {
    const ink = colours();
    const font = `11px ${ink.font}`;
    const axis = { stroke: ink.text, font, ticks: { show: false }, grid: { stroke: ink.grid, width: 1 } };
    this.plot = new window.uPlot(
      {
        width: this.box.clientWidth || 600,
        height: this.#height,
        padding: [6, 28, this.hasTimes ? 0 : 4, 0],
        legend: { show: false },
        cursor: { sync: { key: "robot" }, drag: { x: false, y: false }, points: { size: 5 } },
        scales: { x: { time: true }, y: { range: (_plot, low, high) => this.#range(low, high) } },
        axes: [
          { ...axis, show: this.hasTimes, size: TIMES_HEIGHT, space: 90, values: (_plot, times) => times.map((time) => this.clock.format(time * 1000)) },
          { ...axis, size: GUTTER, space: 26, gap: 4 },
        ],
        series: [
          {},
          { stroke: ink.line, width: 1.25, points: { show: false }, spanGaps: false },
          { points: { show: false }, width: 0, spanGaps: false },
          { points: { show: false }, width: 0, spanGaps: false },
        ],
        bands: [{ series: [3, 2], fill: ink.line.replace(/\)$/, " / .22)").replace(/^rgb\(([\d.]+), ([\d.]+), ([\d.]+) \//, "rgb($1 $2 $3 /") }],
        hooks: { drawClear: [(plot) => this.#drawBand(plot, ink)], setCursor: [(plot) => this.#read(plot.cursor.idx)] },
      },
      this.data,
      this.box,
    );
  }

  // Always the whole normal band, and whatever lies outside it.
  #range(low, high) {
    const from = Math.min(low ?? Infinity, this.channel.low ?? Infinity);
    const to = Math.max(high ?? -Infinity, this.channel.high ?? -Infinity);
    if (!Number.isFinite(from) || !Number.isFinite(to)) return [0, 1];
    const room = (to - from || Math.abs(to) || 1) * 0.08;
    return [from - room, to + room];
  }

  #drawBand(plot, ink) {
    const { low, high } = this.channel;
    if (low === null && high === null) return;
    const { left, top, width, height } = plot.bbox;
    const upper = high === null ? top : plot.valToPos(high, "y", true);
    const lower = low === null ? top + height : plot.valToPos(low, "y", true);
    plot.ctx.save();
    plot.ctx.fillStyle = ink.band;
    plot.ctx.fillRect(left, Math.max(top, upper), width, Math.min(top + height, lower) - Math.max(top, upper));
    plot.ctx.restore();
  }

  #read(at) {
    const unit = this.channel.unit ? ` ${this.channel.unit}` : "";
    if (at === null || at === undefined || this.data[1][at] === undefined) return say(this.readout, "");
    const [t, mean, low, high] = this.data.map((column) => column[at]);
    if (mean === null) return say(this.readout, `${this.clock.format(t * 1000)}: nothing measured`);
    const spread = high > low ? `, ${figure(low)} to ${figure(high)}` : "";
    say(this.readout, `${this.clock.format(t * 1000)}: ${figure(mean)}${unit}${spread}`);
  }
}

// The samples of one robot that this page holds, by time of receipt: what came live, the ring before it, and what was read from
// storage for a time further back. A hole in time stays a hole: no line is drawn over what nobody measured.
const KEPT_MS = 15 * 60 * 1000;
const HOLE_MS = 1000; // ten missed states at the usual rate

export class Samples {
  #rows = []; // [sequence, received, values], by time

  constructor(channels) {
    this.channels = channels;
  }

  get oldest() {
    return this.#rows[0]?.[1] ?? Infinity;
  }

  get newest() {
    return this.#rows.at(-1);
  }

  // Live rows come in order; ring rows may lie before, and repeat what is here.
  add(rows) {
    const fresh = rows.map(([sequence, , received, values]) => [sequence, received, values]);
    if (!fresh.length) return;
    if (this.#rows.length && fresh[0][1] <= this.newest[1]) {
      const known = new Set(this.#rows.map(([sequence, received]) => `${sequence}/${received}`));
      this.#rows.push(...fresh.filter(([sequence, received]) => !known.has(`${sequence}/${received}`)));
      this.#rows.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    } else this.#rows.push(...fresh);
    const oldest = this.newest[1] - KEPT_MS;
    let drop = 0;
    while (this.#rows[drop]?.[1] < oldest) drop += 1;
    if (drop > 500) this.#rows.splice(0, drop);
  }

  // Columns of one channel for a chart: seconds, mean, lowest, highest. With more rows than pixels, rows of one pixel are put together.
  columns(channel, since, until, pixels) {
    const width = Math.max(1, (until - since) / pixels);
    const t = [], mean = [], low = [], high = [];
    let bucket = -1, count = 0, sum = 0, last = -Infinity;
    const hole = Math.max(HOLE_MS, 2 * width);
    for (let at = this.#firstAfter(since - hole); at < this.#rows.length && this.#rows[at][1] <= until + hole; at += 1) {
      const [, received, values] = this.#rows[at];
      const value = values[channel];
      if (received - last > hole && t.length) {
        t.push((last + 1) / 1000), mean.push(null), low.push(null), high.push(null);
        bucket = -1;
      }
      last = received;
      if (value === null || value === undefined) continue;
      const here = Math.floor((received - since) / width);
      const end = t.length - 1;
      if (here === bucket) {
        count += 1;
        sum += value;
        mean[end] = sum / count;
        low[end] = Math.min(low[end], value);
        high[end] = Math.max(high[end], value);
      } else {
        bucket = here;
        count = 1;
        sum = value;
        t.push(received / 1000), mean.push(value), low.push(value), high.push(value);
      }
    }
    return [t, mean, low, high];
  }

  #firstAfter(time) {
    let from = 0, to = this.#rows.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#rows[middle][1] < time) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

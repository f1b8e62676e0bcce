// Which robots need somebody first, how many are in each group, and which the filters show. Pure.
import { isLate, stateOf } from "pilothouse/subject-state";

// A robot counts once, under what it needs most; "late" counts every robot that is late, whatever else it is.
export function survey(entries) {
  const counts = { all: entries.length, need: 0, stopped: 0, late: 0, driven: 0, waiting: 0, autonomous: 0, moving: 0 };
  const found = entries.map((entry) => ({ entry, state: stateOf(entry), late: isLate(entry) }));
  for (const { entry, state, late } of found) {
    if (state.group !== "late") counts[state.group] += 1;
    if (late || state.group === "late") counts.late += 1;
    if (!late && entry.report?.is_moving) counts.moving += 1;
  }
  return { found, counts };
}

// Most need first, then in the order of names, so that equal robots never trade places. `rank` is each name's place, known once.
export function byNeed(found, rank) {
  return [...found].sort((a, b) => a.state.need - b.state.need || rank.get(a.entry.id) - rank.get(b.entry.id));
}

export function rankOf(names) {
  const collator = new Intl.Collator("en", { numeric: true });
  return new Map([...names].sort((a, b) => collator.compare(a[1], b[1])).map(([id], at) => [id, at]));
}

export function isShown({ state, late }, show) {
  return show === "all" || state.group === show || (show === "late" && late);
}

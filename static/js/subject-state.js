// What a subject is doing, in one word with one shape, and how much it needs a person. Pure: from what it last said and how old that is.
import { LATE_MS, ageOf } from "pilothouse/gateway-socket";

// Lower needs a person more. `group` is the filter it belongs to.
// The same order as apps/fleet/types.py gives to lists.
const UNKNOWN = { word: "not connected", icon: "wait", kind: "unk", need: 8, group: "late" };
const LOST = { word: "link lost", icon: "no", kind: "unk", need: 2, group: "late" };
const LATE = { word: "late", icon: "clock", kind: "unk", need: 2, group: "late" };
const WORDS = {
  reset: { word: "needs reset", icon: "reset", kind: "act", need: 0, group: "need" },
  fault: { word: "fault", icon: "no", kind: "act", need: 1, group: "need" },
  stopped: { word: "stopped", icon: "stop", kind: "stop", need: 3, group: "stopped" },
  hold: { word: "hold", icon: "pause", kind: "", need: 4, group: "waiting" },
  resetting: { word: "resetting", icon: "reset", kind: "", need: 5, group: "waiting" },
  human: { word: "human", icon: "hand", kind: "hum", need: 6, group: "driven" },
  autonomous: { word: "autonomous", icon: "play", kind: "", need: 7, group: "autonomous" },
};

// A robot that was stopped, or needs a person, still does when nothing is heard of it: its age says how sure that is.
export function stateOf(entry) {
  const report = entry.report;
  const late = ageOf(entry.state?.receivedMs) > LATE_MS;
  if (!report && !entry.state) return entry.about?.bridge ? LOST : UNKNOWN;
  const heard = (report && (report.needs_reset ? WORDS.reset : WORDS[report.latched?.length ? "stopped" : report.mode])) || LATE;
  const stays = ["need", "stopped"].includes(heard.group);
  if (entry.link === "lost") return stays ? heard : LOST;
  if (late || entry.link === "stale") return stays ? heard : LATE;
  return heard;
}

export function isLate(entry) {
  return entry.link === "lost" || entry.link === "stale" || ageOf(entry.state?.receivedMs) > LATE_MS;
}

// What it is at, in words: why it needs somebody, else the phase of its task.
export function doing(entry) {
  const report = entry.report;
  if (!report) return entry.about ? "nothing heard yet" : "no bridge has spoken for it";
  if (report.needs_reset) return report.needs_reset;
  if (report.faults?.length) return `injected: ${report.faults.join(", ").replaceAll("_", " ")}`;
  return report.activity || (report.is_moving ? "moving" : "still");
}

// What decides its actions: the skill version, or that a script or a person does.
export function driver(entry) {
  const report = entry.report;
  return (report && { expert: "scripted expert", policy: report.skill || "policy", person: "a person" }[report.driver]) ?? "";
}

// The server's time, as far as this browser knows it. Ages are counted against this, never against the machine's own clock.
let offsetMs = Number(document.documentElement.dataset.now || Date.now()) - Date.now();

export function serverNow() {
  return Date.now() + offsetMs;
}

export function noteServerTime(serverMs) {
  offsetMs = serverMs - Date.now();
}

// Words for an age, in the fewest figures that still say it: 0.2 s, 8 s, 3 min, 2 h, 5 d.
export function ageWords(ms) {
  const s = Math.max(0, ms) / 1000;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 120) return `${Math.floor(s)} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

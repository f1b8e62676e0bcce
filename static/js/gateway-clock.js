// The gateway's time, as far as this page knows it: ages of what robots say are counted against it, never against this machine.
const KEPT = 8;
let samples = [];
let offset = null;

// Steps of the machine's own clock do not reach this one.
const here = () => performance.timeOrigin + performance.now();

// One round trip: the answer came from the middle of it, at worst half of it away. The quickest of the last few is believed.
export function noteRoundTrip(sentAt, gatewayMs) {
  const now = here();
  samples = [...samples.slice(1 - KEPT), { took: now - sentAt, offset: gatewayMs - (sentAt + now) / 2 }];
  offset = samples.reduce((best, one) => (one.took < best.took ? one : best)).offset;
}

// Before the first round trip: at least this late.
export function noteTime(gatewayMs) {
  if (!samples.length) offset = Math.max(offset ?? -Infinity, gatewayMs - here());
}

export function stamp() {
  return here();
}

export function gatewayNow() {
  return here() + (offset ?? Number(document.documentElement.dataset.now || here()) - here());
}

export function ageOf(receivedMs) {
  return receivedMs ? Math.max(0, gatewayNow() - receivedMs) : Infinity;
}

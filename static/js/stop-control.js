// <stop-control>: Stop, a latched remote stop request. Sent at once and without a question, over the socket and, where that gives
// no answer, by a POST; then each fact on its own: sent, latched by the robot's own word, recorded. Nothing is taken for done.
import { ageWords } from "pilothouse/clock";
import { ageOf, gateway, gatewayNow } from "pilothouse/gateway-socket";
import { isLate, stateOf } from "pilothouse/subject-state";
import { offer } from "pilothouse/verbs";

const ANSWER_MS = 400; // without any answer by then, the other way is tried as well
const AGAIN_MS = 1000;
const TRIES = 10;
const PRESSED = new Map(); // by Stop id: what this page asked for

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is missing on plain http
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

class StopControl extends HTMLElement {
  connectedCallback() {
    this.panel = document.getElementById("stop-panel");
    this.names = new Map(Object.entries(JSON.parse(this.dataset.names || "{}")));
    offer("close-stop-panel", () => (this.panel.hidden = true));
    if (!document.querySelector("gateway-socket")) return; // a page of nobody's site: nothing can be stopped from it
    for (const button of this.querySelectorAll("button.stop")) button.addEventListener("click", () => this.press(button.dataset.subject || null));
    offer("stop-site", () => this.press(null));
    offer("stop-subject", () => this.press(this.#chosen()));
    gateway.addEventListener("stop", (event) => this.#heard(event.detail));
    gateway.addEventListener("refused", (event) => event.detail.what === "stop" && this.#refused(event.detail));
    for (const name of ["reports", "subjects", "link"]) gateway.addEventListener(name, () => this.#draw());
    document.addEventListener("click", (event) => {
      const inTile = event.target.closest?.("[data-stop-subject]");
      if (inTile) this.press(inTile.dataset.stopSubject || inTile.closest("[data-subject]")?.dataset.subject);
    });
    const watched = this.querySelector("[data-subject]")?.dataset.subject;
    if (watched) gateway.want("stop", { subjects: [watched] });
    this.#draw();
  }

  // The one in focus, else the one this page is about.
  #chosen() {
    return document.activeElement?.closest?.("[data-subject]")?.dataset.subject || this.querySelector("[data-subject]")?.dataset.subject;
  }

  press(subject) {
    if (subject === undefined) return this.#tell("Nothing is chosen: move to a robot first, or stop the whole site.");
    const stop = newId();
    const message = { op: "stop", stop, site: gateway.site, subjects: subject ? [subject] : null, pressed_at_ms: Math.round(gatewayNow()) };
    const act = { message, at: performance.now(), states: new Map(), isAnswered: false, isRecorded: false, refusal: "", tries: 0 };
    if (subject) act.states.set(subject, "asked");
    PRESSED.set(stop, act);
    this.shown = act;
    gateway.send(message);
    setTimeout(() => this.#otherWay(act), ANSWER_MS);
    this.#draw();
  }

  async #otherWay(act) {
    if (act.isAnswered || act.refusal || act.tries++ >= TRIES) return this.#draw();
    gateway.send(act.message); // the same Stop again is the same Stop
    const { op: _op, ...body } = act.message;
    try {
      const answer = await fetch(`${gateway.httpUrl}/stop`, {
        method: "POST",
        credentials: "include",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(3000),
      });
      const said = await answer.json();
      if (answer.ok) {
        act.isAnswered = true;
        for (const one of said.subjects ?? []) this.#advance(act, one.subject, one.state);
      } else if (answer.status < 500 && answer.status !== 429) act.refusal = said.message;
    } catch {
      // no answer: tried again below, and said on screen
    }
    if (!act.isAnswered && !act.refusal) setTimeout(() => this.#otherWay(act), AGAIN_MS);
    this.#draw();
  }

  #heard(message) {
    const act = PRESSED.get(message.stop);
    if (!act) return this.#draw(); // somebody else's: the robots' own reports show it
    act.isAnswered = true;
    if (message.state === "recorded") act.isRecorded = true;
    else if (message.state === "refused") act.refusal = message.code || "refused";
    else for (const subject of message.subjects ?? []) this.#advance(act, subject, message.state);
    this.#draw();
  }

  #refused(message) {
    if (this.shown && !this.shown.isAnswered) this.shown.refusal = message.message;
    this.#draw();
  }

  #advance(act, subject, state) {
    if (state === "released" || act.states.get(subject) !== "latched") act.states.set(subject, state);
  }

  #tell(words) {
    this.shown = { words };
    this.#draw();
  }

  #name(id) {
    return this.names.get(id) || gateway.entry(id).about?.name || document.querySelector(`[data-subject="${id}"][data-name]`)?.dataset.name || `robot ${id.slice(-6)}`;
  }

  #draw() {
    for (const button of this.querySelectorAll("button.stop")) {
      const words = button.dataset.subject ? this.#ofOne(button.dataset.subject) : this.#ofSite();
      const small = button.querySelector("small");
      if (small.textContent !== words) small.textContent = words;
    }
    this.#drawPanel();
  }

  #ofOne(id) {
    const entry = gateway.entry(id);
    const act = [...PRESSED.values()].reverse().find((one) => one.states.has(id));
    const report = entry.report;
    const age = ageOf(report?.received_ms);
    if (entry.report?.latched?.length) return `stopped, says the robot ${ageWords(age)} ago`;
    const asked = act && performance.now() - act.at < 30000 ? act.states.get(id) : "";
    if (asked) return { asked: "sending", sent: "sent, robot has not confirmed", unreachable: "not reached, sent when it is back", latched: "stopped, confirmed", released: "released" }[asked] ?? asked;
    if (!report) return gateway.link === "live" ? "nothing heard yet" : "no link, still tries";
    return `${stateOf(entry).kind === "unk" ? stateOf(entry).word : report.is_moving ? "moving" : "still"}, ${ageWords(age)} ago`;
  }

  #ofSite() {
    const robots = [...gateway.subjects.values()].filter((entry) => entry.about);
    const many = Number(this.dataset.robots || robots.length);
    if (!many) return "no robots, nothing to stop";
    if (gateway.link === "lost" || gateway.link === "ended") return "no link, still tries";
    if (robots.length < many) return `${many} ${many === 1 ? "robot" : "robots"} here`;
    const stopped = robots.filter((entry) => entry.report?.latched?.length).length;
    const moving = robots.filter((entry) => entry.report?.is_moving && !isLate(entry)).length;
    const late = robots.filter(isLate).length; // whether these move is not known: then no zero is said
    const words = [moving || !late ? `${moving} moving` : "", stopped ? `${stopped} stopped` : "", late ? `${late} unknown` : ""];
    return `${many} ${many === 1 ? "robot" : "robots"}, ${words.filter(Boolean).join(", ")}`;
  }

  // The three facts of the last Stop pressed here, and whoever has not confirmed by name.
  #drawPanel() {
    const act = this.shown;
    if (!act || !this.panel) return;
    this.panel.hidden = false;
    const say = (part, words) => {
      const node = this.panel.querySelector(`[data-part=${part}]`);
      if (node.textContent !== words) node.textContent = words;
    };
    this.panel.querySelector("ol").hidden = Boolean(act.words);
    say("words", act.words ?? this.#sentence(act));
    if (act.words) return say("open", "");
    const states = [...act.states.values()];
    const latched = states.filter((state) => state === "latched" || state === "released").length;
    say("sent", act.isAnswered ? new Date(act.message.pressed_at_ms).toLocaleTimeString("en-GB") : act.tries >= TRIES ? "no gateway answered" : "sending");
    say("latched", states.length ? `${latched} of ${states.length} ${states.length === 1 ? "robot" : "robots"}` : "no robot answered yet");
    say("recorded", act.isRecorded ? "in the journal" : "not yet");
    this.panel.querySelectorAll("li").forEach((fact, at) => fact.classList.toggle("next", ![act.isAnswered, states.length > 0 && latched === states.length, act.isRecorded][at]));
    const open = [...act.states].filter(([, state]) => state !== "latched" && state !== "released").map(([id, state]) => `${this.#name(id)} ${state === "unreachable" ? "cannot be reached" : "has not confirmed"}`);
    say("open", open.slice(0, 6).join(", ") + (open.length > 6 ? ` and ${open.length - 6} more` : ""));
  }

  #sentence(act) {
    const what = act.message.subjects ? `Stop ${this.#name(act.message.subjects[0])}` : "Stop site";
    if (act.refusal) return `${what} was refused: ${act.refusal}`;
    if (!act.isAnswered && act.tries >= TRIES) return `${what} was NOT sent: no gateway answered. Use the stop on the machine itself.`;
    return what;
  }
}

customElements.define("stop-control", StopControl);

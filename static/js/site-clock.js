// <site-clock zone="Europe/Amsterdam">: the time where the site is, by the server's clock, with the day and the zone in words.
import { serverNow } from "pilothouse/clock";

class SiteClock extends HTMLElement {
  connectedCallback() {
    const timeZone = this.getAttribute("zone") || "UTC";
    const written = (options) => new Intl.DateTimeFormat("en-GB", { timeZone, ...options });
    this.time = written({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
    this.day = written({ weekday: "short", day: "numeric", month: "short", timeZoneName: "short" });
    this.shown = Object.assign(document.createElement("b"), { className: "b" });
    this.date = Object.assign(document.createElement("span"), { className: "age date" });
    this.replaceChildren(this.shown, " ", this.date);
    this.draw();
    this.timer = setInterval(() => this.draw(), 1000);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  draw() {
    const now = serverNow();
    this.shown.textContent = this.time.format(now);
    const day = this.day.format(now);
    if (this.date.textContent !== day) this.date.textContent = day;
  }
}

customElements.define("site-clock", SiteClock);

// <live-floor>: all robots of a site. Values change where they stand; the order waits until somebody asks for it, except in the
// row of those that need a person, whose places are kept free for them. So nothing on this page ever moves under the eyes.
import { gateway } from "pilothouse/gateway-socket";
import { offer } from "pilothouse/verbs";
import { Marks } from "pilothouse/floor/marks";
import { NeedRow } from "pilothouse/floor/need-row";
import { byNeed, isShown, rankOf, survey } from "pilothouse/floor/order";
import { Pictures } from "pilothouse/floor/pictures";
import { SidePanel } from "pilothouse/floor/side-panel";
import { say, toggle } from "pilothouse/floor/text";
import { Tile } from "pilothouse/floor/tile";

const TICK_MS = 500; // ages go on while nothing arrives
const FPS = 2;

class LiveFloor extends HTMLElement {
  #tiles = new Map();
  #names = new Map();
  #order = []; // ids as the tiles stand now
  #frozen = null; // what every robot had said when the page was paused
  #drawing = 0;

  connectedCallback() {
    this.grid = this.querySelector("#floor-tiles, #floor-marks");
    this.pictures = new Pictures(FPS);
    this.#collect();
    this.needRow = new NeedRow(this.querySelector("#need-row"), this.pictures, { tile: (id) => this.#tiles.get(id)?.element, entry: (id) => this.#entry(id) });
    this.side = new SidePanel(this.querySelector("#floor-side"));
    this.held = this.querySelector("[data-order-words]");
    this.apply = this.querySelector("[data-order-apply]");
    this.apply.addEventListener("click", () => this.#reorder());
    this.#readAddress();
    this.addEventListener("click", (event) => event.target.closest("[data-show]") && this.#choose(event.target.closest("[data-show]").dataset.show));
    this.find = this.querySelector("[data-filter]");
    this.find.addEventListener("input", () => this.#filter());
    for (const name of ["subjects", "floor", "reports"]) gateway.addEventListener(name, () => this.#soon());
    gateway.addEventListener("picture", () => this.#soon());
    document.addEventListener("pilothouse:paused", (event) => this.#pause(event.detail));
    setInterval(() => this.#draw(), TICK_MS);
    gateway.want("floor", { floor: true });
    this.#soon();
  }

  #collect() {
    const isMarks = this.grid.id === "floor-marks";
    this.marks = isMarks ? new Marks(this.grid, this.querySelector("#mark-tile .tile"), this.pictures) : null;
    for (const element of this.grid.querySelectorAll(isMarks ? ".mark" : "[data-subject]")) {
      const tile = isMarks ? this.marks.add(element) : new Tile(element);
      const { subject, name, camera } = element.dataset;
      this.#names.set(subject, name);
      this.#tiles.set(subject, tile);
      gateway.entry(subject);
      if (tile.canvas && camera) this.pictures.show(tile.canvas, subject, camera);
    }
    this.onScreen = new Set();
    this.watcher = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) isIntersecting ? this.onScreen.add(target) : this.onScreen.delete(target);
      this.#soon();
    }, { rootMargin: "120px" });
    for (const tile of this.#tiles.values()) this.watcher.observe(tile.element);
    this.#order = [...this.#tiles.keys()];
    this.rank = rankOf(this.#names);
  }

  #soon() {
    if (this.#drawing || this.#frozen) return;
    this.#drawing = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#drawing);
    this.#drawing = 0;
    const known = [...this.#tiles.keys()].map((id) => this.#entry(id));
    const { found, counts } = survey(known);
    this.#drawCounts(counts);
    for (const one of found) {
      const tile = this.#tiles.get(one.entry.id);
      this.#listCamera(tile, one.entry);
      if (this.onScreen.has(tile.element)) tile.draw(one.entry, this.#pictureAt(tile.element, one.entry));
    }
    this.needRow.draw(found, this.rank, (id) => this.#names.get(id));
    this.marks?.drawChosen((id) => this.#entry(id));
    this.side.draw(found);
    this.#drawOrder(found);
    if (this.show !== "all") this.#filter(found);
    this.found = found;
  }

  // A camera that its bridge told of after the page was made.
  #listCamera(tile, entry) {
    const camera = entry.about?.cameras[0];
    if (!tile.canvas || !camera || tile.element.dataset.camera === camera) return;
    tile.element.dataset.camera = camera;
    this.pictures.show(tile.canvas, entry.id, camera);
  }

  #pictureAt(element, entry) {
    return element.dataset.camera ? this.pictures.at(entry.id, element.dataset.camera) : 0;
  }

  #drawCounts(counts) {
    for (const node of this.querySelectorAll("[data-count]")) say(node, String(counts[node.dataset.count] ?? 0));
    const fresh = [...gateway.subjects.values()].filter((entry) => entry.about && !this.#tiles.has(entry.id)).length;
    this.newcomers = fresh;
  }

  // Robots that would stand elsewhere, had somebody asked for the order now.
  #drawOrder(found) {
    const wanted = byNeed(found, this.rank).map(({ entry }) => entry.id);
    const kept = wanted.filter((id, at) => this.#order[at] === id).length;
    const changes = wanted.length - kept + this.newcomers;
    toggle(this.apply, "idle", changes === 0);
    this.apply.setAttribute("aria-disabled", String(changes === 0));
    say(this.held, changes === 0 ? "By need" : `Order held · ${changes} ${changes === 1 ? "change" : "changes"}`);
    this.wanted = wanted;
  }

  #reorder() {
    if (this.newcomers) return location.reload();
    const focused = document.activeElement;
    this.#order = this.wanted ?? this.#order;
    for (const id of this.#order) this.grid.append(this.#tiles.get(id).element);
    if (this.contains(focused)) focused.focus({ preventScroll: true });
    this.#draw();
  }

  #readAddress() {
    const asked = new URLSearchParams(location.search);
    this.show = asked.get("show") ?? "all";
    this.querySelector("[data-filter]").value = asked.get("find") ?? "";
    this.#press();
    queueMicrotask(() => this.#filter());
  }

  #choose(show) {
    this.show = this.show === show ? "all" : show;
    this.#press();
    this.#filter();
  }

  #press() {
    for (const button of this.querySelectorAll(".seg [data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === this.show));
  }

  #filter(found = survey([...this.#tiles.keys()].map((id) => this.#entry(id))).found) {
    const words = this.find.value.trim().toLowerCase();
    let shown = 0;
    for (const one of found) {
      const { element } = this.#tiles.get(one.entry.id);
      const text = `${element.dataset.name} ${one.entry.report?.task ?? ""} ${one.entry.report?.skill ?? ""} ${one.entry.about?.bridge ?? ""}`.toLowerCase();
      const isIn = isShown(one, this.show) && text.includes(words);
      if (element.hidden === isIn) element.hidden = !isIn;
      shown += isIn;
    }
    const none = this.querySelector("#floor-none");
    none.hidden = shown > 0 || !found.length;
    say(none.querySelector("[data-words]"), this.show === "all" ? `Nothing matches “${this.find.value.trim()}”` : "No robot is in this state now");
    this.#keepAddress();
  }

  #keepAddress() {
    const asked = new URLSearchParams();
    if (this.show !== "all") asked.set("show", this.show);
    if (this.find.value.trim()) asked.set("find", this.find.value.trim());
    const address = `${location.pathname}${asked.size ? `?${asked}` : ""}`;
    if (address !== location.pathname + location.search) history.replaceState(null, "", address);
  }

  // Paused, the page shows what was known then; only the ages go on, so that it never looks live.
  #entry(id) {
    return this.#frozen?.get(id) ?? gateway.entry(id);
  }

  #pause(isPaused) {
    this.#frozen = isPaused ? new Map([...this.#tiles.keys()].map((id) => [id, { ...gateway.entry(id) }])) : null;
    this.pictures.pause(isPaused);
    this.#soon();
  }
}

customElements.define("live-floor", LiveFloor);

offer("clear-filters", () => {
  location.assign(location.pathname);
});

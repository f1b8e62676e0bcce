// The row of those that need a person. Its places are always there, so that somebody who comes in moves nothing; a place goes to
// the next one only when its robot no longer needs anybody, or while nobody's pointer or focus is in the row.
import { mark, say } from "pilothouse/floor/text";
import { byNeed } from "pilothouse/floor/order";
import { Tile } from "pilothouse/floor/tile";

export class NeedRow {
  constructor(element, pictures, of) {
    this.element = element;
    this.pictures = pictures;
    this.of = of; // a robot's own tile, and what is known of it
    this.places = [...element.querySelectorAll("[data-place]")].map((place) => {
      const tile = new Tile(place.querySelector(".tile"));
      return { place, tile, link: place.querySelector("h3 a"), since: 0 };
    });
    this.calm = element.querySelector("[data-calm]");
    this.more = element.querySelector("[data-more]");
    this.since = new Map(); // when this page first saw the need
  }

  draw(found, rank, nameOf) {
    const needing = byNeed(found.filter(({ state }) => state.group === "need"), rank);
    const ids = needing.map(({ entry }) => entry.id);
    for (const id of this.since.keys()) if (!ids.includes(id)) this.since.delete(id);
    for (const id of ids) if (!this.since.has(id)) this.since.set(id, Date.now());
    const isHeld = this.element.matches(":hover") || this.element.contains(document.activeElement);
    this.#seat(ids, isHeld, nameOf);
    for (const { place, tile } of this.places) {
      const id = place.dataset.holds;
      if (!id) continue;
      this.#aim(tile, id, nameOf);
      tile.draw(this.of.entry(id), this.pictures.at(id, tile.element.dataset.camera));
    }
    const unseated = ids.length - this.places.filter(({ place }) => place.dataset.holds).length;
    mark(this.calm, "hidden", ids.length ? "" : null);
    say(this.more, unseated > 0 ? `and ${unseated} more` : "");
  }

  #seat(ids, isHeld, nameOf) {
    const seats = this.places.map(({ place }) => (ids.includes(place.dataset.holds) ? place.dataset.holds : ""));
    const next = isHeld ? seats : ids.slice(0, seats.length);
    const waiting = ids.filter((id) => !next.includes(id));
    this.places.forEach((seat, at) => this.#put(seat, next[at] || (isHeld ? waiting.shift() : "") || "", nameOf));
  }

  #put(seat, id, nameOf) {
    const { place, tile, link } = seat;
    if ((place.dataset.holds ?? "") === id) return;
    place.dataset.holds = id;
    tile.element.dataset.subject = id;
    tile.element.hidden = !id;
    this.pictures.forget(tile.canvas);
    if (!id) return;
    say(link, nameOf(id));
    link.href = this.of.tile(id).dataset.href;
    delete tile.element.dataset.camera;
  }

  #aim(tile, id, nameOf) {
    const camera = this.of.tile(id).dataset.camera || this.of.entry(id).about?.cameras[0] || "";
    if (!camera || tile.element.dataset.camera === camera) return;
    tile.element.dataset.camera = camera;
    tile.canvas.setAttribute("aria-label", `Camera ${camera} of ${nameOf(id)}`);
    this.pictures.show(tile.canvas, id, camera);
  }
}

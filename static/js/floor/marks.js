// More robots than pictures can show: one mark each, sorted by need. The mark in focus, or under the pointer, is told in full beside them.
import { mark, say } from "pilothouse/floor/text";
import { Tile } from "pilothouse/floor/tile";
import { isLate, stateOf } from "pilothouse/subject-state";

class Mark {
  canvas = null;

  constructor(element) {
    this.element = element;
    Object.assign(element.dataset, { subject: element.pathname.split("/").at(-2), name: element.title, href: element.pathname });
    this.words = Object.assign(document.createElement("span"), { className: "vh" });
    element.append(this.words);
  }

  draw(entry) {
    const state = stateOf(entry);
    mark(this.element, "data-kind", state.kind || "calm");
    mark(this.element, "data-group", state.group);
    this.element.classList.toggle("stale", isLate(entry));
    say(this.words, `, ${state.word}`);
  }
}

export class Marks {
  constructor(grid, preview, pictures) {
    this.tile = new Tile(preview);
    this.preview = preview;
    this.pictures = pictures;
    for (const name of ["focusin", "pointerover"]) {
      grid.addEventListener(name, (event) => {
        const chosen = event.target.closest("[data-subject]");
        if (chosen) this.#choose(chosen);
      });
    }
  }

  add(element) {
    const made = new Mark(element);
    if (!this.preview.dataset.subject) this.#choose(element);
    return made;
  }

  drawChosen(entryOf) {
    if (!this.preview.dataset.subject) return;
    const entry = entryOf(this.preview.dataset.subject);
    const camera = entry.about?.cameras[0];
    if (camera && this.preview.dataset.camera !== camera) {
      this.preview.dataset.camera = camera;
      this.pictures.show(this.tile.canvas, entry.id, camera);
    }
    this.tile.draw(entry, camera ? this.pictures.at(entry.id, camera) : 0);
  }

  #choose(element) {
    if (this.preview.dataset.subject === element.dataset.subject) return;
    this.preview.dataset.subject = element.dataset.subject;
    delete this.preview.dataset.camera;
    this.pictures.forget(this.tile.canvas);
    const link = this.preview.querySelector("h3 a");
    say(link, element.dataset.name);
    link.href = element.href;
    this.preview.hidden = false;
  }
}

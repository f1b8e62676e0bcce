// Live pictures: only of tiles on screen, at most 24. Each is decoded once and painted into every canvas that shows it; the newest wins.
import { gateway } from "pilothouse/gateway-socket";

const MOST = 24;

export class Pictures {
  #canvases = new Map(); // "subject/camera" -> Set of canvases
  #seen = new Set(); // canvases on screen
  #waiting = new Map(); // the newest picture not decoded yet
  #decoding = new Set();
  #takenAt = new Map();
  #headers = new Map();
  #paused = false;

  constructor(fps) {
    this.fps = fps;
    this.observer = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) isIntersecting ? this.#seen.add(target) : this.#seen.delete(target);
      this.ask();
    }, { rootMargin: "80px" });
    gateway.addEventListener("picture", (event) => this.#take(event.detail));
    document.addEventListener("visibilitychange", () => this.ask());
  }

  show(canvas, subject, camera) {
    const key = `${subject}/${camera}`;
    if (canvas.dataset.shows === key) return;
    this.#canvases.get(canvas.dataset.shows)?.delete(canvas);
    canvas.dataset.shows = key;
    if (!this.#canvases.has(key)) this.#canvases.set(key, new Set());
    this.#canvases.get(key).add(canvas);
    this.#blank(canvas);
    this.observer.observe(canvas);
    this.ask();
  }

  forget(canvas) {
    this.#canvases.get(canvas.dataset.shows)?.delete(canvas);
    delete canvas.dataset.shows;
    this.#blank(canvas);
    this.#seen.delete(canvas);
    this.observer.unobserve(canvas);
    this.ask();
  }

  // Never the robot that stood here before.
  #blank(canvas) {
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    delete canvas.dataset.sequence;
  }

  // Paused, pictures stand still and their age goes on; the newest of each is painted when it ends.
  pause(isPaused) {
    this.#paused = isPaused;
    if (!isPaused) for (const key of this.#waiting.keys()) if (!this.#decoding.has(key)) this.#decode(key);
  }

  // When the picture now on screen arrived, by the gateway's clock; 0 for none.
  at(subject, camera) {
    return this.#takenAt.get(`${subject}/${camera}`) ?? 0;
  }

  header(subject, camera) {
    return this.#headers.get(`${subject}/${camera}`);
  }

  ask() {
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => {
      const keys = [...new Set([...this.#seen].map((canvas) => canvas.dataset.shows).filter(Boolean))].sort();
      const pictures = keys.slice(0, MOST).map((key) => {
        const at = key.indexOf("/");
        return { subject: key.slice(0, at), camera: key.slice(at + 1), fps: this.fps };
      });
      gateway.want("pictures", { pictures: document.hidden ? [] : pictures });
    });
  }

  #take({ header, jpeg }) {
    const key = `${header.subject}/${header.camera}`;
    this.#waiting.set(key, { header, jpeg });
    if (!this.#decoding.has(key)) this.#decode(key);
  }

  async #decode(key) {
    this.#decoding.add(key);
    while (this.#waiting.has(key) && !this.#paused) {
      const { header, jpeg } = this.#waiting.get(key);
      this.#waiting.delete(key);
      const bitmap = await createImageBitmap(new Blob([jpeg], { type: "image/jpeg" })).catch(() => null);
      if (bitmap) this.#paint(key, header, bitmap);
    }
    this.#decoding.delete(key);
  }

  #paint(key, header, bitmap) {
    for (const canvas of this.#canvases.get(key) ?? []) {
      if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
      canvas.getContext("2d").drawImage(bitmap, 0, 0);
      canvas.dataset.sequence = header.sequence;
    }
    bitmap.close();
    this.#takenAt.set(key, header.received_ms);
    this.#headers.set(key, header);
  }
}

// <hold-button seconds="2">: a hazardous act starts only after the button was held, by pointer, Space or Enter. Letting go ends it.
class HoldButton extends HTMLElement {
  #started = 0;
  #frame = 0;

  connectedCallback() {
    this.button = this.querySelector("button");
    this.seconds = Number(this.getAttribute("seconds") || 2);
    const holdKeys = new Set([" ", "Enter"]);
    this.button.addEventListener("pointerdown", (event) => event.button === 0 && this.#start());
    this.button.addEventListener("keydown", (event) => {
      if (!holdKeys.has(event.key)) return;
      event.preventDefault();
      if (!event.repeat) this.#start();
    });
    for (const name of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) this.button.addEventListener(name, () => this.#end());
    this.button.addEventListener("contextmenu", (event) => event.preventDefault());
    this.button.addEventListener("click", (event) => event.preventDefault());
  }

  disconnectedCallback() {
    this.#end();
  }

  #start() {
    if (this.button.disabled || this.#started) return;
    this.#started = performance.now();
    const draw = () => {
      const held = (performance.now() - this.#started) / 1000 / this.seconds;
      this.button.style.setProperty("--held", Math.min(1, held).toFixed(3));
      if (held < 1) this.#frame = requestAnimationFrame(draw);
      else this.#done();
    };
    draw();
  }

  #end() {
    cancelAnimationFrame(this.#frame);
    this.#started = 0;
    this.button.style.setProperty("--held", "0");
  }

  #done() {
    this.#end();
    this.dispatchEvent(new CustomEvent("held", { bubbles: true }));
    this.button.form?.requestSubmit();
  }
}

customElements.define("hold-button", HoldButton);

// <confirm-inline>: a disruptive act asks where it stands. Without this file it is a plain <details>; with it, Escape and Keep close it.
class ConfirmInline extends HTMLElement {
  connectedCallback() {
    this.details = this.querySelector("details");
    this.details.addEventListener("toggle", () => {
      const asked = this.contains(document.activeElement); // not when the page came with it open
      if (this.details.open && asked) this.details.querySelector("[data-first], .boxed .btn:not([data-keep])")?.focus();
    });
    this.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.details.open) {
        event.stopPropagation();
        this.#close();
      }
    });
    this.addEventListener("click", (event) => event.target.closest("[data-keep]") && this.#close());
  }

  #close() {
    this.details.open = false;
    this.querySelector("summary").focus();
  }
}

customElements.define("confirm-inline", ConfirmInline);

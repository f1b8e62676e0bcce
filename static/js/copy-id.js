// <copy-id value="…">: copies exactly what it names and says so in the same place.
class CopyId extends HTMLElement {
  connectedCallback() {
    this.button = this.querySelector("button");
    this.said = this.querySelector("[role=status]");
    this.button.addEventListener("click", () => this.#copy());
  }

  async #copy() {
    const value = this.getAttribute("value");
    let done = true;
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      done = this.#copyOldWay(value); // plain http on another host has no clipboard interface
    }
    this.said.textContent = done ? "Copied" : "Select and copy it by hand";
    setTimeout(() => (this.said.textContent = ""), 2500);
  }

  #copyOldWay(value) {
    const box = Object.assign(document.createElement("textarea"), { value, className: "vh" });
    this.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    this.button.focus();
    return done;
  }
}

customElements.define("copy-id", CopyId);

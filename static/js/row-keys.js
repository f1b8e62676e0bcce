// <row-keys>: in a table, a single key acts on the row that has the focus, or on the first one that offers it: data-row-key="a".
class RowKeys extends HTMLElement {
  connectedCallback() {
    this.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.documentElement.dataset.singleKeys === "off") return;
      if (event.target.closest("input, textarea, select, [contenteditable]")) return;
      const button = event.target.closest("tr")?.querySelector(`[data-row-key="${CSS.escape(event.key)}"]`);
      if (!button) return;
      event.preventDefault();
      event.stopPropagation(); // the same key without a row acts on the first alarm of the line above
      button.click();
    });
  }
}

customElements.define("row-keys", RowKeys);

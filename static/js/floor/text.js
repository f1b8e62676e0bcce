// Small changes to what is on screen, made only where something differs: a page at rest costs nothing.

export function say(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

export function mark(node, name, value) {
  if (!node) return;
  if (value === null || value === false) node.hasAttribute(name) && node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function toggle(node, name, on) {
  if (node && node.classList.contains(name) !== on) node.classList.toggle(name, on);
}

export function parts(element) {
  return Object.fromEntries([...element.querySelectorAll("[data-part]")].map((node) => [node.dataset.part, node]));
}

export function drawIcon(use, name) {
  const address = use?.getAttribute("href");
  if (address && !address.endsWith(`#i-${name}`)) use.setAttribute("href", address.replace(/#.*/, `#i-${name}`));
}

// A measured value in three figures, or as many as its size needs; "unknown" where there is none, 0 where it is nothing.
export function figure(value) {
  if (value === null || value === undefined) return "unknown";
  const size = Math.abs(value);
  if (size < 0.005) return size === 0 || size >= 0.0005 ? String(Number(value.toFixed(3)) + 0) : "0";
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

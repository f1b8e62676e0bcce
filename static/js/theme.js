// Light, dark or as the system says. The server writes the choice into the page; this only changes it.
import { postQuietly } from "pilothouse/htmx-bridge";
import { offer } from "pilothouse/verbs";

const root = document.documentElement;
const YEAR_S = 365 * 24 * 3600;

function dark() {
  const chosen = root.dataset.theme;
  return chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

// Pages without a person (sign-in, errors) know the choice from this cookie. It holds one word and nothing about anyone.
function remember(theme) {
  document.cookie = `pilothouse_theme=${theme};path=/;max-age=${YEAR_S};samesite=lax`;
}

if (root.dataset.theme) remember(root.dataset.theme);

offer("theme", () => {
  const theme = dark() ? "light" : "dark";
  root.dataset.theme = theme; // kept on screen whatever the server says: it is only a look
  remember(theme);
  const url = root.dataset.preferencesUrl;
  if (url) postQuietly(url, { theme }).catch(() => {});
  for (const input of document.querySelectorAll('input[name="theme"]')) input.checked = input.value === theme;
});

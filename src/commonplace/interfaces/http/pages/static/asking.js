// A form shows its effect at once. The address follows, so that it can be kept or sent.
import { debounced, replace } from "./pages.js";

const form = document.getElementById("filters");
const place = document.getElementById(form.dataset.into);

const show = debounced(Number(form.dataset.wait ?? 60), () => {
  // Half a moment is no moment yet.
  for (const field of form.querySelectorAll("[data-moment]")) {
    if (field.value && !/^\d{4}-\d{2}-\d{2}/.test(field.value)) return;
  }
  const asked = new URLSearchParams(new FormData(form));
  const address = `${form.getAttribute("action")}?${asked}`;
  history.replaceState(null, "", address);
  replace(place, address);
});

form.addEventListener("input", show);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});

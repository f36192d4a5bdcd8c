// The slider and the filters show their effect at once. The address follows, so that it can be kept or sent.
import { debounced, replace } from "./pages.js";

const form = document.getElementById("filters");
const place = document.getElementById(form.dataset.into);

const show = debounced(60, () => {
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

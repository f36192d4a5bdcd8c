// What every page does once it is there. Without scripts the same is reached by links and buttons.

export async function part(address, options) {
  const answer = await fetch(address, { headers: { Accept: "text/html" }, ...options });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = page.querySelector("[data-part]") ?? page.querySelector("main");
  return found && [...found.childNodes]; // null where the answer is no page, as when too much was asked
}

export function debounced(wait, action) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), wait);
  };
}

// Replaces the content of a place, and drops an answer that a later one has overtaken.
const asked = new WeakMap();
export async function replace(place, address) {
  const turn = (asked.get(place) ?? 0) + 1;
  asked.set(place, turn);
  place.setAttribute("aria-busy", "true");
  const nodes = await part(address);
  if (asked.get(place) !== turn) return;
  if (nodes) place.replaceChildren(...nodes);
  place.setAttribute("aria-busy", "false");
}

for (const place of document.querySelectorAll("[data-load]")) replace(place, place.dataset.load);

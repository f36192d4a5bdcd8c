// One turn of a conversation: the answer as it comes, and the memory beside it. Text is only ever put in as text.
import { replace } from "./pages.js";

const form = document.getElementById("turn");
const transcript = document.getElementById("transcript");
const recalled = document.getElementById("recalled");
const learned = document.getElementById("learned");
const failed = document.getElementById("failed");

function element(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function say(who, text, role) {
  const words = element("blockquote", text);
  const item = element("li", "", `card ${role}`);
  item.append(element("p", who, "hint"), words);
  transcript.append(item);
  return words;
}

async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const whole = rest.split("\n\n");
    rest = whole.pop();
    for (const one of whole) {
      const name = /^event: ?(.*)$/m.exec(one);
      const data = one.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
      if (name && data) yield [name[1], JSON.parse(data)];
    }
  }
}

const tellers = {
  retrieved: ({ items }) => {
    const shown = items.map((item) => element("li", item.note ? `${item.text} (${item.note})` : item.text));
    recalled.replaceChildren(...(shown.length ? shown : [element("li", recalled.dataset.empty)]));
  },
  delta: ({ text }, words) => words.append(text),
  tool: () => {},
  done: ({ response, created }, words) => {
    words.textContent = response;
    const address = new URL(learned.dataset.from, location.href);
    for (const change of created) address.searchParams.append("fact", change.fact);
    return replace(learned, address);
  },
  error: ({ detail }) => failed.replaceChildren(detail),
};

async function turn() {
  const body = new URLSearchParams(new FormData(form));
  say(transcript.dataset.you, body.get("said"), "user");
  form.elements.said.value = "";
  failed.replaceChildren();
  const words = say(transcript.dataset.answer, "", "assistant");
  const answer = await fetch(form.action, { method: "POST", body });
  if (!answer.ok) {
    failed.replaceChildren(String(answer.status));
    return;
  }
  for await (const [name, value] of events(answer)) await tellers[name]?.(value, words);
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  await turn().finally(() => (button.disabled = false));
  form.elements.said.focus();
});
form?.elements.said.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    form.requestSubmit();
  }
});

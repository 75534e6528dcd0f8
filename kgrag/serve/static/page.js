"use strict";
if (matchMedia("(max-width: 820px)").matches) document.querySelector(".menu")?.removeAttribute("open");
const answer = document.getElementById("answer");
const panel = document.getElementById("panel");
const form = document.getElementById("ask");
let asking = null;

// Asking: the draft is shown as it is written, then replaced by the checked answer.

function told(kind, text) {
  const p = document.createElement("p");
  p.className = kind;
  p.textContent = text;
  return p;
}

// Earlier questions go along, so that a question may lean on them, and stand above it with their
// answers. They are kept by the browser, as long as the tab.

const MANY = ["document", "region", "kind", "issuer"], KEPT = "kgrag-thread";
const PAGE = { headers: { accept: "text/html" } };  // errors are pages, too
let { turns, latest } = JSON.parse(sessionStorage.getItem(KEPT) ?? '{"turns": [], "latest": null}');

function begin(question) {  // the answer before becomes an earlier one; a question asked again is not
  const all = [...turns, latest].filter(Boolean);
  const isSame = turn => turn.question === question || turn.asked === question;
  turns = all.filter(turn => !isSame(turn)).slice(-10);
  keep(all.find(isSame) ?? null);
  if (turns.length) form.scrollIntoView();
}

function keep(turn) {
  latest = turn;
  const long = turns.filter(one => one.html);
  for (;;) {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({ turns, latest }));
      break;
    } catch {  // full: the oldest answers are given up, not their questions
      if (!long.length) break;
      long.shift().html = "";
    }
  }
  const thread = document.getElementById("thread");
  thread.replaceChildren(...turns.map(one => {
    const part = document.createElement("div");
    if (one.html) part.innerHTML = one.html;  // rendered and escaped by the server
    else {
      const link = part.appendChild(document.createElement("a"));
      link.href = "/?" + new URLSearchParams({ question: one.question });
      link.textContent = one.question;
    }
    return part;
  }));
  thread.hidden = !turns.length;
  document.querySelector(".turns").hidden = !turns.length && !latest;
}

function asked(fields) {
  const told = { history: turns.map(({ question, answer, cited }) => ({ question, answer, cited })) };
  for (const [name, value] of fields)
    told[name] = MANY.includes(name) ? [...(told[name] ?? []), value] : name === "in_force" ? true : value;
  return JSON.stringify(told);
}

async function ask(fields) {
  if (asking) asking.abort();
  asking = new AbortController();
  const mine = asking;
  const [go, stop] = [form.querySelector(".go"), form.querySelector(".stop")];
  go.hidden = true;
  stop.hidden = false;
  closePanel();
  begin(fields.get("question"));
  const draft = told("draft", "");
  answer.replaceChildren(told("quiet", answer.dataset.working), draft);
  try {
    const response = await fetch("/ask", {
      method: "POST", body: asked(fields), headers: { "content-type": "application/json" }, signal: mine.signal });
    if (!response.ok) throw new Error((await response.json()).error.message);
    for await (const [name, data] of events(response.body)) {
      if (name === "text") {
        answer.firstChild.textContent = answer.dataset.draft;
        draft.textContent += data.text;
      } else if (name === "answer") {
        answer.innerHTML = data.html;  // rendered and escaped by the server
        history.replaceState(null, "", "/?" + data.address);
        keep({ question: data.question, asked: fields.get("question"), answer: data.text, cited: data.cited, html: data.html });
      } else if (name === "error") throw new Error(data.message);
    }
  } catch (error) {
    if (mine !== asking) return;
    const stopped = error.name === "AbortError";
    answer.append(told(stopped ? "note" : "missing", stopped ? answer.dataset.stopped : answer.dataset.failed + " " + error.message));
  } finally {
    if (mine === asking) {
      asking = null;
      go.hidden = false;
      stop.hidden = true;
    }
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const event = Object.fromEntries(text.slice(0, end).split("\n").map(line => {
        const at = line.indexOf(": ");
        return [line.slice(0, at), line.slice(at + 2)];
      }));
      if (event.data) yield [event.event, JSON.parse(event.data)];
    }
  }
}

function fieldsOf(source) {
  const fields = new URLSearchParams();
  for (const [name, value] of source) if (value.trim()) fields.append(name, value.trim());
  return fields;
}

if (form) {
  form.addEventListener("submit", event => {
    event.preventDefault();
    const fields = fieldsOf(new FormData(form));
    history.pushState(null, "", "/?" + fields);
    ask(fields);
  });
  form.querySelector(".stop").addEventListener("click", () => asking && asking.abort());
  form.querySelector("textarea").addEventListener("keydown", event => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  document.querySelector(".anew").addEventListener("click", () => { turns = []; keep(null); form.querySelector("textarea").focus(); });
  addEventListener("popstate", () => location.reload());
  const wanted = fieldsOf(new URLSearchParams(location.search));
  if (answer.dataset.asking) ask(wanted);
  else {
    begin(wanted.get("question"));
    if (answer.querySelector(".answer")) keep({ ...latest ?? { question: wanted.get("question") }, html: answer.innerHTML });
  }
}

// The source of a citation beside the answer, with next and previous.

let shown = null;

function citations(of) {  // of the same answer, or page: the first link of each number
  const part = of?.closest(".answer") ?? answer?.querySelector(".answer") ?? document, first = new Map();
  for (const a of part.querySelectorAll(".cite[data-n]")) if (!first.has(a.dataset.n)) first.set(a.dataset.n, a);
  return [...first.values()];
}

async function show(link) {
  const response = await fetch(link.getAttribute("href").split("#")[0] + "?panel=1", PAGE);
  panel.innerHTML = await response.text();
  shown = link;
  panel.hidden = false;
  const around = citations(link), at = around.findIndex(a => a.dataset.n === link.dataset.n), part = link.closest(".answer") ?? document;
  for (const a of document.querySelectorAll(".cite")) a.classList.toggle("current", part.contains(a) && a.dataset.n === link.dataset.n);
  const steps = [[".previous", around[at - 1]], [".next", around[at + 1]]];
  for (const [name, other] of steps) {
    const button = panel.querySelector(name);
    if (!button) continue;
    button.disabled = other === undefined;
    button.addEventListener("click", () => show(other));
  }
  panel.querySelector(".close")?.addEventListener("click", closePanel);
  panel.querySelector("mark")?.scrollIntoView({ block: "center" });
  panel.focus({ preventScroll: true });
}

function closePanel() {
  if (!panel || panel.hidden) return;
  panel.hidden = true;
  for (const a of document.querySelectorAll(".cite.current")) a.classList.remove("current");
  shown?.focus();
}

document.addEventListener("click", event => {
  const link = event.target.closest(".cite[data-n]"), button = event.target.closest(".copy");
  if (button) copy(button);
  if (!link || !panel || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(link);
});

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    const word = button.textContent;
    button.textContent = "✓";
    setTimeout(() => { button.textContent = word; }, 1200);
  } catch {
    getSelection().selectAllChildren(button.parentElement.querySelector(".reference") ?? button);
  }
}

// On other pages than that of an answer citations are numbered here.

document.querySelectorAll("a.cite:not([data-n])").forEach((link, at) => { link.dataset.n = at + 1; });

if (location.hash === "#correct") document.getElementById("correct")?.setAttribute("open", "");

addEventListener("keydown", event => {
  if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const field = document.querySelector("#question, main input");
    if (field) { event.preventDefault(); field.focus(); }
  } else if (event.key === "Escape") closePanel();
  else if (panel && (event.key === "j" || event.key === "k")) {
    if (!shown?.isConnected) shown = null;
    const all = citations(shown), at = all.findIndex(a => a.dataset.n === shown?.dataset.n);
    const next = all[at + (event.key === "j" ? 1 : -1)] ?? shown ?? all[0];
    if (next) show(next);
  }
});

// The slider sets the day as of which is asked; its end is today, without a day.

for (const slider of document.querySelectorAll(".slider")) {
  const range = slider.querySelector("input"), day = slider.parentElement.querySelector("[name=as_of]");
  const year = slider.querySelector("output");
  slider.hidden = false;
  const told = () => { year.textContent = day.value ? day.value.replace("-12-31", "") : slider.dataset.today; };
  if (day.value) range.value = day.value.slice(0, 4);
  told();
  range.addEventListener("input", () => {
    day.value = range.value === range.max ? "" : range.value + "-12-31";
    told();
  });
  day.addEventListener("input", told);
}

// Tables are sorted by a click on a heading; numbers by their size.

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((cell, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map(row => [value((row.cells[at]?.textContent ?? "").trim()), row]);
      rows.sort(([a], [b]) => compared(a, b) * (down && a !== "" && b !== "" ? -1 : 1));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}

function value(text) {
  const match = /^[≥≤><约增降]*(-?\d[\d,]*(?:\.\d+)?)(万|亿)?/.exec(text);
  if (!match || /^\d{4}-\d/.test(text)) return text;
  return +match[1].replaceAll(",", "") * ({ 万: 1e4, 亿: 1e8 }[match[2]] ?? 1);
}

function compared(a, b) {
  if (a === "" || b === "") return (a === "") - (b === "");  // empty cells stay behind
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "zh-Hans");
}

// A quote in a whole document: the address has #quote.

document.querySelector("mark.quote")?.scrollIntoView({ block: "center" });

// Files are dropped on the page; how far they are taken in is asked for until that has ended.

const upload = document.getElementById("upload"), ingest = document.getElementById("ingest");

if (upload) {
  for (const name of ["dragover", "dragleave", "drop"]) {  // anywhere on the page: beside the form a browser would leave it
    addEventListener(name, event => {
      event.preventDefault();
      upload.classList.toggle("dropping", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) upload.elements.files.files = event.dataTransfer.files;
    });
  }
  upload.addEventListener("submit", () => { upload.querySelector(".go").disabled = true; });
  addEventListener("pageshow", () => { upload.querySelector(".go").disabled = false; });
  follow();
}

async function follow() {
  while (ingest.firstElementChild?.dataset.busy) {
    await new Promise(done => { setTimeout(done, 700); });
    try {
      const response = await fetch("/upload?panel=1", PAGE);
      if (response.ok) ingest.innerHTML = await response.text();  // rendered and escaped by the server
    } catch { /* the server does not answer now: it is asked again */ }
  }
}

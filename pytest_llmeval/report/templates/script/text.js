// A text of evidence in a box: rendered, or raw as it is stored.

const LONGEST_RENDERED = 20_000;
const MOST_RENDERING = 1_000; // milliseconds a page, after which texts are rendered on request
const RAW = "llmeval-raw";

const reading = { raw: storedChoice() === "yes", blocks: [], left: MOST_RENDERING };

// Pages from disk may have no storage.
function storedChoice() {
  try { return sessionStorage.getItem(RAW); } catch { return null; }
}

function remember(value) {
  try { sessionStorage.setItem(RAW, value); } catch { /* then it is as long as the page */ }
}

// Forgets the blocks of the sample that was shown before.
function beginReading() {
  Object.assign(reading, { blocks: [], left: MOST_RENDERING });
}

function rawSwitch() {
  const button = el("button", { type: "button", "aria-pressed": String(reading.raw) }, "Raw text");
  return on(button, "click", () => {
    reading.raw = !reading.raw;
    remember(reading.raw ? "yes" : "no");
    button.setAttribute("aria-pressed", String(reading.raw));
    reading.left = MOST_RENDERING;
    reading.blocks.forEach((draw) => draw());
    announce(reading.raw ? "All texts are shown raw" : "All texts are rendered");
  });
}

const note = (text, ...more) => el("p", { class: "cut" }, text, ...more);
const cutNote = (value) => (isCut(value) ? note(`The first ${count(value.text.length)} of ${count(value.of)} characters; the whole stands in rows.jsonl or transcripts.jsonl of the run's folder.`) : null);

const boxed = (name, kind, label, ...children) => el(name, { class: `box ${kind}`, tabindex: "0", role: "group", "aria-label": label, dir: "auto" }, ...children);
const rawBox = (text, label, kind) => boxed("pre", kind, label, text ? said(text) : el("span", { class: "quiet" }, "(empty)"));

// A text as it is stored, such as a query or a program.
function box(value, label, kind = "") {
  const text = beginning(value);
  return el("div", { class: "text" }, text ? copyButton(text, label) : null, rawBox(text, label, kind), cutNote(value));
}

// A text that may be Markdown, its headings below `level`.
function prose(value, label, level, kind = "prose") {
  const text = beginning(value);
  const place = el("div", { class: "text" });
  const draw = (wanted) => {
    const fits = text.length <= LONGEST_RENDERED && (wanted || reading.left > 0);
    const started = performance.now();
    const drawn = text.trim() && !reading.raw && fits ? markdown(text, level) : null;
    reading.left -= performance.now() - started;
    const shown = drawn ? boxed("div", `${kind} rendered`, label, drawn) : rawBox(text, label, kind);
    place.replaceChildren(...[text ? copyButton(text, label) : null, shown, drawn || !text.trim() || reading.raw ? null : whyRaw(text, fits, draw), cutNote(value)].filter(Boolean));
  };
  draw(false);
  reading.blocks.push(() => draw(false));
  return place;
}

function whyRaw(text, fits, draw) {
  if (fits) return note("Shown raw: it is too entangled to be rendered.");
  if (text.length > LONGEST_RENDERED) return note(`Shown raw: of ${count(text.length)} characters, more than the ${count(LONGEST_RENDERED)} that are rendered.`);
  return note("Shown raw: the texts of this page take long to render. ", on(el("button", { type: "button" }, "Render it"), "click", () => draw(true)));
}

// Building elements. Text from anywhere becomes text nodes only; nothing is ever parsed as HTML.

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";

function make(space, name, attributes, children) {
  const element = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const el = (name, attributes, ...children) => make(HTML, name, attributes, children);
const svg = (name, attributes, ...children) => make(SVG, name, attributes, children);

function on(element, event, act) {
  element.addEventListener(event, act);
  return element;
}

// Signs without a shape, and signs that turn the direction of a text: shown by their number instead of doing their work.
const INVISIBLE = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029])\1*/gu;
const MOST_SIGNS = 300;

function said(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (parts.length > 2 * MOST_SIGNS) break;
    const code = match[1].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const times = match[0].length / match[1].length;
    parts.push(text.slice(end, match.index));
    parts.push(el("span", { class: "sign", title: "a sign that is not shown as itself" }, `U+${code}${times > 1 ? ` ×${times}` : ""}`));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end).replace(INVISIBLE, "\ufffd"));
  return parts.flatMap((part) => (typeof part === "string" ? breakable(part) : part)).filter((part) => part !== "");
}

// A word without end takes browsers seconds to break, as they shape the rest of it anew for every line: it gets places to break.
function breakable(text) {
  if (!/\S{1000}/.test(text)) return text;
  return text.split(/(\S{200})/).flatMap((part, at) => (at % 2 ? [part, el("wbr")] : part));
}

// A text of evidence: a string, or {text, of} when only its beginning is here.
const beginning = (value) => (typeof value === "string" ? value : value.text);
const isCut = (value) => value !== null && typeof value === "object" && typeof value.of === "number";

const count = (number) => number.toLocaleString("en-US");
const seconds = (number) => (number < 100 ? number.toFixed(1) : count(Math.round(number)));
const money = (number) => (number >= 0.01 || number === 0 ? `$${number.toFixed(2)}` : `$${number.toPrecision(2)}`);
const SIGNS = { correct: "✓", incorrect: "✗", error: "!", unscored: "?", "not run": "–" };

function pill(outcome) {
  return el("span", { class: `pill ${outcome.replace(" ", "-")}` }, el("span", { "aria-hidden": "true" }, `${SIGNS[outcome]} `), outcome);
}

// A control of a form below its label.
const labelled = (label, control) => el("div", { class: `field ${control.id}` }, el("label", { for: control.id }, label), control);

// Markdown as elements: markdown-it reads the text into tokens, and each token on the list becomes an element. HTML stays text,
// links and pictures are shown as text with their address: nothing leads out of the page.

const MOST_ELEMENTS = 8_000;
const OPENING = {
  paragraph_open: "p", blockquote_open: "blockquote", bullet_list_open: "ul", ordered_list_open: "ol", list_item_open: "li", table_open: "table",
  thead_open: "thead", tbody_open: "tbody", tr_open: "tr", th_open: "th", td_open: "td", em_open: "em", strong_open: "strong", s_open: "s",
};
const BREAKS = { hr: "hr", hardbreak: "br", softbreak: "br" };

const MARKDOWN = markdownit({ html: false, breaks: true, maxNesting: 40 });
MARKDOWN.disable("reference"); // a definition of a link would not be shown at all
// As markdown-it's own, which also replaces NUL: it is shown by its number here, like all signs without a shape.
MARKDOWN.core.ruler.at("normalize", (state) => { state.src = state.src.replace(/\r\n?/g, "\n"); });
MARKDOWN.inline.ruler.before("escape", "formula", inlineFormula);
MARKDOWN.block.ruler.before("fence", "formula", blockFormula, { alt: ["paragraph", "reference", "blockquote", "list"] });

function pushFormula(state, name, latex, source) {
  Object.assign(state.push(name, "", 0), { content: latex, markup: source });
  return true;
}

// A $ is a sign of money unless what it encloses has neither a blank at its ends nor a digit behind it.
const isMoney = (inside, after) => /^\s|\s$/.test(inside) || /^\d/.test(after);

function inlineFormula(state, silent) {
  const [open, close] = DELIMITERS.find(([start]) => state.src.startsWith(start, state.pos)) || [];
  if (!open) return false;
  const start = state.pos + open.length;
  const near = state.src.slice(start, start + LONGEST_FORMULA);
  const length = near.indexOf(close);
  const inside = near.slice(0, length);
  if (length < 1 || (open === "$" && isMoney(inside, near.slice(length + 1)))) return false;
  state.pos = start + length + close.length;
  return silent || pushFormula(state, open === "$" || open === "\\(" ? "formula" : "formula_display", inside, open + inside + close);
}

// Lines from one that begins with $$, \[ or \begin{...} to the one that ends it. Among Markdown's own, lines that begin with + or - would be lists.
function blockFormula(state, first, last, silent) {
  const start = state.bMarks[first] + state.tShift[first];
  const near = state.src.slice(start, start + LONGEST_FORMULA);
  const begun = /^(\$\$|\\\[|\\begin\{([a-z]+\*?)\})/.exec(near);
  if (!begun || state.sCount[first] - state.blkIndent >= 4) return false;
  const close = begun[2] ? `\\end{${begun[2]}}` : begun[1] === "$$" ? "$$" : "\\]";
  const end = near.indexOf(close, begun[1].length) + close.length;
  let line = first;
  while (line < last && state.eMarks[line] < start + end) line += 1;
  if (end < begun[1].length + close.length || line >= last || state.src.slice(start + end, state.eMarks[line]).trim()) return false;
  if (silent) return true;
  const text = state.getLines(first, line + 1, state.blkIndent, false).trim();
  state.line = line + 1;
  return pushFormula(state, "formula_display", begun[2] ? text : text.slice(begun[1].length, -close.length), text);
}

// The level of a heading: one below the last one that it is under, so that none is left out whatever the text counts from.
function headingLevel(open, rank) {
  while (open.length && open.at(-1) >= rank) open.pop();
  return open.push(rank);
}

class Drawing {
  constructor(level) {
    this.level = level;
    this.headings = [];
    this.left = MOST_ELEMENTS;
    this.root = document.createDocumentFragment();
    this.open = [this.root];
  }

  add(element) {
    this.left -= 1;
    if (this.left < 0) throw new Error("more elements than a text may have");
    this.open.at(-1).append(element);
    return element;
  }

  text(text) { said(text).forEach((part) => this.add(part)); }

  enter(element) { this.open.push(this.add(element)); }

  draw(tokens) { tokens.forEach((token) => this.token(token)); }

  token(token) {
    const { type } = token;
    if (type === "inline") this.draw(token.children);
    else if (Object.hasOwn(OPENING, type)) this.opening(token);
    else if (Object.hasOwn(BREAKS, type)) this.add(el(BREAKS[type]));
    else if (type === "heading_open") this.enter(el("p", { class: "heading", role: "heading", "aria-level": Math.min(9, this.level + headingLevel(this.headings, Number(token.tag[1]))) }));
    else if (type === "link_open") { this.enter(el("span", { class: "link" })); this.address = token.attrGet("href"); }
    else if (type === "link_close") this.closeLink();
    else if (token.nesting < 0) this.closing(token);
    else if (type === "image") this.text(`[picture: ${token.content} (${token.attrGet("src")})]`);
    else if (type === "formula" || type === "formula_display") this.formula(token);
    else if (type === "code_inline") this.add(el("code", {}, said(token.content)));
    else if (type === "fence" || type === "code_block") this.add(el("pre", { class: "code" }, el("code", {}, said(token.content.replace(/\n$/, "")))));
    else this.text(token.content);
  }

  opening(token) {
    if (token.hidden) return;
    const name = OPENING[token.type];
    const side = /right|center/.exec(token.attrGet("style") || "");
    if (name === "table") this.enter(el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" }));
    this.enter(el(name, { class: side && side[0], start: name === "ol" && token.attrGet("start") }));
  }

  closing(token) {
    if (token.hidden) return;
    this.open.pop();
    if (token.type === "table_close") this.open.pop();
  }

  closeLink() {
    const shown = this.open.pop();
    if (shown.textContent !== this.address) shown.append(" (", ...said(this.address), ")");
  }

  formula(token) {
    const display = token.type === "formula_display";
    const drawn = formula(token.content, display);
    if (drawn === null) this.add(el("code", { class: "unread" }, said(token.markup)));
    else {
      this.left -= drawn.querySelectorAll("*").length;
      this.add(display ? el("span", { class: "display scroll", tabindex: "0", role: "group", "aria-label": "Formula" }, drawn) : drawn);
    }
  }
}

// The elements of a text, its headings below `level`; null when it has too many, or cannot be read.
function markdown(text, level) {
  try {
    const drawing = new Drawing(level);
    drawing.draw(MARKDOWN.parse(text, {}));
    return drawing.root;
  } catch {
    return null;
  }
}

// Scores of a sample, with what decided them.

const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);

function facts(pairs) {
  const shown = pairs.filter(([, text]) => text !== null && text !== undefined && text !== "");
  return el("dl", { class: "facts" }, shown.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, said(String(text))))));
}

function foldable(title, open, ...children) {
  return el("details", { open }, el("summary", {}, title), ...children);
}

const scoreText = (score) => (score.value === null || (score.scale === 1 && score.value % 1 === 0) ? "" : `${Number(score.value.toFixed(score.scale >= 100 ? 1 : 3))} of ${score.scale}`);

// One line of a difference, its words of finding and expecting coloured.
function differenceLine(line) {
  const parts = line.split(/\b(missing|unexpected|found|expected)\b/);
  return el("li", { dir: "auto" }, parts.map((part, at) => (at % 2 ? el("b", { class: part }, part) : el("span", {}, said(part)))));
}

const FINDING = /\b(missing|unexpected|found|expected)\b/;

// Not shown where drawn trees and their edits say the same.
function explanationOf(score) {
  const lines = beginning(score.explanation).split("\n").filter((line) => line.trim());
  if (score.trees || !lines.length) return null;
  if (lines.every((line) => FINDING.test(line))) return el("ul", { class: "differences" }, lines.map(differenceLine));
  return prose(score.explanation, `Explanation of ${score.name}`, 4);
}

// A line of a list; the kind of an edit, its first word, is marked.
function listLine(text) {
  const kind = text.split(" ")[0];
  if (!Object.hasOwn(MARKS, kind)) return el("li", {}, said(text));
  return el("li", {}, el("span", { class: `edit ${kind}` }, kind), " ", said(text.slice(kind.length + 1)));
}

function treesOf(trees) {
  if (!trees || !Array.isArray(trees.answer) || !Array.isArray(trees.target)) return null;
  const drawn = (name, nodes) => el("div", {}, el("h4", {}, name), drawTree(nodes, `Tree of the ${name.toLowerCase()}`));
  return el("div", {}, el("p", { class: "marks" }, Object.keys(MARKS).map((kind) => el("span", { class: `edit ${kind}` }, MARKS[kind]))),
    el("div", { class: "trees" }, drawn("Answer", trees.answer), drawn("Target", trees.target)));
}

const named = (key) => key.replaceAll("_", " ");
const isShort = (value) => typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length < 60 && !value.includes("\n"));
const isTexts = (value) => Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");

// Details by their kind: short values as facts, longer texts, lists of texts; all else as JSON.
function plainDetails(details, trees) {
  const entries = Object.entries(details).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const short = entries.filter(([, value]) => isShort(value));
  const texts = entries.filter(([, value]) => typeof value === "string" && !isShort(value));
  const lists = entries.filter(([, value]) => isTexts(value));
  const rest = entries.filter(([, value]) => typeof value === "object" && !isTexts(value));
  return [
    facts(short.map(([key, value]) => [named(key), typeof value === "number" ? Number(value.toFixed(4)) : value])),
    texts.map(([key, value]) => el("div", {}, el("p", { class: "quiet" }, said(named(key))), box(value, named(key), "code"))),
    treesOf(trees),
    lists.map(([key, value]) => foldable(said(`${named(key)}: ${value.length}`), value.length <= 20, el("ul", { class: "edits" }, value.map(listLine)))),
    rest.length ? foldable("Details", false, box(JSON.stringify(Object.fromEntries(rest), null, 2), "Details")) : null,
  ];
}

function judgedBy(details) {
  const tally = details.tally || {};
  return facts([["judge", details.judge], ["label", details.label], ["correct", tally.correct], ["incorrect", tally.incorrect], ["lost", tally.lost], ["replies", tally.replies]]);
}

function detailsOf(score) {
  const details = score.details;
  if (isCut(details)) return [box(details, `Details of ${score.name}`), treesOf(score.trees)];
  if (details.tally !== undefined) return [judgedBy(details)];
  return plainDetails(details, score.trees);
}

function scoreCard(score) {
  const decided = score.correct === null ? "unscored" : score.correct ? "correct" : "incorrect";
  return el("article", { class: "score" },
    el("h4", {}, said(score.name), " ", el("b", { class: decided }, scoreText(score)), " ", pill(decided), " ",
      el("span", { class: "quiet" }, said(score.grader), score.decides ? "" : " · does not decide")),
    explanationOf(score), score.decides ? detailsOf(score) : foldable("How it was scored", false, detailsOf(score)));
}

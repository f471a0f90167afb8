// The cells of the table: a question, and what a contender made of it.

const MOST_PICTURES = 3;

function questionCell(line) {
  const asked = line.question === null ? null : DATA.questions[line.question];
  const images = asked ? asked.images : [];
  const more = images.length - MOST_PICTURES;
  return el("div", { class: "asked" },
    images.length ? el("span", { class: "thumbnails" }, images.slice(0, MOST_PICTURES).map((digest, at) => thumbnail(digest, `Picture ${at + 1} of the question`)), more > 0 ? ` +${more}` : null) : null,
    el("div", {}, el("p", { class: "excerpt question", dir: "auto" }, asked ? said(asked.text) : "–"), hitOf(line)));
}

const isPlain = (row) => row.score === null || (row.scale === 1 && row.score % 1 === 0);
const scoreShown = (row) => (isPlain(row) ? "" : row.score.toFixed(row.scale >= 100 ? 1 : 2));

function mark(row) {
  return el("span", { class: `mark ${row.outcome.replace(" ", "-")}`, title: row.outcome }, el("span", { "aria-hidden": "true" }, SIGNS[row.outcome]), el("span", { class: "hidden" }, row.outcome));
}

const excerptOfRow = (row) => row.answer ?? row.why;

// Epochs: how many are correct, and a mark for each, which leads to its page.
function epochsOf(rows) {
  const correct = rows.filter((row) => row.outcome === "correct").length;
  return el("span", { class: "epochs" }, el("b", {}, `${correct} of ${rows.length} correct`), " ",
    rows.map((row) => el("a", { href: addressOf(row), class: row.outcome.replace(" ", "-"), "aria-label": `epoch ${row.epoch}: ${row.outcome}` }, SIGNS[row.outcome])));
}

// What a contender made of a sample: outcome, score and the beginning of its answer.
function contenderCell(rows) {
  if (!rows.length) return el("span", { class: "quiet" }, "not asked");
  const [row] = rows;
  const head = rows.length > 1 ? epochsOf(rows) : el("a", { class: "verdict", href: addressOf(row) }, mark(row), " ", el("span", {}, scoreShown(row) || row.outcome));
  return [head, el("p", { class: "excerpt", title: excerptOfRow(row) || null, dir: "auto" }, said(excerptOfRow(row) || ""))];
}

// The share of the scale that a contender's rows reached, of all epochs; null where none was scored.
function valueOf(rows) {
  const values = rows.map((row) => (row.score === null ? { correct: 1, incorrect: 0 }[row.outcome] : row.score / row.scale)).filter((value) => value !== undefined);
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

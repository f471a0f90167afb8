// All answers to the question of a sample, at a glance: a line a contender, a cell an epoch.

const rowName = (row, epochs) => (epochs > 1 ? `${row.part.contender.name}, epoch ${row.epoch}` : row.part.contender.name);
const scoreOf = (row) => (row.score === null || (row.scale === 1 && row.score % 1 === 0) ? "" : row.score.toFixed(row.scale >= 100 ? 1 : 2));

function answerCell(row, current) {
  return el("a", { href: addressOf(row), class: "given", "aria-current": row === current ? "page" : null },
    pill(row.outcome), scoreOf(row) ? [" ", el("b", {}, scoreOf(row))] : null, " ", el("span", { class: "excerpt" }, said(row.answer ?? "no answer")));
}

function allAnswers(current) {
  const { rows } = lineOf(current);
  if (rows.length < 2) return null;
  const epochs = [...new Set(rows.map((row) => row.epoch))].sort((a, b) => a - b);
  const names = distinct(rows.map((row) => row.part.contender.name));
  const head = el("tr", {}, el("th", { scope: "col" }, "Model"), epochs.map((epoch) => el("th", { scope: "col" }, epochs.length > 1 ? `Epoch ${epoch}` : "Answer")));
  const line = (name) => el("tr", {}, el("th", { scope: "row" }, said(name)), epochs.map((epoch) => {
    const row = rows.find((one) => one.epoch === epoch && one.part.contender.name === name);
    return el("td", {}, row ? answerCell(row, current) : "–");
  }));
  return section("All answers", el("div", { class: "scroll all-answers", tabindex: "0", role: "group", "aria-label": "All answers" },
    el("table", {}, el("caption", { class: "hidden" }, "Models and epochs of this sample"), el("thead", {}, head), el("tbody", {}, names.map(line)))));
}

// A page of llmeval view: the run's state, and rows, figures and labels that come while it is open.

const liveMark = document.getElementById("live");
document.getElementById("pages").append(el("a", { href: "/" }, "All runs"), el("a", { href: "label" }, "Label answers"));
tidy(document.querySelector(".top"));
tidy(document.querySelector("main"));

const reached = { rows: DATA.at, figures: DATA.at };

function drawLiveMark(run) {
  const rows = run.state === "ended" ? "" : `${rowsText(run)} rows`;
  const text = [rows, newsText(run)].filter(Boolean).join(", ");
  if (liveMark.dataset.text === `${run.state} ${text}`) return;
  liveMark.dataset.text = `${run.state} ${text}`;
  liveMark.replaceChildren(statePill(run), el("span", { class: "quiet" }, run.state === "running" ? ` live: ${text}` : ` ${text}`));
}

// Draws the table with the rows that came, and the filters, which may have got choices, unless somebody is in them.
function drawRowsThatCame(news) {
  const open = openRow();
  const place = String(open?.place);
  addRows(news);
  if (!document.querySelector(".choices").contains(document.activeElement)) drawFilters();
  redrawTable();
  if (open && String(openRow().place) !== place) route();
}

// Figures are computed now and then.
async function renewFigures() {
  const news = await fetched("overview", { again: true });
  if (news === null) return;
  reached.figures = news.at;
  const places = [document.querySelector(".top"), document.querySelector("main")];
  news.elements.forEach((tree, number) => renew(places[number], tree));
}

every(async () => {
  const news = await fetched(`news?since=${reached.rows}`);
  if (news.rows !== null) drawRowsThatCame(news.rows);
  reached.rows = news.at;
  drawLiveMark(news.run);
  if (reached.figures !== reached.rows) await renewFigures();
  await renewLabels();
  return news.run.state === "ended" && reached.figures === reached.rows ? SELDOM : OFTEN;
}, (error) => {
  if (!error) return;
  delete liveMark.dataset.text;
  liveMark.replaceChildren(el("span", { class: "failed" }, `This page is not renewed: ${error.message}.`));
});

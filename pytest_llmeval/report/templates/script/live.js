// A page of llmeval view: the run's state, rows and figures that come while it is open, labels.

const status = document.getElementById("live");
document.getElementById("pages").append(el("a", { href: "/" }, "All runs"), el("a", { href: "label" }, "Label answers"));
tidy(document.querySelector(".top"));
tidy(document.querySelector("main"));

let read = DATA.at;
let seen = DATA.at;

function drawStatus(run) {
  const rows = run.state === "ended" ? "" : ` ${rowsText(run)} rows`;
  const text = [run.state === "running" ? "live:" : "", `${rows}${newsText(run) ? `, ${newsText(run)}` : ""}`].join("");
  if (status.dataset.text === `${run.state}${text}`) return;
  status.dataset.text = `${run.state}${text}`;
  status.replaceChildren(statePill(run), el("span", { class: "quiet" }, text));
}

// Figures are computed now and then; what scripts drew, and what is open or focused, stays.
async function renewOverview() {
  const news = await asked("overview", { again: true });
  if (news === null) return;
  seen = news.at;
  const places = [document.querySelector(".top"), document.querySelector("main")];
  news.elements.forEach((tree, number) => renew(places[number], tree));
}

every(async () => {
  const news = await asked(`news?since=${read}`);
  if (news.rows !== null) addRows(news.rows);
  read = news.at;
  drawStatus(news.run);
  if (seen !== read) await renewOverview();
  await renewLabels();
  return news.run.state === "ended" && seen === read ? SELDOM : OFTEN;
}, (error) => {
  if (error) status.replaceChildren(el("span", { class: "failed" }, `The server does not answer (${error.message}); this page is from before.`));
});

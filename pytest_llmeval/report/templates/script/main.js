// Which view is shown, and the keys.

const overview = document.getElementById("overview");
const sample = document.getElementById("sample");
const title = document.title;
let scrolled = 0;

const openRow = () => rowAt(location.hash);

function showSample(row) {
  if (!overview.hidden) scrolled = scrollY;
  overview.hidden = true;
  sample.hidden = false;
  sample.dataset.number = row.number;
  document.title = `${row.sample.replace(INVISIBLE, "\ufffd")} · ${title}`;
  scrollTo(0, 0);
  drawSample(row, shown, sample);
}

function showOverview() {
  const back = sample.dataset.number;
  document.title = title;
  if (!overview.hidden) return;
  sample.hidden = true;
  sample.replaceChildren();
  overview.hidden = false;
  const place = shown.indexOf(ROWS[back]);
  if (place >= 0 && Math.floor(place / PAGE) !== state.page) {
    state.page = Math.floor(place / PAGE);
    drawTable();
  }
  if (location.hash === "#samples") scrollTo(0, scrolled);
  else document.getElementById(location.hash.slice(1))?.scrollIntoView();
  const link = back && [...document.querySelectorAll("#table th a")].find((one) => one.hash === addressOf(ROWS[back]));
  link?.focus({ preventScroll: location.hash !== "#samples" });
}

function route() {
  const row = openRow();
  if (row) showSample(row);
  else showOverview();
}

function stepRow(by) {
  const row = openRow();
  if (row) {
    const other = shown[shown.indexOf(row) + by];
    if (other && shown.includes(row)) location.hash = addressOf(other);
    return;
  }
  const links = [...document.querySelectorAll("#table th a")];
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

const KEYS = {
  j: () => stepRow(1),
  k: () => stepRow(-1),
  "/": () => { if (openRow()) location.hash = "samples"; setTimeout(() => document.getElementById("search").focus()); },
  Escape: () => { if (openRow()) location.hash = "samples"; },
};

on(document, "keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  if (typing && event.key === "Escape") event.target.blur();
  if (typing) return;
  event.preventDefault();
  KEYS[event.key]();
});

drawFilters();
drawTable();
on(window, "hashchange", route);
route();

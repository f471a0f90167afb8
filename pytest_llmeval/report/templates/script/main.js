// Which view is shown, and the keys.

const overview = document.getElementById("overview");
const sample = document.getElementById("sample");
const title = document.title;
let scrolled = 0;
let beside = [];

const openRow = () => rowAt(location.hash);
const isTable = () => /^#samples(\?|$)/.test(location.hash);

function showSample(row) {
  if (!overview.hidden) scrolled = scrollY;
  overview.hidden = true;
  sample.hidden = false;
  sample.dataset.number = row.number;
  document.title = `${row.sample.replace(INVISIBLE, "\ufffd")} · ${title}`;
  scrollTo(0, 0);
  beside = rowsBeside(row);
  drawSample(row, beside, sample);
}

// The table is drawn anew where the address names other filters.
function takeState() {
  if (!isTable()) return;
  const next = stateOf(location.hash);
  if (withState(next) === withState(state)) return;
  state = next;
  search.start(state.q);
  drawFilters();
  drawTable();
}

function backToTable(row) {
  const place = shown.indexOf(row.line);
  if (place >= 0 && Math.floor(place / PAGE) !== state.page) {
    state.page = Math.floor(place / PAGE);
    drawTable();
  }
  const links = [...document.querySelectorAll("#table a")];
  const link = links.find((one) => one.hash === addressOf(row)) || links.find((one) => rowAt(one.hash)?.line === row.line);
  link?.focus({ preventScroll: isTable() });
}

function showOverview() {
  const back = sample.dataset.number;
  document.title = title;
  takeState();
  if (!overview.hidden) {
    // A link of the overview, or of another page, that leads to the table under filters.
    if (isTable()) document.getElementById("samples").scrollIntoView();
    return;
  }
  sample.hidden = true;
  sample.replaceChildren();
  overview.hidden = false;
  if (isTable()) scrollTo(0, scrolled);
  else document.getElementById(location.hash.slice(1))?.scrollIntoView();
  if (back !== undefined) backToTable(ROWS[back]);
}

function route() {
  const row = openRow();
  if (row) showSample(row);
  else showOverview();
}

function stepRow(by) {
  const row = openRow();
  if (row) {
    const other = beside[beside.indexOf(row) + by];
    if (other && beside.includes(row)) location.hash = addressOf(other);
    return;
  }
  const links = [...document.querySelectorAll("#table th a")];
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

function leaveRow() {
  if (openRow()) location.hash = withState(state);
}

const KEYS = {
  j: () => stepRow(1),
  k: () => stepRow(-1),
  "/": () => { leaveRow(); setTimeout(() => document.getElementById("search").focus()); },
  Escape: leaveRow,
};

on(document, "keydown", (event) => {
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  if (typing && event.key === "Escape") event.target.blur();
  if (typing) return;
  event.preventDefault();
  KEYS[event.key]();
});

search.start(state.q);
drawFilters();
drawTable();
on(window, "hashchange", route);
route();

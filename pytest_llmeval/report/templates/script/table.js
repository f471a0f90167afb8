// The table: a line for each sample, a column for each contender; a page at a time.

const PAGE = 50;

const anyOf = (name) => ROWS.some((row) => row[name]);
const total = (rows, name) => (rows.some((row) => row[name] === null) || !rows.length ? null : rows.reduce((sum, row) => sum + row[name], 0));
const wordOf = (value) => (value ? said(value) : "–");
const targetOf = (line) => line.rows[0].target;

const LINE_COLUMNS = [
  { name: "sample", title: "Sample", value: (line) => line.sample },
  { name: "question", title: "Question", value: excerptOf, cell: questionCell },
  { name: "flipped", title: "Flipped", value: flipsOf, cell: flipsCell, hidden: !FLIPS.size },
  { name: "task", title: "Task", value: (line) => line.title, cell: (line) => said(line.title), kind: "wide", hidden: distinct(DATA.parts.map((part) => part.task)).length < 2 },
  { name: "target", title: "Target", value: targetOf, cell: (line) => el("p", { class: "excerpt", title: targetOf(line), dir: "auto" }, wordOf(targetOf(line))) },
].filter((column) => !column.hidden);

// With one contender there is room for all that is known of a row.
function rowColumns(contender) {
  const rows = (line) => rowsOf(line, contender);
  const sum = (name, title, shape) => ({ name, title, value: (line) => total(rows(line), name), kind: "number wide", hidden: !anyOf(name), cell: (line) => { const value = total(rows(line), name); return value === null ? "–" : shape(value); } });
  const text = (name, title, kind) => ({ name, title, kind, value: (line) => rows(line)[0]?.[name] ?? null, cell: (line) => el("p", { class: "excerpt", title: rows(line)[0]?.[name] ?? null, dir: "auto" }, wordOf(rows(line)[0]?.[name])) });
  const outcome = (line) => { const all = rows(line); return all.length > 1 ? epochsOf(all) : all.length ? pill(all[0].outcome) : "–"; };
  return [
    { name: "outcome", title: "Outcome", value: (line) => (rows(line).length ? RANKS.indexOf(rows(line)[0].outcome) : null), cell: outcome },
    { name: "score", title: "Score", value: (line) => valueOf(rows(line)), cell: (line) => (rows(line).length ? scoreShown(rows(line)[0]) : "") || "–", kind: "number", hidden: ROWS.every(isPlain) },
    text("answer", "Answer"), text("why", "Why", "wide"),
    sum("tokens", "Tokens", count), sum("seconds", "Seconds", seconds), sum("cost", "Cost", money),
  ].filter((column) => !column.hidden);
}

function contenderColumns(contenders) {
  return contenders.map((contender) => ({ name: `score:${contender.name}`, title: contender.name, kind: "contender", value: (line) => valueOf(rowsOf(line, contender)), cell: (line) => contenderCell(rowsOf(line, contender)) }));
}

function columns() {
  const contenders = visible();
  return [...LINE_COLUMNS, ...(contenders.length === 1 ? rowColumns(contenders[0]) : contenderColumns(contenders))];
}

// The row that a line opens: the first of those that are shown.
const firstRow = (line) => rowsShown(line)[0];

function headCell(column) {
  const sorted = state.sort === column.name;
  const arrow = el("span", { "aria-hidden": "true" }, sorted ? (state.down ? " ↓" : " ↑") : "");
  const button = on(el("button", { type: "button", title: column.title }, el("span", {}, said(column.title)), arrow), "click", () => {
    choose({ sort: column.name, down: sorted && !state.down });
    [...document.querySelectorAll("#table thead th")].find((one) => one.dataset.name === column.name)?.firstChild.focus();
  });
  return el("th", { scope: "col", role: "columnheader", class: column.kind, "data-name": column.name, "aria-sort": sorted ? (state.down ? "descending" : "ascending") : null }, button);
}

function bodyRow(line, shownColumns) {
  const row = firstRow(line);
  const cells = shownColumns.map((column, at) => {
    const about = { class: column.kind, "data-name": column.name };
    if (!at) return el("th", { scope: "row", role: "rowheader", ...about }, el("a", { class: "id", href: addressOf(row), title: line.sample }, line.sample ? said(line.sample) : "–"));
    return el("td", { role: "cell", ...about }, el("span", { class: "label", "aria-hidden": "true" }, said(column.title)), column.cell(line));
  });
  return on(el("tr", { role: "row" }, cells), "click", (event) => {
    if (!event.target.closest("a") && !String(getSelection())) location.hash = addressOf(row);
  });
}

function drawTable() {
  selectLines();
  const start = state.page * PAGE;
  const part = shown.slice(start, start + PAGE);
  const all = columns();
  const head = el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, all.map(headCell)));
  const kind = visible().length > 1 ? "samples several" : "samples one";
  const body = el("tbody", { role: "rowgroup" }, part.map((line) => bodyRow(line, all)));
  const table = el("table", { class: kind, role: "table" }, el("caption", { class: "hidden" }, "Samples"), head, body);
  const place = document.getElementById("table");
  const left = place.scrollLeft;
  place.replaceChildren(table);
  place.scrollLeft = left;
  const of = shown.length === LINES.length ? "" : ` of ${count(LINES.length)}`;
  document.getElementById("found").textContent = `${count(shown.length)}${of} ${LINES.length === 1 ? "sample" : "samples"}${shown.length || !search.over ? "" : ": nothing fits these filters"}`;
  drawPager(start, part.length);
}

// Draw again while somebody may be in the table: what has the focus keeps it.
function redrawTable() {
  const { hash } = document.activeElement;
  const inside = document.getElementById("table").contains(document.activeElement);
  drawTable();
  if (inside && hash) [...document.querySelectorAll("#table a")].find((one) => one.hash === hash)?.focus();
}

function drawPager(start, length) {
  const turn = (by, name) => on(el("button", { type: "button", disabled: by < 0 ? !start : start + length >= shown.length }, name), "click", () => {
    choose({ page: state.page + by });
    document.getElementById("samples").scrollIntoView();
  });
  const text = `${count(start + 1)}–${count(start + length)} of ${count(shown.length)}`;
  const parts = shown.length > PAGE ? [turn(-1, "Previous page"), el("span", {}, text), turn(1, "Next page")] : [];
  document.getElementById("pager").replaceChildren(...parts);
}

// The rows to step through from a row: of each line shown, that of the same contender and epoch, or else its first one.
function rowsBeside(row) {
  return shown.map((line) => (line === row.line ? row : line.rows.find((one) => one.part.contender === row.part.contender && one.epoch === row.epoch) || firstRow(line)));
}

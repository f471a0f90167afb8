// The table of samples: narrowed down, sorted, a page at a time.

const PAGE = 50;
const RANKS = Object.keys(SIGNS);
const collator = new Intl.Collator("en", { numeric: true });
const state = { text: "", task: "", model: "", outcome: "", tag: "", sort: "", down: false, page: 0 };
const anyOf = (name) => ROWS.some((row) => row[name]);

const COLUMNS = [
  { name: "sample", title: "Sample", value: (row) => row.sample },
  { name: "task", title: "Task", value: (row) => partName(row.part), cell: (row) => said(partName(row.part)), hidden: DATA.parts.length < 2, kind: "wide" },
  { name: "model", title: "Model", value: (row) => row.part.model, cell: (row) => said(row.part.model), hidden: MODELS.length < 2 },
  { name: "epoch", title: "Epoch", value: (row) => row.epoch, hidden: ROWS.every((row) => row.epoch < 2), kind: "number" },
  { name: "outcome", title: "Outcome", value: (row) => RANKS.indexOf(row.outcome), cell: (row) => pill(row.outcome) },
  { name: "score", title: "Score", value: (row) => row.score, cell: (row) => (row.score === null || (row.scale === 1 && row.score % 1 === 0) ? "–" : row.score.toFixed(row.scale >= 100 ? 1 : 2)), kind: "number" },
  { name: "answer", title: "Answer", value: (row) => row.answer, kind: "excerpt" },
  { name: "target", title: "Target", value: (row) => row.target, kind: "excerpt" },
  { name: "why", title: "Why", value: (row) => row.why, kind: "excerpt wide" },
  { name: "tokens", title: "Tokens", value: (row) => row.tokens, cell: (row) => count(row.tokens), kind: "number wide", hidden: !anyOf("tokens") },
  { name: "seconds", title: "Seconds", value: (row) => row.seconds, cell: (row) => seconds(row.seconds), kind: "number wide", hidden: !anyOf("seconds") },
  { name: "cost", title: "Cost", value: (row) => row.cost, cell: (row) => (row.cost === null ? "–" : money(row.cost)), kind: "number wide", hidden: !anyOf("cost") },
].filter((column) => !column.hidden);

const hay = (row) => (row.hay ??= [row.sample, row.answer, row.target, row.why, row.part.title, row.part.model, ...row.tags].join("\n").toLowerCase());

function fits(row) {
  return (!state.task || row.part.task === state.task) && (!state.model || row.part.model === state.model)
    && (!state.outcome || row.outcome === state.outcome) && (!state.tag || row.tags.includes(state.tag))
    && state.text.toLowerCase().split(/\s+/).every((word) => hay(row).includes(word));
}

// Rows without a value come last in either direction.
function ordered(column) {
  const way = state.down ? -1 : 1;
  return (one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (a === null || b === null) return (a === null) - (b === null) || one.number - other.number;
    const step = typeof a === "number" ? a - b : collator.compare(a, b);
    return way * step || one.number - other.number;
  };
}

let shown = ROWS;

function selectRows() {
  shown = ROWS.filter(fits);
  const column = COLUMNS.find((one) => one.name === state.sort);
  if (column) shown.sort(ordered(column));
  state.page = Math.min(state.page, Math.max(0, Math.ceil(shown.length / PAGE) - 1));
}

function headCell(column) {
  const sorted = state.sort === column.name;
  const button = on(el("button", { type: "button" }, column.title, el("span", { "aria-hidden": "true" }, sorted ? (state.down ? " ↓" : " ↑") : "")), "click", () => {
    Object.assign(state, { sort: column.name, down: sorted && !state.down, page: 0 });
    drawTable();
    document.querySelector(`th[data-name="${column.name}"] button`).focus();
  });
  return el("th", { scope: "col", class: column.kind, "data-name": column.name, "aria-sort": sorted ? (state.down ? "descending" : "ascending") : null }, button);
}

function bodyRow(row) {
  const cells = COLUMNS.map((column, at) => {
    if (!at) return el("th", { scope: "row" }, el("a", { href: addressOf(row) }, row.sample ? said(row.sample) : "–"));
    const value = column.cell ? column.cell(row) : column.value(row) ?? "–";
    return el("td", { class: column.kind, title: column.kind?.startsWith("excerpt") ? value : null }, value);
  });
  return on(el("tr", {}, cells), "click", (event) => {
    if (!event.target.closest("a") && !String(getSelection())) location.hash = addressOf(row);
  });
}

function drawTable() {
  selectRows();
  const start = state.page * PAGE;
  const part = shown.slice(start, start + PAGE);
  const head = el("thead", {}, el("tr", {}, COLUMNS.map(headCell)));
  const table = el("table", { class: "samples" }, el("caption", { class: "hidden" }, "Samples"), head, el("tbody", {}, part.map(bodyRow)));
  document.getElementById("table").replaceChildren(table);
  const of = shown.length === ROWS.length ? "" : ` of ${count(ROWS.length)}`;
  document.getElementById("found").textContent = `${count(shown.length)}${of} ${ROWS.length === 1 ? "sample" : "samples"}${shown.length ? "" : ": nothing fits these filters"}`;
  drawPager(start, part.length);
}

function drawPager(start, length) {
  const turn = (by, name) => on(el("button", { type: "button", disabled: by < 0 ? !start : start + length >= shown.length }, name), "click", () => {
    state.page += by;
    drawTable();
    document.getElementById("samples").scrollIntoView();
  });
  const text = `${count(start + 1)}–${count(start + length)} of ${count(shown.length)}`;
  const parts = shown.length > PAGE ? [turn(-1, "Previous page"), el("span", {}, text), turn(1, "Next page")] : [];
  document.getElementById("pager").replaceChildren(...parts);
}

function choice(name, title, options) {
  if (options.length < 2) return null;
  const select = el("select", { id: `by-${name}` }, el("option", { value: "" }, "all"), options.map(([value, text]) => el("option", { value }, text)));
  on(select, "change", () => { Object.assign(state, { [name]: select.value, page: 0 }); drawTable(); });
  return el("label", {}, title, select);
}

function drawFilters() {
  const search = el("input", { type: "search", id: "search", placeholder: "id, answer, target, reason", autocomplete: "off" });
  on(search, "input", () => { Object.assign(state, { text: search.value.trim(), page: 0 }); drawTable(); });
  const same = (values) => values.map((value) => [value, value]);
  const tasks = DATA.parts.map((part) => [part.task, part.title]);
  const form = document.getElementById("filters");
  form.append(...[
    el("label", { class: "search" }, "Search", search),
    choice("outcome", "Outcome", same(RANKS.filter((outcome) => ROWS.some((row) => row.outcome === outcome)))),
    choice("task", "Task", [...new Map(tasks)]),
    choice("model", "Model", same(MODELS)),
    choice("tag", "Tag or group", same(DATA.tags)),
  ].filter(Boolean));
  on(form, "submit", (event) => event.preventDefault());
  on(form, "reset", () => { Object.assign(state, { text: "", task: "", model: "", outcome: "", tag: "", page: 0 }); drawTable(); });
  form.append(el("button", { type: "reset" }, "Clear"));
}

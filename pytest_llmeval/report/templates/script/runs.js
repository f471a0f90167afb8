// The list of runs: narrowed down, two of them chosen to be compared, renewed while runs go on.

const PAGE = 100;
const FIRST = 3;
const FIELDS = ["q", "task", "model", "state"];
const wanted = Object.fromEntries(FIELDS.map((name) => [name, new URLSearchParams(location.hash.slice(1)).get(name) || ""]));
const chosen = new Set();
const drawn = new Map();
let runs = JSON.parse(document.getElementById("data").textContent);
let most = PAGE;

const hay = (run) => [run.name, startedText(run.started), run.again, ...run.models, ...run.entries.map((entry) => entry.title)].join("\n").toLowerCase();

function fits(run) {
  return (!wanted.state || run.state === wanted.state)
    && ((!wanted.task && !wanted.model) || run.entries.some((entry) => (!wanted.task || entry.task === wanted.task) && (!wanted.model || entry.model === wanted.model)))
    && wanted.q.toLowerCase().split(/\s+/).every((word) => hay(run).includes(word));
}

const entriesOf = (run) => run.entries.filter((entry) => (!wanted.task || entry.task === wanted.task) && (!wanted.model || entry.model === wanted.model));

function entryLine(entry, run, at) {
  const models = new Set(run.entries.map((one) => one.model));
  const tests = new Set(run.entries.filter((one) => one.task === entry.task).map((one) => one.test));
  const name = [wanted.task && models.size > 1 ? null : entry.title, models.size > 1 ? entry.model : null, tests.size > 1 ? entry.test : null].filter(Boolean).join(" · ");
  return el("li", {}, el("span", { class: "entry", title: name }, said(name)), el("span", { class: "drawn" }, whisker(entry, at)),
    el("span", { class: "strong number" }, percent(entry.value)), el("span", { class: "quiet number wide" }, intervalText(entry)), el("span", { class: "quiet number" }, el("span", { class: "hidden" }, "scored "), `n ${count(entry.scored)}`));
}

function accuracies(run) {
  const entries = entriesOf(run);
  if (!entries.length) return el("span", { class: "quiet" }, run.problem ? said(`cannot be read: ${run.problem}`) : "no rows yet");
  const series = [...new Set(run.entries.map((entry) => entry.model))];
  const lines = entries.map((entry) => entryLine(entry, run, series.indexOf(entry.model)));
  if (lines.length <= FIRST + 1) return el("ul", { class: "entries" }, lines);
  return [el("ul", { class: "entries" }, lines.slice(0, FIRST)),
    el("details", {}, el("summary", {}, `${count(lines.length - FIRST)} more`), el("ul", { class: "entries" }, lines.slice(FIRST)))];
}

function gateMark(run) {
  if (run.gate === null) return el("span", { class: "quiet" }, "–");
  return el("span", { class: run.gate ? "correct tone" : "incorrect tone" }, el("span", { "aria-hidden": "true" }, run.gate ? "✓ " : "✗ "), run.gate ? "passed" : "not passed");
}

function progress(run) {
  const share = run.planned ? Math.min(1, run.done / run.planned) : 0;
  return svg("svg", { class: "progress", height: 4, "aria-hidden": "true" }, svg("rect", { class: "all", width: "100%", height: 4, rx: 2 }), svg("rect", { class: "part", width: `${(100 * share).toFixed(2)}%`, height: 4, rx: 2 }));
}

function runCells(run) {
  const mark = on(el("input", { type: "checkbox", "aria-label": `Choose ${run.name} to compare` }), "change", () => choose(run.name, mark.checked));
  mark.checked = chosen.has(run.name);
  const rows = run.state === "ended" ? rowsText(run) : [rowsText(run), progress(run)];
  return [
    el("td", { class: "chosen" }, mark),
    el("th", { scope: "row" }, el("a", { href: runAddress(run.name) }, startedText(run.started)), el("span", { class: "name quiet" }, said(run.name)),
      run.recorded ? el("span", { class: "quiet" }, "recorded replies") : null, run.again ? el("span", { class: "quiet" }, "scores again ", said(run.again)) : null),
    el("td", { class: "status" }, statePill(run), el("span", { class: "quiet news" }, newsText(run))),
    el("td", {}, accuracies(run)),
    el("td", { class: run.gate === null ? "gate-mark none" : "gate-mark" }, gateMark(run)),
    el("td", { class: "number" }, el("span", { class: "label", "aria-hidden": "true" }, "rows "), rows),
    el("td", { class: run.cost === null ? "number none" : "number" }, el("span", { class: "label", "aria-hidden": "true" }, "cost "), run.cost === null ? "–" : `${run.unpriced ? "≥ " : ""}${money(run.cost)}`),
  ];
}

// A line is drawn anew only when what it says has changed; what is open or focused in it stays.
function lineOf(run) {
  const known = drawn.get(run.name);
  const text = JSON.stringify([{ ...run, age: run.state === "ended" ? 0 : run.age }, wanted.task, wanted.model]);
  if (known?.text === text) return known.line;
  const line = known?.line || el("tr", {});
  const open = line.querySelector("details")?.open;
  const inside = line.contains(document.activeElement) ? document.activeElement.tagName : null;
  line.replaceChildren(...runCells(run));
  if (open && line.querySelector("details")) line.querySelector("details").open = true;
  if (inside) line.querySelector(inside)?.focus({ preventScroll: true });
  drawn.set(run.name, { line, text });
  return line;
}

const HEADS = [["", "chosen"], ["Started (UTC)", ""], ["State", ""], ["Accuracy, 95 % interval", "accuracy"], ["Gate", ""], ["Rows", "number"], ["Cost", "number"]];
const body = el("tbody", {});
const table = el("table", { class: "runs" }, el("caption", { class: "hidden" }, "Runs, the newest first"),
  el("thead", {}, el("tr", {}, HEADS.map(([text, kind]) => (text ? el("th", { scope: "col", class: kind }, text) : el("td", { class: kind }))))), body);

function drawRuns() {
  const found = runs.filter(fits);
  const lines = found.slice(0, most).map(lineOf);
  const kept = new Set(lines);
  for (const line of [...body.children]) if (!kept.has(line)) line.remove();
  // Lines that are in their place are not touched: what is focused in one would not be any more.
  lines.forEach((line, at) => { if (body.children[at] !== line) body.insertBefore(line, body.children[at] || null); });
  const of = found.length === runs.length ? "" : ` of ${count(runs.length)}`;
  document.getElementById("found").textContent = `${count(found.length)}${of} ${runs.length === 1 ? "run" : "runs"}${found.length ? "" : ": none fits"}`;
  const further = found.length > most ? [on(el("button", { type: "button" }, `Show ${count(Math.min(PAGE, found.length - most))} more`), "click", () => { most += PAGE; drawRuns(); })] : [];
  document.getElementById("pager").replaceChildren(...further);
  drawChosen();
}

function choose(name, is) {
  if (is) chosen.add(name); else chosen.delete(name);
  drawChosen();
}

function drawChosen() {
  const there = runs.filter((run) => chosen.has(run.name)).map((run) => run.name).reverse();
  const place = document.getElementById("chosen");
  if (there.length === 2) place.replaceChildren(el("a", { class: "button", href: `/compare?${new URLSearchParams({ a: there[0], b: there[1] })}` }, "Compare the two"));
  else place.replaceChildren(el("span", { class: "quiet" }, there.length ? `${there.length} chosen; two are compared` : "Choose two runs to compare them"));
}

function choice(name, title, options) {
  const select = el("select", { id: `by-${name}` }, el("option", { value: "" }, "all"), options.map(([value, text]) => el("option", { value }, said(text))));
  select.value = options.some(([value]) => value === wanted[name]) ? wanted[name] : "";
  return on(select, "change", () => narrow(name, select.value)) && labelled(title, select);
}

function narrow(name, value) {
  wanted[name] = value;
  most = PAGE;
  const kept = new URLSearchParams(FIELDS.filter((field) => wanted[field]).map((field) => [field, wanted[field]]));
  history.replaceState(null, "", `#${kept}`);
  drawRuns();
}

function drawFilters() {
  const search = el("input", { type: "search", id: "search", placeholder: "run, date, task, model", autocomplete: "off" });
  search.value = wanted.q;
  on(search, "input", () => narrow("q", search.value.trim()));
  const entries = runs.flatMap((run) => run.entries);
  const tasks = [...new Map(entries.map((entry) => [entry.task, entry.title]))].sort((one, other) => one[1].localeCompare(other[1]));
  const models = [...new Set(entries.map((entry) => entry.model))].sort().map((model) => [model, model]);
  const form = document.getElementById("filters");
  form.replaceChildren(labelled("Search", search), choice("task", "Task", tasks), choice("model", "Model", models),
    choice("state", "State", Object.keys(STATES).map((state) => [state, state])));
}

on(document.getElementById("filters"), "submit", (event) => event.preventDefault());
on(document, "keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), select")) return;
  event.preventDefault();
  document.getElementById("search").focus();
});

document.getElementById("list").append(table);
drawFilters();
drawRuns();
every(async () => {
  const news = await fetched("/api/runs", { again: true });
  if (news === null) return;
  const names = (list) => JSON.stringify(list.map((run) => run.entries.map((entry) => [entry.task, entry.model])));
  const others = names(news) !== names(runs) && !document.getElementById("filters").contains(document.activeElement);
  runs = news;
  if (others) drawFilters();
  drawRuns();
}, (error) => { if (error) document.getElementById("found").textContent = `The server does not answer (${error.message}); this list is from before.`; });

// Which lines the table shows, in which order; all of it stands in the address.

let state = stateOf(location.hash);

const RANKS = Object.keys(SIGNS);
const collator = new Intl.Collator("en", { numeric: true });
const OUTCOMES = RANKS.filter((outcome) => ROWS.some((row) => row.outcome === outcome));

// The contenders that have a column: all, or those of the chosen model.
const visible = () => (state.model ? CONTENDERS.filter((one) => one.model === state.model) : CONTENDERS);
const rowsOf = (line, contender) => line.rows.filter((row) => row.part.contender === contender);
const rowsShown = (line) => (state.model ? line.rows.filter((row) => row.part.model === state.model) : line.rows);
const excerptOf = (line) => (line.question === null ? "" : DATA.questions[line.question].text);

// Whether contenders, or epochs of one, came to different outcomes; a row that was not run came to none.
function disagrees(rows) {
  const outcomes = rows.map((row) => row.outcome).filter((outcome) => outcome !== "not run");
  return outcomes.some((outcome) => outcome !== outcomes[0]);
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

function textOfRow(row) {
  return [row.sample, row.question === null ? "" : DATA.questions[row.question].text, row.answer, row.target, row.why, row.part.title, row.part.model, ...row.tags].join("\n").toLowerCase();
}

const found = (row, words) => words.every((word) => (row.hay ??= textOfRow(row)).includes(word)) || search.hits.has(row);

function fits(line) {
  const rows = rowsShown(line);
  const judged = state.of ? rows.filter((row) => row.part.contender.name === state.of) : rows;
  const words = wordsOf(state.q);
  return rows.length > 0 && rows.some((row) => isFlipped(row, state.flipped)) && (!state.task || line.task === state.task) && (!state.outcome || judged.some((row) => row.outcome === state.outcome))
    && state.tags.every((tag) => rows.some((row) => row.tags.includes(tag))) && (!state.disagree || disagrees(rows))
    && (!words.length || rows.some((row) => found(row, words)));
}

// Lines without a value come last in either direction.
function ordered(column) {
  const way = state.down ? -1 : 1;
  return ([one, a], [other, b]) => {
    if (a === null || b === null) return (a === null) - (b === null) || one.number - other.number;
    const step = typeof a === "number" ? a - b : collator.compare(a, b);
    return way * step || one.number - other.number;
  };
}

let shown = LINES;

function selectLines() {
  shown = LINES.filter(fits);
  const column = columns().find((one) => one.name === state.sort && one.value);
  if (column) shown = shown.map((line) => [line, column.value(line)]).sort(ordered(column)).map(([line]) => line);
  state.page = Math.min(state.page, Math.max(0, Math.ceil(shown.length / PAGE) - 1));
}

// Change filters or sort: the address follows, so that the browser's way back undoes it; typing leaves one step in all.
function choose(changes, { typing = false } = {}) {
  const before = withState(state);
  state = { ...state, page: 0, ...changes };
  const address = withState(state);
  if (address !== before) history[typing && wordsOf(stateOf(before).q).length ? "replaceState" : "pushState"](null, "", address);
  search.start(state.q);
  drawFilters();
  drawTable();
}

function choice(name, label, options, none = "all") {
  if (options.length < 2) return null;
  const select = el("select", { id: `by-${name}` }, el("option", { value: "" }, none), options.map(([value, text]) => el("option", { value, selected: state[name] === value }, said(text))));
  on(select, "change", () => { choose({ [name]: select.value }); document.getElementById(select.id)?.focus(); });
  return labelled(label, select);
}

const same = (values) => values.map((value) => [value, value]);

// A tag is added by its choice and stands below until it is taken away; several tags all have to be there.
function tagChoice() {
  const left = distinct(DATA.tags).filter((tag) => !state.tags.includes(tag));
  if (!DATA.tags.length) return null;
  const select = el("select", { id: "by-tag" }, el("option", { value: "" }, state.tags.length ? "and …" : "all"), left.map((tag) => el("option", { value: tag }, said(tag))));
  on(select, "change", () => { choose({ tags: [...state.tags, select.value] }); document.getElementById("by-tag").focus(); });
  return labelled("Tag or group", select);
}

function sortChoice() {
  const names = columns().filter((column) => column.value);
  const options = names.flatMap(({ name, title }) => [[name, `${title} ↑`], [`-${name}`, `${title} ↓`]]);
  const select = el("select", { id: "by-sort" }, el("option", { value: "" }, "as it ran"), options.map(([value, text]) => el("option", { value, selected: value === `${state.down ? "-" : ""}${state.sort}` }, said(text))));
  on(select, "change", () => { choose({ sort: select.value.replace(/^-/, ""), down: select.value.startsWith("-") }); document.getElementById("by-sort").focus(); });
  return labelled("Sort", select);
}

function removable(text, changes) {
  return on(el("button", { type: "button", class: "chip", "aria-label": `Remove ${text}` }, said(text), el("span", { "aria-hidden": "true" }, " ×")), "click", () => {
    choose(changes);
    document.getElementById("search").focus();
  });
}

function drawChips() {
  const chips = [
    ...state.tags.map((tag) => removable(tag, { tags: state.tags.filter((other) => other !== tag) })),
    state.of && state.outcome ? removable(`${state.outcome} by ${state.of}`, { of: "", outcome: "" }) : null,
  ].filter(Boolean);
  document.getElementById("chips").replaceChildren(...chips);
}

function searchField() {
  const field = el("input", { type: "search", id: "search", placeholder: "question, prompts, replies, tools, reasons", autocomplete: "off", value: state.q });
  on(field, "input", () => choose({ q: field.value.trim() }, { typing: true }));
  return labelled("Search", field);
}

function disagreeing() {
  if (!LINES.some((line) => line.rows.length > 1)) return null;
  const box = el("input", { type: "checkbox", id: "disagree", checked: state.disagree });
  on(box, "change", () => { choose({ disagree: box.checked }); document.getElementById("disagree").focus(); });
  return el("label", { class: "check" }, box, "where they disagree");
}

function chosenFields() {
  const several = visible().length > 1;
  return [
    FLIPS.size ? choice("flipped", "Flipped", FLIPPED, "all samples") : null,
    choice("outcome", "Outcome", same(OUTCOMES)),
    several && state.outcome ? choice("of", "of", same(visible().map((one) => one.name)), "any of them") : null,
    choice("task", "Task", [...new Map(LINES.map((line) => [line.task, line.title]))]),
    choice("model", "Model", same(MODELS)),
    tagChoice(),
    sortChoice(),
    disagreeing(),
    on(el("button", { type: "button" }, "Clear"), "click", () => { document.getElementById("search").value = ""; choose({ ...NO_FILTERS }); }),
  ].filter(Boolean);
}

// The field of the search stays, so that nobody is interrupted while typing.
function drawFilters() {
  const form = document.getElementById("filters");
  if (!form.children.length) {
    form.append(searchField(), el("div", { class: "choices" }));
    on(form, "submit", (event) => event.preventDefault());
  }
  const field = document.getElementById("search");
  if (document.activeElement !== field) field.value = state.q;
  form.querySelector(".choices").replaceChildren(...chosenFields());
  drawChips();
}

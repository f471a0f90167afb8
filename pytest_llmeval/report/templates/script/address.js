// Addresses: of a row, #task/sample/model/epoch, and of the table with its filters, #samples?outcome=incorrect.

// Half of a surrogate pair has no form in an address.
const segment = (text) => encodeURIComponent(String(text).replace(/\p{Cs}/gu, "\ufffd"));

const SEVERAL_TESTS = new Set();

// A row's names in its address; with two runs the run's letter is the last.
function placeOf(row) {
  const { part } = row;
  const { letter } = DATA.runs[part.run];
  const task = SEVERAL_TESTS.has(part.task) ? `${part.task}::${part.test}` : part.task;
  return [task, row.sample, part.model, row.epoch, ...(letter ? [letter] : [])].map(segment);
}

const addressOf = (row) => `#${placeOf(row).join("/")}`;

// Rows by address, and by its beginnings #task/sample and #task/sample/model: the first row that fits. Filled when first asked for.
const PLACES = new Map();

always(() => {
  SEVERAL_TESTS.clear();
  PLACES.clear();
  for (const part of DATA.parts) if (DATA.parts.some((other) => other.task === part.task && other.test !== part.test)) SEVERAL_TESTS.add(part.task);
});

function placesOf(rows) {
  for (const row of rows) {
    const place = placeOf(row);
    for (let length = place.length; length >= 2; length -= 1) {
      const beginning = place.slice(0, length).join("/");
      if (!PLACES.has(beginning)) PLACES.set(beginning, row);
    }
  }
}

// The row of an address; undefined where it is of something else. Whoever copied it may have written its signs otherwise.
function rowAt(hash) {
  const given = hash.replace(/^#/, "");
  if (!given.includes("/")) return undefined;
  if (!PLACES.size) placesOf(ROWS);
  if (PLACES.has(given)) return PLACES.get(given);
  try {
    return PLACES.get(given.split("/").map((part) => segment(decodeURIComponent(part))).join("/"));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

const NO_FILTERS = Object.freeze({ q: "", outcome: "", of: "", task: "", model: "", tags: Object.freeze([]), flipped: FLIPPED_FIRST, disagree: false, sort: "", down: false, page: 0 });

// The filters and the sort of the table in an address; those of no table for another address.
function stateOf(hash) {
  const query = /^#samples\?(.*)$/s.exec(hash);
  const told = new URLSearchParams(query ? query[1] : "");
  const sort = told.get("sort") || "";
  const page = Number(told.get("page"));
  return {
    ...NO_FILTERS,
    ...Object.fromEntries(["q", "outcome", "of", "task", "model"].map((name) => [name, told.get(name) || ""])),
    tags: [...new Set(told.getAll("tag"))],
    flipped: told.has("flipped") ? FLIPPED.find(([name]) => name === told.get("flipped"))?.[0] ?? "" : FLIPPED_FIRST,
    disagree: told.has("disagree"),
    sort: sort.replace(/^-/, ""),
    down: sort.startsWith("-"),
    page: Number.isInteger(page) && page > 1 ? page - 1 : 0,
  };
}

// The address of the table with some filters and sort.
function withState(state) {
  const told = new URLSearchParams();
  for (const name of ["q", "outcome", "of", "task", "model"]) if (state[name]) told.set(name, state[name]);
  for (const tag of state.tags) told.append("tag", tag);
  if (state.flipped !== FLIPPED_FIRST) told.set("flipped", state.flipped || "no");
  if (state.disagree) told.set("disagree", "");
  if (state.sort) told.set("sort", `${state.down ? "-" : ""}${state.sort}`);
  if (state.page) told.set("page", state.page + 1);
  const query = String(told).replace(/disagree=(&|$)/, "disagree$1");
  return query ? `#samples?${query}` : "#samples";
}

// What the page knows: the table's rows as JSON; evidence and pictures come from SOURCE when somebody asks.

const DATA = JSON.parse(document.getElementById("data").textContent);

// What scripts compute of the rows: now, and again whenever rows come while the page is open (live.js).
const renewals = [];

function always(compute) {
  compute();
  renewals.push(compute);
}

const ROWS = [];
// A line of the table: a sample of a task, with its rows of all contenders and epochs.
const LINES = [];
// A column of the table: a model; with two runs also the run, and the test where a task has several.
const CONTENDERS = [];
const MODELS = [];

const distinct = (values) => [...new Set(values)];

function partName(part) {
  const tests = distinct(DATA.parts.filter((other) => other.task === part.task).map((other) => other.test));
  return tests.length > 1 ? `${part.title} · ${part.test}` : part.title;
}

function rowOf(values, number) {
  const row = { number, place: DATA.places[number] };
  DATA.columns.forEach((name, at) => { row[name] = values[at]; });
  row.part = DATA.parts[row.part];
  row.tags = row.tags.map((tag) => DATA.tags[tag]);
  return row;
}

function readLines() {
  const byKey = new Map();
  for (const row of ROWS) {
    const key = JSON.stringify([row.part.task, row.sample]);
    if (!byKey.has(key)) {
      const line = { number: LINES.length, task: row.part.task, title: row.part.title, sample: row.sample, question: row.question, rows: [] };
      byKey.set(key, line);
      LINES.push(line);
    }
    row.line = byKey.get(key);
    row.line.question ??= row.question;
    row.line.rows.push(row);
  }
}

function readContenders() {
  for (const part of DATA.parts) {
    const { letter } = DATA.runs[part.run];
    const several = DATA.parts.some((other) => other.task === part.task && other.test !== part.test);
    const name = [letter, part.model, several ? part.test : ""].filter(Boolean).join(" · ");
    let contender = CONTENDERS.find((one) => one.name === name);
    if (!contender) CONTENDERS.push(contender = { number: CONTENDERS.length, name, model: part.model, test: several ? part.test : "", letter });
    part.contender = contender;
  }
}

always(() => {
  for (const list of [ROWS, LINES, CONTENDERS, MODELS]) list.length = 0;
  MODELS.push(...distinct(DATA.parts.map((part) => part.model)));
  for (const [number, values] of DATA.rows.entries()) ROWS.push(rowOf(values, number));
  readLines();
  readContenders();
});

const lineOf = (row) => row.line;

async function inflated(id) {
  const code = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(code, (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

function dataUrl(bytes, type) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(new Blob([bytes], { type }));
  });
}

// Where evidence and pictures come from: out of this file; on a page of llmeval view, of its server (served.js).
const embedded = {
  // The list of evidence in a chunk; a row's place is [chunk, index].
  evidence: async (chunk) => jsonOf(await inflated(`chunk-${chunk}`)),
  // The address of a picture, of an entry of DATA.pictures.
  picture: async (entry) => dataUrl(await inflated(`picture-${entry.at}`), entry.type),
};

const SOURCE = DATA.at === undefined ? embedded : served;

const chunks = new Map();
const pictures = new Map();

function remembered(known, key, make) {
  if (!known.has(key)) known.set(key, make(key));
  return known.get(key);
}

// Everything that is known of a row; null where the file had no room for it.
async function evidenceOf(row) {
  if (row.place === null) return null;
  const [chunk, index] = row.place;
  return (await remembered(chunks, chunk, SOURCE.evidence))[index];
}

// What a row asks, {text, images}: the whole text, or its excerpt where the file had no room for more; null where it is not known.
async function questionOf(row) {
  if (row.question === null) return null;
  const question = DATA.questions[row.question];
  if (SOURCE.question) return { ...question, text: (await SOURCE.question(row)) ?? question.text };
  if (!question.place) return question;
  const [chunk, index] = question.place;
  return { ...question, text: (await remembered(chunks, chunk, SOURCE.evidence))[index] };
}

const pictureUrl = (entry) => remembered(pictures, entry.at, () => SOURCE.picture(entry));

// A small picture for a table, drawn when it comes into view: its small version, or else the picture itself.
const drawnLater = new IntersectionObserver((entries) => entries.filter((one) => one.isIntersecting).forEach(({ target }) => {
  drawnLater.unobserve(target);
  pictureUrl(DATA.pictures[target.dataset.digest].small || DATA.pictures[target.dataset.digest]).then((url) => { target.src = url; });
}), { rootMargin: "300px" });

function thumbnail(digest, label) {
  const entry = DATA.pictures[digest];
  if (!entry || (entry.at === undefined && !entry.small)) return el("span", { class: "thumbnail none", title: entry ? null : "unknown" }, "picture not shown");
  const image = el("img", { class: "thumbnail", alt: label, "data-digest": digest });
  drawnLater.observe(image);
  return image;
}

function picture(digest, label) {
  const entry = DATA.pictures[digest];
  if (entry === undefined || entry.at === undefined) {
    return el("p", { class: "cut" }, "Picture not shown: ", said(entry === undefined ? "unknown" : entry.missing));
  }
  const image = el("img", { alt: label });
  pictureUrl(entry).then((url) => { image.src = url; });
  return el("figure", { class: "picture" }, image, el("figcaption", {}, label));
}

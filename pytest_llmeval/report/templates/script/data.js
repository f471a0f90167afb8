// What the file carries: the table's rows as JSON, evidence and pictures compressed until somebody asks.

const DATA = JSON.parse(document.getElementById("data").textContent);

const ROWS = DATA.rows.map((values, number) => {
  const row = { number, place: DATA.places[number] };
  DATA.columns.forEach((name, at) => { row[name] = values[at]; });
  row.part = DATA.parts[row.part];
  row.tags = row.tags.map((tag) => DATA.tags[tag]);
  return row;
});

const distinct = (values) => [...new Set(values)];
const MODELS = distinct(DATA.parts.map((part) => part.model));

function partName(part) {
  const tests = distinct(DATA.parts.filter((other) => other.task === part.task).map((other) => other.test));
  return tests.length > 1 ? `${part.title} · ${part.test}` : part.title;
}

async function inflated(id) {
  const code = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(code, (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

const chunks = new Map();

async function evidenceOf(row) {
  if (row.place === null) return null;
  const [chunk, index] = row.place;
  if (!chunks.has(chunk)) chunks.set(chunk, inflated(`chunk-${chunk}`).then((bytes) => JSON.parse(new TextDecoder().decode(bytes))));
  return (await chunks.get(chunk))[index];
}

const pictures = new Map();

async function pictureUrl(entry) {
  if (!pictures.has(entry.at)) {
    pictures.set(entry.at, inflated(`picture-${entry.at}`).then((bytes) => new Promise((done, fail) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.onerror = () => fail(reader.error);
      reader.readAsDataURL(new Blob([bytes], { type: entry.type }));
    })));
  }
  return pictures.get(entry.at);
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

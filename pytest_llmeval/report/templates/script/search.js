// Search over everything: what the table shows is searched at once, the evidence chunk by chunk in the background.

const AROUND = 60;

// The texts of a row's evidence, each with where it stands.
function* textsOf(evidence) {
  const text = (value) => (value ? beginning(value) : "");
  for (const message of evidence.messages) {
    yield [`${message.role} message`, message.parts.map((part) => (part.image === undefined ? text(part) : "")).join("\n")];
    for (const call of message.tools) yield [`call of ${call.name}`, text(call.arguments)];
  }
  for (const event of evidence.events || []) {
    const kind = event.scorer ? `judge (${event.stage})` : event.stage;
    if (event.reply) {
      yield [`reply, ${kind}`, text(event.reply.text)];
      yield [`reasoning, ${kind}`, text(event.reply.reasoning)];
      for (const call of event.reply.tools) yield [`call of ${call.name}`, text(call.arguments)];
    }
    yield [`input of ${event.tool}`, text(event.input)];
    yield [`output of ${event.tool}`, text(event.output)];
    yield [`error, ${kind}`, text(event.error)];
    yield [`note, ${kind}`, text(event.text)];
  }
  yield ["answer", text(evidence.answer)];
  yield ["target", text(evidence.target)];
  yield ["what happened", text(evidence.explanation)];
  for (const score of evidence.scores) {
    yield [`explanation of ${score.name}`, text(score.explanation)];
    yield [`details of ${score.name}`, isCut(score.details) ? text(score.details) : JSON.stringify(score.details)];
  }
}

// Where the evidence of a row has the words: the place of the first one that the table does not show; null if one is missing.
function hitIn(row, evidence, words) {
  const missing = new Set(words);
  let first = null;
  for (const word of words) if ((row.hay ??= textOfRow(row)).includes(word)) missing.delete(word);
  const wanted = missing.size ? [...missing] : words;
  for (const [where, text] of textsOf(evidence)) {
    const lower = text.toLowerCase();
    for (const word of wanted) {
      const at = lower.indexOf(word);
      if (at < 0) continue;
      missing.delete(word);
      // Where lower case has another length, the place is only near.
      first ??= { where, before: text.slice(Math.max(0, at - AROUND), at), word: text.slice(at, at + word.length), after: text.slice(at + word.length, at + word.length + AROUND) };
    }
    if (!missing.size && first) return first;
  }
  return null;
}

const search = {
  text: "",
  hits: new Map(),
  done: 0,
  of: 0,

  // Begin to look for a text; a search that goes on for another text ends.
  start(text) {
    if (text === this.text) return;
    Object.assign(this, { text, hits: new Map(), done: 0, of: 0 });
    clearTimeout(this.timer);
    if (wordsOf(text).length) this.timer = setTimeout(() => this.run(text), 250);
    this.tell();
  },

  async run(text) {
    const words = wordsOf(text);
    const byChunk = Map.groupBy(ROWS.filter((row) => row.place !== null), (row) => row.place[0]);
    this.of = byChunk.size;
    let drawn = performance.now();
    let news = false;
    for (const [chunk, rows] of byChunk) {
      // Not remembered: all evidence together can be hundreds of megabytes.
      const evidence = await (chunks.get(chunk) || SOURCE.evidence(chunk));
      if (this.text !== text) return;
      for (const row of rows) {
        const hit = hitIn(row, evidence[row.place[1]], words);
        if (hit) { this.hits.set(row, hit); news = true; }
      }
      this.done += 1;
      if (performance.now() - drawn > 400) {
        if (news) redrawTable();
        this.tell();
        news = false;
        drawn = performance.now();
        await new Promise((go) => { setTimeout(go); }); // what people type goes first
        if (this.text !== text) return;
      }
    }
    redrawTable();
    this.tell();
  },

  get over() { return !wordsOf(this.text).length || (this.of > 0 && this.done === this.of) || !ROWS.some((row) => row.place !== null); },

  tell() {
    const place = document.getElementById("searching");
    place.replaceChildren(...(this.over ? [] : [el("progress", { max: this.of || 1, value: this.done, "aria-label": "looked through" }), " searching prompts, replies and tools"]));
  },
};

// The place where a line matched, as a link to the row.
function hitOf(line) {
  const row = rowsShown(line).find((one) => search.hits.has(one));
  if (!row) return null;
  const { where, before, word, after } = search.hits.get(row);
  const model = visible().length > 1 ? ` of ${row.part.contender.name}` : "";
  return el("a", { class: "hit", href: addressOf(row) }, el("span", { class: "where" }, said(`${where}${model}`)), " ", said(before.replace(/\s+/g, " ")), el("mark", {}, said(word)), said(after.replace(/\s+/g, " ")));
}

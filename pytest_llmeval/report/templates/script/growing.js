// Rows that come while the page of a run is open.

// Returns the number in `list` of each of `others`, which joins the list where it is not in it; equal are those with one key.
function joined(list, others, key = JSON.stringify) {
  const known = new Map(list.map((one, number) => [key(one), number]));
  return others.map((one) => {
    if (!known.has(key(one))) known.set(key(one), list.push(one) - 1);
    return known.get(key(one));
  });
}

const partKey = (part) => JSON.stringify([part.run, part.task, part.test, part.model]);

// A row takes the place of an earlier one with its task, test, model, sample and epoch; others come last.
function addRows(news) {
  const at = Object.fromEntries(DATA.columns.map((name, number) => [name, number]));
  const parts = joined(DATA.parts, news.parts, partKey);
  const questions = joined(DATA.questions, news.questions);
  const tags = joined(DATA.tags, news.tags);
  const keyOf = (values) => JSON.stringify([values[at.part], values[at.sample], values[at.epoch]]);
  const known = new Map(DATA.rows.map((values, number) => [keyOf(values), number]));
  news.rows.forEach((values, number) => {
    const row = [...values];
    row[at.part] = parts[values[at.part]];
    row[at.question] = values[at.question] === null ? null : questions[values[at.question]];
    row[at.tags] = values[at.tags].map((tag) => tags[tag]);
    const place = known.get(keyOf(row)) ?? DATA.rows.length;
    known.set(keyOf(row), place);
    DATA.rows[place] = row;
    DATA.places[place] = news.places[number];
  });
  Object.assign(DATA.pictures, news.pictures);
  for (const compute of renewals) compute();
}

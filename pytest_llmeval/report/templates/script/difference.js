// The difference of two texts, by words, drawn when somebody asks for it.

const LONGEST_COMPARED = 20_000;
const MOST_EDITS = 2_000;

function differenceParts(one, other) {
  if (one.length > LONGEST_COMPARED || other.length > LONGEST_COMPARED) return null;
  return Diff.diffWordsWithSpace(one, other, { maxEditLength: MOST_EDITS }) || Diff.diffLines(one, other, { maxEditLength: MOST_EDITS }) || null;
}

function drawDifference(one, other) {
  if (one === other) return el("p", {}, "The two texts are the same.");
  const parts = differenceParts(one, other);
  if (parts === null) return note("The two texts are too long, or too unlike, to be compared by words.");
  const marked = parts.map((part) => (part.added ? el("ins", {}, said(part.value)) : part.removed ? el("del", {}, said(part.value)) : el("span", {}, said(part.value))));
  return el("div", {}, el("p", { class: "quiet" }, el("del", {}, "struck out"), " only in this answer, ", el("ins", {}, "underlined"), " only in the other text"),
    el("div", { class: "box difference", tabindex: "0", role: "group", "aria-label": "Difference", dir: "auto" }, marked));
}

// What an answer can be compared with: by its name, a function that returns the text, null where there is none. With two runs the other one's answer comes first.
function comparable(row, evidence) {
  const { rows } = lineOf(row);
  const epochs = Math.max(...rows.map((one) => one.epoch));
  const first = counterpartOf(row);
  const choiceOf = (other) => [rowName(other, epochs), async () => (await evidenceOf(other))?.answer ?? null];
  const target = beginning(evidence.target) ? [["the target", async () => evidence.target]] : [];
  return [...(first ? [choiceOf(first)] : []), ...target, ...rows.filter((other) => other !== row && other !== first).map(choiceOf)];
}

function differenceOf(row, evidence) {
  const choices = comparable(row, evidence);
  if (evidence.answer === null || !choices.length) return null;
  const place = el("div", {});
  const select = el("select", {}, choices.map(([name], number) => el("option", { value: number }, name.replace(INVISIBLE, "\ufffd"))));
  const draw = async () => {
    const chosen = select.value;
    const other = await choices[chosen][1]();
    if (select.value !== chosen) return; // another one was chosen meanwhile
    place.replaceChildren(other === null ? note("There is no answer to compare with.") : drawDifference(beginning(evidence.answer), beginning(other)));
  };
  on(select, "change", draw);
  const fold = foldable("Compare this answer", counterpartOf(row) !== undefined, choices.length > 1 ? el("label", { class: "with" }, "with ", select) : null, place);
  return on(fold, "toggle", () => { if (fold.open && !place.hasChildNodes()) draw(); });
}

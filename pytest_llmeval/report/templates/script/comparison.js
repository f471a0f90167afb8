// Two runs: the samples that flipped between them.

// By part and sample: "gained" or "lost", by the comparison's own count over all epochs.
const FLIPS = new Map();
for (const pair of DATA.pairs || []) {
  const kinds = new Map([...pair.gained.map((sample) => [sample, "gained"]), ...pair.lost.map((sample) => [sample, "lost"])]);
  for (const part of DATA.parts) {
    if (part.task === pair.task && part.test === pair.test && part.model === pair.models[part.run]) FLIPS.set(part, kinds);
  }
}

const flipOf = (row) => FLIPS.get(row.part)?.get(row.sample) || "";

// The filter: "either", "gained", "lost", or "" for all samples. A page of two runs opens on what flipped, if anything did.
const FLIPPED_FIRST = [...FLIPS.values()].some((kinds) => kinds.size) ? "either" : "";
const FLIPPED = [["either", "flipped"], ["gained", "gained in b"], ["lost", "lost in b"]];

const isFlipped = (row, wanted) => !wanted || (wanted === "either" ? flipOf(row) !== "" : flipOf(row) === wanted);

const flipsOf = (line) => distinct(line.rows.map(flipOf).filter(Boolean)).sort().join(", ");

function flipsCell(line) {
  const kinds = distinct(line.rows.map(flipOf).filter(Boolean)).sort();
  return kinds.length ? kinds.map((kind) => el("span", { class: kind }, kind, " ")) : "–";
}

// The row of the same sample, model's counterpart and epoch in the other run.
function counterpartOf(row) {
  const pair = (DATA.pairs || []).find((one) => one.task === row.part.task && one.test === row.part.test && one.models[row.part.run] === row.part.model);
  return pair && lineOf(row).rows.find((other) => other.part.run !== row.part.run && other.part.test === row.part.test && other.part.model === pair.models[other.part.run] && other.epoch === row.epoch);
}

// Why there is no evidence of a row.
function lackOf(row) {
  return DATA.runs[row.part.run].kept === false ? "This side is the file of a baseline, which keeps outcomes and scores, and neither answers nor evidence."
    : "This file had no room for the evidence of this sample; it stands in rows.jsonl and transcripts.jsonl of the run's folder.";
}

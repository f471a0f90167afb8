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
const FLIPPED = [["", "all samples"], ["either", "flipped"], ["gained", "gained in b"], ["lost", "lost in b"]];

const isFlipped = (row, wanted) => !wanted || (wanted === "either" ? flipOf(row) !== "" : flipOf(row) === wanted);

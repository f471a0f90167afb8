// Where evidence and pictures come from on a page of llmeval view: asked of the server.

const served = {
  // A list of one, as of a chunk; the place of a row is [the byte at which it begins in the file of rows, 0].
  async evidence(place) {
    const found = await fetched(`evidence?row=${place}`);
    Object.assign(DATA.pictures, found.pictures);
    return [found];
  },
  // The whole text of what a row asks; null where the run did not keep it.
  question: async (row) => (await evidenceOf(row)).question,
  picture: async (entry) => `picture?digest=${entry.at}`,
  // What stands below a sample beside its evidence.
  panel: (row) => labelPanel(row),
};

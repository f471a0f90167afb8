// Where evidence and pictures come from on a page of llmeval view: asked of the server.

const served = {
  // A row's place is the byte at which it begins in the file of rows; a list, as of a chunk.
  async evidence(place) {
    const found = await asked(`evidence?row=${place}`);
    Object.assign(DATA.pictures, found.pictures);
    return found;
  },
  picture: async (entry) => `picture?digest=${entry.at}`,
};

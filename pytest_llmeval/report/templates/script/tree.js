// Expression trees as drawings: leaves side by side, each parent above the middle of its children.

const LEVEL = 52;
const GAP = 12;
const MARKS = { relabel: "relabelled", delete: "deleted", insert: "inserted" };

// A tree comes in post-order, as [text, number of children, mark].
function rooted(nodes) {
  const stack = [];
  for (const [text, children, mark] of nodes) {
    stack.push({ text, mark, children: stack.splice(stack.length - children, children) });
  }
  return stack[0];
}

// Sets x and y of every node and returns how wide the tree below it is.
function laidOut(node, left, depth) {
  node.width = Math.max(26, 8 * node.text.length + 16);
  node.y = depth * LEVEL + 16;
  let right = left;
  for (const child of node.children) right += laidOut(child, right, depth + 1) + GAP;
  const below = node.children.length ? right - left - GAP : 0;
  const width = Math.max(node.width, below);
  const shift = (width - below) / 2;
  if (shift > 0) node.children.forEach((child) => moved(child, shift));
  node.x = left + width / 2;
  if (node.children.length) node.x = (node.children[0].x + node.children.at(-1).x) / 2;
  return width;
}

function moved(node, by) {
  node.x += by;
  node.children.forEach((child) => moved(child, by));
}

const depthOf = (node) => 1 + Math.max(0, ...node.children.map(depthOf));

function drawTree(nodes, label) {
  const root = rooted(nodes);
  const width = laidOut(root, 2, 0) + 4;
  const height = depthOf(root) * LEVEL - LEVEL + 34;
  const lines = svg("g", { class: "edges" });
  const shapes = svg("g", {});
  const visit = (node) => {
    for (const child of node.children) {
      const middle = (node.y + child.y) / 2;
      lines.append(svg("path", { class: child.mark, d: `M${node.x},${node.y} C${node.x},${middle} ${child.x},${middle} ${child.x},${child.y}` }));
      visit(child);
    }
    shapes.append(svg("g", { class: `node ${node.mark}` },
      svg("rect", { x: node.x - node.width / 2, y: node.y - 13, width: node.width, height: 26, rx: 6 }),
      svg("text", { x: node.x, y: node.y + 5 }, node.text.replace(INVISIBLE, "\ufffd")),
      node.mark ? svg("title", {}, MARKS[node.mark]) : null));
  };
  visit(root);
  const drawing = svg("svg", { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, lines, shapes);
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, drawing);
}

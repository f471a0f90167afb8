// Formulas: Temml reads LaTeX into a tree of its own; of that, only listed elements and attributes become MathML.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const LONGEST_FORMULA = 2_000;
const MOST_PARTS = 2_000;
const DEEPEST = 60;

const PLAIN = "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mstyle".split(" ");
// What only changes the look of its content: the content is shown plainly, nothing is hidden or moved.
const ELEMENTS = new Map([...PLAIN.map((name) => [name, name]), ...["mphantom", "mpadded", "menclose"].map((name) => [name, "mrow"])]);

const FLAG = /^(true|false)$/;
const SPACE = /^(-?0?\.[01]\d*|[0-3]?(\.\d+)?)em$|^0(pt|px)?$/;
const ATTRIBUTES = {
  display: /^block$/, displaystyle: FLAG, scriptlevel: /^[0-2]$/, mathvariant: /^normal$/, stretchy: FLAG, fence: FLAG, separator: FLAG,
  accent: FLAG, symmetric: FLAG, movablelimits: FLAG, largeop: FLAG, form: /^(prefix|infix|postfix)$/, linethickness: /^0(px)?$/,
  width: SPACE, lspace: SPACE, rspace: SPACE, minsize: /^[0-3](\.\d+)?em$/, maxsize: /^[0-3](\.\d+)?em$/, columnalign: /^(left|center|right)$/,
};
const CLASSES = { "tml-left": "left", "tml-right": "right", "tml-jot": "aligned", "tml-overline": "over", "tml-underline": "under" };
// Signs without a shape that Temml writes itself, such as the one between a function and its argument.
const OWN_SIGNS = /[\u2061-\u2064]/gu;
const DELIMITERS = [["$$", "$$"], ["\\[", "\\]"], ["\\(", "\\)"], ["$", "$"]];

// A formula without the signs that set it off.
function bareFormula(text) {
  const trimmed = text.trim();
  const [open, close] = DELIMITERS.find(([start, end]) => trimmed.length > start.length + end.length && trimmed.startsWith(start) && trimmed.endsWith(end)) || ["", ""];
  return trimmed.slice(open.length, trimmed.length - close.length).trim();
}

function classOf(node) {
  const classes = (node.classes || []).filter((name) => Object.hasOwn(CLASSES, name)).map((name) => CLASSES[name]);
  const { border, borderRight, borderBottom } = node.style || {};
  const marks = [[border, "boxed"], [borderRight, "line-right"], [borderBottom, "line-below"], [/strike/.test(node.attributes.notation || ""), "struck"]];
  return [...classes, ...marks.filter(([set]) => set).map(([, name]) => name)].join(" ") || null;
}

function builtFormula(node, depth, left) {
  left.parts -= 1;
  if (depth > DEEPEST || left.parts < 0) throw new Error("a formula that is too large to be drawn");
  if (typeof node.text === "string") return node.text.replace(INVISIBLE, (signs) => (signs.match(OWN_SIGNS) ? signs : "\ufffd"));
  const children = node.children.map((child) => builtFormula(child, depth + 1, left));
  if (node.type === undefined) return children; // a fragment
  if (!ELEMENTS.has(node.type)) throw new Error("an element that no formula has");
  const kept = Object.entries(node.attributes).filter(([key, value]) => Object.hasOwn(ATTRIBUTES, key) && ATTRIBUTES[key].test(value));
  return make(MATHML, ELEMENTS.get(node.type), { ...Object.fromEntries(kept), class: classOf(node) }, children);
}

// The element of a formula; null when it is none, or none that is drawn.
function formula(latex, displayMode) {
  const source = bareFormula(latex);
  if (!source || source.length > LONGEST_FORMULA || source.search(INVISIBLE) >= 0) return null;
  try {
    const tree = temml.__renderToMathMLTree(source, { displayMode, throwOnError: true, trust: false, maxExpand: 200, maxSize: [4, 4] });
    const drawn = builtFormula(tree, 0, { parts: MOST_PARTS });
    return drawn.localName === "math" ? drawn : null;
  } catch {
    return null; // Temml throws anything on what models write
  }
}

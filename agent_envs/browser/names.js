// What things are called: quoting, roles and accessible names.
const clean = (text) => text.replace(/\s+/g, " ").trim();
const ODD =
  /["\\\p{Cc}\p{Bidi_Control}\p{Cs}\u00ad\u200b\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
const EVERY_ODD = new RegExp(ODD.source, "gu");
const spelled = (c) =>
  c === '"' || c === "\\"
    ? "\\" + c
    : c === "\n"
      ? "\\n"
      : c === "\t"
        ? "\\t"
        : `\\u{${c.codePointAt(0).toString(16)}}`;
// The words of a page stand in quotes, whatever they are; all that stands outside of quotes is ours.
const quote = (text, limit = 1000) => {
  let rest = "";
  if (text.length > limit) {
    rest = ` (+${text.length - limit} characters)`;
    text = text.slice(0, limit);
  }
  return `"${ODD.test(text) ? text.replace(EVERY_ODD, spelled) : text}"${rest}`;
};

const TAG_ROLES = {
  __proto__: null,
  a: "link",
  area: "link",
  button: "button",
  textarea: "textbox",
  nav: "navigation",
  main: "main",
  aside: "complementary",
  header: "banner",
  footer: "contentinfo",
  table: "table",
  tr: "row",
  td: "cell",
  th: "columnheader",
  caption: "caption",
  ul: "list",
  ol: "list",
  menu: "list",
  li: "listitem",
  dialog: "dialog",
  iframe: "iframe",
  frame: "iframe",
  option: "option",
  summary: "button",
  canvas: "canvas",
  img: "img",
  svg: "img",
  video: "video",
  audio: "audio",
  progress: "progressbar",
  meter: "meter",
  fieldset: "group",
  hr: "separator",
  figure: "figure",
  h1: "heading",
  h2: "heading",
  h3: "heading",
  h4: "heading",
  h5: "heading",
  h6: "heading",
  output: "status",
  search: "search",
  object: "object",
  embed: "embed",
  thead: "rowgroup",
  tbody: "rowgroup",
  tfoot: "rowgroup",
};
const INPUT_ROLES = {
  __proto__: null,
  checkbox: "checkbox",
  radio: "radio",
  range: "slider",
  number: "spinbutton",
  submit: "button",
  button: "button",
  reset: "button",
  image: "button",
  file: "file",
  date: "date",
  "datetime-local": "datetime",
  month: "month",
  week: "week",
  time: "time",
  color: "color",
  search: "searchbox",
};
const known = (list) => new Set(list.split(" "));
const CONTROLS = known(
  "link button combobox listbox textbox searchbox checkbox radio slider spinbutton file date datetime month week time color option menuitem menuitemcheckbox menuitemradio tab switch treeitem",
);
const NAMED_BY_CONTENT = known(
  "link button option menuitem menuitemcheckbox menuitemradio tab checkbox radio switch treeitem tooltip",
);
const LANDMARKS = known(
  "banner main navigation complementary contentinfo search dialog alertdialog alert status tablist tabpanel menu menubar toolbar tree treegrid grid table listbox radiogroup log feed article tooltip",
);
const IF_NAMED = known("form region group list figure section rowgroup application directory");

const explicitRole = (e) => {
  const said = attr(e, "role");
  return said
    ? said
        .trim()
        .split(/\s+/, 1)[0]
        .toLowerCase()
        .replace(/[^a-z]/g, "")
    : "";
};
const roleOf = (e, tag) => {
  const said = explicitRole(e);
  if (said && said !== "none" && said !== "presentation") return said === "image" ? "img" : said;
  if (tag === "input")
    return (
      (INPUT_ROLES[attr(e, "type")?.toLowerCase()] && INPUT_ROLES[e.type]) || (has(e, "list") ? "combobox" : "textbox")
    );
  if (tag === "select") return e.multiple || e.size > 1 ? "listbox" : "combobox";
  if (said) return "";
  if (tag === "a" || tag === "area") return has(e, "href") || has(e, "xlink:href") ? "link" : "";
  if (tag === "section") return "region";
  if (tag === "form") return "form";
  if (tag === "summary") return tagOf(parentNode(e) || e) === "details" ? "button" : "";
  if ((tag === "header" || tag === "footer") && closest(e, "article,aside,main,nav,section")) return "";
  if (has(e, "contenteditable") && e instanceof HTMLElement && editable(e)) return "textbox";
  return TAG_ROLES[tag] || "";
};

const byId = (e, id) => {
  const root = rootOf(e);
  return id && (root instanceof Document || root instanceof ShadowRoot)
    ? bound(root instanceof Document ? Document.prototype.getElementById : DocumentFragment.prototype.getElementById)(
        root,
        id,
      )
    : null;
};
const SKIPPED = known("script style noscript template head title meta link base datalist");
const INLINE = /^(inline|contents|ruby)/;
// The text inside an element as a reader would say it: pictures by their names, blocks apart, hidden parts left out.
const spoken = (e, without, depth = 0) => {
  let said = "";
  for (let c = firstChild(shadow(e) || e); c; c = nextSibling(c)) {
    const type = nodeType(c);
    if (type === 3) said += data(c);
    else if (type === 1 && c !== without && depth < 50 && said.length < 5000) said += spokenElement(c, without, depth);
  }
  return said;
};
const spokenElement = (c, without, depth) => {
  const tag = tagOf(c);
  if (SKIPPED.has(tag) || attr(c, "aria-hidden") === "true") return "";
  if (tag === "slot")
    return assigned(c)
      .map((n) => (nodeType(n) === 3 ? data(n) : nodeType(n) === 1 ? spokenElement(n, without, depth + 1) : ""))
      .join("");
  const style = getComputedStyle(c);
  if (style.display === "none" || style.visibility !== "visible") return "";
  const own =
    attr(c, "aria-label") ||
    (tag === "img" ? attr(c, "alt") : tag === "svg" ? svgTitle(c) : tag === "input" && !without ? c.value : "");
  const text = own || (tag === "select" || tag === "textarea" ? "" : spoken(c, without, depth + 1));
  return tag === "br" ? " " : INLINE.test(style.display) ? text : ` ${text} `;
};
const assigned = (slot) => {
  const nodes = HTMLSlotElement.prototype.assignedNodes.call(slot);
  return nodes.length ? nodes : [...slot.childNodes];
};
const svgTitle = (e) => {
  for (let c = firstChild(e); c; c = nextSibling(c)) if (nodeType(c) === 1 && tagOf(c) === "title") return textOf(c);
  return "";
};
// Found once per walk and tree: the browser's own `labels` searches the whole tree for each field.
const labels = {
  found: new Map(),
  forget() {
    this.found = new Map();
  },
};
const labelsOf = (e) => {
  const root = rootOf(e);
  let known = labels.found.get(root);
  if (!known) {
    labels.found.set(root, (known = new Map()));
    for (const label of root instanceof Element ? [] : queryAll(root, "label"))
      if (label.control) known.set(label.control, [...(known.get(label.control) || []), label]);
  }
  return known.get(e) || [];
};
// The accessible name, in the order that the standard gives (accname-1.2), without what it says of rarities.
const nameOf = (e, tag, role) => {
  const by = attr(e, "aria-labelledby");
  if (by) {
    const said = clean(
      by
        .split(/\s+/)
        .map((id) => {
          const x = byId(e, id);
          return x ? attr(x, "aria-label") || spoken(x, e) || textOf(x) : "";
        })
        .join(" "),
    );
    if (said) return said;
  }
  const label = attr(e, "aria-label");
  if (label && clean(label)) return clean(label);
  const said = clean(nativeName(e, tag, role) || "");
  if (said) return said;
  if (NAMED_BY_CONTENT.has(role) && tag !== "input" && tag !== "select") {
    const content = clean(spoken(e));
    if (content) return content;
  }
  return clean(
    attr(e, "title") ||
      (tag === "input" || tag === "textarea" ? attr(e, "placeholder") : "") ||
      attr(e, "aria-placeholder") ||
      "",
  );
};
const childNamed = (e, tag) => {
  for (let c = firstChild(e); c; c = nextSibling(c)) if (nodeType(c) === 1 && tagOf(c) === tag) return spoken(c);
  return "";
};
const nativeName = (e, tag) => {
  switch (tag) {
    case "input":
      if (e.type === "submit" || e.type === "reset" || e.type === "button")
        return e.value || (e.type === "submit" ? "Submit" : e.type === "reset" ? "Reset" : "");
      if (e.type === "image") return attr(e, "alt") || e.value;
    // falls through
    case "select":
    case "textarea":
    case "meter":
    case "progress":
    case "output":
      return labelsOf(e)
        .map((l) => spoken(l, e))
        .join(" ");
    case "button":
      return labelsOf(e).length && !clean(spoken(e))
        ? labelsOf(e)
            .map((l) => spoken(l, e))
            .join(" ")
        : "";
    case "img":
    case "area":
      return attr(e, "alt");
    case "svg":
      return svgTitle(e);
    case "fieldset":
      return childNamed(e, "legend");
    case "table":
      return childNamed(e, "caption");
    case "figure":
      return childNamed(e, "figcaption");
    case "canvas":
      return spoken(e);
    case "option":
      return e.label;
    default:
      return "";
  }
};

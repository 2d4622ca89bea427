// From a document to lines of text: what is visible, in which order, on which line.
// A line is indentation, then pieces: `[ref] role "name" = "value" states -> target`, or words of the page in quotes.
const INTERACTIVE =
  "a[href],button,input:not([type=hidden]),select,textarea,summary,iframe,canvas,[tabindex],[onclick],[contenteditable],[role=button],[role=link],[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],[role=switch],[role=combobox],[role=textbox],[role=slider]";
const MOST_ELEMENTS = 150000,
  MOST_CHARACTERS = 3000000,
  DEEPEST = 600,
  MOST_SHAPES = 80,
  TEXT_PIECE = 1500;
const BLOCKY = "table,ul,ol,dl,form,iframe,fieldset,h1,h2,h3,h4,h5,h6,[role=row],[role=list]";
const SHAPES = known("rect circle ellipse polygon polyline path line text");
const KEEPS_ROLE = known("img cell gridcell row columnheader rowheader canvas heading listitem tabpanel");
const SEPARATOR = { text: null },
  NAMELESS = "\u0002";

class Walk {
  constructor(registry) {
    Object.assign(this, {
      registry,
      lines: [],
      run: [],
      depth: 0,
      flat: 0,
      prefix: "",
      seen: 0,
      size: 0,
      level: 0,
      stopped: false,
      found: [],
      frames: 0,
    });
    this.active = activeElement();
    this.blocky = docFirst(document, `tr :is(${BLOCKY}), [role=row] :is(${BLOCKY})`) !== null;
  }
  text(said) {
    const last = this.run[this.run.length - 1];
    if (last && last.text !== undefined && last !== SEPARATOR) last.text += said;
    else if (said.trim() || !last) this.run.push({ text: said });
    else this.run.push({ text: " " });
  }
  piece(said) {
    this.run.push({ said });
  }
  emit(said, frame) {
    said = said.replaceAll(NAMELESS, "");
    this.lines.push(frame ? [this.depth, this.prefix + said, frame] : [this.depth, this.prefix + said]);
    this.size += said.length;
    if (this.prefix) {
      this.prefix = "";
      this.depth++;
    }
  }
  pieces() {
    const said = [];
    for (const one of this.run) {
      if (one === SEPARATOR) said.push("|");
      else if (one.said) said.push(one.said);
      else {
        const words = clean(one.text),
          last = said.length - 1;
        if (!words) continue;
        // Words after something without a name must not read like its name.
        if (last >= 0) said[last] = said[last].replace(NAMELESS, ' ""');
        said.push(...split(words));
      }
    }
    const words = this.run.some((one) => one.text?.trim());
    this.run = [];
    return { said, mixed: words && said.length > 1 };
  }
  flush() {
    if (!this.run.length) return;
    const { said, mixed } = this.pieces();
    if (mixed && said.join(" ").length < TEXT_PIECE) this.emit(said.join(" "));
    else for (const one of said) this.emit(one);
  }
  boundary() {
    if (this.flat) this.text(" ");
    else this.flush();
  }
  inside(work) {
    const { run, depth } = this;
    this.run = [];
    this.flat++;
    work();
    this.flat--;
    const { said } = this.pieces();
    this.run = run;
    this.depth = depth;
    return said.join(" ");
  }
  nested(line, work, keep, frame) {
    if (this.flat) {
      if (keep || line.includes('"')) this.piece(line);
      work();
      return;
    }
    this.flush();
    const { depth } = this,
      before = this.lines.length;
    this.emit(line, frame);
    this.depth = Math.max(depth, this.depth) + (this.depth > depth ? 0 : 1);
    work();
    this.flush();
    this.depth = depth;
    if (!keep && this.lines.length === before + 1 && !line.includes('"')) this.lines.pop();
  }
}
const split = (words) => {
  if (words.length <= TEXT_PIECE) return [quote(words)];
  const parts = [];
  for (let i = 0; i < words.length && parts.length < 2000; i += TEXT_PIECE)
    parts.push(quote(words.slice(i, i + TEXT_PIECE), TEXT_PIECE * 9));
  return parts;
};
const activeElement = () => {
  let found = activeInDocument(document);
  while (found && shadow(found)?.activeElement) found = shadow(found).activeElement;
  return found;
};

const children = (w, node, at) => {
  for (let c = firstChild(node); c && !w.stopped; c = nextSibling(c)) child(w, c, at);
};
const child = (w, c, at) => {
  const type = nodeType(c);
  if (type === 3) {
    if (!at.mute) w.text(data(c).slice(0, MOST_CHARACTERS));
  } else if (type === 1) {
    if (++w.seen > MOST_ELEMENTS || w.size > MOST_CHARACTERS) {
      w.stopped = true;
      return;
    }
    if (++w.level > DEEPEST) {
      if (!at.mute) w.text(clean(textOf(c)).slice(0, 2000));
    } else element(w, c, at);
    w.level--;
  }
};
const content = (w, e, at) => {
  const root = shadow(e);
  if (root) {
    w.registry.watch(root);
    children(w, root, at);
  } else if (tagOf(e) === "slot") for (const c of assigned(e)) child(w, c, at);
  else children(w, e, at);
};

const VISIBLE = { visibilityProperty: true };
const hides = (across, down) => (down !== "visible" && down !== "clip") || across === "hidden";
const element = (w, e, at) => {
  const tag = tagOf(e);
  if (SKIPPED.has(tag)) return;
  const style = getComputedStyle(e),
    display = style.display;
  if (display === "none") return;
  // Each property that is read costs as much as all the rest: nearly every element answers this, and no more is asked.
  const visible = rendered(e, VISIBLE);
  if (!visible && display !== "contents" && tag !== "slot" && !rendered(e) && !(e instanceof SVGElement)) return;
  if (attr(e, "aria-hidden") === "true") return;
  if (style.opacity === "0" && tag !== "input" && tag !== "select") return;
  const scrolls = display !== "inline" && style.overflow !== "visible" && hides(style.overflowX, style.overflowY);
  if (scrolls && tag !== "body" && tag !== "html" && !FIELDS.has(tag)) {
    const b = box(e);
    if ((b.height < 1 || b.width < 1) && style.position !== "fixed") return;
  }
  if (!visible && style.visibility !== "visible") {
    content(w, e, { ...at, mute: true });
    return;
  }
  if (at.mute && !at.label) at = { ...at, mute: false };
  if (tag === "br") {
    w.text(" ");
    return;
  }
  const inline = INLINE.test(display);
  if (!inline) w.boundary();
  describe(w, e, tag, style, at, scrolls);
  if (!inline) w.boundary();
};

const clickable = (w, e, tag, style, at, pointer = style.cursor === "pointer") =>
  clicked(w, e, tag, pointer && !at.pointer, at) && style.pointerEvents !== "none";
const clicked = (w, e, tag, pointed, at) =>
  (tag === "li" && at.items === parentNode(e)) ||
  w.registry.listens(e) === 1 ||
  has(e, "onclick") ||
  pointed ||
  (has(e, "tabindex") && e.tabIndex >= 0) ||
  attr(e, "draggable") === "true";

const describe = (w, e, tag, style, at, scrolls) => {
  const role = roleOf(e, tag);
  const pointer = style.cursor === "pointer",
    inner = pointer === !!at.pointer ? at : { ...at, pointer };
  if (tag === "label" && e.control) return label(w, e, inner);
  if (CONTROLS.has(role)) return control(w, e, tag, role, inner);
  if (tag === "svg") return drawing(w, e, tag, style, inner);
  if (tag === "body" || tag === "html") return content(w, e, { ...inner, pointer: false });
  if (tag === "iframe" || tag === "frame") {
    w.frames++;
    const ref = w.registry.ref(e);
    return w.nested(`[${ref}] ${[role, named(nameOf(e, tag, role))].filter(Boolean).join(" ")}`, () => {}, true, ref);
  }
  if (tag === "canvas" && style.pointerEvents === "none") return undefined;
  if (tag === "canvas" || tag === "video" || tag === "audio" || tag === "object" || tag === "embed")
    return w.piece(line(w, e, tag, role || tag, nameOf(e, tag, role), true, size(e)));
  if (clickable(w, e, tag, style, at, pointer)) return target_of_clicks(w, e, tag, role, style, inner);
  if (
    scrolls &&
    !w.flat &&
    style.overflowY !== "hidden" &&
    scrollHeight(e) > clientHeight(e) + 4 &&
    clientHeight(e) > 0
  )
    return w.nested(
      line(
        w,
        e,
        tag,
        structural(role, e, tag) ? role : "scrollable",
        structural(role, e, tag) ? nameOf(e, tag, role) : "",
        true,
        scrolled(e),
      ),
      () => content(w, e, inner),
      true,
    );
  return structure(w, e, tag, role, inner);
};
const scrolled = (e) => `scrolled ${Math.round(scrollTop(e))} of ${Math.max(0, scrollHeight(e) - clientHeight(e))} px`;
const structural = (role, e, tag) => LANDMARKS.has(role) || (IF_NAMED.has(role) && nameOf(e, tag, role) !== "");

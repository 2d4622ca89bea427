// How each kind of thing is told: controls, labels, rows, items, drawings.
const named = (name) => (name ? quote(name, 150) : "");
const size = (e) => {
  const b = box(e);
  return `${Math.round(b.width)}x${Math.round(b.height)}`;
};
const line = (w, e, tag, role, name, acts, extra) => {
  w.found.push([e, role, name]);
  const said = [name ? role : role + NAMELESS];
  if (acts) said.unshift(`[${w.registry.ref(e)}]`);
  if (name) said.push(named(name));
  const value = valueOf(e, tag, role);
  if (value) said.push(value);
  for (const state of statesOf(e, tag, role, e === w.active)) said.push(state);
  if (extra) said.push(extra);
  if (role === "link") said.push("->", target(e) || '""');
  return said.join(" ");
};
// Something to act on that has no name: what it looks like is all there is to say.
const looks = (e, style) => {
  const said = [],
    paint = colour(style.backgroundColor),
    id = attr(e, "id"),
    inner = first(e, "[class]"),
    css = clean(`${attr(e, "class") || ""} ${(inner && attr(inner, "class")) || ""}`),
    picture = pictureOf(style) || (inner && pictureOf(getComputedStyle(inner)));
  if (paint) said.push(paint);
  if (id) said.push("id " + quote(id, 40));
  // The id is who it is; the class may be how it is.
  if (css && css !== id) said.push("class " + quote(css, 60));
  // How large a picture is, is not known before it is there; two runs have to say the same.
  said.push(picture ? "image " + quote(picture, 40) : size(e));
  return said.join(" ");
};
const PICTURE = /url\("(?!data:)[^"]*?([^"\/?#]+)(?:[?#][^"]*)?"\)/;
const pictureOf = (style) => PICTURE.exec(`${style.content} ${style.backgroundImage}`)?.[1] || "";

const control = (w, e, tag, role, at) => {
  if (
    tag === "summary" ||
    FIELDS.has(tag) ||
    role === "textbox" ||
    role === "searchbox" ||
    (!shadow(e) && (!firstElement(e) || !first(e, INTERACTIVE)))
  ) {
    const name = nameOf(e, tag, role),
      leaf = FIELDS.has(tag) || name;
    return w.piece(line(w, e, tag, role, name, true, leaf ? "" : looks(e, getComputedStyle(e))));
  }
  const name =
    role === "combobox" || role === "listbox" || has(e, "aria-label") || has(e, "aria-labelledby")
      ? nameOf(e, tag, role)
      : clean(ownText(e));
  return w.nested(
    line(w, e, tag, role, name, true),
    () => content(w, e, name && !has(e, "aria-label") ? { ...at, mute: false } : at),
    true,
  );
};
const ownText = (e) => {
  let said = "";
  for (let c = firstChild(e); c; c = nextSibling(c)) if (nodeType(c) === 3) said += data(c);
  return said;
};

const label = (w, e, at) => {
  const field = e.control,
    tag = tagOf(field),
    role = roleOf(field, tag),
    name = nameOf(field, tag, role);
  if (!rendered(field) && CONTROLS.has(role)) {
    w.registry.stand_in.set(field, e);
    return w.piece(line(w, field, tag, role, name, true));
  }
  const same = name.includes(clean(spoken(e, field)));
  return content(w, e, same ? { ...at, mute: true, label: true } : at);
};

const target_of_clicks = (w, e, tag, role, style, at) => {
  const word = KEEPS_ROLE.has(role) && role !== "heading" && role !== "listitem" ? role : "clickable";
  if (tag === "tr" || role === "row") return row(w, e, at, `[${w.registry.ref(e)}] row`);
  // A list that listens does so for its items.
  const listens = (tag === "ul" || tag === "ol") && first(e, "li");
  if (listens) at = { ...at, items: e };
  const nests = listens || first(e, INTERACTIVE) || has_listener_inside(w, e) || first(e, BLOCKY) || shadow(e);
  const whole = nests ? "" : clean(spoken(e));
  const open = role === "heading" ? heading_mark(e, tag) + " " : "";
  if (!nests && whole.length <= 400) {
    if (role === "listitem")
      return item(w, e, at, () =>
        w.piece(
          line(
            w,
            e,
            tag,
            word,
            has(e, "aria-label") ? nameOf(e, tag, role) : whole,
            true,
            whole ? "" : looks(e, style),
          ),
        ),
      );
    const name = has(e, "aria-label") ? nameOf(e, tag, role) : whole || nameOf(e, tag, role);
    return w.piece(open + line(w, e, tag, word, name, true, name ? "" : looks(e, style)));
  }
  const name = has(e, "aria-label") || has(e, "aria-labelledby") ? nameOf(e, tag, role) : "";
  return w.nested(
    open + line(w, e, tag, structural(role, e, tag) ? role : word, name, true),
    () => content(w, e, at),
    true,
  );
};
const has_listener_inside = (w, e) => {
  if (!w.registry.anyone) return false;
  for (const x of all(e, "*")) if (w.registry.listens(x) === 1) return true;
  return false;
};

const heading_mark = (e, tag) => `h${parseInt(attr(e, "aria-level"), 10) || (/^h[1-6]$/.test(tag) ? tag[1] : 2)}`;
const structure = (w, e, tag, role, at) => {
  switch (role) {
    case "heading": {
      const name = nameOf(e, tag, role);
      const inside = w.inside(() => (has(e, "aria-label") ? w.text(name) : content(w, e, at)));
      w.found.push([e, "heading", name || clean(spoken(e))]);
      return inside ? w.piece(`${heading_mark(e, tag)} ${inside}`) : undefined;
    }
    case "listitem":
      return item(w, e, at);
    case "row":
      return row(w, e, at, "");
    case "cell":
    case "gridcell":
    case "columnheader":
    case "rowheader":
      return cell(w, e, at, role);
    case "img": {
      const name = nameOf(e, tag, role),
        areas = areasOf(e, tag);
      if (areas.length) return mapped(w, e, tag, name, areas);
      return name ? w.piece(line(w, e, tag, role, name, false)) : content(w, e, at);
    }
    case "progressbar":
    case "meter":
    case "scrollbar":
      return w.piece(line(w, e, tag, role, nameOf(e, tag, role), false));
    case "caption":
      return undefined;
    case "list": {
      const { count } = w;
      w.count = tag === "ol" ? e.start || 1 : 0;
      group(w, e, tag, role, at);
      w.count = count;
      return undefined;
    }
    case "separator":
      return undefined;
    default:
      return group(w, e, tag, role, at);
  }
};
const group = (w, e, tag, role, at) => {
  if (tag === "legend" && tagOf(parentNode(e)) === "fieldset") return undefined;
  if (tag === "figcaption") return content(w, e, at);
  if (tag === "details" || (!LANDMARKS.has(role) && !IF_NAMED.has(role))) return content(w, e, at);
  const name = nameOf(e, tag, role);
  if (!name && !LANDMARKS.has(role)) return content(w, e, at);
  return w.nested(
    line(w, e, tag, role, name, false),
    () => content(w, e, at),
    role === "dialog" || role === "alertdialog",
  );
};
const item = (w, e, at, work) => {
  if (w.flat) {
    w.text(" ");
    if (work) work();
    else content(w, e, at);
    return;
  }
  w.flush();
  const { depth, prefix } = w;
  w.prefix = prefix + (w.count ? `${w.count++}. ` : "- ");
  if (work) work();
  else content(w, e, at);
  w.flush();
  w.depth = depth;
  w.prefix = w.prefix.endsWith("- ") || w.prefix.endsWith(". ") ? "" : w.prefix;
};
const row = (w, e, at, mark) => {
  const nests = w.blocky && first(e, BLOCKY);
  if (nests && !w.flat) return w.nested(mark || "row", () => content(w, e, at), !!mark);
  const states = statesOf(e, tagOf(e), "row", e === w.active).join(" ");
  const saved = w.cells;
  w.cells = 0;
  w.headers = 0;
  const said = w.inside(() => content(w, e, at));
  const head = w.headers && w.headers === w.cells ? "header" : "";
  w.cells = saved;
  const full = [mark, states, head, said].filter(Boolean).join(" ");
  return said.replace(/[| ]/g, "") || mark ? w.piece(full) : undefined;
};
const cell = (w, e, at, role) => {
  if (!w.flat) return content(w, e, at);
  if (w.cells++) w.run.push(SEPARATOR);
  if (role === "columnheader") w.headers++;
  const sort = attr(e, "aria-sort");
  content(w, e, at);
  if (sort && sort !== "none") w.piece(`sorted ${sort === "ascending" ? "up" : "down"}`);
  return undefined;
};

// An image in parts, each of which leads somewhere.
const areasOf = (e, tag) => {
  const named = tag === "img" && attr(e, "usemap")?.replace(/^#/, "");
  const map = named && [...docAll(document, "map")].find((one) => attr(one, "name") === named);
  return map ? [...all(map, "area[href],area[onclick],area[role]")] : [];
};
const mapped = (w, e, tag, name, areas) =>
  w.nested(
    line(w, e, tag, "img", name, false),
    () => {
      for (const area of areas) {
        w.registry.stand_in.set(area, e);
        const role = roleOf(area, "area") || "clickable";
        w.piece(line(w, area, "area", role, nameOf(area, "area", role), true));
        if (!w.flat) w.flush();
      }
    },
    true,
  );

// The controls in a drawing are told as anywhere else. One without a name is described by its other shapes as well:
// kind, colour, size and place.
const drawing = (w, e, tag, style, at) => {
  const name = nameOf(e, tag, "img");
  const acts = clickable(w, e, tag, style, at);
  const drawn = (part) => getComputedStyle(part).display !== "none" && getComputedStyle(part).visibility === "visible";
  const controls = [...all(e, "[role],a")].filter((part) => CONTROLS.has(roleOf(part, tagOf(part))) && drawn(part));
  let shapes = name ? [] : [...all(e, [...SHAPES].join(","))];
  if (shapes.length > MOST_SHAPES || (at.pointer && !acts) || box(e).width < 40) shapes = [];
  shapes = shapes.filter((shape) => drawn(shape) && !controls.some((part) => within(shape, part)));
  if (!shapes.length && !controls.length)
    return name || acts ? w.piece(line(w, e, tag, "img", name, acts, name ? "" : size(e))) : undefined;
  const parts = new Set([...controls, ...shapes]);
  return w.nested(
    line(w, e, tag, name ? "img" : "drawing", name, acts || !name, name ? "" : size(e)),
    () => {
      const origin = box(e);
      for (const part of all(e, "*")) {
        if (!parts.has(part)) continue;
        w.piece(controls.includes(part) ? part_line(w, part) : shape_line(w, part, origin));
        if (!w.flat) w.flush();
      }
    },
    controls.length > 0,
  );
};
const part_line = (w, part) => {
  const tag = tagOf(part),
    role = roleOf(part, tag),
    name = nameOf(part, tag, role);
  return line(w, part, tag, role, name, true, name ? "" : size(part));
};
const shape_line = (w, shape, origin) => {
  const tag = tagOf(shape),
    style = getComputedStyle(shape),
    b = box(shape);
  const words = tag === "text" ? clean(textOf(shape)) : svgTitle(shape);
  w.found.push([shape, tag, words]);
  const corners = tag === "polygon" ? `${(attr(shape, "points") || "").trim().split(/[\s,]+/).length / 2} corners` : "";
  return [
    `[${w.registry.ref(shape)}]`,
    tag,
    named(words),
    corners,
    colour(style.fill) || colour(style.stroke),
    size(shape),
    `at ${Math.round(b.left - origin.left)},${Math.round(b.top - origin.top)}`,
  ]
    .filter(Boolean)
    .join(" ");
};

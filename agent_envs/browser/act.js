// Before an action: is it possible, and where is the point to aim at?
// Everything answers at once; what is wrong is said in words.
const setter = (type, name) => bound(Object.getOwnPropertyDescriptor(type.prototype, name).set);
const setValue = setter(HTMLInputElement, "value");
const told = (e, ...types) => {
  for (const type of types)
    e.dispatchEvent(new (type === "input" ? InputEvent : Event)(type, { bubbles: true, composed: true }));
};
const hiddenWhy = (e) => {
  if (!rendered(e) && getComputedStyle(e).display !== "contents") return "it is hidden";
  return getComputedStyle(e).visibility === "visible" ? "" : "it is invisible";
};
// Whether a document cannot tell where the mouse is before it presses, but by its colours: nobody listens to that, and no
// style makes more of it. What cannot be read (a sheet of another origin, a shadow tree) might.
const calm = (registry, e) => {
  for (let p = e; p; p = above(p)) if (shadow(p) || rootOf(p) !== document) return false;
  registry.news();
  return !registry.hovers && !docFirst(document, HOVER_ATTRIBUTES) && sheets().every((sheet) => plain(sheet));
};
const HOVER_ATTRIBUTES = ["over", "enter", "out", "leave", "move"]
  .flatMap((what) => [`[onmouse${what}]`, `[onpointer${what}]`])
  .join(",");
const PAINT =
  /^(color|cursor|opacity|filter|fill|stroke|background|outline|transition|box-shadow|text-shadow|text-decoration|border-(top|right|bottom|left)-color|accent-color|caret-color)/;
const sheets = () => [...document.styleSheets, ...document.adoptedStyleSheets];
const plain = (sheet) => {
  try {
    return [...sheet.cssRules].every(unmoved);
  } catch {
    return false;
  }
};
const unmoved = (rule) =>
  (!rule.style || !/:hover/.test(rule.selectorText ?? "") || [...rule.style].every((name) => PAINT.test(name))) &&
  (!rule.styleSheet || plain(rule.styleSheet)) &&
  (!rule.cssRules?.length || (!/:hover/.test(rule.selectorText ?? "") && [...rule.cssRules].every(unmoved)));
const inView = (b) => b.top >= 0 && b.left >= 0 && b.bottom <= innerHeight && b.right <= innerWidth;
const pointsIn = (e) => {
  const points = [];
  for (const r of [...e.getClientRects()].slice(0, 4)) {
    if (r.width < 1 || r.height < 1) continue;
    for (const [dx, dy] of [
      [0.5, 0.5],
      [0.25, 0.25],
      [0.75, 0.75],
      [0.1, 0.5],
      [0.9, 0.5],
    ]) {
      const x = r.left + r.width * dx,
        y = r.top + r.height * dy;
      if (x >= 0 && y >= 0 && x < innerWidth && y < innerHeight) points.push([x, y]);
    }
  }
  return points;
};

// The coordinates of an area are those of its image's content: of a circle or rectangle the middle, of a polygon the
// middle of its corners, and what lies between that and each of them.
const pointsOfArea = (e, image) => {
  const b = box(image),
    style = getComputedStyle(image),
    left = b.left + parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft),
    top = b.top + parseFloat(style.borderTopWidth) + parseFloat(style.paddingTop);
  const shape = (attr(e, "shape") || "rect").toLowerCase(),
    at = (attr(e, "coords") || "").split(",").map(Number);
  if (shape === "default") return pointsIn(image);
  const corners = [];
  for (let i = 0; i + 1 < at.length; i += 2) corners.push([at[i], at[i + 1]]);
  if (!corners.length) return [];
  const round = shape === "circle" || shape === "circ",
    count = round ? 1 : corners.length;
  const middle = [0, 1].map((axis) => corners.slice(0, count).reduce((sum, one) => sum + one[axis], 0) / count);
  const between = round ? [] : corners.map((one) => [0, 1].map((axis) => (one[axis] + middle[axis]) / 2));
  return [middle, ...between].map(([x, y]) => [left + x, top + y]);
};

Object.assign(eyes, {
  describe(e) {
    const tag = tagOf(e),
      role = roleOf(e, tag) || "clickable",
      name = nameOf(e, tag, role) || clean(spoken(e)).slice(0, 60);
    return `[${this.registry.ref(e)}] ${role}${name ? " " + named(name) : ""}`;
  },
  // What a reader would say lies on top: the nearest thing above a point that has a role or is a layer of its own.
  culprit(e) {
    const worth = (p) => {
      const role = roleOf(p, tagOf(p));
      return (
        CONTROLS.has(role) ||
        /dialog|alert|iframe|menu|banner/.test(role) ||
        /fixed|sticky|absolute/.test(getComputedStyle(p).position)
      );
    };
    for (let p = e; p && p !== bodyOf(document); p = above(p))
      if (worth(p)) {
        const inner = first(p, "dialog,[role=dialog],[role=alertdialog]");
        return this.describe(inner && rendered(inner) ? inner : p);
      }
    return this.describe(e);
  },
  find(ref) {
    const e = this.registry.get(ref);
    if (e && connected(e)) return { e };
    const [role, name] = this.registry.known.get(ref) || [];
    const near = nearest(this.walk().found, role || "", name || "").map(([x, r, n]) =>
      `[${this.registry.ref(x)}] ${r} ${named(n)}`.trim(),
    );
    return {
      bad: e || this.registry.elements.has(ref) ? "gone" : "unknown",
      was: role ? `${role} ${named(name)}`.trim() : "",
      near,
    };
  },
  // Where to press on an element, and whether nothing changes because the mouse comes there; or why one cannot.
  aim(next, ref, able) {
    this.registry.begin(next);
    const found = this.find(ref);
    if (found.bad) return { ...found, next: this.registry.next };
    return { ...this.aimAt(found.e, able), calm: calm(this.registry, found.e), next: this.registry.next };
  },
  aimAt(e, able) {
    if (able && disabled(e)) return { why: "it is disabled" };
    labels.forget();
    const places = [e, this.registry.stand_in.get(e), ...labelsOf(e)].filter(Boolean);
    const why = hiddenWhy(e);
    let over = null;
    // Twice: what lies under a bar at the edge of the window may be in the open in its middle.
    for (const place of [...places, ...places]) {
      if (hiddenWhy(place)) continue;
      if (over || !inView(box(place)))
        place.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
      for (const [x, y] of tagOf(e) === "area" ? pointsOfArea(e, place) : pointsIn(place)) {
        const seen = hit(x, y);
        if (seen && (within(seen, place) || within(seen, e) || (tagOf(seen) === "label" && seen.control === e)))
          return { x, y };
        over ||= seen;
      }
    }
    if (over) return { why: within(e, over) ? "it takes no clicks" : `it is covered by ${this.culprit(over)}` };
    return { why: why || "it has no size on the screen" };
  },
  // From a point in a child frame to a point here.
  through(next, ref, x, y) {
    this.registry.begin(next);
    const { e, ...bad } = this.find(ref);
    if (!e) return { ...bad, next: this.registry.next };
    let b = box(e);
    const style = getComputedStyle(e),
      px = parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft),
      py = parseFloat(style.borderTopWidth) + parseFloat(style.paddingTop);
    const point = () => [b.left + px + x, b.top + py + y];
    if (point()[1] < 0 || point()[1] >= innerHeight || point()[0] < 0 || point()[0] >= innerWidth) {
      e.scrollIntoView({ block: "center", behavior: "instant" });
      b = box(e);
    }
    if (point()[1] < 0 || point()[1] >= innerHeight) {
      scrollBy({ top: point()[1] - innerHeight / 2, behavior: "instant" });
      b = box(e);
    }
    const [X, Y] = point(),
      seen = hit(X, Y);
    if (seen === e) return { x: X, y: Y, next: this.registry.next };
    return {
      why: seen ? `it is covered by ${this.culprit(seen)}` : "it is outside of what its frame shows",
      next: this.registry.next,
    };
  },
  // What typing into an element means: `keys` after it has the focus, or a value that is set at once.
  ready(next, ref, text, clear) {
    this.registry.begin(next);
    const { e, ...bad } = this.find(ref);
    if (!e) return { ...bad, next: this.registry.next };
    return { ...this.readied(e, text, clear), next: this.registry.next };
  },
  readied(e, text, clear) {
    const tag = tagOf(e),
      type = tag === "input" ? e.type : "";
    const rich = e instanceof HTMLElement && editable(e);
    if (disabled(e)) return { why: "it is disabled" };
    if (tag === "select") return { why: "it is a list; use select_option" };
    if (
      tag !== "textarea" &&
      !rich &&
      (tag !== "input" || /^(checkbox|radio|submit|button|reset|image|file|hidden)$/.test(type))
    )
      return { why: "one cannot type into it" };
    if (e.readOnly) return { why: "it is read-only" };
    const why = hiddenWhy(e);
    if (why) return { why };
    if (/^(date|datetime-local|month|week|time|color|range)$/.test(type)) return this.valued(e, type, text);
    e.focus({ preventScroll: false });
    if (tag === "input") text = text.replace(/[\r\n]+/g, " ");
    if (activeElement() !== e && !(rich && within(e, activeElement()))) return { why: "it does not take the focus" };
    if (rich) selectIn(e, clear ? null : "end");
    else if (clear) e.select();
    else if (type !== "number" && type !== "email") e.setSelectionRange(e.value.length, e.value.length);
    return { keys: text, empty: rich ? !clean(textOf(e)) : !e.value };
  },
  valued(e, type, text) {
    const before = e.value;
    e.focus();
    setValue(e, text);
    const wrong =
      type === "color"
        ? e.value !== text.toLowerCase()
        : type === "range"
          ? text.trim() === "" || isNaN(+text) || Math.abs(e.value - text) > (+e.step || 1)
          : e.value === "" && text !== "";
    if (wrong) {
      setValue(e, before);
      const shape = {
        date: "2026-03-31",
        "datetime-local": "2026-03-31T14:30",
        month: "2026-03",
        week: "2026-W14",
        time: "14:30",
        color: "#1a2b3c",
        range: `a number from ${e.min || 0} to ${e.max || 100}`,
      }[type];
      return {
        why: `${quote(text, 80)} is no value for it; expected ${type === "range" ? shape : "such as " + shape}`,
      };
    }
    if (e.value !== before) told(e, "input", "change");
    return { set: true };
  },
  choose(next, ref, values) {
    this.registry.begin(next);
    const { e, ...bad } = this.find(ref);
    return { ...(e ? this.chosen(e, values) : bad), next: this.registry.next };
  },
  chosen(e, values) {
    if (!(e instanceof HTMLSelectElement)) return { why: "it is no native list; click it, then click the option" };
    if (disabled(e)) return { why: "it is disabled" };
    if (!e.multiple && values.length !== 1) return { why: `it takes exactly one option, not ${values.length}` };
    const options = [...e.options],
      wanted = [];
    for (const value of values) {
      const said = clean(value);
      const option =
        options.find((o) => clean(o.label) === said) ||
        options.find((o) => clean(o.text) === said || o.value === value);
      if (!option) return { why: `it has no option ${quote(said, 100)}; its ${optionsOf(e)}` };
      if (option.disabled || option.parentElement.disabled)
        return { why: `its option ${quote(said, 100)} is disabled` };
      wanted.push(option);
    }
    e.focus();
    const before = options.map((o) => o.selected).join();
    for (const option of options) option.selected = wanted.includes(option);
    if (options.map((o) => o.selected).join() !== before) told(e, "input", "change");
    return { set: true };
  },
  checked(next, ref) {
    this.registry.begin(next);
    const { e, ...bad } = this.find(ref);
    if (!e) return { ...bad, next: this.registry.next };
    const tag = tagOf(e),
      said = attr(e, "aria-checked") ?? attr(e, "aria-pressed") ?? attr(e, "aria-selected");
    const native = tag === "input" && (e.type === "checkbox" || e.type === "radio");
    if (!native && said === null) return { why: "it cannot be checked", next: this.registry.next };
    return {
      on: native ? e.checked && !e.indeterminate : said === "true",
      radio: roleOf(e, tag) === "radio",
      next: this.registry.next,
    };
  },
});

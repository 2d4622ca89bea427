// What state things are in: states, values, options, colours, targets.
const COLOURS = {
  __proto__: null,
  "0,0,0": "black",
  "255,255,255": "white",
  "255,0,0": "red",
  "0,128,0": "green",
  "0,0,255": "blue",
  "255,255,0": "yellow",
  "255,165,0": "orange",
  "128,0,128": "purple",
  "255,192,203": "pink",
  "0,255,255": "cyan",
  "255,0,255": "magenta",
  "128,128,128": "grey",
  "165,42,42": "brown",
  "0,255,0": "lime",
  "128,128,0": "olive",
  "0,0,128": "navy",
  "0,128,128": "teal",
  "128,0,0": "maroon",
  "192,192,192": "silver",
  "238,130,238": "violet",
};
const colour = (css) => {
  const found = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(css);
  if (!found || found[4] === "0") return "";
  const rgb = found.slice(1, 4);
  return COLOURS[rgb.join()] || "#" + rgb.map((n) => (+n).toString(16).padStart(2, "0")).join("");
};
// What encodeURI leaves as it is, which nearly every address is made of.
const PLAIN = /^[\w;,/?:@&=+$.!~*'()#-]*$/;
// That of a blob is made by real chance, and leads nowhere but to the page's own data.
const address = (href) => (/^\s*blob:/i.test(href) ? "blob:" : href);
const target = (e) => {
  const href = address(attr(e, "href") ?? attr(e, "xlink:href") ?? "");
  const short = href.startsWith(location.origin + "/") ? href.slice(location.origin.length) : href;
  let safe = short;
  if (!PLAIN.test(short)) {
    try {
      safe = encodeURI(clean(short)).replace(/%25(?=[0-9a-f]{2})/gi, "%");
    } catch {
      safe = "?";
    }
  }
  return safe.length > 100 ? safe.slice(0, 99) + "…" : safe;
};

const truth = (e, name) => attr(e, name) === "true";
const disabled = (e) => matches(e, ":disabled") || !!closest(e, "[aria-disabled=true],[inert]");
const FIELDS = known("input select textarea");
// The states of an element: each is said where it holds, and those that a reader cannot guess also where they do not.
const statesOf = (e, tag, role, focused) => {
  const said = [];
  const field = FIELDS.has(tag);
  if (tag === "input" && (e.type === "checkbox" || e.type === "radio"))
    said.push(e.indeterminate ? "mixed" : e.checked ? "checked" : "");
  else {
    const c = attr(e, "aria-checked");
    said.push(c === "mixed" ? "mixed" : c === "true" ? "checked" : "");
  }
  if (truth(e, "aria-selected")) said.push("selected");
  const pressed = attr(e, "aria-pressed");
  if (pressed) said.push(pressed === "true" ? "pressed" : pressed === "mixed" ? "mixed" : "");
  const current = attr(e, "aria-current");
  if (current && current !== "false") said.push("current");
  const open = tag === "summary" ? String(!!parentNode(e).open) : attr(e, "aria-expanded");
  if (open) said.push(open === "true" ? "expanded" : "collapsed");
  if ((field || CONTROLS.has(role)) && disabled(e)) said.push("disabled");
  if ((field && e.required) || truth(e, "aria-required")) said.push("required");
  if ((field && e.readOnly && role !== "checkbox") || truth(e, "aria-readonly")) said.push("readonly");
  if (field && matches(e, ":user-invalid")) said.push("invalid " + quote(clean(e.validationMessage), 200));
  else if (attr(e, "aria-invalid") && attr(e, "aria-invalid") !== "false") said.push("invalid");
  if (truth(e, "aria-busy")) said.push("busy");
  if (tag === "textarea" || truth(e, "aria-multiline")) said.push("multiline");
  if (tag === "textarea" && scrollHeight(e) > clientHeight(e) + 4) said.push(scrolled(e));
  if (focused) said.push("focused");
  return said.filter(Boolean);
};
const optionSaid = (o) =>
  quote(clean(o.label || o.value), 100) +
  (o.selected ? " selected" : "") +
  (o.disabled || o.parentElement?.disabled ? " disabled" : "");
const MOST_OPTIONS = 60;
const optionsOf = (e) => {
  const options = [...e.options];
  const shown = options.length > MOST_OPTIONS ? options.filter((o, i) => i < 20 || o.selected) : options;
  const rest = options.length - shown.length;
  return `options ${shown.map(optionSaid).join(", ")}${rest ? ` (+${rest} options)` : ""}`;
};
const valueOf = (e, tag, role) => {
  if (tag === "select") return optionsOf(e);
  if (tag === "textarea") return e.value ? "= " + quote(e.value) : hint(e);
  if (tag === "input") {
    if (e.type === "file") return `files ${[...e.files].map((f) => quote(f.name, 100)).join(", ") || 0}`;
    if (e.type === "password") return e.value ? '= "••••"' : hint(e);
    if (!/^(checkbox|radio|submit|reset|button|image|hidden)$/.test(e.type))
      return [e.value ? "= " + quote(e.value) : hint(e), e.list && e.list.options.length ? optionsOf(e.list) : ""]
        .filter(Boolean)
        .join(" ");
    return "";
  }
  if (tag === "progress" || tag === "meter")
    return has(e, "value") || tag === "meter" ? `= ${e.value} of ${e.max}` : "";
  const now = attr(e, "aria-valuetext") || attr(e, "aria-valuenow");
  if (now) return "= " + quote(clean(now), 100);
  if (role === "textbox" || role === "searchbox") {
    const text = e instanceof HTMLElement ? innerText(e).replace(/\n$/, "") : "";
    return text ? "= " + quote(text) : "";
  }
  return "";
};
const hint = (e) =>
  has(e, "placeholder") && clean(attr(e, "placeholder")) !== clean(nameOf(e, tagOf(e), "textbox"))
    ? "placeholder " + quote(clean(attr(e, "placeholder")), 200)
    : "";

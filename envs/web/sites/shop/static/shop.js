// What the shop does in the browser: quantity steppers, suggestions while typing, fields that depend on a choice.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  if (!button) return;
  const input = button.closest(".stepper").querySelector("input[type=number]");
  const next = Math.min(Number(input.max), Math.max(Number(input.min), Number(input.value) + Number(button.dataset.step)));
  if (next === Number(input.value)) return;
  input.value = next;
  input.dispatchEvent(new Event("change", { bubbles: true }));
});

for (const part of document.querySelectorAll("[data-shown-by]")) {
  const radios = document.querySelectorAll(`input[name="${part.dataset.shownBy}"]`);
  const show = () => { part.hidden = ![...radios].some((one) => one.checked && one.value === part.dataset.shownWhen); };
  for (const radio of radios) radio.addEventListener("change", show);
  show();
}

for (const part of document.querySelectorAll("[data-narrow-closed]")) {
  if (matchMedia("(max-width: 760px)").matches) part.open = false;
}

// A combobox with a list of links (ARIA pattern "editable combobox with list autocomplete").
for (const input of document.querySelectorAll("[data-suggest]")) {
  const list = document.createElement("ul");
  let asked = 0;
  let at = -1;
  list.id = "suggestions";
  list.className = "plain suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  input.after(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  const close = () => { list.hidden = true; at = -1; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); };
  const choose = (next) => {
    at = (next + list.children.length) % list.children.length;
    [...list.children].forEach((one, place) => one.setAttribute("aria-selected", String(place === at)));
    input.setAttribute("aria-activedescendant", list.children[at].id);
  };
  const show = (found) => {
    list.replaceChildren(...found.map(({ label, url }, place) => {
      const option = document.createElement("li");
      option.id = `suggestion-${place}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.textContent = label;
      option.addEventListener("mousedown", (event) => event.preventDefault());
      option.addEventListener("click", () => { location.href = url; });
      option.dataset.url = url;
      return option;
    }));
    at = -1;
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
  };

  input.addEventListener("input", async () => {
    const mine = ++asked;
    if (input.value.trim().length < 2) return close();
    const answer = await fetch(`${input.dataset.suggest}?q=${encodeURIComponent(input.value)}`);
    const found = await answer.json();
    if (mine === asked && document.activeElement === input) show(found);
  });
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); choose(at + (event.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1)); }
    if (event.key === "Escape") { event.preventDefault(); close(); }
    if (event.key === "Enter" && at >= 0) { event.preventDefault(); location.href = list.children[at].dataset.url; }
  });
  input.addEventListener("blur", close);
}

// The menu of categories closes on Escape and when something else is clicked.
for (const menu of document.querySelectorAll(".kinds details")) {
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && menu.open) { menu.open = false; menu.querySelector("summary").focus(); } });
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
}

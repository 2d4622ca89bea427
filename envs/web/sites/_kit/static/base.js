// What every site does in the browser: ask before something that cannot be undone, and send a form when it changes.
"use strict";

// <form data-confirm="Question?" data-confirm-yes="Yes, cancel it">: asks in a dialog before it is sent.
function ask(form, submitter) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "question");
  const question = document.createElement("h2");
  question.id = "question";
  question.textContent = form.dataset.confirm;
  const actions = document.createElement("div");
  actions.className = "actions";
  const button = (text, kind, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = kind;
    made.textContent = text;
    made.addEventListener("click", act);
    actions.append(made);
    return made;
  };
  const no = button(form.dataset.confirmNo || "No, go back", "second", () => dialog.close());
  button(form.dataset.confirmYes || "Yes", "danger", () => { form.dataset.sure = "1"; dialog.close(); form.requestSubmit(submitter || undefined); });
  dialog.append(question, actions);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  no.focus();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.confirm && !form.dataset.sure) {
    event.preventDefault();
    ask(form, event.submitter);
  }
});

// <form data-auto>: sent whenever a field of it changes; its own button is for whoever has no JavaScript.
for (const form of document.querySelectorAll("form[data-auto]")) {
  form.addEventListener("change", () => form.requestSubmit());
  // Enter in a field that has changed means both of it: change and submit.
  form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); form.dataset.sent = "1"; });
  form.addEventListener("formdata", ({ formData }) => {
    if (form.method === "get") for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
  for (const button of form.querySelectorAll("[data-no-script]")) button.hidden = true;
  if (form.method === "post") form.addEventListener("submit", saveFirst);
}

// What is changed by leaving a field (by pressing a link, say) is saved before anything else happens.
function saveFirst(event) {
  if (event.defaultPrevented) return;
  event.preventDefault();
  let then = () => location.reload();
  const wait = (later, act) => { later.preventDefault(); later.stopPropagation(); then = act; };
  const onClick = (later) => {
    const link = later.target.closest("a[href]");
    if (link) wait(later, () => link.click());
  };
  const onSubmit = (later) => {
    if (later.target !== event.target) wait(later, () => later.target.requestSubmit(later.submitter || undefined));
  };
  document.addEventListener("click", onClick, true);
  document.addEventListener("submit", onSubmit, true);
  const body = new URLSearchParams(new FormData(event.target));
  fetch(event.target.action, { method: "POST", body, redirect: "manual" }).finally(() => {
    document.removeEventListener("click", onClick, true);
    document.removeEventListener("submit", onSubmit, true);
    then();
  });
}

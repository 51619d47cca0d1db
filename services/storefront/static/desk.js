/* The desk's own comforts: pictures that are dropped and put in order, imports that show how far they are.
   Every page of the desk works without this file. */
(() => {
  "use strict";

  /* Texts come with the page, in its language: those of an element in its attributes `data-text-...`. */
  const locale = document.documentElement.lang;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  const say = (words, mood) => document.dispatchEvent(new CustomEvent("shop:notice", { detail: { words, mood } }));

  /* On a phone the pages of the desk are one row that is moved sideways. */
  const current = document.querySelector(".desk-nav [aria-current]");
  if (current) current.closest("ul").scrollLeft = current.offsetLeft - current.offsetWidth;

  /* Pictures: each file is sent as soon as it is chosen or dropped and becomes a row of the form, which itself stays small
     and comes back whole when the session is lost meanwhile. A file that cannot be sent now goes with the form. */
  const field = document.querySelector("[data-pictures]");

  function megabytes(bytes) {
    return (bytes / 1_000_000).toLocaleString(locale, { maximumFractionDigits: 1 });
  }

  function whyNot(file) {
    const most = Number(field.dataset.maxBytes);
    if (file.size > most) return fill(field.dataset.textLarge, { size: megabytes(file.size), most: megabytes(most) });
    if (!field.querySelector("[type=file]").accept.split(",").includes(file.type)) return field.dataset.textKind;
    return "";
  }

  function complain(input, problems) {
    const wrong = document.getElementById("pictures-wrong");
    wrong.textContent = problems.join(" ");
    wrong.hidden = !problems.length;
    if (problems.length) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }

  const rows = () => [...field.querySelectorAll("[data-rows] > [data-row]")];

  /* The order of the rows is that of the pictures. */
  function renumber() {
    rows().forEach((row, place) => {
      row.querySelector("[name$='-place']").value = place + 1;
    });
  }

  let last = 0;

  function addRow({ id, src }) {
    last += 1;
    const row = document.createElement("ol");
    row.innerHTML = field.querySelector("template").innerHTML.replaceAll("NUMBER", last);
    const item = row.firstElementChild;
    item.querySelector("[name$='-id']").value = id;
    item.querySelector("img").src = src;
    field.querySelector("[data-rows]").append(item);
    renumber();
  }

  /* What is wrong with the file; "" when it is stored, null when nothing can be said now. */
  async function send(input, file) {
    const headers = { "X-CSRF-Token": input.form.elements._csrf.value, "Content-Type": "application/octet-stream" };
    const answer = await fetch(field.dataset.pictures, { method: "POST", headers, body: file }).catch(() => null);
    if (!answer || answer.redirected || !answer.headers.get("Content-Type")?.includes("json")) return null;
    const said = await answer.json();
    if (!answer.ok) return said.problem ?? null;
    const known = rows().find((row) => row.querySelector("[name$='-id']").value === said.id);
    if (known) known.querySelector("[name$='-remove']").checked = false;
    else addRow(said);
    return "";
  }

  async function take(input, files) {
    const status = document.getElementById("pictures-status");
    const problems = [];
    const left = new DataTransfer();
    input.form.setAttribute("aria-busy", "true");
    complain(input, []);
    for (const [place, file] of files.entries()) {
      status.textContent = fill(field.dataset.textUploading, { name: file.name, number: place + 1, count: files.length });
      const words = whyNot(file) || (rows().length >= Number(field.dataset.maxPictures) ? fill(field.dataset.textMost, { count: field.dataset.maxPictures }) : await send(input, file));
      if (words) problems.push(`${file.name}: ${words}`);
      else if (words === null) left.items.add(file);
    }
    input.files = left.files;
    input.form.removeAttribute("aria-busy");
    complain(input, problems);
    const stored = files.length - problems.length - left.files.length;
    const one = stored === 1 ? files.find((file) => !problems.some((words) => words.startsWith(`${file.name}:`))) : null;
    status.textContent = stored ? fill(one ? field.dataset.textOne : field.dataset.textUploaded, { name: one?.name, count: stored }) : "";
  }

  if (field) {
    const input = field.querySelector("[type=file]");
    const area = field.querySelector(".drop");
    last = rows().length;
    let waiting = Promise.resolve();
    const queue = (files) => {
      waiting = waiting.then(() => take(input, files));
    };
    input.addEventListener("change", () => queue([...input.files]));
    field.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      const button = event.target.closest("[data-up], [data-down]");
      if (!row || !button) return;
      const other = button.matches("[data-up]") ? row.previousElementSibling : row.nextElementSibling;
      if (!other) return;
      if (button.matches("[data-up]")) other.before(row);
      else other.after(row);
      renumber();
      button.focus();
    });
    for (const kind of ["dragenter", "dragover"]) {
      field.addEventListener(kind, (event) => {
        event.preventDefault();
        area.classList.add("over");
      });
    }
    field.addEventListener("dragleave", () => area.classList.remove("over"));
    field.addEventListener("drop", (event) => {
      event.preventDefault();
      area.classList.remove("over");
      if (event.dataTransfer.files.length) queue([...event.dataTransfer.files]);
    });
  }

  /* Another type has other attributes: the form is shown again with those. */
  const chooseType = document.querySelector("[data-choose-type]");
  chooseType?.form.elements.product_type.addEventListener("change", () => chooseType.form.requestSubmit(chooseType));

  /* Import: the file goes out in pieces, so that the page can say how far it is. */
  const form = document.querySelector("[data-import]");
  const LINES = 500;

  async function* piecesOf(file) {
    const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let read = 0;
    let first = 1;
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? "" : value;
      const lines = rest.split("\n");
      rest = done ? "" : lines.pop();
      if (done && lines.at(-1) === "") lines.pop();
      while (lines.length >= LINES || (done && lines.length)) {
        const piece = lines.splice(0, LINES);
        const text = `${piece.join("\n")}\n`;
        read += new Blob([text]).size;
        yield { text, first, share: Math.min(1, read / file.size) };
        first += piece.length;
      }
      if (done) return;
      rest = [...lines, rest].join("\n");
    }
  }

  async function importFile(file) {
    const total = { created: 0, updated: 0, unchanged: 0, refused: 0 };
    const token = form.elements._csrf.value;
    const table = document.querySelector("#import-failures tbody");
    document.getElementById("import-progress").hidden = false;
    document.getElementById("import-result").hidden = false;
    for await (const piece of piecesOf(file)) {
      const headers = { "X-CSRF-Token": token, "X-First-Line": String(piece.first), "Content-Type": "application/x-ndjson" };
      const answer = await fetch(form.dataset.import, { method: "POST", headers, body: piece.text });
      if (answer.redirected) throw new Error(fill(form.dataset.textSession, { line: piece.first }));
      if (!answer.ok) throw new Error(fill(form.dataset.textRefused, { status: answer.status, line: piece.first }));
      const result = await answer.json();
      for (const name of ["created", "updated", "unchanged"]) total[name] += result[name];
      total.refused += result.failed.length;
      document.getElementById("import-behind").hidden = result.indexed;
      for (const { line, detail } of result.failed) {
        const row = table.insertRow();
        row.insertCell().textContent = line;
        row.insertCell().textContent = detail;
        document.getElementById("import-failures").hidden = false;
      }
      for (const [name, number] of Object.entries(total)) document.getElementById(`import-${name}`).textContent = number.toLocaleString(locale);
      document.getElementById("import-bar").value = piece.share;
      document.getElementById("import-words").textContent = fill(form.dataset.textLines, { percent: Math.round(piece.share * 100), count: Object.values(total).reduce((a, b) => a + b).toLocaleString(locale) });
    }
    say(form.dataset.textFinished, "good");
  }

  /* Another shop's file is sent as it is; meanwhile the page asks how far it is. */
  function showProgress(name) {
    document.getElementById("import-progress").hidden = false;
    document.getElementById("import-bar").removeAttribute("value");
    setInterval(async () => {
      const answer = await fetch(`${form.dataset.progress}${encodeURIComponent(name)}`).catch(() => null);
      if (!answer?.ok) return;
      const { created, updated, unchanged, failed, failures } = await answer.json();
      document.getElementById("import-words").textContent = fill(form.dataset.textProducts, { count: (created + updated + unchanged + (failed ?? failures)).toLocaleString(locale) });
    }, 1000);
  }

  if (form) {
    form.addEventListener("submit", async (event) => {
      if (form.elements.format.value) {
        showProgress(form.elements.id.value);
        return;
      }
      event.preventDefault();
      const button = form.querySelector("button");
      button.disabled = true;
      document.querySelector("#import-failures tbody").replaceChildren();
      try {
        await importFile(form.elements.file.files[0]);
      } catch (error) {
        say(error.message, "bad");
      }
      button.disabled = false;
    });
  }
})();

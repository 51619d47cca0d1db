/* The desk's own comforts: pictures that are dropped and previewed, imports that show how far they are.
   Every page of the desk works without this file. */
(() => {
  "use strict";

  const say = (words, mood) => document.dispatchEvent(new CustomEvent("shop:notice", { detail: { words, mood } }));

  for (const button of document.querySelectorAll("[data-print]")) {
    button.addEventListener("click", () => print());
  }

  /* Pictures: seen before they are sent, and refused here when they are too large to be taken. */
  const field = document.querySelector("[data-picture]");

  function megabytes(bytes) {
    return (bytes / 1_000_000).toLocaleString("en", { maximumFractionDigits: 1 });
  }

  function complain(input, words) {
    const wrong = document.getElementById("picture-wrong");
    wrong.textContent = words;
    wrong.hidden = !words;
    input.setCustomValidity(words);
    if (words) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }

  function whyNot(file) {
    const most = Number(field.dataset.maxBytes);
    if (file.size > most) return `This picture has ${megabytes(file.size)} MB: at most ${megabytes(most)} MB are taken. Save it smaller and choose it again.`;
    if (!field.querySelector("[type=file]").accept.split(",").includes(file.type)) return "This file is no picture that browsers show. Choose a JPEG, PNG, GIF, WebP or AVIF file.";
    return "";
  }

  function preview(file) {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const image = new Image(120, 120);
      image.src = reader.result;
      image.alt = "The picture that was chosen";
      const shot = document.createElement("span");
      shot.className = "shot";
      shot.append(image);
      field.querySelector("[data-preview]").replaceChildren(shot);
    });
    reader.readAsDataURL(file);
  }

  /* Sent at once: the form itself stays small, and comes back whole when the session is lost meanwhile. A picture that
     cannot be sent now goes with the form, which says what is wrong. */
  async function send(input, file) {
    const { elements } = input.form;
    const remove = elements.namedItem("remove_picture");
    const headers = { "X-CSRF-Token": elements._csrf.value, "Content-Type": "application/octet-stream" };
    const answer = await fetch(field.dataset.picture, { method: "POST", headers, body: file }).catch(() => null);
    if (!answer?.ok || answer.redirected || input.files[0] !== file) return;
    elements.image.value = (await answer.json()).image;
    input.value = "";
    if (remove) remove.checked = false;
    document.getElementById("picture-status").textContent = `${file.name} is uploaded. It is shown in the shop when you save.`;
  }

  function chosen(input) {
    const file = input.files[0];
    const words = file ? whyNot(file) : "";
    complain(input, words);
    document.getElementById("picture-status").textContent = "";
    if (!file || words) return;
    preview(file);
    send(input, file);
  }

  if (field) {
    const input = field.querySelector("[type=file]");
    const area = field.querySelector(".drop");
    input.addEventListener("change", () => chosen(input));
    for (const kind of ["dragenter", "dragover"]) {
      area.addEventListener(kind, (event) => {
        event.preventDefault();
        area.classList.add("over");
      });
    }
    area.addEventListener("dragleave", () => area.classList.remove("over"));
    area.addEventListener("drop", (event) => {
      event.preventDefault();
      area.classList.remove("over");
      if (!event.dataTransfer.files.length) return;
      const one = new DataTransfer();
      one.items.add(event.dataTransfer.files[0]);
      input.files = one.files;
      chosen(input);
    });
  }

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
      if (answer.redirected) throw new Error(`Your session has ended. What came before line ${piece.first} is imported: log in and import the file again to finish it.`);
      if (!answer.ok) throw new Error(`The shop answered ${answer.status} from line ${piece.first} on. What came before is imported; import the file again to finish it.`);
      const result = await answer.json();
      for (const name of ["created", "updated", "unchanged"]) total[name] += result[name];
      total.refused += result.failed.length;
      for (const { line, detail } of result.failed) {
        const row = table.insertRow();
        row.insertCell().textContent = line;
        row.insertCell().textContent = detail;
        document.getElementById("import-failures").hidden = false;
      }
      for (const [name, number] of Object.entries(total)) document.getElementById(`import-${name}`).textContent = number.toLocaleString("en");
      document.getElementById("import-bar").value = piece.share;
      document.getElementById("import-words").textContent = `${Math.round(piece.share * 100)} %, ${Object.values(total).reduce((a, b) => a + b).toLocaleString("en")} lines`;
    }
    say("The import is finished.", "good");
  }

  if (form) {
    form.addEventListener("submit", async (event) => {
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

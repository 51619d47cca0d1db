/* What a stall keeps on its device, in the database `aisle-stall` of the browser: `goods` {key, name, price, stock, ...} and `queue`
   {key, kind: sale | count, body, state: waiting | refused | done, ...}, and in `about` who sells, where, and how wrong the clock is.
   What waits is sent in its order under its own key by one page at a time, and stays until the shop has said that it has it. */
globalThis.stallDevice = (() => {
  "use strict";

  const BASE = "/admin/stall/device";
  const KEPT_DONE = 100;
  const changed = new EventTarget();
  const tell = () => changed.dispatchEvent(new Event("change"));
  const told = globalThis.BroadcastChannel ? new BroadcastChannel("aisle-stall") : null;
  if (told) told.onmessage = tell;
  let csrf = "";
  let opened;

  function open() {
    opened ??= new Promise((done, failed) => {
      const request = indexedDB.open("aisle-stall", 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("goods", { keyPath: "key" });
        request.result.createObjectStore("queue", { keyPath: "number", autoIncrement: true });
        request.result.createObjectStore("about");
      };
      request.onsuccess = () => done(request.result);
      request.onerror = () => failed(request.error);
    });
    return opened;
  }

  /* Runs `act` on a store; what its request gives, once everything is written. */
  async function within(name, mode, act) {
    const transaction = (await open()).transaction(name, mode, { durability: "strict" });
    return new Promise((done, failed) => {
      const request = act(transaction.objectStore(name));
      transaction.oncomplete = () => done(request?.result);
      transaction.onabort = transaction.onerror = () => failed(transaction.error);
    });
  }

  const about = (name) => within("about", "readonly", (store) => store.get(name));
  const remember = (name, value) => within("about", "readwrite", (store) => store.put(value, name));
  const goods = () => within("goods", "readonly", (store) => store.getAll());
  const queue = () => within("queue", "readonly", (store) => store.getAll());

  /* A moment by the shop's clock, as it was last heard of. */
  const moment = async () => new Date(Date.now() + ((await about("offset")) ?? 0)).toISOString();

  /* An answer of the shop's, {status, body}; null without one. */
  async function ask(path, sent) {
    const options = sent ? { method: "POST", body: JSON.stringify(sent), headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf } } : {};
    const answer = await fetch(`${BASE}${path}`, { ...options, cache: "no-store" }).catch(() => null);
    if (!answer) return null;
    const body = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json().catch(() => null) : null;
    if (!body) return answer.status < 500 && answer.redirected ? { status: 401, body: {} } : null;
    return { status: answer.status, body, date: answer.headers.get("Date") };
  }

  /* Who is logged in, as the shop says: {status, ...}; null without a network. */
  async function who() {
    const answer = await ask("");
    if (!answer) return null;
    await remember("access", answer.status);
    if (answer.status !== 200) return { status: answer.status };
    const { csrf: token, userid, name, categories } = answer.body;
    csrf = token;
    await remember("seller", { userid, name });
    await remember("categories", categories);
    if (answer.date) await remember("offset", Math.abs(Date.parse(answer.date) - Date.now()) > 5000 ? Date.parse(answer.date) - Date.now() : 0);
    tell();
    return { status: 200, ...answer.body };
  }

  /* Fetches the goods of the kept category, in the place of those that are here; false where that did not work. */
  async function fill() {
    const category = await about("category");
    if (!category) return false;
    const answer = await ask(`/goods?category=${encodeURIComponent(category)}`);
    if (answer?.status !== 200) return false;
    await within("goods", "readwrite", (store) => {
      store.clear();
      for (const each of answer.body.items) store.put(each);
    });
    await remember("complete", answer.body.complete);
    await remember("filled", await moment());
    tell();
    return true;
  }

  /* Keeps what happened; it is sent as soon as that can be. */
  async function add(kind, body, shown) {
    const entry = { key: crypto.randomUUID(), kind, body, shown, state: "waiting", made: await moment() };
    await within("queue", "readwrite", (store) => store.add(entry));
    told?.postMessage("change");
    tell();
    send();
    return entry;
  }

  /* Changes an entry as it is now, in one step: another page may have sent it, or removed everything. `decided` gives null for none, undefined for no change. */
  const change = ({ number }, decided) => within("queue", "readwrite", (store) => {
    const request = store.get(number);
    request.onsuccess = () => {
      const changed = request.result && decided(request.result);
      if (changed === null) store.delete(number);
      else if (changed) store.put(changed);
    };
    return request;
  });

  /* Sends what waits, one after the other: a count comes after what was sold before it. */
  const send = () => navigator.locks.request("aisle-stall-send", async () => {
    const waiting = (await queue()).filter(({ state }) => state === "waiting");
    if (waiting.length && !csrf && (await who())?.status !== 200) return tell();
    for (const each of waiting) if (!(await sendOne(each))) break;
    await tidy();
    told?.postMessage("change");
    return tell();
  });

  /* Whether the next one may be sent, too. */
  async function sendOne(entry, again = true) {
    const answer = await ask(entry.kind === "sale" ? "/sales" : "/counts", { key: entry.key, body: entry.body });
    if (!answer || answer.status >= 500 || answer.status === 429) return false; // it waits on
    if ([401, 403, 404].includes(answer.status)) {
      const found = await who();
      return found?.status === 200 && again ? sendOne(entry, false) : false;
    }
    const failed = answer.body.failed?.[0];
    const outcome = answer.status < 300 && !failed ? { state: "done", told: answer.body } : { state: "refused", why: failed?.detail ?? reasons(answer.body) };
    await change(entry, (there) => ({ ...there, ...outcome }));
    return true;
  }

  const reasons = ({ detail, errors }) => [detail, ...Object.values(errors ?? {}).flat().filter((each) => typeof each === "string")].join(" ");

  /* What was refused waits again, or goes for ever: once, whatever another page still shows. */
  async function decide(entry, { again }) {
    await change(entry, (there) => {
      if (there.state !== "refused") return undefined;
      return again ? { ...there, state: "waiting", why: "" } : null;
    });
    told?.postMessage("change");
    tell();
    if (again) await send();
  }

  /* Today's stay: whoever counts the till in the evening compares it with them. */
  const isToday = ({ made }) => new Date(made).toDateString() === new Date().toDateString();

  async function tidy() {
    const done = (await queue()).filter((entry) => entry.state === "done" && !isToday(entry));
    const old = done.slice(0, Math.max(0, done.length - KEPT_DONE));
    if (old.length) await within("queue", "readwrite", (store) => old.map(({ number }) => store.delete(number)).at(-1));
  }

  /* Nothing stays here, and nobody is logged in. */
  async function leave() {
    for (const name of ["goods", "queue", "about"]) await within(name, "readwrite", (store) => store.clear());
    if (csrf) await fetch("/logout", { method: "POST", body: new URLSearchParams({ _csrf: csrf }) }).catch(() => {});
    csrf = "";
    told?.postMessage("change");
    tell();
  }

  return { open, about, remember, goods, queue, isToday, moment, who, fill, add, send, decide, leave, changed };
})();

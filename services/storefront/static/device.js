/* A customer's own data on their device: PouchDB syncs it while a page is open, orders wait here for a network.
   Two databases: `aisle-OWNER` is what `/v1/users/me/sync` has of them, `aisle-OWNER-here` what only this device knows:
   `order-KEY` {state: waiting | refused | placed, sent, lines, total, ...}, `shop` (see `GET /device`), `quote` (`GET /device/quote`),
   `product-KEY` {name, price}, `point-NAME` and `denied-ID` {reason, sent}: what the shop did not take. */
globalThis.shopDevice = (() => {
  "use strict";

  const OWNER = "aisle-owner";
  const LEAVING = "aisle-leaving"; // see app.js: it outlives what is wiped
  const SEALED = "aisle-sealed"; // see sealed.js
  const WIPING = "aisle-wiping"; // what stays, while a page wipes the rest: when it is left in the middle of that, the next one goes on
  const QUOTE_MS = 900_000;
  const PLACED_MS = 7 * 86_400_000; // for so long a placed order is named here, too
  const STOP_MS = 2_000;
  const KEEP_MS = 10_000;
  const OPENED = "aisle-opened"; // a lock that each page holds while it reads databases
  const owner = () => localStorage.getItem(OWNER) ?? "";
  const changed = new EventTarget();
  const placed = new EventTarget(); // orders that this page has sent
  const tell = () => changed.dispatchEvent(new Event("change"));
  const say = (words, mood = "bad") => document.dispatchEvent(new CustomEvent("shop:notice", { detail: { words, mood } }));
  let mine;
  let here;
  let csrf;
  let live;
  let stopping = new AbortController();
  let ended = Promise.resolve(); // when nothing is synced any more
  let close = () => {};
  let left = false; // for good: this page keeps nothing any more
  const isLeaving = () => left || localStorage.getItem(LEAVING) !== null; // here, or in another page just now

  function open() {
    if (mine || left || !owner()) return Boolean(mine);
    navigator.locks.request(OPENED, { mode: "shared" }, () => new Promise((done) => { close = done; }));
    mine = new PouchDB(`aisle-${owner()}`, { auto_compaction: true });
    here = new PouchDB(`aisle-${owner()}-here`, { auto_compaction: true });
    for (const each of [mine, here]) each.changes({ live: true, since: "now" }).on("change", tell);
    return true;
  }

  /* Who is logged in, as the shop says; null without a network. Somebody else's data, or that of a session which has ended, is wiped;
     an order that waited when this one's session ran out is here again. */
  async function who() {
    const answer = await fetch("/device", { headers: { Accept: "application/json" } }).catch(() => null);
    if (!answer?.ok || isLeaving()) return null;
    const found = await answer.json();
    await navigator.locks.request("aisle-who", () => admit(found));
    if (!found.owner) return found;
    if (isLeaving()) return null;
    const { csrf: token, owner: current, ...shop } = found;
    csrf = token;
    open();
    await put(here, "shop", shop);
    await shopSealed.open(current, shop.seal, restore).catch(() => say(document.body.dataset[localStorage.getItem(SEALED) ? "textFull" : "textLost"]));
    return found;
  }

  /* One page of this browser at a time: two that hear at once that a session has ended keep its orders once, and nobody is here before
     what was to be wiped is gone. */
  async function admit(found) {
    if (isLeaving()) return;
    const wiping = localStorage.getItem(WIPING);
    if (owner() && owner() !== found.owner) await forget(found);
    else if (wiping !== null) await wipe(wiping);
    if (found.owner && !isLeaving()) localStorage.setItem(OWNER, found.owner); // it may have begun meanwhile
  }

  /* Their goods may be in the shop's basket still, see `decide`. */
  async function restore(sealed) {
    for (const { _rev, ...each } of sealed) if (!(await here.get(each._id).catch(() => null))) await here.put({ ...each, restored: true });
  }

  /* What the basket costs is asked for when it is another one than the shop was asked about, or a quarter of an hour ago; what the
     shop has not heard of yet is asked about again. */
  const refreshQuote = (tries = 3) => navigator.locks.request("aisle-quote", async () => {
    if (!csrf || !open() || !navigator.onLine) return;
    const [about, known] = [await subject(), await here.get("quote").catch(() => ({}))];
    if (known.about === about && Math.abs(Date.now() - known.asked) < QUOTE_MS) return;
    const answer = await fetch("/device/quote").catch(() => null);
    if (!answer?.ok || left) return;
    const quote = await answer.json();
    const settled = sameItems(quote.lines, await basket());
    for (const { key, name, price } of [...quote.lines, ...quote.wishes]) await put(here, `product-${key}`, { name, price });
    await put(here, "quote", { ...quote, about: settled ? about : "", asked: Date.now() }); // last: a page that is left before asks again
    if (!settled && tries) setTimeout(() => refreshQuote(tries - 1).catch(() => {}), 2000);
  });

  async function subject() {
    const shop = await here.get("shop").catch(() => ({}));
    const addresses = (await all(mine, "delivery")).map(({ _id, _rev, default: first }) => first && [_id, _rev]);
    const wishes = (await all(mine, "wish-")).map(({ _id }) => _id);
    return JSON.stringify([await quantities(), addresses, wishes, shop.currency, shop.language]);
  }

  /* What somebody asked for and the device cannot keep is said: its storage is full, or the browser keeps nothing. */
  const orSay = (kept) => {
    const inTime = new Promise((done, failed) => setTimeout(failed, KEEP_MS)); // a full storage may never answer
    return Promise.race([kept, inTime]).catch(() => say(document.body.dataset.textFull));
  };

  async function put(database, id, content) {
    const there = await database.get(id).catch(() => null);
    const { _rev, _id, ...known } = there ?? {};
    if (there && JSON.stringify(known) === JSON.stringify(content)) return;
    await database.put({ ...content, _id: id, ...(there ? { _rev } : {}) });
  }

  async function all(database, prefix) {
    const { rows } = await database.allDocs({ startkey: prefix, endkey: `${prefix}\uffff`, include_docs: true });
    return rows.map((row) => row.doc);
  }

  const json = (content, status = 200) => new Response(JSON.stringify(content), { status, headers: { "Content-Type": "application/json" } });

  /* What PouchDB asks of the shop. It asks first whose server this is, one address above the database, where the shop has nothing; and
     how far it was, which the shop cannot know before this device has said it (`point-NAME`). */
  async function ask(address, options) {
    const { signal } = stopping;
    const { pathname } = new URL(address, location.href);
    if (/^\/device\/(kept\/)?$/.test(pathname)) return json({});
    const [, point] = /^\/device\/sync\/_local\/([^/]+)$/.exec(pathname) ?? [];
    if (point && options.method === "PUT") await put(here, `point-${point}`, { said: true });
    else if (point && !(await here?.get(`point-${point}`).catch(() => null))) return json({ error: "not_found", reason: "missing" }, 404);
    options.headers.set("X-CSRF-Token", csrf);
    const asked = PouchDB.fetch(address, { ...options, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal });
    if (!/^\/device\/(sync|kept\/[^/]+)\/?$/.test(pathname)) return asked;
    return asked.then(async (answer) => json(await answer.json(), answer.status)).catch(() => json({})); // only to count, and it does not expect to be left without
  }

  /* Milliseconds until it asks again after a failure: half a minute at most, for a network may be back any moment. */
  const pause = (before) => Math.min(30_000, 2 * before + 500 + Math.random() * 1000);

  /* One page of this browser syncs; the next one goes on when it is closed. */
  function sync() {
    if (!open() || live) return;
    live = true;
    ended = navigator.locks.request("aisle-sync", { signal: stopping.signal }, () => new Promise((done) => {
      if (!mine) return done(); // wiped while another page was syncing
      const remote = new PouchDB(`${location.origin}/device/sync/`, {
        skip_setup: true,
        fetch: async (address, options) => {
          const answer = await ask(address, options);
          if (answer.status === 410) wipe(); // it waits until this has ended
          if (answer.status === 401 || answer.status === 403) who().catch(() => {}); // a page that is left in the middle of its answer
          return answer;
        },
      });
      live = mine.sync(remote, { live: true, retry: true, batch_size: 50, back_off_function: pause, pull: { checkpoint: "target" } })
        .on("denied", ({ doc }) => refused(doc).catch(() => {}))
        .on("paused", () => refreshQuote().catch(() => {}))
        .on("error", done)
        .on("complete", done);
    })).catch(() => {}); // this page was not to sync any more before its turn came
  }

  /* What the shop did not take is said and kept until it is dismissed; the device has again what the shop has. */
  const undone = new Set();
  async function refused({ id, reason }) {
    if (undone.has(id)) return; // nor did it take that back
    undone.add(id);
    const sent = await mine.get(id).catch(() => null);
    await put(here, `denied-${id}`, { reason, sent: { ...sent } });
    say(reason, "warn");
    const asked = new URLSearchParams({ keys: JSON.stringify([id]), include_docs: "true" });
    const answer = await fetch(`/device/sync/_all_docs?${asked}`).catch(() => null);
    if (!answer?.ok) return;
    const { doc } = (await answer.json()).rows[0];
    if (!doc) return sent && mine.remove(sent); // the shop has none
    const { _id, _rev, ...content } = doc;
    await put(mine, id, content);
  }

  /* The basket. */
  const quantities = async () => (await all(mine, "basket-")).map(({ productid, sku, quantity }) => ({ key: sku || productid, productid, quantity }));
  const named = (line) => here.get(`product-${line.key}`).then(({ name, price }) => ({ ...line, name, price }), () => ({ ...line, name: line.key }));
  const basket = async () => Promise.all((await quantities()).map(named));

  async function setQuantity(key, quantity, productid = key) {
    const there = await mine.get(`basket-${key}`).catch(() => null);
    if (!quantity) return there && mine.remove(there);
    const line = there ?? { _id: `basket-${key}`, type: "basketline", ...itself(key, productid) };
    return mine.put({ ...line, quantity: Math.min(99, quantity) });
  }

  const itself = (key, productid) => ({ productid, ...(productid === key ? {} : { sku: key }) });

  async function add(key, quantity, { productid, name, price }) {
    const there = await mine.get(`basket-${key}`).catch(() => null);
    if (price) await put(here, `product-${key}`, { name, price });
    await setQuantity(key, (there?.quantity ?? 0) + quantity, productid);
  }

  /* The wish list. */
  async function wish(key, { productid, name, price }) {
    if (price) await put(here, `product-${key}`, { name, price });
    const there = await mine.get(`wish-${key}`).catch(() => null);
    if (!there) await mine.put({ _id: `wish-${key}`, type: "wish", ...itself(key, productid) });
  }

  const wishes = async () => Promise.all((await all(mine, "wish-")).map(({ _id, productid, sku }) => named({ id: _id, key: sku || productid, productid })));

  /* Delivery addresses, the newest of which that says so is the default. */
  async function saveAddress(id, fields) {
    const there = id ? await mine.get(id) : { type: "userdelivery" };
    const filled = Object.fromEntries(Object.entries({ ...there, ...fields }).filter(([, value]) => value !== ""));
    await mine.put({ ...filled, _id: id || `delivery${crypto.randomUUID().replaceAll("-", "").slice(0, 20)}` });
  }

  /* What an order of the basket is expected to cost: as the shop last said, else its goods at known prices and the delivery of then. */
  async function expected() {
    const shop = await here.get("shop").catch(() => ({}));
    const [lines, quote] = [await basket(), { ...shop, ...(await here.get("quote").catch(() => ({}))) }];
    const currencies = new Set(lines.map(({ price }) => price?.currency));
    if (!lines.length || currencies.size > 1 || currencies.has(undefined)) return { lines, quote, total: null };
    const [currency] = currencies;
    const goods = lines.reduce((sum, { price, quantity }) => sum + price.amount * quantity, 0);
    const told = quote.total?.currency === currency ? quote : null;
    const same = told && sameItems(told.items, lines);
    const rest = told ? told.total.amount - told.goods.amount : 0;
    return { lines, quote, exact: Boolean(same), total: same ? told.total : { amount: goods + rest, currency } };
  }

  function sameItems(items, lines) {
    const listed = (list) => JSON.stringify(list.map(({ productid, key, quantity }) => [key ?? productid, quantity]).sort());
    return listed(items) === listed(lines);
  }

  /* Orders. */
  const newKey = () => crypto.randomUUID();

  /* What is ordered leaves the basket at once, so that nothing is ordered twice: not by a second click, nor in another window. */
  const order = (chosen) => navigator.locks.request("aisle-order", () => orderBasket(chosen)).then(() => void send().catch(() => {}));

  async function orderBasket({ address_id, card }) {
    const { lines, quote, total } = await expected();
    if (!lines.length || !total) return;
    const key = newKey();
    const sent = {
      key,
      items: lines.map((line) => ({ productid: line.key, quantity: line.quantity })),
      expected_total: total,
      address_id,
      card,
      currency: quote.currency ?? "",
      language: quote.language ?? "",
      shipping: address_id === quote.address_id ? (quote.shipping ?? "") : "",
    };
    const names = Object.fromEntries(lines.map((line) => [line.key, line.name]));
    await here.put({ _id: `order-${key}`, state: "waiting", made: new Date().toISOString(), sent, names, lines });
    for (const line of lines) await setQuantity(line.key, 0);
    navigator.serviceWorker?.ready.then((worker) => worker.sync?.register("orders")).catch(() => {});
  }

  /* Sends what waits, each order under its own key: the shop knows one that was sent before. One page of this browser does it at a time;
     what could not be sent is tried again, later and later. */
  let again;
  const send = (pause = 10_000) => navigator.locks.request("aisle-send", async () => {
    clearTimeout(again);
    if (!open() || !navigator.onLine) return;
    const waiting = await unsent();
    if (waiting.length && !csrf && !(await who())?.owner) return later(pause);
    for (const each of waiting) await sendOne(each);
    await settle();
    await badge();
    if ((await unsent()).length) later(pause);
  });

  const unsent = async () => (await all(here, "order-")).filter(({ state }) => state === "waiting");

  function later(pause) {
    again = setTimeout(() => send(Math.min(2 * pause, 300_000)).catch(() => {}), pause);
  }

  async function sendOne(each, again = true) {
    const there = await here.get(each._id).catch(() => null);
    if (!there || !(await here.put({ ...there, tried: true }).catch(() => null))) return; // dropped; from now on it may have arrived
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
    const answer = await fetch("/device/orders", { method: "POST", headers, body: JSON.stringify(each.sent) }).catch(() => null);
    if (!answer || answer.status >= 500 || answer.status === 429) return; // it waits on
    const told = await answer.json().catch(() => null);
    if (!told) return;
    if ([401, 403].includes(answer.status)) {
      if ((await who())?.owner && again) await sendOne(each, false);
      return;
    }
    const outcome = answer.ok ? { state: "placed", ...told } : { state: "refused", code: told.code, detail: told.detail, total: told.total };
    await here.put({ ...(await here.get(each._id)), ...outcome });
    if (answer.ok && !told.payment_page) placed.dispatchEvent(new Event("placed"));
    tell();
  }

  /* After a refusal its customer decides: the same at what it costs now (under a new key: nothing came of the old one), or not at all,
     which puts the goods back into the basket. Once, also by a second click; what a page shows of before it was sent decides nothing. */
  async function decide(id, { again, card }) {
    const refused = await here.get(id).catch(() => null);
    const isUnsent = refused?.state === "waiting" && !refused.tried;
    if (refused?.state !== "refused" && !isUnsent) return;
    if (!(await here.remove(refused).catch(() => null))) return;
    if (!again) {
      for (const line of refused.lines ?? []) {
        const there = refused.restored && (await mine.get(`basket-${line.key}`).catch(() => null));
        if (!there) await add(line.key, line.quantity, line);
      }
      return badge();
    }
    const key = newKey();
    const sent = { ...refused.sent, key, expected_total: refused.total ?? refused.sent.expected_total, card: card ?? refused.sent.card };
    await here.put({ _id: `order-${key}`, state: "waiting", made: new Date().toISOString(), sent, names: refused.names, lines: refused.lines });
    send().catch(() => {});
  }

  const orders = () => all(here, "order-");

  /* Those that wait for the shop, a decision, or their payment on the provider's page. */
  const openOrders = async () => (await orders()).filter(({ state, payment_page }) => state !== "placed" || payment_page);

  /* What became of orders that were to be paid on the provider's page: one that was not is the customer's to decide on. */
  async function settle() {
    for (const each of (await orders()).filter(({ payment_page }) => payment_page)) {
      const answer = await fetch(`/device/orders/${each.orderid}`).catch(() => null);
      const told = answer?.ok ? await answer.json() : each;
      if (told.payment_page) continue;
      const outcome = told.detail ? { state: "refused", code: "unpaid", detail: told.detail } : {};
      await here.put({ ...(await here.get(each._id)), payment_page: "", ...outcome });
    }
  }

  async function badge() {
    const [listed, before] = [await orders(), new Date(Date.now() - PLACED_MS).toISOString()];
    for (const each of listed) if (each.state === "placed" && each.made < before) await here.remove(each);
    const open = (await openOrders()).length;
    if (open) await navigator.setAppBadge?.(open).catch(() => {});
    else await navigator.clearAppBadge?.().catch(() => {});
    tell();
    return open;
  }

  /* Nothing of anybody stays: databases, kept pages and pictures, the badge. `but`: the name of what does. */
  async function wipe(but = "") {
    forgetNames(but); // other pages hear of it, and close theirs
    localStorage.setItem(WIPING, but);
    await closeAll();
    await navigator.locks.request(OPENED, { signal: AbortSignal.timeout(STOP_MS) }, deleteDatabases).catch(deleteDatabases);
    for (const name of await caches.keys()) if (!name.startsWith("aisle-shell-")) await caches.delete(name);
    await navigator.clearAppBadge?.().catch(() => {});
    forgetNames(but);
    tell();
  }

  /* Also those that PouchDB has for itself. */
  function forgetNames(but) {
    for (const name of Object.keys(localStorage)) if (name !== LEAVING && name !== but && /^(aisle-|_pouch_)/.test(name)) localStorage.removeItem(name);
  }

  /* When no page reads them any more: a database that is taken away under what opens it keeps that waiting for ever. */
  async function deleteDatabases() {
    for (const { name } of (await indexedDB.databases?.()) ?? []) {
      if (name.startsWith("_pouch_")) await new Promise((done) => Object.assign(indexedDB.deleteDatabase(name), { onsuccess: done, onerror: done, onblocked: done }));
    }
  }

  /* Of who is not logged in any more. Their orders that have not been placed stay sealed when the session has only run out (the shop says
     `forget` when it was ended, and who is here when that is somebody else); else they are lost with it, and that is said. */
  async function forget({ owner: other, forget: ended }) {
    const customer = owner();
    const orders = open() ? await undecided().catch(() => []) : [];
    const runOut = !other && !ended;
    const kept = runOut && orders.length && (await seal(customer, orders).catch(() => false));
    await wipe(runOut ? SEALED : "");
    if (orders.length && !kept) say(document.body.dataset.textLost);
  }

  const undecided = async () => (await orders()).filter(({ state }) => state !== "placed");
  const seal = async (customer, waiting) => shopSealed.keep(customer, (await here.get("shop")).seal, waiting);

  async function closeAll() {
    clearTimeout(again);
    const own = [mine, here];
    mine = here = csrf = undefined;
    tell();
    await stop();
    await Promise.allSettled(own.map((each) => each?.close()));
    close();
  }

  async function stop() {
    stopping.abort();
    stopping = new AbortController();
    live?.cancel?.();
    live = undefined;
    await Promise.race([Promise.all([ended, globalThis.shopKept?.stop()]), new Promise((done) => setTimeout(done, STOP_MS))]);
  }

  /* Another page of this browser may have logged out. */
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== OWNER || newValue) return;
    left = true;
    closeAll();
  });

  function leave() {
    left = true;
    return wipe();
  }

  return {
    owner, open, who, sync, leave, wipe, orSay, unsent, changed, placed, tell, token: () => csrf, ask, pause,
    basket, add, setQuantity, wish, wishes, saveAddress, expected, refreshQuote,
    order, orders, openOrders, send, decide, badge,
    documents: (prefix) => all(mine, prefix),
    document: (id) => mine.get(id).catch(() => null),
    write: (id, content) => put(mine, id, content),
    remove: async (id) => mine.remove(await mine.get(id)),
    remember: (id, content) => put(here, id, content),
    known: (id) => here.get(id).catch(() => null),
    denied: () => all(here, "denied-"),
    dismiss: async (id) => here.remove(await here.get(id)),
  };
})();

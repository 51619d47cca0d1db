/* The stall's page over what `stall-device.js` keeps: choose goods, take the money, count, and see what became of it. */
(() => {
  "use strict";

  const device = globalThis.stallDevice;
  const root = document.getElementById("stall");
  const texts = JSON.parse(root.dataset.texts);
  const language = document.documentElement.lang;
  const $ = (id) => document.getElementById(id);
  const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  const SHOWN = 60;
  const LISTED = 200; // of what the shop has; the rest is always listed
  let goods = [];
  let cart = new Map(); // key -> quantity

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  const digits = (currency) => new Intl.NumberFormat(language, { style: "currency", currency }).resolvedOptions().maximumFractionDigits;

  function money({ amount, currency }) {
    return new Intl.NumberFormat(language, { style: "currency", currency }).format(amount / 10 ** digits(currency));
  }

  /* Typed with a point or a comma, in minor units; null for what is no amount. */
  function minor(typed, currency) {
    const found = /^(\d{1,9})(?:[.,](\d{1,3}))?$/.exec(typed.trim());
    const places = digits(currency);
    if (!found || (found[2] ?? "").length > places) return null;
    return Number(found[1]) * 10 ** places + Number((found[2] ?? "").padEnd(places, "0"));
  }

  function say(words, mood = "good") {
    const note = $("said");
    note.className = `note ${mood}`;
    note.firstElementChild.textContent = words;
    note.hidden = false;
    note.scrollIntoView({ block: "nearest" });
  }

  const nameOf = ({ name, selected_options: options }) => {
    const chosen = Object.values(options ?? {}).join(", ");
    return chosen ? `${name} (${chosen})` : name;
  };

  function currencyOf() {
    const first = goods.find(({ key }) => cart.has(key));
    return first?.price.currency;
  }

  function totalOf() {
    const amount = goods.reduce((sum, { key, price }) => sum + price.amount * (cart.get(key) ?? 0), 0);
    return { amount, currency: currencyOf() };
  }

  /* Goods. */
  function search(text) {
    const asked = text.toLowerCase().split(/\s+/).filter(Boolean);
    return goods.filter((each) => {
      const words = `${nameOf(each)} ${each.key}`.toLowerCase();
      return asked.every((word) => words.includes(word));
    });
  }

  /* A scanner types what is on the label and ends with Enter; so does who knows it by heart. */
  function scan(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const typed = $("words").value.trim();
    const found = search(typed);
    const exact = goods.find(({ key }) => key.toLowerCase() === typed.toLowerCase()) ?? (typed && found.length === 1 ? found[0] : null);
    if (!exact) return say(fill(texts.unknown, { code: typed }), "warn");
    put(exact.key, (cart.get(exact.key) ?? 0) + 1);
    $("words").value = "";
    drawGoods();
  }

  function drawGoods() {
    const found = search($("words").value);
    const shown = found.slice(0, SHOWN);
    $("found").textContent = goods.length ? fill(texts.found, { count: found.length, shown: shown.length }) : texts.nothing;
    $("goods").replaceChildren(...shown.map((each) => {
      const parts = [element("span", { className: "stall-name", textContent: nameOf(each) }), element("strong", { textContent: money(each.price) })];
      if (each.stock !== null) parts.push(element("span", { className: "quiet small", textContent: fill(texts.stock, { count: Math.max(0, each.stock) }) }));
      if (each.image) parts.unshift(element("img", { src: each.image, alt: "", loading: "lazy", width: 72, height: 72 }));
      const button = element("button", { type: "button", className: "stall-item", ariaLabel: `${fill(texts.add, { name: nameOf(each) })}, ${money(each.price)}` }, ...parts);
      button.addEventListener("click", () => put(each.key, (cart.get(each.key) ?? 0) + 1));
      return element("li", {}, button);
    }));
  }

  /* The sale. One sale is in one currency. */
  function put(key, quantity) {
    const currency = goods.find((each) => each.key === key)?.price.currency;
    if (cart.size && currencyOf() !== currency) return;
    if (quantity > 0) cart.set(key, Math.min(quantity, 9999));
    else cart.delete(key);
    drawSale();
  }

  function drawSale() {
    const lines = goods.filter(({ key }) => cart.has(key));
    $("nothing-yet").hidden = lines.length > 0;
    $("sale").hidden = !lines.length;
    $("lines").replaceChildren(...lines.map((each) => {
      const name = nameOf(each);
      const input = element("input", { type: "number", min: 0, max: 9999, step: 1, value: cart.get(each.key), ariaLabel: fill(texts.quantity, { name }) });
      input.addEventListener("change", () => input.reportValidity() && put(each.key, Number(input.value)));
      const remove = element("button", { type: "button", className: "second small-button", textContent: "×", ariaLabel: fill(texts.remove, { name }) });
      remove.addEventListener("click", () => put(each.key, 0));
      return element("li", { className: "stall-line" }, element("span", { textContent: name }), input, element("span", { className: "num", textContent: money({ ...each.price, amount: each.price.amount * cart.get(each.key) }) }), remove);
    }));
    $("bar").hidden = !lines.length;
    if (lines.length) for (const id of ["total", "bar"]) $(id).textContent = fill(texts.total, { total: money(totalOf()) });
    drawChange();
  }

  const kind = () => document.querySelector("input[name=kind]:checked").value;

  function drawChange() {
    $("cash-field").hidden = kind() !== "cash";
    const total = totalOf();
    const typed = $("given").value;
    const given = typed && total.currency ? minor(typed, total.currency) : undefined;
    $("given").setCustomValidity(given === null && kind() === "cash" ? texts.notMoney : "");
    const rest = given === undefined || given === null ? null : given - total.amount;
    $("change").textContent = rest === null ? "" : fill(rest < 0 ? texts.less : texts.change, { amount: money({ ...total, amount: Math.abs(rest) }) });
    return given;
  }

  async function sell(event) {
    event.preventDefault();
    const seller = await device.about("seller");
    const stall = await device.about("stall");
    if (!seller || !stall) {
      $("setup").open = true;
      return say(texts.start, "warn");
    }
    const given = drawChange();
    if (!$("sale").reportValidity() || (given !== undefined && kind() === "cash" && given < totalOf().amount)) return;
    const lines = goods.filter(({ key }) => cart.has(key));
    const [total, email] = [totalOf(), $("email").value.trim()];
    const body = {
      items: lines.map(({ key, productid, name, taxonomy, price }) => ({ productid: key, product: productid, quantity: cart.get(key), price, name: name.slice(0, 200), taxonomy })),
      total,
      payment: { kind: kind(), ...(kind() === "cash" && given !== undefined ? { given: { ...total, amount: given } } : {}) },
      stall,
      sold_at: await device.moment(),
      sold_by: seller.userid,
      language,
      ...(email ? { email } : {}),
    };
    const shown = { lines: lines.map((each) => ({ name: nameOf(each), quantity: cart.get(each.key), price: each.price })), change: body.payment.given ? given - total.amount : null };
    const entry = await device.add("sale", body, shown).catch(() => null);
    if (!entry) return say(texts.storage, "bad");
    const sold = new Map(cart);
    cart = new Map();
    for (const each of goods) if (sold.has(each.key) && each.stock !== null) each.stock -= sold.get(each.key);
    $("sale").reset();
    drawSale();
    drawGoods();
    say(fill(texts.done, { total: money(total) }));
    drawReceipt(entry);
  }

  function drawReceipt({ body, shown, made }) {
    const rows = shown.lines.map(({ name, quantity, price }) => element("tr", {}, element("td", { textContent: `${quantity} × ${name}` }), element("td", { className: "num", textContent: money({ ...price, amount: price.amount * quantity }) })));
    const facts = [body.stall, new Date(made).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }), texts[body.payment.kind]];
    if (shown.change !== null) facts.push(fill(texts.change, { amount: money({ ...body.total, amount: shown.change }) }));
    $("receipt-body").replaceChildren(element("p", { textContent: facts.join(" · ") }), element("table", {}, element("tbody", {}, ...rows)), element("p", { className: "stall-total", textContent: fill(texts.total, { total: money(body.total) }) }));
    $("receipt").hidden = false;
    $("receipt").focus();
  }

  /* Counting. */
  async function count(event) {
    event.preventDefault();
    const [key, level, stall] = [$("counted-key").value, Number($("counted").value), await device.about("stall")];
    const product = goods.find((each) => each.key === key);
    if (!stall || !product) {
      $("setup").open = true;
      return say(texts.start, "warn");
    }
    const body = { stall, items: [{ sku: key, level, counted_at: await device.moment() }] };
    const kept = await device.add("count", body, { name: nameOf(product) }).catch(() => null);
    if (!kept) return say(texts.storage, "bad");
    product.stock = level;
    $("count").reset();
    drawGoods();
    say(fill(texts.counted, { name: nameOf(product), counted: level }));
  }

  /* What became of it. */
  function outcome({ kind: what, state, told, why, body }) {
    if (state === "refused") return why;
    if (state === "waiting") return texts.waits;
    if (what === "sale") {
      const lines = told.oversold.map(({ name, quantity }) => `${quantity} × ${name}`).join(", ");
      return [fill(texts.sent, { number: told.number }), lines && fill(texts.oversold, { lines })].filter(Boolean).join(", ");
    }
    const { expected, change, since, stock, superseded } = told.items[0];
    const parts = [superseded ? texts.superseded : fill(texts.booked, { expected, change: change > 0 ? `+${change}` : change })];
    if (since < 0) parts.push(fill(texts.since, { count: -since }));
    if (stock < 0) parts.push(fill(texts.below, { count: -stock }));
    return [fill(texts.counted, { name: "", counted: body.items[0].level }).replace(/^: /, ""), ...parts].join(", ");
  }

  function row(entry) {
    const words = entry.kind === "sale" ? `${money(entry.body.total)}, ${texts[entry.body.payment.kind]}` : entry.shown.name;
    const isOversold = entry.told?.oversold?.length || entry.told?.items?.[0].stock < 0 || entry.told?.items?.[0].superseded;
    const mood = entry.state === "refused" ? "bad" : entry.state === "waiting" || isOversold ? "warn" : "good";
    const item = element("li", { className: "stall-line" }, element("span", { textContent: words }), element("span", { className: `tag ${mood}`, textContent: outcome(entry) }));
    item.dataset.state = entry.state;
    if (entry.kind === "sale") item.append(action(texts.receipt, () => drawReceipt(entry)));
    if (entry.state === "refused") item.append(action(texts.retry, () => device.decide(entry, { again: true })), action(texts.drop, () => confirm(texts.sure) && device.decide(entry, { again: false })));
    return item;
  }

  function action(words, act) {
    const button = element("button", { type: "button", className: "second small-button", textContent: words });
    button.addEventListener("click", act);
    return button;
  }

  /* The sums of sales that were paid in one way: "£13.00", of several currencies one after the other. */
  function sums(sales, paidWith) {
    const found = new Map();
    for (const { body: { total, payment } } of sales) if (payment.kind === paidWith) found.set(total.currency, (found.get(total.currency) ?? 0) + total.amount);
    return [...found].map(([currency, amount]) => money({ amount, currency })).join(" + ") || "0";
  }

  async function drawQueue() {
    const entries = await device.queue();
    const today = entries.filter((each) => each.kind === "sale" && device.isToday(each));
    $("today").textContent = today.length ? fill(texts.today, { count: today.length, cash: sums(today, "cash"), terminal: sums(today, "terminal") }) : "";
    const [waiting, refused] = ["waiting", "refused"].map((state) => entries.filter((each) => each.state === state).length);
    const older = new Set(entries.filter(({ state }) => state === "done").slice(0, -LISTED));
    $("queue").replaceChildren(...entries.filter((each) => !older.has(each)).reverse().map(row));
    const [access, seller] = [await device.about("access"), await device.about("seller")];
    const words = [];
    if (!seller) words.push(texts.start);
    else if (access === 401) words.push(texts.login);
    else if (access === 403 || access === 404) words.push(texts.noRights);
    if (waiting) words.push(fill(texts.waiting, { count: waiting }));
    if (refused) words.push(fill(texts.refused, { count: refused }));
    $("state").textContent = words.join(" ") || texts.online;
    $("state").className = `stall-state tag ${words.length ? "warn" : "good"}`;
  }

  async function drawSetup() {
    const [seller, stall, category, categories, filled, complete] = await Promise.all(["seller", "stall", "category", "categories", "filled", "complete"].map(device.about));
    $("seller").textContent = seller ? fill(texts.seller, { name: seller.name }) : texts.start;
    if (document.activeElement !== $("stall-name")) $("stall-name").value = stall ?? $("stall-name").value;
    const chosen = $("category").value || category;
    $("category").replaceChildren(...(categories ?? []).map(({ path, label, depth }) => element("option", { value: path, textContent: `${"\u2003".repeat(depth)}${label}`, selected: path === chosen })));
    const at = filled && new Date(filled).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
    const more = complete === false ? ` ${texts.more}` : "";
    $("filled").textContent = filled ? fill(texts.filled, { count: goods.length, moment: at }) + more : "";
  }

  async function keep(event) {
    event.preventDefault();
    await device.remember("stall", $("stall-name").value.trim());
    await device.remember("category", $("category").value);
    const done = await device.fill();
    await load();
    say(done ? $("filled").textContent : texts.unfilled, done ? "good" : "bad");
  }

  async function leave() {
    const unsent = (await device.queue()).filter(({ state }) => state !== "done").length;
    if (unsent && !confirm(fill(texts.leave, { count: unsent }))) return;
    await device.leave();
    cart = new Map();
    await load();
    say(texts.gone);
  }

  async function load() {
    const before = goods;
    goods = await device.goods();
    cart = new Map([...cart].filter(([key]) => goods.some((each) => each.key === key))); // what the shop sells no more
    if (!before.length || before.length !== goods.length) {
      const chosen = $("counted-key").value;
      $("counted-key").replaceChildren(...goods.map((each) => element("option", { value: each.key, textContent: nameOf(each), selected: each.key === chosen })));
    }
    drawGoods();
    drawSale();
    await drawQueue();
    await drawSetup();
  }

  async function refresh() {
    const found = await device.who();
    await device.send();
    const unsent = (await device.queue()).some(({ state }) => state === "waiting");
    if (found?.status === 200 && !unsent) await device.fill();
    await load();
  }

  async function start() {
    navigator.serviceWorker?.register("/worker.js", { updateViaCache: "none" }).catch(() => {});
    await device.open();
    root.hidden = false;
    await load();
    if (!(await device.about("filled"))) $("setup").open = true;
    navigator.storage?.persist?.();
    device.changed.addEventListener("change", async () => {
      await drawQueue();
      await drawSetup();
    });
    await refresh();
    addEventListener("online", refresh);
    setInterval(() => device.send(), 30_000);
  }

  $("words").addEventListener("input", drawGoods);
  $("words").addEventListener("keydown", scan);
  $("sale").addEventListener("submit", sell);
  $("sale").addEventListener("input", drawChange);
  $("clear").addEventListener("click", () => { cart = new Map(); drawSale(); });
  $("count").addEventListener("submit", count);
  $("keep").addEventListener("submit", keep);
  $("leave").addEventListener("click", leave);
  $("send").addEventListener("click", refresh);
  $("print").addEventListener("click", () => print());
  start().catch(() => { root.hidden = false; say(texts.storage, "bad"); });
})();

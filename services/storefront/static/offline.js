/* What is on the device: the basket, orders that wait, addresses and history; and why this page is shown in place of another. */
(() => {
  "use strict";

  const device = globalThis.shopDevice;
  const asked = document.body.dataset.asked ?? "own";
  for (const each of document.querySelectorAll("[data-when]")) each.hidden = !each.dataset.when.split(" ").includes(asked);

  document.getElementById("leaving").hidden = !localStorage.getItem("aisle-leaving"); // see app.js
  if (localStorage.getItem("aisle-leaving")) for (const each of document.querySelectorAll("[data-when~=form]")) each.hidden = true;

  const kept = globalThis.shopKept;
  if (!device) return;

  const root = document.getElementById("device");
  const texts = root.dataset;
  const language = document.documentElement.lang;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

  function money({ amount, currency }) {
    const format = new Intl.NumberFormat(language, { style: "currency", currency });
    return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
  }

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  const button = (words, act, className = "second small-button") => element("button", { type: "button", className, textContent: words, onclick: act });

  const chosen = (name) => document.querySelector(`input[name=${name}]:checked`)?.value ?? "";

  function choice(name, value, words, more, checked) {
    return element("label", { className: "choice" }, element("input", { type: "radio", name, value, checked, required: true }), element("span", { textContent: words }), element("span", { className: "small", textContent: more }));
  }

  /* Lines that somebody is just changing stay as they are. */
  async function drawBasket(withLines) {
    const section = document.getElementById("basket");
    const { lines, quote, exact, total } = await device.expected();
    section.querySelector("[data-empty]").hidden = lines.length > 0;
    if (withLines) section.querySelector("[data-lines]").replaceChildren(...lines.map(basketLine));
    const form = section.querySelector("form");
    form.hidden = !lines.length;
    const words = total ? fill(exact ? texts.textTotal : texts.textAbout, { total: money(total) }) : texts.textUnknown;
    form.querySelector("[data-total]").textContent = words;
    const addresses = await device.documents("delivery");
    const [place, card] = [chosen("address_id"), chosen("card")];
    form.querySelector("[data-addresses]").replaceChildren(...addresses.map((each) => {
      const id = each._id.replace("delivery", "");
      return choice("address_id", id, each.name, each.address ?? each.line1, place ? place === id : each.default);
    }));
    form.querySelector("[data-no-address]").hidden = addresses.length > 0;
    form.querySelector("[data-paying]").hidden = !quote.cards?.length;
    form.querySelector("[data-cards]").replaceChildren(...(quote.cards ?? []).map((each, place) => choice("card", each.token, each.words, "", card ? card === each.token : !place)));
    form.querySelector("button").disabled = !total || !addresses.length;
  }

  function basketLine({ key, productid, name, price, quantity }) {
    const input = element("input", { type: "number", min: 0, max: 99, value: quantity, ariaLabel: fill(texts.textQuantity, { name }) });
    input.addEventListener("change", () => input.reportValidity() && device.orSay(device.setQuantity(key, Number(input.value), productid)));
    const sum = price ? money({ ...price, amount: price.amount * quantity }) : "";
    return element("li", { className: "row" }, input, element("span", { textContent: name }), element("span", { className: "sum", textContent: sum }), button(texts.textRemove, () => device.setQuantity(key, 0), "link"));
  }

  async function drawWaiting() {
    const section = document.getElementById("waiting");
    const orders = (await device.orders()).sort((one, other) => (one.made < other.made ? 1 : -1));
    section.hidden = !orders.length;
    section.querySelector("ul").replaceChildren(...orders.map(waitingOrder));
  }

  function waitingOrder(order) {
    const goods = order.sent.items.map(({ productid, quantity }) => `${quantity} × ${order.names[productid]}`).join(", ");
    const made = element("li", {}, element("p", { textContent: `${goods} (${money(order.total ?? order.sent.expected_total)})` }));
    made.dataset.state = order.state;
    if (order.state === "waiting") made.append(element("p", { className: "quiet", textContent: texts.textWaits }), ...(order.tried ? [] : [button(texts.textDrop, () => device.orSay(device.decide(order._id, {})), "link")]));
    else if (order.state === "placed") made.append(element("p", {}, element("a", { href: order.payment_page || `/orders/${order.orderid}`, textContent: order.payment_page ? texts.textPay : texts.textPlaced })));
    else {
      const words = order.total ? fill(texts.textAgain, { total: money(order.total) }) : texts.textRetry;
      made.append(element("p", { className: "wrong", textContent: order.detail }), element("p", { className: "row" }, button(words, () => device.orSay(device.decide(order._id, { again: true, card: order.code === "payment_declined" ? chosen("card") || undefined : undefined }))), button(texts.textDrop, () => device.orSay(device.decide(order._id, {})), "link")));
    }
    return made;
  }

  async function drawRest() {
    const statuses = JSON.parse(texts.statuses);
    const list = (id, rows) => document.querySelector(`#${id} ul`).replaceChildren(...rows);
    list("addresses", (await device.documents("delivery")).map(addressRow));
    list("wishes", (await device.wishes()).map(wishRow));
    const profile = (await device.document("profile")) ?? {};
    document.querySelector("#profile [data-name]").textContent = profile.name ?? "";
    document.querySelector("#profile [data-email]").textContent = profile.email ?? "";
    const denied = await device.denied();
    document.getElementById("denied").hidden = !denied.length;
    list("denied", denied.map(deniedRow));
    const orders = (await device.documents("order-")).sort((one, other) => (one.date < other.date ? 1 : -1));
    list("orders", orders.map((each) => {
      const day = new Date(each.date).toLocaleDateString(language, { dateStyle: "medium" });
      return element("li", {}, element("a", { href: `/orders/${each.orderid}`, textContent: day }), ` ${money(each.total)} `, element("span", { className: "tag", textContent: statuses[each.status] ?? each.status }));
    }));
  }

  const written = (address) => address.address ?? [address.line1, address.postcode, address.city].filter(Boolean).join(", ");
  const hidden = (words) => element("span", { className: "hide-text", textContent: ` ${words}` });

  function act(words, about, does) {
    const made = button(words, () => device.orSay(does()).then(redraw), "link");
    made.append(hidden(about));
    return made;
  }

  function addressRow(each) {
    const tag = each.default ? [" ", element("span", { className: "tag good", textContent: texts.textDefault })] : [];
    const first = each.default ? [] : [act(texts.textSetDefault, each.name, () => makeDefault(each._id))];
    const acts = [...first, act(texts.textChange, each.name, () => fillAddress(each)), act(texts.textRemove, each.name, () => device.remove(each._id))];
    return element("li", {}, element("strong", { textContent: each.name }), ...tag, " ", element("span", { textContent: written(each) }), element("span", { className: "row" }, ...acts));
  }

  async function makeDefault(id) {
    await device.saveAddress(id, { default: true });
    for (const each of await device.documents("delivery")) if (each._id !== id && each.default) await device.saveAddress(each._id, { default: false });
  }

  /* The form shows an address that is changed, or what the shop did not take. */
  const addressForm = document.querySelector("[data-address] form");
  function fillAddress({ _id, ...content }) {
    addressForm.reset();
    for (const field of addressForm.elements) {
      if (field.type === "checkbox") field.checked = Boolean(content[field.name]);
      else if (field.name && field.name !== "id") field.value = content[field.name] ?? "";
    }
    addressForm.elements.id.value = _id ?? "";
    addressForm.parentElement.open = true;
    addressForm.elements.name.focus();
  }

  async function saveAddress() {
    const { id, default: first, ...fields } = Object.fromEntries(new FormData(addressForm));
    const known = (await device.documents("delivery")).some(({ _id }) => _id === id);
    await device.saveAddress(known ? id : "", { ...fields, ...(first ? { default: true } : {}) });
    addressForm.reset();
    addressForm.elements.id.value = "";
    addressForm.parentElement.open = false;
  }

  function wishRow(each) {
    const link = element("a", { href: `/product/${encodeURIComponent(each.productid)}`, textContent: each.name });
    const move = () => device.add(each.key, 1, each).then(() => device.remove(each.id));
    const price = element("span", { className: "sum", textContent: each.price ? money(each.price) : "" });
    return element("li", { className: "row" }, link, price, act(texts.textMove, each.name, move), act(texts.textRemove, each.name, () => device.remove(each.id)));
  }

  function deniedRow({ _id, reason, sent }) {
    const what = sent?.name ?? sent?.sku ?? sent?.productid ?? sent?.category ?? "";
    const again = sent?.type === "userdelivery" ? [act(texts.textChange, what, () => device.dismiss(_id).then(() => fillAddress(sent)))] : [];
    return element("li", {}, element("strong", { textContent: what }), " ", element("span", { className: "wrong", textContent: reason }), element("span", { className: "row" }, ...again, act(texts.textDismiss, what, () => device.dismiss(_id))));
  }

  const SHOWN = 60;

  async function drawKept() {
    const section = document.getElementById("departments");
    const found = await kept.search(section.querySelector("input").value);
    const status = section.querySelector("[data-found]");
    const departments = await kept.departments();
    section.hidden = !departments.length;
    section.querySelector("[data-kept]").replaceChildren(...departments.map(({ category, label, complete }) => {
      const some = complete ? [] : [element("span", { className: "quiet small", textContent: fill(status.dataset.textSome, { department: label }) })];
      return element("li", { className: "row" }, element("span", { textContent: label }), ...some, act(texts.textRemove, label, () => kept.drop(category)));
    }));
    status.textContent = fill(status.dataset.textFound, { count: found.length, shown: Math.min(SHOWN, found.length) });
    section.querySelector("[data-goods]").replaceChildren(...found.slice(0, SHOWN).map((each) => {
      const add = button(status.dataset.textAdd, () => device.orSay(device.add(each.key, 1, each)));
      add.append(element("span", { className: "hide-text", textContent: ` ${each.name}` }));
      const link = element("a", { href: `/product/${encodeURIComponent(each.productid)}`, textContent: each.name });
      const stock = element("span", { className: "quiet small", textContent: fill(status.dataset.textStock, { count: each.stock }) });
      const picture = each.picture ? [element("img", { src: each.picture, alt: "", width: 48, height: 48, loading: "lazy" })] : [];
      return element("li", { className: "row" }, ...picture, link, element("span", { className: "sum", textContent: money(each.price) }), stock, ...(each.stock > 0 ? [add] : []));
    }));
  }

  /* Whether there is anything of anybody here; else what was shown goes at once. */
  function uncover() {
    const open = device.open();
    root.hidden = !open;
    document.getElementById("nobody").hidden = open || Boolean(localStorage.getItem("aisle-sealed"));
    if (!open) for (const each of root.querySelectorAll("ul, #profile p")) each.replaceChildren();
    return open;
  }

  async function draw() {
    if (!uncover()) return;
    await drawBasket(!document.activeElement?.closest("[data-lines]"));
    await drawWaiting();
    await drawRest();
    await drawKept();
  }

  let drawn = Promise.resolve();
  const redraw = () => { uncover(); drawn = drawn.then(draw).catch(() => {}); };

  document.querySelector("[data-order]").addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    device.orSay(device.order({ address_id: chosen("address_id"), card: chosen("card") })).then(redraw);
  });
  addressForm.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    device.orSay(saveAddress()).then(redraw);
  });
  document.addEventListener("focusout", (event) => event.target.closest("[data-lines]") && setTimeout(redraw));
  document.getElementById("kept-words").addEventListener("input", () => { drawn = drawn.then(drawKept).catch(() => {}); }); // after what is being drawn: that has the words of before
  device.changed.addEventListener("change", redraw);
  redraw();
  const place = { checkout: "basket" }[asked] ?? asked;
  if (asked !== "own") drawn.then(() => document.getElementById(place)?.scrollIntoView?.());
})();

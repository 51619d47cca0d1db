function (doc) {
  var slot = {order: 0, orderpayment: 4, payment: 4, orderdispatch: 5, dispatch: 5, orderdelivery: 6, delivery: 6, cancellation: 7, decision: 8, refund: 9,
    settlement: 11, "return": 12, notice: 13, restock: 15, paymentsession: 17, paymentprocessing: 18, giftcardssent: 19,
    returnrequest: 22, returndecision: 21, returnexchange: 21, returnlabel: 21, linecancellation: 26, ordersummary: 27, stockwait: 30,
    returnshipment: 32, parcelshipment: 32, parcellabel: 32, parcellabelend: 32, labelproblem: 32, labelrefund: 32,
    spareshipment: 32}[doc.type];
  if (slot === undefined) return;
  var first = doc.type === "order";
  var placed = first ? doc.date : doc.placed;
  var currency = first ? doc.total.currency : doc.currency;
  var key = KEY;
  if (!key) return;
  var sums = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  sums[slot] = slot === 19 ? -1 : 1;
  // A summary is behind while this does not add up to nothing: what it lists is counted, what it was made from taken off.
  if (slot === 27) { sums[27] = -doc.events; sums[32] = doc.label_work ? 1 : 0; }
  else if ([8, 11, 13, 15, 19].indexOf(slot) < 0) sums[27] = 1;
  // Whether a label is to be bought or given back only the summary knows: that follows from all of an order's documents.
  if (slot === 32) sums[32] = 0;
  // What staff pay back themselves is nothing that the worker has to settle; their record of it counts no second time.
  if (slot === 9 && doc.by_hand) sums[11] = 1;
  if (slot === 11 && doc.by) sums[11] = 0;
  if (slot === 17 && doc.link) sums[28] = sums[29] = 1;
  if (first) sums[1] = doc.total.amount;
  if (doc.number && (first || slot === 4)) sums[first ? 23 : 24] = +doc.number.replace(/\D/g, "");
  if (slot === 4) {
    sums[2] = doc.total.amount;
    sums[3] = doc.units;
    if (doc.imported) sums[14] = 1;
    if (doc.gift_cards_sold) sums[19] = 1;
  }
  if (doc.type === "refund") {
    sums[10] = doc.total.amount;
    if (doc.cause.indexOf("return") === 0) sums[16] = 1;
    if (doc.notify) sums[21] = 1;
  }
  if (slot === 12) {
    doc.lines.forEach(function (line) { sums[20] += line.quantity; });
    if (doc.refund_first || doc.lines.every(function (line) { return !line.amount; })) sums[16] = 1;
    if (doc.requested) { sums[21] = 1; sums[22] = -1; }
  }
  if (slot === 21 || slot === 22) {
    sums[21] = 1;
    if (doc.refund_first) sums[16] = -1;
    if (doc.decision === "refuse") sums[22] = -1;
  }
  // Of an order that never waited nothing is counted: what people leave of it waits for them.
  if (slot === 30) { sums[30] = doc.change ? 1 : 0; sums[31] = doc.change; }
  if (slot === 5) sums[25] = doc.units || 0;
  if (slot === 26) {
    sums[15] = -1;
    sums[21] = 1;
    sums[26] = doc.lines.reduce(function (units, line) { return units + line.quantity; }, 0);
  }
  if (slot === 13 && doc.kind === "payment-link") { sums[13] = 0; sums[29] = -1; }
  if (slot === 13 && /^(return|cancelled|refund)-/.test(doc.kind)) { sums[13] = 0; sums[21] = -1; }
  emit(key, sums);
}

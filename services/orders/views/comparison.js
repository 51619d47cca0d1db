function (doc) {
  var d = doc.date, sums = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], currency = doc.currency;
  var tax = (doc.taxes || []).reduce(function (all, each) { return all + each.amount.amount; }, 0);
  if (doc.type === "orderpayment" || doc.type === "payment") {
    sums[0] = 1;
    sums[1] = doc.total.amount - (doc.gift_cards_sold || 0);
    sums[3] = tax;
  } else if (doc.type === "ordersummary" && doc.dates.paid) {
    if (!doc.discounts && doc.first === undefined) return;
    d = doc.dates.paid;
    sums[2] = doc.discounts;
    if (doc.first !== undefined) {
      sums[doc.first ? 8 : 10] = 1;
      sums[doc.first ? 9 : 11] = doc.revenue;
    }
  } else if (doc.type === "refund") {
    sums[3] = -tax;
    sums[4] = doc.total.amount;
  } else if (doc.type === "return") {
    sums[5] = 1;
    doc.lines.forEach(function (line) {
      sums[6] += line.quantity;
      if (line.condition === "damaged") sums[7] += line.quantity;
    });
  } else return;
  emit([+d.slice(0, 4), +d.slice(5, 7), +d.slice(8, 10), currency], sums);
}

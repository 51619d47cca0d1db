function (doc) {
  function none() { return [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]; }
  var d = doc.date, sums = none(), currency = doc.currency, days = {};
  var tax = (doc.taxes || []).reduce(function (all, each) { return all + each.amount.amount; }, 0);
  if (doc.type === "orderpayment" || doc.type === "payment") {
    sums[0] = 1;
    sums[1] = doc.total.amount - (doc.gift_cards_sold || 0);
    sums[3] = tax;
  } else if (doc.type === "ordersummary" && doc.dates.paid) {
    if (!doc.discounts && doc.first === undefined && !doc.margin) return;
    d = doc.dates.paid;
    sums[2] = doc.discounts;
    if (doc.first !== undefined) {
      sums[doc.first ? 8 : 10] = 1;
      sums[doc.first ? 9 : 11] = doc.revenue;
    }
  } else if (doc.type === "refund") {
    sums[3] = -tax;
    sums[4] = doc.total.amount - (doc.gift_cards_sold || 0);
  } else if (doc.type === "return") {
    sums[5] = 1;
    doc.lines.forEach(function (line) {
      sums[6] += line.quantity;
      if (line.condition === "damaged") sums[7] += line.quantity;
    });
  } else return;
  days[d.slice(0, 10)] = sums;
  if (doc.type === "ordersummary")
    (doc.margin || []).forEach(function (day) {
      var of = days[day.date] || (days[day.date] = none());
      ["units", "known_units", "sales", "known_sales", "cost", "labels"].forEach(function (name, n) { of[12 + n] += day[name] || 0; });
    });
  Object.keys(days).forEach(function (day) {
    emit([+day.slice(0, 4), +day.slice(5, 7), +day.slice(8, 10), currency], days[day]);
  });
}

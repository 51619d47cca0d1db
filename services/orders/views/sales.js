function (doc) {
  // A gift card that is sold is owed, not earned: what is bought with it counts.
  var paid = doc.type === "orderpayment" || doc.type === "payment";
  if (!paid && doc.type !== "refund") return;
  var d = doc.date, sums = {}, amount = doc.total.amount - (doc.gift_cards_sold || 0);
  sums[doc.total.currency] =
    paid ? [1, doc.units, amount, 0] : [0, 0, 0, amount];
  emit([+d.slice(0, 4), +d.slice(5, 7), +d.slice(8, 10), +d.slice(11, 13), +d.slice(14, 16), +d.slice(17, 19)], sums);
}

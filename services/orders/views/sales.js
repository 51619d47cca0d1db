function (doc) {
  var paid = doc.type === "orderpayment" || doc.type === "payment";
  if (!paid && doc.type !== "refund") return;
  var d = doc.date, sums = {};
  sums[doc.total.currency] =
    paid ? [1, doc.units, doc.total.amount, 0] : [0, 0, 0, doc.total.amount];
  emit([+d.slice(0, 4), +d.slice(5, 7), +d.slice(8, 10), +d.slice(11, 13), +d.slice(14, 16), +d.slice(17, 19)], sums);
}

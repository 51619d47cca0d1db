function (doc) {
  // Of a larger order only the first products count, so that no order makes more rows than MOST * (MOST - 1).
  var MOST = 12;
  if (doc.type !== "orderpayment" && doc.type !== "payment") return;
  var productids = [];
  doc.lines.forEach(function (line) {
    if (productids.indexOf(line.productid) < 0 && productids.length < MOST) productids.push(line.productid);
  });
  productids.forEach(function (one) {
    productids.forEach(function (other) { if (one !== other) emit([one, other], 1); });
  });
}

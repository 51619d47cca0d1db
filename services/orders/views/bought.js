function (doc) {
  var sign = {orderpayment: 1, payment: 1, "return": -1, linecancellation: -1}[doc.type];
  if (!sign || !doc.userid) return;
  doc.lines.forEach(function (line) { emit([doc.userid, line.productid], sign * line.quantity); });
}

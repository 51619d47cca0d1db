function (doc) {
  var sign = {orderpayment: 1, payment: 1, "return": -1, linecancellation: -1}[doc.type];
  if (!sign) return;
  var y = +doc.date.slice(0, 4), m = +doc.date.slice(5, 7), d = +doc.date.slice(8, 10);
  doc.lines.forEach(function (line) {
    var what = [doc.currency, line.productid, line.name, line.sku || ""];
    var sums = [sign * line.quantity, sign * line.amount];
    emit(["all"].concat(what), sums);
    emit(["year", y].concat(what), sums);
    emit(["month", y, m].concat(what), sums);
    emit(["day", y, m, d].concat(what), sums);
  });
}

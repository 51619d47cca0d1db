function (doc) {
  var sign = {orderpayment: 1, payment: 1, refund: -1}[doc.type];
  if (!sign || !doc.taxes) return;
  var y = +doc.date.slice(0, 4), m = +doc.date.slice(5, 7), d = +doc.date.slice(8, 10);
  doc.taxes.forEach(function (tax) {
    var what = [tax.country, tax.region, tax.name, tax.rate, tax.base.currency];
    var sums = [sign * tax.base.amount, sign * tax.amount.amount];
    emit(["all"].concat(what), sums);
    emit(["year", y].concat(what), sums);
    emit(["month", y, m].concat(what), sums);
    emit(["day", y, m, d].concat(what), sums);
  });
}

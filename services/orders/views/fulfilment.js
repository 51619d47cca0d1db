function (doc) {
  var stage = {orderdispatch: "dispatch", dispatch: "dispatch", orderdelivery: "delivery", delivery: "delivery"}[doc.type];
  if (!stage) return;
  var d = doc.date, since = stage === "dispatch" ? doc.payment_date : doc.dispatch_date;
  var seconds = (Date.parse(d) - Date.parse(since)) / 1000;
  emit([+d.slice(0, 4), +d.slice(5, 7), +d.slice(8, 10), stage], seconds);
}

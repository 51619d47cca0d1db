function (doc) {
  var since = {dispatch: doc.payment_date, delivery: doc.dispatch_date}[doc.type];
  if (!since) return;
  var d = doc.date;
  var seconds = (Date.parse(d) - Date.parse(since)) / 1000;
  emit([+d.slice(0, 4), +d.slice(5, 7), +d.slice(8, 10), doc.type], seconds);
}

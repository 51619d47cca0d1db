function (doc) {
  var map = MAP;
  if (doc.type !== "archivedorder") return map(doc);
  doc.events.forEach(function (event) {
    var each = {orderid: doc.orderid, userid: doc.userid, placed: doc.placed, currency: doc.currency};
    for (var name in event) each[name] = event[name];
    map(each);
  });
}

function (doc) {
  if (doc.erased) return;
  if (doc.type === "draftorder") {
    if (doc.userid) emit(doc.userid, null);
    else if (doc.email) emit("guest " + doc.email.toLowerCase(), null);
    return;
  }
  var recipient = doc.type === "customer" && doc.gift_recipient;
  if (recipient && recipient.email) emit("recipient " + recipient.email.toLowerCase(), null);
  var reasons = ["cancellation", "decision", "linecancellation", "refund", "return", "returndecision", "returnrequest"];
  var typed = reasons.indexOf(doc.type) >= 0 && (doc.note || (doc.reason && (!doc.by || /^(user |guest)/.test(doc.by))));
  var listed = doc.type === "ordersummary" && (doc.name || doc.email);
  if (doc.type === "customer" || doc.type === "ordernote" || typed || listed) {
    if (doc.userid) emit(doc.userid, null);
    else if (doc.type === "customer" && doc.email) emit("guest " + doc.email.toLowerCase(), null);
  } else if (doc.type === "creditentry" && doc.kind === "store_credit" && doc.note) emit(doc.id, null);
}

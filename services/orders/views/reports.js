function (doc) {
  if (doc.type === "reportrequest" || doc.type === "closing")
    emit(doc.date, {id: doc.reportid, kind: doc.kind, type: doc.type, from: doc.start, to: doc.end});
}

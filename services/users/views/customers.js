function (doc) {
  if (doc.type !== "user" || doc.erasure) return;
  var found = {"": true};
  // The same in services/users/rules/customer_search.py.
  function plain(text) {
    text = text.toLowerCase();
    return text.normalize ? text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "") : text;
  }
  function compact(word) { return word.replace(/[.,;:'"’`´()\/_+&-]/g, ""); }
  function add(text, most) {
    found[text] = true;
    for (var size = 2; size < text.length && size <= most; size++) found[text.slice(0, size)] = true;
  }
  var words = [];
  function word(text) {
    var each = compact(text);
    if (each && words.indexOf(each) < 0) words.push(each);
  }
  plain(doc.name).split(/\s+/).forEach(function (each) {
    word(each);
    if (each.indexOf("-") > 0) each.split("-").forEach(word);
  });
  if (words.length > 5) words = words.slice(0, 4).concat(words.slice(-1));
  words.forEach(function (each) { add(each, 12); });
  for (var choice = 1; choice < 1 << words.length; choice++) {
    found[words.filter(function (_, at) { return choice & (1 << at); }).sort().join(" ")] = true;
  }
  add(compact(plain(doc.email)), 40);
  found[compact(doc.userid.toLowerCase())] = true;
  var groups = doc.group ? ["", doc.group] : [""];
  groups.forEach(function (group) {
    Object.keys(found).forEach(function (text) { emit([group, text, doc.created, doc.userid], null); });
  });
}

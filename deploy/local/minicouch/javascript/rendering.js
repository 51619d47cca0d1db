// Functions that make HTTP answers: shows, lists, updates, rewrites. Called with the runtime's own tools, returns its
// commands and what their functions find around them. Unlike CouchDB's, a list gets all its rows at once.
(function ({ compile, errstr, log, design }) {
  let chunks = [];
  let rows = [];
  let head = null; // what start() was given last
  let sent = null; // what the answer began with
  let gone = false; // whether any of the body followed
  let read = 0;
  let listing = false;
  let providers = [];
  let contentType = null;

  const mimes = new Map();
  const register = (key, ...types) => mimes.set(key, types);
  register("all", "*/*");
  register("text", "text/plain; charset=utf-8", "txt");
  register("html", "text/html; charset=utf-8");
  register("xhtml", "application/xhtml+xml", "xhtml");
  register("xml", "application/xml", "text/xml", "application/x-xml");
  register("js", "text/javascript", "application/javascript", "application/x-javascript");
  register("css", "text/css");
  register("ics", "text/calendar");
  register("csv", "text/csv");
  register("rss", "application/rss+xml");
  register("atom", "application/atom+xml");
  register("yaml", "application/x-yaml", "text/yaml");
  register("multipart_form", "multipart/form-data");
  register("url_encoded_form", "application/x-www-form-urlencoded");
  register("json", "application/json", "text/x-json");

  function reset(given) {
    chunks = [];
    rows = given;
    head = {};
    sent = null;
    gone = false;
    read = 0;
    providers = [];
    contentType = null;
  }

  function range(text) {
    const [type, ...parameters] = text.split(";").map((part) => part.trim());
    const [main, sub] = (type === "*" ? "*/*" : type).split("/");
    const found = { main, sub, q: 1, others: [] };
    for (const parameter of parameters) {
      const [name, value] = parameter.split("=");
      if (name.trim() === "q") found.q = Number(value) >= 0 && Number(value) <= 1 ? Number(value) : 1;
      else found.others.push(parameter);
    }
    return found;
  }

  // How well an Accept header's range fits a type: -1 not at all, else more for what is named more exactly.
  function fitness(type, wanted) {
    const same = (one, other) => one === other || one === "*" || other === "*";
    if (!same(wanted.main, type.main) || !same(wanted.sub, type.sub)) return -1;
    const shared = type.others.filter((parameter) => wanted.others.includes(parameter)).length;
    return (wanted.main === type.main ? 100 : 0) + (wanted.sub === type.sub ? 10 : 0) + shared;
  }

  function quality(text, accept) {
    const type = range(text);
    let best = -1, q = 0;
    for (const wanted of accept.split(",").map(range)) {
      const fits = fitness(type, wanted);
      if (fits > best) { best = fits; q = wanted.q; }
    }
    return [q, best];
  }

  // The type the client likes best; of equal ones the function that was provided first.
  function bestOf(accept) {
    let found = null, best = [0, -1];
    for (const [key] of providers) {
      for (const type of mimes.get(key) || []) {
        const [q, fits] = quality(type, accept);
        if (q > best[0] || (q === best[0] && q > 0 && fits > best[1])) {
          best = [q, fits];
          found = [key, type];
        }
      }
    }
    return found;
  }

  function chosen(req) {
    const accept = req.headers.Accept;
    if (req.query && req.query.format) return [req.query.format, (mimes.get(req.query.format) || [])[0]];
    if (accept) return bestOf(accept);
    return [providers[0][0], (mimes.get(providers[0][0]) || [])[0]];
  }

  function provided(req) {
    const [key, type] = chosen(req) || [];
    contentType = type || null;
    const provider = providers.find(([name]) => name === key);
    if (provider) return provider[1].call(design());
    const known = providers.map(([name]) => (mimes.get(name) || [name]).join(", ")).join(", ");
    throw ["error", "not_acceptable",
      "Content-Type " + (req.headers.Accept || key) + " not supported, try one of: " + known];
  }

  const wrapped = (answer) => (typeof answer === "string" ? { body: answer } : answer);

  function typed(answer) {
    answer.headers = answer.headers || {};
    if (contentType) answer.headers["Content-Type"] = answer.headers["Content-Type"] || contentType;
    return answer;
  }

  function refuse(error, kind) {
    if ((error && error.error && error.reason) || (error && (error[0] === "error" || error[0] === "fatal"))) throw error;
    const text = "function raised error: " + errstr(error) + " \nstacktrace: " + (error ? error.stack : undefined);
    log(text);
    throw ["error", kind || "render_error", text];
  }

  function checked(answer, what) {
    if (typeof answer !== "string" && (typeof answer !== "object" || answer === null || Array.isArray(answer))) {
      throw ["error", "render_error", "undefined response from " + what + " function"];
    }
    return wrapped(answer);
  }

  // CouchDB sends what there is whenever a row is asked for; until then the headers may still change.
  function flush() {
    if (sent === null) sent = typed(head);
    else if (!gone) sent = head;
    gone = gone || chunks.length > 0;
  }

  function getRow() {
    if (!listing) return null;
    flush();
    return read < rows.length ? rows[read++] : null;
  }

  const commands = {
    show: ({ source }, args) => {
      const fun = compile(source);
      reset([]);
      try {
        let answer = wrapped(fun.apply(design(), args) || {});
        if (chunks.length) {
          answer.headers = Object.assign(answer.headers || {}, head);
          answer.body = chunks.join("") + (answer.body || "");
          chunks = [];
        }
        if (providers.length) {
          const more = wrapped(provided(args[1]) || {});
          answer = typed(Object.assign(answer, { body: (answer.body || "") + chunks.join("") + (more.body || "") }));
        }
        return checked(answer, "show");
      } catch (e) {
        if (args[0] === null && args[1].path.length > 5) throw ["error", "not_found", "document not found"];
        refuse(e);
      }
    },
    update: ({ source }, args) => {
      const fun = compile(source);
      reset([]);
      try {
        if (args[1].method === "GET") throw ["error", "method_not_allowed", "Update functions do not allow GET"];
        const [doc, answer] = fun.apply(design(), args);
        return [doc === undefined ? null : doc, checked(answer, "update")];
      } catch (e) {
        refuse(e);
      }
    },
    list: ({ source }, [answer, req]) => {
      const fun = compile(source);
      const { rows: given, ...meta } = answer;
      reset(given);
      listing = true;
      try {
        let tail = fun.apply(design(), [meta, req]);
        if (providers.length) tail = provided(req);
        if (sent === null) flush();
        if (tail !== undefined) chunks.push(String(tail));
        flush();
        return { ...sent, body: chunks.join("") };
      } catch (e) {
        refuse(e);
      } finally {
        listing = false;
      }
    },
    rewrite: ({ source }, req) => {
      const fun = compile(source);
      try {
        const found = fun.apply(design(), [req]);
        return typeof found === "string" ? { path: found } : found || null;
      } catch (e) {
        refuse(e, "rewrite_error");
      }
    },
  };

  const tools = {
    provides: (type, fun) => { providers.push([type, fun]); },
    registerType: register,
    start: (given) => { head = given || {}; },
    send: (chunk) => { chunks.push(String(chunk)); },
    getRow,
  };
  return { commands, tools };
})

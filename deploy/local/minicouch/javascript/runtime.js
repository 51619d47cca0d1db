// What a design function finds around it, and the dispatcher the worker calls: one V8 isolate for each
// design document (or each lib), so that what one function does to its globals reaches no other.
// setup(json) is called once, handle(command, payload) after that; both speak JSON text only.
(function (global, rendering) {
  const { parse, stringify } = JSON;
  const { freeze, isFrozen, keys, getPrototypeOf } = Object;
  const now = Date.now;
  const SLICE = 500; // ms
  const geval = global.eval;
  let ddoc = {};
  let rows = [];
  let emitted = false;
  let logs = [];
  const compiled = new Map();
  const modules = new Map();

  const errstr = (e) => (e !== null && typeof e === "object" && !("stack" in e) ? stringify(e) : String(e));

  function plainError(e) {
    if (typeof e === "object" && e !== null && "stack" in e && "name" in e && "message" in e) {
      return { error: e.name, message: e.message };
    }
    return e;
  }

  function deepFreeze(value) {
    freeze(value);
    const names = keys(value);
    for (let i = 0; i < names.length; i++) {
      const member = value[names[i]];
      if (member !== null && typeof member === "object" && !isFrozen(member)) deepFreeze(member);
    }
  }

  function evaluate(source) {
    const text = source.replace(/[\s;]+$/, "");
    try {
      return geval("(" + text + "\n)");
    } catch (e) {
      if (!(e instanceof SyntaxError)) throw e;
      return geval(source);
    }
  }

  function compile(source) {
    const known = compiled.get(source);
    if (known !== undefined) return known;
    let value;
    try {
      value = evaluate(source);
    } catch (e) {
      if (Array.isArray(e)) throw e;
      throw ["error", "compilation_error", errstr(e) + " (" + source + ")"];
    }
    if (typeof value !== "function") {
      throw ["error", "compilation_error", "Expression does not eval to a function. (" + source + ")"];
    }
    compiled.set(source, value);
    return value;
  }

  function resolve(names, mod, root) {
    if (names.length === 0) {
      if (typeof mod.current !== "string") {
        throw ["error", "invalid_require_path", "Must require a JavaScript string, not: " + typeof mod.current];
      }
      return { current: mod.current, parent: mod.parent, id: mod.id, exports: {} };
    }
    const [name, ...rest] = names;
    if (name === "..") {
      if (!(mod.parent && mod.parent.parent)) {
        throw ["error", "invalid_require_path", "Object has no parent " + stringify(mod.current)];
      }
      const id = mod.id.slice(0, mod.id.lastIndexOf("/"));
      return resolve(rest, { id, parent: mod.parent.parent, current: mod.parent.current });
    }
    if (name === ".") {
      if (!mod.parent) {
        throw ["error", "invalid_require_path", "Object has no parent " + stringify(mod.current)];
      }
      return resolve(rest, { parent: mod.parent, current: mod.current, id: mod.id });
    }
    const from = root ? { current: root } : mod;
    if (from.current[name] === undefined) {
      throw ["error", "invalid_require_path", 'Object has no property "' + name + '". ' + stringify(from.current)];
    }
    return resolve(rest, { current: from.current[name], parent: from, id: from.id ? from.id + "/" + name : name });
  }

  function requireFrom(name, parent) {
    const mod = resolve(name.split("/"), (parent && parent.parent) || {}, ddoc);
    if (!modules.has(mod.id)) {
      modules.set(mod.id, mod.exports);
      try {
        const body = geval("(function (module, exports, require) { " + mod.current + "\n })");
        body.call(global, mod, mod.exports, (inner) => requireFrom(inner, mod));
      } catch (e) {
        modules.delete(mod.id);
        throw ["error", "compilation_error", "Module require('" + name + "') raised error " + errstr(e)];
      }
      modules.set(mod.id, mod.exports);
    }
    return modules.get(mod.id);
  }

  function indexText(name, value, options) {
    if (typeof name !== "string") throw new TypeError("name must be a string not " + typeof name);
    if (name[0] === "_") throw { name: "ReservedName", message: "name must not start with an underscore" };
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      throw new TypeError("value must be a string, a number or boolean not " + typeof value);
    }
    if (options && typeof options !== "object") throw new TypeError("options must be an object not " + typeof options);
    rows.push([name, value, options || {}]);
  }

  function indexNouveau(type, name, value, options) {
    const demand = (what, wanted, actual) => {
      if (typeof actual !== wanted) throw new TypeError("type of " + what + " must be a " + wanted + " not " + typeof actual);
    };
    demand("type", "string", type);
    demand("name", "string", name);
    if (name[0] === "_") throw { name: "ReservedName", message: "name must not start with an underscore" };
    const { store, facet } = options || {};
    if (type === "stored") {
      if (typeof value !== "number" && typeof value !== "string") throw new TypeError("type of " + value + " must be a string or number");
      rows.push({ "@type": type, name, value });
    } else if (type === "double" || type === "string") {
      demand("value", type === "double" ? "number" : "string", value);
      rows.push({ "@type": type, name, value, store, facet });
    } else if (type === "text") {
      demand("value", "string", value);
      rows.push({ "@type": type, name, value, store });
    } else {
      throw new TypeError(type + " not supported");
    }
  }

  // A function that throws skips its document only, unless it asks for more with "fatal_error".
  function skip(error, doc) {
    if (error === "fatal_error") throw ["error", "map_runtime_error", "function raised 'fatal_error'"];
    if (Array.isArray(error) && error[0] === "fatal") throw error;
    log("function raised exception " + errstr(error) + (doc ? " with doc._id " + doc._id : ""));
  }

  // Stops after SLICE: the time limit is meant for one document, so the caller asks again for those that are left.
  function collect(sources, docs) {
    const funs = sources.map(compile);
    const out = [];
    const enough = now() + SLICE;
    for (let d = 0; d < docs.length && (d === 0 || now() < enough); d++) {
      const doc = docs[d];
      deepFreeze(doc);
      const parts = new Array(funs.length);
      for (let f = 0; f < funs.length; f++) {
        rows = [];
        try {
          funs[f](doc);
          parts[f] = rows;
        } catch (e) {
          skip(e, doc);
          parts[f] = [];
        }
      }
      out[d] = parts;
    }
    return out;
  }

  const commands = {
    compile: ({ source }) => typeof compile(source),
    map: ({ sources }, docs) => collect(sources, docs),
    index: ({ source, nouveau }, docs) => {
      global.index = nouveau ? indexNouveau : indexText;
      return collect([source], docs).map((parts) => parts[0]);
    },
    // payload: [[keys or null, values], ...]: one reduction (keys) or rereduction (null) each
    reduce: ({ source }, batches) => {
      const fun = compile(source);
      return batches.map(([ks, values]) => {
        try {
          const value = fun(ks, values, ks === null);
          return value === undefined ? null : value;
        } catch (e) {
          skip(e);
          return null;
        }
      });
    },
    filter: ({ source }, [docs, req]) => {
      const fun = compile(source);
      return docs.map((doc) => Boolean(fun.call(ddoc, doc, req)));
    },
    filterView: ({ source }, docs) => {
      const fun = compile(source);
      return docs.map((doc) => {
        emitted = false;
        fun(doc);
        return emitted;
      });
    },
    validate: ({ source }, args) => {
      const fun = compile(source);
      try {
        fun.apply(ddoc, args);
        return 1;
      } catch (e) {
        if (e !== null && typeof e === "object" && e.name && e.stack) throw e;
        return e === undefined ? null : e;
      }
    },
  };

  function failure(e) {
    if (Array.isArray(e)) return ["error", String(e[1]), e[2]];
    if (e !== null && typeof e === "object") {
      if (e.error && e.reason) return ["error", e.error, e.reason];
      if (e.name) return ["error", String(e.name), e.message === undefined ? "" : e.message];
    }
    return ["error", "unnamed_error", String(e)];
  }

  const log = (message) => {
    if (logs.length < 100) logs.push(typeof message === "string" ? message : String(stringify(plainError(message))));
  };

  const renderer = rendering({ compile, errstr, log, design: () => ddoc });
  Object.assign(commands, renderer.commands);
  Object.assign(global, {
    emit: (key, value) => { emitted = true; rows.push([key, plainError(value)]); },
    index: indexText,
    sum: (values) => { let total = 0; for (const i in values) total += values[i]; return total; },
    log,
    toJSON: stringify,
    isArray: Array.isArray,
    require: (name) => requireFrom(name, null),
    ...renderer.tools,
  });
  for (const name of ["eval", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "SharedArrayBuffer", "Atomics", "WebAssembly"]) {
    delete global[name];
  }
  // No code from text, neither by eval nor by any kind of function's constructor, as in CouchDB.
  const blocked = function () { throw new Error("code evaluation is not allowed"); };
  for (const kind of [function () {}, function* () {}, async function () {}, async function* () {}]) {
    Object.defineProperty(getPrototypeOf(kind), "constructor", { value: blocked });
  }
  blocked.prototype = getPrototypeOf(blocked);
  global.Function = blocked;
  // The dispatcher below keeps its own copies; a function that swaps these reaches nobody else.
  freeze(JSON);

  const setup = (json) => { ddoc = parse(json); };
  // The answer: a line of log messages (JSON or empty), then "+" and the result or "-" and the error.
  const handle = (command, payload) => {
    logs = [];
    let answer;
    try {
      const { op, ...options } = parse(command);
      answer = "+" + stringify(commands[op](options, payload === "" ? undefined : parse(payload)));
    } catch (e) {
      if (e instanceof RangeError && /call stack|string length/i.test(e.message)) {
        answer = "-" + stringify(["error", "InternalError", e.message]);
      } else {
        answer = "-" + stringify(failure(e));
      }
    }
    return (logs.length ? stringify(logs) : "") + "\n" + answer;
  };
  return [setup, handle];
})

// One device: PouchDB as npm has it, told what to do by lines of JSON; it answers each with one.
const path = require('path');
const PouchDB = require(path.join(process.argv[2], 'pouchdb'));

let db, remote, live;
const heard = {denied: [], changes: 0, errors: []};

// PouchDB asks for a database's id without waiting for the answer: a connection that breaks then is a line of a browser's console, and would end Node.
process.on('unhandledRejection', (error) => console.error(error));

const brief = (result) => ({
  ok: result.ok,
  read: result.docs_read,
  written: result.docs_written,
  failures: result.doc_write_failures,
});

const acts = {
  open({folder, url, token}) {
    db = db || new PouchDB(folder);
    const fetch = (address, options) => {
      options.headers.set('Authorization', 'Bearer ' + token);
      return PouchDB.fetch(address, options);
    };
    remote = new PouchDB(url, {fetch});
    return {ok: true};
  },
  async put({doc}) {
    const there = await db.get(doc._id).catch(() => ({}));
    return db.put({...there, ...doc});
  },
  async remove({id}) {
    return db.remove(await db.get(id));
  },
  get: ({id}) => db.get(id, {conflicts: true}).catch((error) => ({missing: true, reason: error.reason})),
  async all() {
    const {rows} = await db.allDocs({include_docs: true, conflicts: true});
    return rows.map((row) => row.doc);
  },
  sync({options}) {
    const denied = [];
    return new Promise((resolve) => {
      db.sync(remote, options || {})
        .on('denied', (each) => denied.push(each.doc))
        .on('complete', (result) => resolve({denied, push: brief(result.push), pull: brief(result.pull)}))
        .on('error', (error) => resolve({denied, error: error.name, status: error.status, reason: error.reason}));
    });
  },
  live({options}) {
    live = db.sync(remote, {live: true, retry: true, ...options})
      .on('denied', (each) => heard.denied.push(each.doc))
      .on('change', () => { heard.changes += 1; })
      .on('error', (error) => heard.errors.push(error.name));
    return {ok: true};
  },
  heard: () => heard,
  stop() {
    live.cancel();
    return {ok: true};
  },
  // A category that the device keeps, in a database of its own.
  async keep({folder, url}) {
    const kept = new PouchDB(folder);
    const result = brief(await PouchDB.replicate(new PouchDB(url), kept));
    const {rows} = await kept.allDocs({include_docs: true, conflicts: true});
    await kept.close();
    return {...result, docs: rows.map((row) => row.doc)};
  },
  // Many devices at once in this one process: each puts a line of its own, then all sync `rounds` times.
  async crowd({folder, members, rounds}) {
    const devices = members.map(({token, url, line}, number) => {
      const fetch = (address, options) => {
        options.headers.set('Authorization', 'Bearer ' + token);
        return PouchDB.fetch(address, options);
      };
      return {local: new PouchDB(folder + '-' + number), remote: new PouchDB(url, {fetch}), line};
    });
    await Promise.all(devices.map(({local, line}) => local.put(line)));
    const denied = [], errors = [];
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(devices.map(({local, remote}) => new Promise((resolve) => {
        local.sync(remote)
          .on('denied', (each) => denied.push(each.doc))
          .on('error', (error) => { errors.push([error.status, error.reason || error.message]); resolve(); })
          .on('complete', resolve);
      })));
    }
    const lines = await Promise.all(devices.map(async ({local}) => {
      const {rows} = await local.allDocs({include_docs: true, conflicts: true, startkey: 'basket-', endkey: 'basket-\ufff0'});
      await local.close();
      return rows.map(({doc}) => [doc.productid, doc.quantity, '_conflicts' in doc]);
    }));
    return {denied, errors, lines};
  },
  allOfRemote: async () => (await remote.allDocs({include_docs: true})).rows.map((row) => row.doc),
};

const lines = require('readline').createInterface({input: process.stdin});
let turn = Promise.resolve();
lines.on('line', (line) => {
  turn = turn.then(async () => {
    const asked = JSON.parse(line);
    let answer;
    try {
      answer = await acts[asked.act](asked);
    } catch (error) {
      answer = {failed: error.message, name: error.name};
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
  });
});
lines.on('close', () => process.exit(0));

// fivebeans 1.5.0 against a server: its client, its worker and its runner. Callbacks get (error,
// values...), where the error is the reply's word; ids are strings, counts are strings, bodies are
// Buffers. It has no reserve-job.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { client: Client, worker: Worker, runner: Runner } = require('fivebeans');
const { Adapter, checks, state, text, watchOnly } = require('./common');
const s = require('./support');

// Callbacks as promises: one value as itself, more as an array, none as undefined.
const promised = (client, name, args) => new Promise((resolve, reject) => {
  client[name](...args, (error, ...values) => {
    if (error) reject(new Error(error));
    else resolve(values.length > 1 ? values : values[0]);
  });
});

const event = (emitter, name) => new Promise((done) => emitter.once(name, done));

class Library extends Adapter {
  ask(name, args) {
    const method = name === 'delete' ? 'destroy' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return promised(this.client, method, args);
  }

  put(body, { pri = 0, delay = 0, ttr = 60 } = {}) { return promised(this.client, 'put', [pri, delay, ttr, body]); }

  async quit() {
    const closed = event(this.client, 'close');
    this.client.quit(() => {});
    await closed;
  }
}

function connect(client) {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve(client)).once('error', reject);
    client.connect();
  });
}

const open = async (tube) => watchOnly(new Library(await connect(new Client(s.host, s.port))), tube);

// What a worker does with a job of type 'act': the payload names the action.
const handlers = { act: { type: 'act', work: (payload, done) => done(payload.action, payload.delay) } };
const task = (action, delay) => JSON.stringify({ type: 'act', payload: { action, delay } });

s.suite('fivebeans', { open, close: (adapter) => adapter.client.end() }, {
  ...checks({ canReserveJob: false }),
  'what its commands give': async (adapter) => {
    const id = await adapter.put('hello');
    s.equal([typeof id, await adapter.kick(1), await adapter.watch('default')], ['string', '0', '2']);
    await adapter.reserve();
    s.equal(await adapter.bury(id, Client.LOWEST_PRIORITY), undefined);
    s.equal((await adapter.statsJob(id)).pri, 1000);
    s.equal(await adapter.delete(id), undefined);
  },
  'reserves in flight together are answered in order': async (adapter) => {
    for (const body of ['job 0', 'job 1']) await adapter.put(body);
    s.equal(await Promise.all([text(adapter.reserve()), text(adapter.reserve())]), ['job 0', 'job 1']);
  },
  'a worker deletes, releases and buries as its handlers say': async (adapter, tube) => {
    const worker = new Worker({ id: 'w', host: s.host, port: s.port, handlers, ignoreDefault: true, timeout: 1 });
    const bodies = [task('success'), task('release', 100), task('bury'), 'no JSON', '{"type":"unknown"}', '{}'];
    const ids = [];
    for (const body of bodies) ids.push(await adapter.put(body));
    const warnings = [];
    worker.on('warning', (warning) => warnings.push(warning.message));
    const lastDeleted = new Promise((done) => worker.on('job.deleted', (id) => { if (id === ids[5]) done(); }));
    worker.start([tube]);
    await lastDeleted;
    const states = [];
    for (const id of ids) states.push(await state(adapter, id).catch((error) => error.message));
    s.equal(states, ['NOT_FOUND', 'delayed', 'buried', 'buried', 'buried', 'NOT_FOUND']);
    s.equal(warnings, ['parsing job JSON', 'no handler found', 'no job type']);
    const stopped = event(worker, 'stopped');
    worker.stop();
    await stopped;
  },
  'a runner starts a worker from its configuration file': async (adapter, tube) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fivebeans-'));
    fs.writeFileSync(path.join(folder, 'act.js'), `module.exports = () => ({
      type: 'act', work: (payload, done) => done(payload.action, payload.delay) });`);
    const config = { beanstalkd: {}, host: s.host, port: s.port, watch: [tube], handlers: ['act.js'], timeout: 1 };
    fs.writeFileSync(path.join(folder, 'runner.yml'), JSON.stringify(config));
    process.chdir(folder);
    const runner = new Runner('r', 'runner.yml').go();
    const id = await adapter.put(task('success'));
    s.equal(await event(runner.worker, 'job.deleted'), id);
    const stopped = event(runner.worker, 'stopped');
    runner.worker.stop();
    await stopped;
    process.chdir(os.tmpdir());
    fs.rmSync(folder, { recursive: true });
  },
  'reconnect after a restart of the server': async (adapter, tube) => {
    const closed = event(adapter.client, 'close');
    s.restart();
    await closed;
    await connect(adapter.client);
    await watchOnly(adapter, tube);
    await adapter.put('after');
    s.equal(await text(adapter.reserve()), 'after');
  },
});

// fivebeans 1.5.0 against a server: its client, its worker and its runner. Callbacks get (error,
// values...), where the error is the reply's word; ids are strings, counts are strings, bodies are
// Buffers. It has no reserve-job.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { client: Client, worker: Worker, runner: Runner } = require('fivebeans');
const s = require('./support');

// The client with promises in place of callbacks: one value as itself, more as an array, none as
// undefined.
class Promised {
  constructor(client) {
    for (const name of Object.keys(Client.prototype)) {
      this[name] = (...args) => new Promise((resolve, reject) => {
        client[name](...args, (error, ...values) => {
          if (error) reject(new Error(error));
          else resolve(values.length > 1 ? values : values[0]);
        });
      });
    }
    this.client = client;
  }
}

function connect(client) {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve(client)).once('error', reject);
    client.connect();
  });
}

async function watchOnly(client, tube) {
  await client.use(tube);
  await client.watch(tube);
  await client.ignore('default');
  return client;
}

const open = async (tube) => watchOnly(new Promised(await connect(new Client(s.host, s.port))), tube);
const put = (client, body, { pri = 0, delay = 0, ttr = 60 } = {}) => client.put(pri, delay, ttr, body);
const state = async (client, id) => (await client.stats_job(id)).state;
const text = async (job) => (await job)[1].toString();
const event = (emitter, name) => new Promise((done) => emitter.once(name, done));

// What a worker does with a job of type 'act': the payload names the action.
const handlers = { act: { type: 'act', work: (payload, done) => done(payload.action, payload.delay) } };
const task = (action, delay) => JSON.stringify({ type: 'act', payload: { action, delay } });

s.suite('fivebeans', { open, close: (client) => client.client.end() }, {
  'put, reserve, destroy': async (client) => {
    const id = await put(client, 'hello');
    s.equal(await client.reserve(), [id, Buffer.from('hello')]);
    s.equal(await client.destroy(id), undefined);
    await s.fails(client.destroy(id), 'NOT_FOUND');
  },
  'bodies of any bytes, by reserve and peek': async (client) => {
    for (const body of Object.values(s.bodies)) {
      const id = await put(client, body);
      s.equal(await client.peek(id), [id, body]);
      s.equal(await client.reserve(), [id, body]);
      await client.destroy(id);
    }
  },
  'JOB_TOO_BIG, and the connection goes on': async (client) => {
    await s.fails(put(client, s.tooBig), 'JOB_TOO_BIG');
    await s.fails(put(client, Buffer.alloc(200000, 'x')), 'JOB_TOO_BIG');
    await put(client, 'small');
    s.equal(await text(client.reserve()), 'small');
  },
  'priorities order jobs, ids order equals': async (client) => {
    await put(client, 'third', { pri: 4294967295 });
    await put(client, 'second', { pri: 7 });
    await put(client, 'first', { pri: 0 });
    await put(client, 'second again', { pri: 7 });
    for (const body of ['first', 'second', 'second again', 'third']) s.equal(await text(client.reserve()), body);
  },
  'reserve_with_timeout 0 and 1': async (client) => {
    const took = s.stopwatch();
    await s.fails(client.reserve_with_timeout(0), 'TIMED_OUT');
    took(0);
    await s.fails(client.reserve_with_timeout(1), 'TIMED_OUT');
    took(1);
    await put(client, 'now');
    s.equal(await text(client.reserve_with_timeout(0)), 'now');
  },
  'DEADLINE_SOON': async (client) => {
    const id = await put(client, 'short', { ttr: 1 });
    await client.reserve();
    await s.fails(client.reserve(), 'DEADLINE_SOON');
    await s.fails(client.reserve_with_timeout(0), 'DEADLINE_SOON');
    await client.destroy(id);
    await s.fails(client.reserve_with_timeout(0), 'TIMED_OUT');
  },
  'a ttr that runs out gives the job to another': async (client, tube, another) => {
    const other = await another();
    const took = s.stopwatch();
    const id = await put(client, 'slow', { ttr: 1 });
    await client.reserve();
    const theirs = other.reserve_with_timeout(5);
    await s.sleep(1100);
    // Debian's beanstalkd now and then forgets the ttr of a silent connection.
    await client.list_tube_used();
    s.equal((await theirs)[0], id);
    took(1);
    await s.fails(client.destroy(id), 'NOT_FOUND');
    s.equal((await other.stats_job(id)).timeouts, 1);
  },
  'a waiting reserve gets a job put later': async (client, tube, another) => {
    const waiting = text(client.reserve());
    const producer = await another();
    await s.sleep(50);
    s.equal((await producer.stats_tube(tube))['current-waiting'], 1);
    await put(producer, 'at last');
    s.equal(await waiting, 'at last');
  },
  'put with a delay': async (client) => {
    const took = s.stopwatch();
    const id = await put(client, 'later', { delay: 1 });
    s.equal(await state(client, id), 'delayed');
    await s.fails(client.reserve_with_timeout(0), 'TIMED_OUT');
    s.equal(await text(client.reserve()), 'later');
    took(1);
  },
  'release, with priority and delay': async (client) => {
    const id = await put(client, 'again');
    await client.reserve();
    await client.release(id, 5, 0);
    await client.reserve();
    await client.release(id, 9, 100);
    s.has(await client.stats_job(id), { state: 'delayed', pri: 9, delay: 100, releases: 2 });
    await s.fails(client.release(id, 0, 0), 'NOT_FOUND');
  },
  'bury, kick and kick_job': async (client) => {
    const ids = [await put(client, 'a'), await put(client, 'b'), await put(client, 'c', { delay: 100 })];
    for (const id of [ids[0], ids[1]]) {
      await client.reserve();
      await client.bury(id, Client.LOWEST_PRIORITY);
    }
    s.has(await client.stats_job(ids[0]), { state: 'buried', pri: 1000, buries: 1 });
    s.equal(await client.kick(1), '1');
    s.equal([await state(client, ids[0]), await state(client, ids[1])], ['ready', 'buried']);
    await client.kick_job(ids[1]);
    s.equal(await client.kick(10), '1');
    s.has(await client.stats_job(ids[2]), { state: 'ready', kicks: 1 });
    await s.fails(client.kick_job(ids[1]), 'NOT_FOUND');
    await s.fails(client.bury(ids[1], 0), 'NOT_FOUND');
  },
  'touch': async (client) => {
    const id = await put(client, 'touch me', { ttr: 3 });
    await client.reserve();
    await s.sleep(1100);
    s.equal((await client.stats_job(id))['time-left'], 1);
    await client.touch(id);
    s.equal((await client.stats_job(id))['time-left'], 2);
    await s.fails(client.touch(4000000000), 'NOT_FOUND');
  },
  'peek, peek_ready, peek_delayed, peek_buried': async (client) => {
    for (const peek of ['peek_ready', 'peek_delayed', 'peek_buried']) await s.fails(client[peek](), 'NOT_FOUND');
    const buried = await put(client, 'buried');
    await client.reserve();
    await client.bury(buried, 0);
    const ready = await put(client, 'ready');
    const delayed = await put(client, 'delayed', { delay: 100 });
    s.equal(await client.peek_ready(), [ready, Buffer.from('ready')]);
    s.equal(await client.peek_delayed(), [delayed, Buffer.from('delayed')]);
    s.equal(await client.peek_buried(), [buried, Buffer.from('buried')]);
    await s.fails(client.peek(4000000000), 'NOT_FOUND');
  },
  'pause_tube holds jobs back until its time is over': async (client, tube) => {
    await put(client, 'held');
    const took = s.stopwatch();
    await client.pause_tube(tube, 1);
    s.has(await client.stats_tube(tube), { 'pause': 1, 'cmd-pause-tube': 1 });
    await s.fails(client.reserve_with_timeout(0), 'TIMED_OUT');
    s.equal(await text(client.reserve()), 'held');
    took(1);
    await s.fails(client.pause_tube('no-such-tube', 0), 'NOT_FOUND');
  },
  'use, watch, ignore and the lists of tubes': async (client, tube) => {
    const a = `${tube}/a`;
    const b = `${tube}.b`;
    s.equal([await client.use(a), await client.list_tube_used()], [a, a]);
    s.equal([await client.watch(b), await client.watch(b), await client.watch('default')], ['2', '2', '3']);
    s.equal(await client.list_tubes_watched(), [tube, b, 'default']);
    s.contains(await client.list_tubes(), ['default', tube, a, b]);
    s.equal([await client.ignore(b), await client.ignore('no-such-tube'), await client.ignore('default')], ['2', '2', '1']);
    await s.fails(client.ignore(tube), 'NOT_IGNORED');
    await s.fails(client.use('-dash'), 'BAD_FORMAT');
  },
  'stats, stats_job, stats_tube': async (client, tube) => {
    const before = await client.stats();
    s.checkKeys('stats', before);
    const id = await put(client, 'counted', { pri: 3, ttr: 77 });
    const job = await client.stats_job(id);
    s.checkKeys('stats-job', job);
    s.has(job, { id: Number(id), tube, state: 'ready', pri: 3, ttr: 77, delay: 0, reserves: 0 });
    await client.destroy((await client.reserve())[0]);
    const stats = await client.stats_tube(tube);
    s.checkKeys('stats-tube', stats);
    s.has(stats, { 'name': tube, 'total-jobs': 1, 'cmd-delete': 1, 'current-using': 1, 'current-watching': 1 });
    s.grew(before, await client.stats(), {
      'cmd-put': 1, 'cmd-reserve': 1, 'cmd-delete': 1, 'cmd-stats': 1, 'cmd-stats-job': 1, 'total-jobs': 1,
    });
    await s.fails(client.stats_job(id), 'NOT_FOUND');
    await s.fails(client.stats_tube('no-such-tube'), 'NOT_FOUND');
  },
  'commands in flight together are answered in order': async (client) => {
    const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => put(client, `job ${i}`)));
    s.equal(ids, ids.map((_, i) => String(Number(ids[0]) + i)));
    const [first, again] = await Promise.all([client.reserve(), client.reserve()]);
    s.equal([first[1].toString(), again[1].toString()], ['job 0', 'job 1']);
    await Promise.all(ids.map((id) => client.destroy(id)));
  },
  'several connections share a tube': async (client, tube, another) => {
    const workers = [await another(), await another(), await another()];
    const done = Promise.all(workers.map((worker) => text(worker.reserve())));
    for (const body of ['1', '2', '3']) await put(client, body);
    s.equal((await done).sort(), ['1', '2', '3']);
  },
  'quit gives a reserved job back': async (client, tube, another) => {
    const other = await another();
    await put(client, 'mine');
    await other.reserve();
    const closed = event(other.client, 'close');
    other.client.quit(() => {});
    await closed;
    s.equal(await text(client.reserve()), 'mine');
  },
  'a worker deletes, releases and buries as its handlers say': async (client, tube) => {
    const worker = new Worker({ id: 'w', host: s.host, port: s.port, handlers, ignoreDefault: true, timeout: 1 });
    const bodies = [task('success'), task('release', 100), task('bury'), 'no JSON', '{"type":"unknown"}', '{}'];
    const ids = [];
    for (const body of bodies) ids.push(await put(client, body));
    const warnings = [];
    worker.on('warning', (warning) => warnings.push(warning.message));
    const lastDeleted = new Promise((done) => worker.on('job.deleted', (id) => { if (id === ids[5]) done(); }));
    worker.start([tube]);
    await lastDeleted;
    const states = [];
    for (const id of ids) states.push(await state(client, id).catch((error) => error.message));
    s.equal(states, ['NOT_FOUND', 'delayed', 'buried', 'buried', 'buried', 'NOT_FOUND']);
    s.equal(warnings, ['parsing job JSON', 'no handler found', 'no job type']);
    const stopped = event(worker, 'stopped');
    worker.stop();
    await stopped;
  },
  'a runner starts a worker from its configuration file': async (client, tube) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fivebeans-'));
    fs.writeFileSync(path.join(folder, 'act.js'), `module.exports = () => ({
      type: 'act', work: (payload, done) => done(payload.action, payload.delay) });`);
    const config = { beanstalkd: {}, host: s.host, port: s.port, watch: [tube], handlers: ['act.js'], timeout: 1 };
    fs.writeFileSync(path.join(folder, 'runner.yml'), JSON.stringify(config));
    process.chdir(folder);
    const runner = new Runner('r', 'runner.yml').go();
    const id = await put(client, task('success'));
    s.equal(await event(runner.worker, 'job.deleted'), id);
    const stopped = event(runner.worker, 'stopped');
    runner.worker.stop();
    await stopped;
    process.chdir(os.tmpdir());
    fs.rmSync(folder, { recursive: true });
  },
  'reconnect after a restart of the server': async (client, tube) => {
    const closed = event(client.client, 'close');
    s.restart();
    await closed;
    await connect(client.client);
    await watchOnly(client, tube);
    await put(client, 'after');
    s.equal(await text(client.reserve()), 'after');
  },
});

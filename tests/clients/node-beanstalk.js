// node-beanstalk 1.6.7 against a server: its Client and its Pool. Ids are numbers; NOT_FOUND and
// TIMED_OUT are null or false; other errors throw with the reply's word as their status or text. By
// default bodies are JSON; a serializer of our own hands bytes through. The client refuses more
// than maxPayloadSize itself, so it is set beyond the server's.
'use strict';
const { Client, Pool } = require('node-beanstalk');
const s = require('./support');

const asBytes = { serialize: (bytes) => Buffer.from(bytes), deserialize: (bytes) => bytes };
const options = { host: s.host, port: s.port, serializer: asBytes, maxPayloadSize: 1000000 };

async function watchOnly(client, tube) {
  await client.connect();
  await client.use(tube);
  await client.watch(tube);
  await client.ignore('default');
  return client;
}

const open = (tube) => watchOnly(new Client(options), tube);
const close = async (client) => { if (client.isConnected) await client.disconnect(); };
const put = async (client, body, { ttr, pri, delay } = {}) => (await client.put(body, ttr, pri, delay)).id;
const state = async (client, id) => (await client.statsJob(id)).state;
const text = async (job) => (await job).payload.toString();

s.suite('node-beanstalk', { open, close }, {
  'put, reserve, delete': async (client) => {
    const { id, state: inserted } = await client.put('hello');
    s.equal(inserted, 'ready');
    s.has(await client.statsJob(id), { pri: 1024, ttr: 30, delay: 0 });
    s.equal(await client.reserve(), { id, payload: Buffer.from('hello') });
    s.equal([await client.delete(id), await client.delete(id)], [true, false]);
  },
  'JSON bodies by the default serializer': async (client, tube) => {
    const json = await watchOnly(new Client({ host: s.host, port: s.port }), tube);
    for (const value of [{ fruit: 'Äpfel', list: [1, null] }, 'text', 0, null, '']) {
      const { id } = await json.put(value);
      s.equal(await json.reserve(), { id, payload: value });
      await json.delete(id);
    }
    await json.disconnect();
  },
  'bodies of any bytes, by reserve, peek and reserveJob': async (client) => {
    for (const body of Object.values(s.bodies)) {
      const id = await put(client, body);
      s.equal(await client.peek(id), { id, payload: body });
      s.equal(await client.reserve(), { id, payload: body });
      await client.release(id);
      s.equal(await client.reserveJob(id), { id, payload: body });
      await client.delete(id);
    }
  },
  'JOB_TOO_BIG, and the connection goes on': async (client) => {
    await s.fails(client.put(s.tooBig), 'max-job-size');
    await s.fails(client.put(Buffer.alloc(200000, 'x')), 'max-job-size');
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
  'reserveWithTimeout 0 and 1': async (client) => {
    const took = s.stopwatch();
    s.equal(await client.reserveWithTimeout(0), null);
    took(0);
    s.equal(await client.reserveWithTimeout(1), null);
    took(1);
    await put(client, 'now');
    s.equal(await text(client.reserveWithTimeout(0)), 'now');
  },
  'DEADLINE_SOON': async (client) => {
    const id = await put(client, 'short', { ttr: 1 });
    await client.reserve();
    await s.fails(client.reserve(), 'deadline soon');
    await s.fails(client.reserveWithTimeout(0), 'deadline soon');
    await client.delete(id);
    s.equal(await client.reserveWithTimeout(0), null);
  },
  'a ttr that runs out gives the job to another': async (client, tube, another) => {
    const other = await another();
    const took = s.stopwatch();
    const id = await put(client, 'slow', { ttr: 1 });
    await client.reserve();
    const theirs = other.reserveWithTimeout(5);
    await s.sleep(1100);
    // Debian's beanstalkd now and then forgets the ttr of a silent connection.
    await client.listTubeUsed();
    s.equal((await theirs).id, id);
    took(1);
    s.equal(await client.delete(id), false);
    s.equal((await other.statsJob(id)).timeouts, 1);
  },
  'a waiting reserve gets a job put later': async (client, tube, another) => {
    const waiting = text(client.reserve());
    const producer = await another();
    await s.sleep(50);
    s.equal([client.isWorking, client.queueSize, (await producer.statsTube(tube))['current-waiting']], [true, 1, 1]);
    await put(producer, 'at last');
    s.equal(await waiting, 'at last');
  },
  'put with a delay': async (client) => {
    const took = s.stopwatch();
    const { id, state: inserted } = await client.put('later', 60, 0, 1);
    s.equal([inserted, await state(client, id)], ['delayed', 'delayed']);
    s.equal(await client.reserveWithTimeout(0), null);
    s.equal(await text(client.reserve()), 'later');
    took(1);
  },
  'release, with priority and delay': async (client) => {
    const id = await put(client, 'again');
    await client.reserve();
    s.equal(await client.release(id), 'ready');
    await client.reserve();
    s.equal(await client.release(id, 9, 100), 'delayed');
    s.has(await client.statsJob(id), { state: 'delayed', pri: 9, delay: 100, releases: 2 });
    s.equal(await client.release(id), null);
  },
  'bury, kick and kickJob': async (client) => {
    const ids = [await put(client, 'a'), await put(client, 'b'), await put(client, 'c', { delay: 100 })];
    for (const id of [ids[0], ids[1]]) {
      await client.reserve();
      s.equal(await client.bury(id, 5), true);
    }
    s.has(await client.statsJob(ids[0]), { state: 'buried', pri: 5, buries: 1 });
    s.equal(await client.kick(1), 1);
    s.equal([await state(client, ids[0]), await state(client, ids[1])], ['ready', 'buried']);
    s.equal([await client.kickJob(ids[1]), await client.kickJob(ids[1])], [true, false]);
    s.equal([await client.kick(10), await client.kick(10)], [1, 0]);
    s.has(await client.statsJob(ids[2]), { state: 'ready', kicks: 1 });
    s.equal(await client.bury(ids[1]), false);
  },
  'touch': async (client) => {
    const id = await put(client, 'touch me', { ttr: 3 });
    await client.reserve();
    await s.sleep(1100);
    s.equal((await client.statsJob(id))['time-left'], 1);
    s.equal(await client.touch(id), true);
    s.equal((await client.statsJob(id))['time-left'], 2);
    s.equal(await client.touch(4000000000), false);
  },
  'reserveJob of a delayed, a buried and a reserved job': async (client) => {
    const id = await put(client, 'pick', { delay: 100 });
    s.equal(await text(client.reserveJob(id)), 'pick');
    await client.bury(id);
    s.equal(await text(client.reserveJob(id)), 'pick');
    s.equal(await client.reserveJob(id), null);
  },
  'peek, peekReady, peekDelayed, peekBuried': async (client) => {
    s.equal([await client.peekReady(), await client.peekDelayed(), await client.peekBuried()], [null, null, null]);
    const buried = await put(client, 'buried');
    await client.reserve();
    await client.bury(buried);
    const ready = await put(client, 'ready');
    const delayed = await put(client, 'delayed', { delay: 100 });
    s.equal(await client.peekReady(), { id: ready, payload: Buffer.from('ready') });
    s.equal(await client.peekDelayed(), { id: delayed, payload: Buffer.from('delayed') });
    s.equal(await client.peekBuried(), { id: buried, payload: Buffer.from('buried') });
    s.equal(await client.peek(4000000000), null);
  },
  'pauseTube holds jobs back until its time is over': async (client, tube) => {
    await put(client, 'held');
    const took = s.stopwatch();
    s.equal(await client.pauseTube(tube, 1), true);
    s.has(await client.statsTube(tube), { 'pause': 1, 'cmd-pause-tube': 1 });
    s.equal(await client.reserveWithTimeout(0), null);
    s.equal(await text(client.reserve()), 'held');
    took(1);
    s.equal(await client.pauseTube('no-such-tube', 0), false);
  },
  'use, watch, ignore and the lists of tubes': async (client, tube) => {
    const a = `${tube}/a`;
    const b = `${tube}.b`;
    s.equal([await client.use(a), await client.listTubeUsed()], [a, a]);
    s.equal([await client.watch(b), await client.watch(b), await client.watch('default')], [2, 2, 3]);
    s.equal(await client.listTubesWatched(), [tube, b, 'default']);
    s.contains(await client.listTubes(), ['default', tube, a, b]);
    s.equal([await client.ignore(b), await client.ignore('default'), await client.ignore(tube)], [true, true, false]);
    await s.fails(client.use('-dash'), 'BAD_FORMAT');
  },
  'stats, statsJob, statsTube': async (client, tube) => {
    const before = await client.stats();
    s.checkKeys('stats', before);
    const id = await put(client, 'counted', { pri: 3, ttr: 77 });
    const job = await client.statsJob(id);
    s.checkKeys('stats-job', job);
    s.has(job, { id, tube, state: 'ready', pri: 3, ttr: 77, delay: 0, reserves: 0 });
    await client.delete((await client.reserve()).id);
    const stats = await client.statsTube(tube);
    s.checkKeys('stats-tube', stats);
    s.has(stats, { 'name': tube, 'total-jobs': 1, 'cmd-delete': 1, 'current-using': 1, 'current-watching': 1 });
    s.grew(before, await client.stats(), {
      'cmd-put': 1, 'cmd-reserve': 1, 'cmd-delete': 1, 'cmd-stats': 1, 'cmd-stats-job': 1, 'total-jobs': 1,
    });
    s.equal([await client.statsJob(id), await client.statsTube('no-such-tube')], [null, null]);
  },
  'commands called together are answered in order': async (client) => {
    const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => put(client, `job ${i}`)));
    s.equal(ids, ids.map((_, i) => ids[0] + i));
    await Promise.all(ids.map((id) => client.delete(id)));
  },
  'several connections share a tube': async (client, tube, another) => {
    const workers = [await another(), await another(), await another()];
    const done = Promise.all(workers.map((worker) => text(worker.reserve())));
    for (const body of ['1', '2', '3']) await put(client, body);
    s.equal((await done).sort(), ['1', '2', '3']);
  },
  'disconnect gives a reserved job back; connect again': async (client, tube, another) => {
    const other = await another();
    await put(client, 'mine');
    await other.reserve();
    await other.disconnect();
    s.equal(await text(client.reserve()), 'mine');
    await other.connect();
    s.equal(await other.listTubesWatched(), ['default']);
  },
  'a Pool hands its connections out, takes them back, ends and is restored': async (client, tube) => {
    const pool = new Pool({ capacity: 2, clientOptions: options });
    const first = await pool.connect();
    const second = await pool.connect();
    const third = pool.connect();
    s.equal([pool.capacity, pool.idleCount, pool.waitingCount], [2, 0, 1]);
    await first.use(tube);
    await put(first, 'from the pool');
    first.releaseClient();
    s.equal(await (await third).listTubeUsed(), tube);
    second.releaseClient();
    s.equal([pool.idleCount, pool.waitingCount], [1, 0]);
    s.equal(await text(client.reserve()), 'from the pool');
    await pool.disconnect();
    s.equal(pool.getState(), 'disconnected');
    pool.restore();
    s.equal(await (await pool.connect()).listTubeUsed(), 'default');
    await pool.disconnect(true);
  },
  'reconnect after a restart of the server': async (client, tube) => {
    s.restart();
    await client.disconnect();
    await watchOnly(client, tube);
    await put(client, 'after');
    s.equal(await text(client.reserve()), 'after');
  },
});
